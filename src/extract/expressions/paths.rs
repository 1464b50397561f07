//! Paths (`a::b::c`), in expressions and in names of definitions.

use crate::types;
use crate::walk::{READ, Usage, Walk, children, ignored, names, rule_choice, texts};
use cograph_grammar::{PathWord, Rule, Selector};
use cograph_model::SiteKind;
use cograph_model::facts::{Expr, ExprId, NameId, Run, ScopeId, flags};
use tree_sitter::Node;

/// Member of a value, type or module. A path may nest in the object or in the name.
pub(super) fn member<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    object: Option<&'static Selector>,
    name: &'static Selector,
    scoped: bool,
    usage: Usage,
) -> ExprId {
    let Some(name_node) = name.first(node) else { return walk.visit_children(node) };
    let object_node = object.and_then(|selector| selector.first(node));
    if object_node.is_none() && !scoped {
        return walk.visit(name_node, usage);
    }
    let object = object_node.map(|object_node| {
        if let Some(word) = if scoped {
            names::path_word(walk, texts::text_of(&walk.input, object_node))
        } else {
            None
        } {
            return word;
        }
        let is_type = rule_choice::rule_at(&walk.input, object_node).is_none();
        let object = if is_type {
            types::visit_type(walk, object_node, READ)
        } else {
            walk.visit(object_node, READ)
        };
        let object =
            if scoped { types::path_head(&walk.input, &mut walk.facts, object) } else { object };
        names::known(&mut walk.facts, object)
    });
    let of_exports = object_node.is_some_and(|object| names::is_export_object(walk, object));
    if let Some(object) = object
        && !of_exports
        && matches!(rule_choice::rule_at(&walk.input, name_node), Some(Rule::SelfValue { .. }))
    {
        // The receiver of the named type, not of the enclosing one.
        return walk.facts.expr(Expr::OfType(object));
    }
    let value = match of_exports {
        true => exported(walk, name_node, usage),
        false => path_from(walk, object, name_node, usage),
    };
    match names::is_export_object(walk, node) {
        true => names::whole_export(walk),
        false => value,
    }
}

/// A member of what this file exports.
fn exported<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    let node = plain_name(walk, node);
    let name = folded_name(walk, node);
    let value = walk.facts.exported(name);
    walk.site(usage, node, name, value);
    value
}

/// A member that is written where it stands, by an operator before the path to it.
pub(super) fn written<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: &'static Selector,
    value: ExprId,
) {
    if let Some(name_node) = name.first(node)
        && value.is_some()
        && let Expr::Member(_, name) = walk.facts.get(value)
    {
        walk.site(Usage::Site(SiteKind::Write), name_node, name, value);
    }
}

/// Resolves a path from `object` on, or from the outermost scope if there is none.
fn path_from<'t>(
    walk: &mut Walk<'t>,
    object: Option<ExprId>,
    name_node: Node<'t>,
    usage: Usage,
) -> ExprId {
    let mut object = object;
    // Skips type arguments of a segment (`a::b::<T>`).
    let mut name_node = plain_name(walk, name_node);
    while let Some((part, rest)) = children::path_parts(&walk.input, name_node) {
        if let Some(part) = part {
            object = Some(path_step(walk, object, part, READ));
        }
        name_node = plain_name(walk, rest);
    }
    path_step(walk, object, name_node, usage)
}

fn path_step<'t>(
    walk: &mut Walk<'t>,
    object: Option<ExprId>,
    node: Node<'t>,
    usage: Usage,
) -> ExprId {
    let node = plain_name(walk, node);
    let name = folded_name(walk, node);
    let value = walk.facts.expr(match object {
        Some(object) => Expr::Member(object, name),
        None => Expr::Name(name, ScopeId(0)),
    });
    walk.site(usage, node, name, value);
    value
}

/// Returns the name inside a node with type arguments, and visits these.
pub(crate) fn plain_name<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> Node<'t> {
    let mut node = node;
    while let Some(Rule::Pass { of }) = rule_choice::rule_at(&walk.input, node) {
        let chosen = match of {
            Some(selector) => selector.first(node),
            None => children::first_named_child(&walk.input, node),
        };
        let Some(chosen) = chosen else { break };
        for child in children::named_children(&walk.input, node) {
            if child.id() != chosen.id() {
                walk.visit(child, READ);
            }
        }
        node = chosen;
    }
    node
}

/// Returns the own name of a definition. A path before it (`A::f`) becomes the owner of the
/// next definition.
pub(crate) fn qualified_name<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> (NameId, Node<'t>) {
    let mut owner = None;
    let mut node = plain_name(walk, node);
    while let Some((part, rest)) = children::path_parts(&walk.input, node) {
        if let Some(part) = part {
            owner = Some(match owner {
                Some(owner) => path_step(walk, Some(owner), part, READ),
                None => {
                    let path = types::visit_type(walk, part, READ);
                    names::known(&mut walk.facts, path)
                }
            });
        }
        node = plain_name(walk, rest);
    }
    if let Some(owner) = owner {
        walk.context.around.owner = owner;
    }
    (folded_name(walk, node), node)
}

/// Returns a name with white space only between words (`operator ()`, `operator new`).
fn folded_name<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> NameId {
    let end = match rule_choice::rule_at(&walk.input, node) {
        Some(Rule::Declarator { up_to: Some(up_to), .. }) => {
            up_to.first(node).map(|end| end.start_byte())
        }
        _ => None,
    };
    let mut text = texts::text_of(&walk.input, node);
    // In quotes a name has blanks of its own.
    let is_quoted = text.len() != rule_choice::trimmed_text(&walk.input, node).len();
    if let Some(end) = end {
        text = text.get(..end - node.start_byte()).unwrap_or(text).trim_end();
    }
    if !text.contains(char::is_whitespace)
        || is_quoted
        || matches!(rule_choice::rule_at(&walk.input, node), Some(Rule::Text { .. }))
    {
        return if end.is_some() { walk.facts.name(text) } else { names::name_of(walk, node) };
    }
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if folded.ends_with(is_word) && word.starts_with(is_word) {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    walk.facts.name(&folded)
}

/// A name. If `calls`, one that is read and that no variable has is a call without arguments.
pub(super) fn name_expression<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    usage: Usage,
    calls: bool,
) -> ExprId {
    let text = rule_choice::trimmed_text(&walk.input, node);
    named(walk, node, text, usage, calls)
}

/// The name at the start of a node.
pub(super) fn named<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    text: &str,
    usage: Usage,
    calls: bool,
) -> ExprId {
    if names::is_self_type(&walk.input, text) {
        return walk.facts.expr(Expr::SelfType(walk.context.scope));
    }
    if let Some(word) = names::path_word(walk, text) {
        return word;
    }
    let name = walk.facts.name(text);
    if ignored::is_ignored_text(&walk.input, text) {
        return ExprId::NONE;
    }
    let value = walk.facts.expr(Expr::Name(name, walk.context.scope));
    if !calls || usage != READ || is_variable(walk, name) {
        walk.site(usage, node, name, value);
        return value;
    }
    let around = walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Call), node, name, value);
    walk.context.call_site = around;
    walk.facts.expr(Expr::Call(value, Run::default()))
}

/// A field of the receiver, named by the node.
pub(super) fn field<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    let name = names::name_of(walk, node);
    let receiver = names::receiver(walk);
    let value = walk.facts.of(receiver, |receiver| Expr::Member(receiver, name));
    if value.is_some() {
        walk.site(usage, node, name, value);
    }
    value
}

/// True if a variable of this name is visible, by what is bound before.
fn is_variable(walk: &Walk<'_>, name: NameId) -> bool {
    let Some(binding) = walk.facts.visible(walk.context.scope, name) else { return false };
    match binding.symbol().get() {
        Some(symbol) => {
            let symbol = &walk.facts.facts.symbols[symbol];
            !symbol.kind.is_callable() || symbol.flags & flags::FUNCTION_VALUE != 0
        }
        None => true,
    }
}

/// Path of names in one node: all but the last are modules or types.
pub(super) fn path<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    let modules = &walk.input.language.manifest.modules;
    let text = texts::text_of(&walk.input, node);
    let mut name = NameId::NONE;
    let mut value = ExprId::NONE;
    for part in text.split(modules.separator.as_str()) {
        let part = match (part.trim(), modules.word(PathWord::Root)) {
            ("", Some(root)) if !value.is_some() => root,
            (part, _) => part,
        };
        name = walk.facts.name(part);
        value = walk.facts.expr(match value.is_some() {
            true => Expr::Member(value, name),
            false => Expr::Name(name, walk.context.scope),
        });
    }
    let last = children::last_named_child(node).unwrap_or(node);
    walk.site(usage, last, name, value);
    value
}

/// Constructor reference without a call: a function that returns an instance of the type.
pub(super) fn constructor_reference<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    object: &'static Selector,
) -> ExprId {
    let ty = object.first(node).map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, READ));
    if let Some(name) = types::named(&walk.facts, ty)
        && let Some(keyword) = children::children(&walk.input, node).last().copied()
    {
        let made = walk.facts.expr(Expr::Construct(ty, Run::default()));
        walk.site(READ, keyword, name, made);
    }
    ty
}
