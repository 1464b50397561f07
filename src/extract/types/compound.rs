//! Types that are made of others where they are used: objects with members in place, and types that
//! a condition chooses.

use super::visit_type;
use crate::walk::children;
use crate::walk::{Usage, Walk};
use cograph_grammar::Selector;
use cograph_model::facts::{Expr, ExprId, LocalSymbol, ScopeKind};
use tree_sitter::Node;

/// An object type; it has the members of the type that it copies as well.
pub(super) fn object<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    copies: Option<&'static Selector>,
) -> ExprId {
    let scope = walk.open(ScopeKind::Type, LocalSymbol::NONE, node);
    let members = walk.context.scope;
    walk.visit_children(node);
    walk.close(scope);
    let own = walk.facts.expr(Expr::Members(members));
    match copies.and_then(|selector| selector.first(node)) {
        Some(copied) => {
            let copied = visit_type(walk, copied, Usage::Silent);
            walk.facts.union(&[own, copied])
        }
        None => own,
    }
}

/// The union of the types that a condition chooses from; the other children are types as well.
pub(super) fn choice<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: &'static [Selector],
    usage: Usage,
) -> ExprId {
    let chosen: Vec<_> = of.iter().filter_map(|selector| selector.first(node)).collect();
    let mut parts = Vec::new();
    for child in children::named_children(&walk.input, node) {
        let part = visit_type(walk, child, usage);
        if chosen.iter().any(|chosen| chosen.id() == child.id()) {
            parts.push(part);
        }
    }
    walk.facts.union(&parts)
}

/// Visits the types in a member of a type whose name is not written: which member is not known.
pub(super) fn without_name<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    for part in children::named_children(&walk.input, node) {
        super::visit_type(walk, part, usage);
    }
    ExprId::NONE
}
