//! Types that are made of others where they are used: objects with members in place, and types that
//! a condition chooses.

use super::{parameter_type, visit_type};
use crate::walk::children;
use crate::walk::names;
use crate::walk::rule_choice;
use crate::walk::{Usage, Walk};
use cograph_grammar::{Rule, Selector};
use cograph_model::SiteKind;
use cograph_model::facts::{Expr, ExprId, LocalSymbol, ScopeKind, Wrapper};
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

/// A function type by its parts.
pub(super) fn function<'t>(
    walk: &mut Walk<'t>,
    params: Option<Node<'t>>,
    returns: Option<Node<'t>>,
    receiver: Option<Node<'t>>,
    usage: Usage,
) -> ExprId {
    let mut parts = Vec::new();
    if let Some(receiver) = receiver {
        let ty = visit_type(walk, receiver, usage);
        let ty = names::known(&mut walk.facts, ty);
        parts.push(walk.facts.expr(Expr::Wrap(ty, Wrapper::Receiver)));
    }
    let params = params.map(|list| children::named_children(&walk.input, list));
    for param in params.into_iter().flatten() {
        let ty = parameter_type(walk, param, usage);
        let rule = rule_choice::rule_at(&walk.input, param);
        if matches!(rule, Some(Rule::Param { name: Some(name), .. })
            if names::is_self_word(&walk.input, name.first(param)))
        {
            continue;
        }
        parts.push(names::known(&mut walk.facts, ty));
    }
    let result = returns.map_or(ExprId::NONE, |result| visit_type(walk, result, usage));
    parts.push(names::known(&mut walk.facts, result));
    let list = walk.facts.list(&parts);
    walk.facts.expr(Expr::Function(list))
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

/// Records that the argument of a type names one of its members.
pub(super) fn named_argument<'t>(
    walk: &mut Walk<'t>,
    (base, name_node): (ExprId, Option<Node<'t>>),
    usage: Usage,
) {
    if let Some(name_node) = name_node
        && usage != Usage::Silent
        && base.is_some()
    {
        let name = names::name_of(walk, name_node);
        let member = walk.facts.expr(Expr::Member(base, name));
        walk.site(Usage::Site(SiteKind::Type), name_node, name, member);
    }
}

/// Visits the types in a member of a type whose name is not written: which member is not known.
pub(super) fn without_name<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    for part in children::named_children(&walk.input, node) {
        super::visit_type(walk, part, usage);
    }
    ExprId::NONE
}

/// Returns the type arguments of a generic type; with `open`, for an empty list one that is not
/// known for each place.
pub(super) fn or_places<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    args: Vec<ExprId>,
    open: bool,
) -> Vec<ExprId> {
    if !open || !args.is_empty() {
        return args;
    }
    let lists = children::children(&walk.input, node);
    let parts = lists.into_iter().flat_map(|list| children::children(&walk.input, list));
    let places = 1 + parts.filter(|part| part.kind() == ",").count();
    vec![walk.facts.expr(Expr::Unknown); places]
}
