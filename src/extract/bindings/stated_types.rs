//! Types of object literals by what is around them: a cast, or the target of an assignment.

use crate::facts::builder::Builder;
use crate::walk::{Walk, names};
use cograph_model::facts::{BindingKind, Expr, ExprId, NameId, Synthetic};
use tree_sitter::Node;

/// Maximum number of lists and choices around an object literal.
const MAX_NESTING: u32 = 4;

/// Notes the type that a cast states.
pub(crate) fn of_cast<'t>(walk: &mut Walk<'t>, value: ExprId, ty: ExprId, node: Node<'t>) {
    if ty.is_some() && has_objects(&walk.facts, value, 0) {
        let name = walk.facts.synthetic(Synthetic::StatedType);
        let (scope, from) = (walk.context.scope, node.start_byte());
        walk.bind(scope, name, BindingKind::Value, from, ty, value);
    }
}

/// Notes the type of the target that the value is assigned to.
pub(super) fn of_target<'t>(walk: &mut Walk<'t>, value: ExprId, target: ExprId, node: Node<'t>) {
    if has_objects(&walk.facts, value, 0) {
        let ty = walk.facts.of(target, Expr::TypeOf);
        of_cast(walk, value, ty, node);
    }
}

/// Notes the type of the member that the value is assigned to.
pub(super) fn of_member<'t>(
    walk: &mut Walk<'t>,
    value: ExprId,
    object: ExprId,
    name: NameId,
    node: Node<'t>,
) {
    if object.is_some() && has_objects(&walk.facts, value, 0) {
        let target = walk.facts.expr(Expr::Member(object, name));
        of_target(walk, value, target, node);
    }
}

/// Notes the type of the attribute of an element, a member of what its component takes.
pub(crate) fn of_attribute<'t>(
    walk: &mut Walk<'t>,
    value: ExprId,
    component: ExprId,
    name: Node<'t>,
) {
    if has_objects(&walk.facts, value, 0) || matches!(walk.facts.get(value), Expr::Lambda(_)) {
        let taken = walk.facts.expr(Expr::Parameter(component, 0));
        let text = names::name_of(walk, name);
        let target = walk.facts.expr(Expr::Member(taken, text));
        let ty = walk.facts.expr(Expr::TypeOf(target));
        let stated = walk.facts.synthetic(Synthetic::StatedType);
        walk.bind(walk.context.scope, stated, BindingKind::Value, name.start_byte(), ty, value);
    }
}

/// True for an object literal, and for a list or a choice with one.
fn has_objects(facts: &Builder, value: ExprId, depth: u32) -> bool {
    match facts.get(value) {
        Expr::Members(_) => true,
        Expr::Apply(_, parts) | Expr::Union(parts) if depth < MAX_NESTING => {
            facts.items(parts).iter().any(|part| has_objects(facts, *part, depth + 1))
        }
        _ => false,
    }
}
