//! Names of nodes, and special names of the language: receiver, own type, ignored words.

use crate::facts::builder::Builder;
use crate::walk::context::QUOTES;
use crate::walk::input::Input;
use crate::walk::{Walk, rule_choice, texts};
use cograph_grammar::Rule;
use cograph_model::facts::{ArgumentLabel, Expr, ExprId, NameId, ScopeId};
use tree_sitter::Node;

/// Returns the expression, or `Expr::Unknown` for none, so that positions in lists are kept.
pub(crate) fn known(facts: &mut Builder, value: ExprId) -> ExprId {
    if value.is_some() { value } else { facts.expr(Expr::Unknown) }
}

pub(crate) fn is_self_word<'t>(input: &Input<'t>, name: Option<Node<'t>>) -> bool {
    name.is_some_and(|name| {
        matches!(rule_choice::rule_at(input, name), Some(Rule::SelfValue { .. }))
    })
}

/// Returns the name of a node without quotes.
pub(crate) fn name_of<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> NameId {
    walk.seen.note(node);
    let text = rule_choice::trimmed_text(&walk.input, node);
    match rule_choice::rule_at(&walk.input, node) {
        Some(Rule::Text { .. }) => walk.facts.name(text.trim_matches(QUOTES)),
        _ => walk.facts.name(text),
    }
}

/// Visits the expression that gives a definition or key its name, if it is computed (`[KEY]: 1`).
pub(crate) fn visit_computed<'t>(walk: &mut Walk<'t>, name: Node<'t>) {
    if matches!(rule_choice::rule_at(&walk.input, name), Some(Rule::Computed {})) {
        walk.visit_children(name);
    }
}

/// Returns the expression of a path keyword (root, self, super), without a site.
pub(crate) fn path_word(walk: &mut Walk<'_>, text: &str) -> Option<ExprId> {
    if !walk.input.language.manifest.modules.words.contains_key(text) {
        return None;
    }
    let name = walk.facts.name(text);
    Some(walk.facts.expr(Expr::Name(name, walk.context.scope)))
}

/// True if a word refers to the enclosing type.
pub(crate) fn is_self_type(input: &Input<'_>, text: &str) -> bool {
    input.language.manifest.names.self_type.iter().any(|word| word == text)
}

/// Returns a name with a text behind it.
pub(crate) fn with_suffix(walk: &mut Walk<'_>, name: NameId, suffix: &str) -> NameId {
    let text = format!("{}{suffix}", walk.facts.text(name));
    walk.facts.name(&text)
}

/// Returns the receiver of the enclosing method, if there is one.
pub(crate) fn receiver(walk: &mut Walk<'_>) -> ExprId {
    let scope = walk.context.callable.self_scope;
    if scope.is_some() { walk.facts.expr(Expr::SelfValue(scope)) } else { ExprId::NONE }
}

/// The names of arguments write members of what a call makes, if it makes an instance.
pub(crate) fn written(walk: &mut Walk<'_>, named: &[usize], made: ExprId) {
    for &site in named {
        let name = walk.facts.sites[site].name;
        let made = walk.facts.of(made, |made| Expr::Argument(made, ArgumentLabel::Name(name)));
        walk.facts.sites[site].target = walk.facts.of(made, |made| Expr::Member(made, name));
    }
}

/// True if an expression is the receiver of the enclosing method.
pub(crate) fn is_receiver(walk: &Walk<'_>, value: ExprId) -> bool {
    match walk.facts.get(value) {
        Expr::SelfValue(_) => true,
        Expr::Name(name, _) => name.is_some() && name == walk.context.callable.receiver,
        _ => false,
    }
}

/// Returns what a file exports as a whole: by its name, the object with its exports if that is not
/// replaced.
pub(crate) fn whole_export(walk: &mut Walk<'_>) -> ExprId {
    let objects = &walk.input.language.manifest.names.export_objects;
    let name = objects.first().map_or(NameId::NONE, |object| walk.facts.name(object));
    walk.facts.expr(Expr::Name(name, ScopeId(0)))
}

/// True for the object whose members a file exports, unless a variable has its name.
pub(crate) fn is_export_object<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> bool {
    let objects = &walk.input.language.manifest.names.export_objects;
    let text = texts::text_of(&walk.input, node);
    if !objects.iter().any(|object| object == text) {
        return false;
    }
    let first = walk.facts.name(text.split('.').next().unwrap_or(text));
    walk.facts.visible(walk.context.scope, first).is_none()
}
