//! Calls of members that operators and subscripts represent.

use crate::walk::names;
use crate::walk::{Usage, Walk};
use cograph_grammar::ImplicitUse;
use cograph_model::SiteKind;
use cograph_model::facts::{Expr, ExprId, SiteId};
use tree_sitter::Node;

/// Records the call of a member of a value by its operator, in languages where operators are
/// calls. The types of literals have no members of the repository.
pub(crate) fn call<'t>(walk: &mut Walk<'t>, at: Node<'t>, object: ExprId, member: &str) -> SiteId {
    let is_literal = || matches!(walk.facts.get(object), Expr::Literal(_) | Expr::Apply(..));
    if !walk.input.language.has_operator_methods() || !object.is_some() || is_literal() {
        return SiteId::NONE;
    }
    let outer = walk.take_call_site();
    let name = walk.facts.name(member);
    let target = walk.facts.expr(Expr::Member(object, name));
    walk.site(Usage::Site(SiteKind::Call), at, name, target);
    let site = walk.take_call_site();
    walk.context.call_site = outer;
    site
}

/// Sets the arguments of such a call.
pub(crate) fn arguments(walk: &mut Walk<'_>, site: SiteId, values: &[ExprId]) {
    let Some(position) = site.get() else { return };
    let known: Vec<ExprId> =
        values.iter().map(|value| names::known(&mut walk.facts, *value)).collect();
    walk.facts.sites[position].args = walk.facts.list(&known);
}

/// Records the call of the member behind a subscript, and with an assigned value of the one that
/// sets an element.
pub(crate) fn subscript<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    object: ExprId,
    keys: &[ExprId],
    assigned: Option<ExprId>,
) {
    let names = &walk.input.language.manifest.names;
    let Some(member) = names.member_behind(ImplicitUse::Index) else { return };
    // The token behind the container.
    let at = node.child(1).filter(|child| !child.is_named()).unwrap_or(node);
    let site = match assigned {
        Some(_) => call(walk, at, object, &format!("{member}=")),
        None => call(walk, at, object, member),
    };
    let values: Vec<ExprId> = keys.iter().copied().chain(assigned).collect();
    arguments(walk, site, &values);
}
