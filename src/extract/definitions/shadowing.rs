//! Pattern declarations that may shadow earlier names; members of a constructed value.

use crate::bindings::bound_names::{self, Bind, Flow};
use crate::bindings::patterns;
use crate::bindings::variables;
use crate::types;
use crate::walk::children;
use crate::walk::names;
use crate::walk::rule_choice;
use crate::walk::texts;
use crate::walk::{READ, Usage, Walk};
use cograph_grammar::{ImplicitUse, Rule};
use cograph_model::facts::{Expr, ExprId};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Binds the names of a pattern. A name that shadows one of the same function, or that its own
/// value uses, starts a scope for the rest of the block.
pub(crate) fn let_binding<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Let { pattern, ty: ty_selector, value, otherwise } = rule else {
        return ExprId::NONE;
    };
    let value_node = value.as_ref().and_then(|selector| selector.first(node));
    let pattern_node = pattern.first(node);
    let ty = match ty_selector.as_ref().and_then(|selector| selector.first(node)) {
        Some(ty) => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        None => ExprId::NONE,
    };
    if let (Some(pattern_node), Some(value_node)) = (pattern_node, value_node)
        && let Some((lambda, lambda_node)) = variables::lambda_in(&walk.input, value_node)
        && matches!(rule_choice::rule_at(&walk.input, pattern_node), Some(Rule::Name { .. }))
    {
        shadow(walk, pattern_node, node, usize::MAX);
        let sites = walk.facts.sites.len();
        let name = names::name_of(walk, pattern_node);
        let symbol = walk.function_value(name, pattern_node, node, lambda, lambda_node);
        // References in a local closure belong to the enclosing function.
        for site in &mut walk.facts.sites[sites..] {
            if site.enclosing == symbol {
                site.enclosing = walk.context.enclosing;
            }
        }
        return ExprId::NONE;
    }
    let first = walk.facts.facts.exprs.len();
    let given = value_node.map_or(ExprId::NONE, |value| walk.visit(value, READ));
    walk.visit_selected(node, otherwise.as_ref(), READ);
    if let Some(pattern) = pattern_node {
        shadow(walk, pattern, node, first);
        patterns::bind_pattern(
            walk,
            pattern,
            Flow { ty, value: given, node },
            Bind::Declare(SymbolKind::Variable),
        );
    }
    // Parts behind the node are not visited again.
    let ty_node = ty_selector.as_ref().and_then(|selector| selector.first(node));
    let parts = [pattern_node, ty_node, value_node];
    let behind = parts.into_iter().flatten().filter(|part| part.start_byte() >= node.end_byte());
    walk.context.taken.extend(behind.map(|part| part.id()));
    ExprId::NONE
}

/// Opens a scope if a name in the pattern is already visible or used by an expression from
/// `first` on.
fn shadow<'t>(walk: &mut Walk<'t>, pattern: Node<'t>, node: Node<'t>, first: usize) {
    let mut nodes = vec![pattern];
    while let Some(part) = nodes.pop() {
        let known = walk.facts.known_name(texts::text_of(&walk.input, part));
        let hides = known.is_some_and(|name| {
            walk.facts.visible(walk.context.scope, name).is_some()
                || (first != usize::MAX && walk.facts.names_since(first, name))
        });
        if part.named_child_count() == 0 && hides {
            walk.open_rest(node);
            return;
        }
        nodes.extend(children::named_children(&walk.input, part));
    }
}

/// Visits the members of a value that is made with their values, or its elements.
pub(crate) fn constructed_fields<'t>(walk: &mut Walk<'t>, list: Node<'t>, made: ExprId) {
    for child in children::named_children(&walk.input, list) {
        constructed_part(walk, child, made);
    }
}

/// Makes an element that is a closure an argument of the member that adds it to what is made.
fn added(walk: &mut Walk<'_>, element: ExprId, made: ExprId) {
    let names = &walk.input.language.manifest.names;
    let Some(member) = names.member_behind(ImplicitUse::Element) else { return };
    if element.is_some() && matches!(walk.facts.get(element), Expr::Lambda(_)) {
        let name = walk.facts.name(member);
        let callee = walk.facts.of(made, |made| Expr::Member(made, name));
        let args = walk.facts.list(&[element]);
        walk.facts.of(callee, |callee| Expr::Call(callee, args));
    }
}

/// Visits a member of a value that is made, with its value, or an element.
pub(crate) fn constructed_part<'t>(walk: &mut Walk<'t>, part: Node<'t>, made: ExprId) {
    let Some(Rule::Initializer { name, value }) = rule_choice::rule_at(&walk.input, part) else {
        let element = walk.element_of(part, made);
        added(walk, element, made);
        return;
    };
    let name_node = name.first(part);
    let value_node = value.as_ref().and_then(|selector| selector.first(part));
    let is_name = |node: Node<'t>| {
        !matches!(rule_choice::rule_at(&walk.input, node), Some(Rule::Index { .. }) | None)
    };
    let target = match name_node.filter(|node| value_node.is_none() || is_name(*node)) {
        Some(name_node) if made.is_some() => {
            let name = names::name_of(walk, name_node);
            let target = walk.facts.expr(Expr::Member(made, name));
            if value_node.is_none() {
                walk.visit(name_node, READ);
            }
            walk.site(Usage::Site(SiteKind::Write), name_node, name, target);
            target
        }
        // An element by its key.
        _ => {
            name_node.map(|name| walk.visit(name, READ));
            walk.facts.of(made, Expr::Element)
        }
    };
    let Some(value) = value_node else { return };
    match rule_choice::rule_at(&walk.input, value) {
        // Members of the member's value.
        Some(Rule::List { .. }) => {
            walk.nested(value, (), |walk| constructed_fields(walk, value, target))
        }
        _ => {
            let given = walk.visit_wanted(value, target);
            bound_names::give_type(walk, target, given);
        }
    }
}
