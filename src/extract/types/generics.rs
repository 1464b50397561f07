//! Type parameters and their bounds, in the header or behind it; positional fields.

use crate::types;
use crate::walk::{Definition, Usage, Walk, children, names, rule_choice};
use cograph_grammar::{Rule, Selector};
use cograph_model::facts::{Binding, BindingKind, Expr, ExprId, LocalSymbol, NameId, Run, flags};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Binds the type parameters of a definition in the current scope, with the bounds behind its
/// header.
pub(crate) fn generics<'t>(
    walk: &mut Walk<'t>,
    symbol: LocalSymbol,
    node: Node<'t>,
    params: Option<&'static Selector>,
) {
    let around = walk.context.waiting_type_params.take();
    if let Some(params) = params.and_then(|selector| selector.first(node)).or(around) {
        type_params(walk, symbol, params);
    }
    if !walk.input.language.has_bounds() {
        return;
    }
    for child in children::named_children(&walk.input, node) {
        match rule_choice::rule_at(&walk.input, child) {
            Some(Rule::Bounds {}) => {
                for bound in children::named_children(&walk.input, child) {
                    self::bound(walk, bound);
                }
            }
            Some(Rule::Bound { .. }) => bound(walk, child),
            _ => {}
        }
    }
}

pub(crate) fn type_params<'t>(walk: &mut Walk<'t>, symbol: LocalSymbol, params: Node<'t>) {
    let start = walk.facts.facts.bindings.len();
    let nodes = match rule_choice::rule_at(&walk.input, params) {
        Some(Rule::TypeParam { .. }) => smallvec::smallvec![params],
        _ => children::named_children(&walk.input, params),
    };
    let mut bits = 0;
    for param in nodes {
        let (name, bound, default) = match rule_choice::rule_at(&walk.input, param) {
            Some(Rule::TypeParam { name, bound, default }) => (name, bound, default),
            Some(rule @ Rule::Param { .. }) => {
                // A value without a name is the result of a condition.
                let types = walk.facts.facts.bindings.len();
                walk.value_parameter(rule, param);
                let is_unnamed = |binding: &Binding| {
                    !binding.name.is_some()
                        && !matches!(walk.facts.get(binding.ty()), Expr::Literal(_))
                };
                if walk.facts.facts.bindings[types..].iter().any(is_unnamed) {
                    bits |= flags::CONSTRAINED;
                }
                continue;
            }
            _ => continue,
        };
        let bound = match bound.as_ref().and_then(|selector| selector.first(param)) {
            Some(bound) => types::visit_type(walk, bound, Usage::Site(SiteKind::Type)),
            None => ExprId::NONE,
        };
        let default = match default.as_ref().and_then(|selector| selector.first(param)) {
            Some(default) => types::visit_type(walk, default, Usage::Site(SiteKind::Type)),
            None => ExprId::NONE,
        };
        let named = children::every(&walk.input, Some(name), param);
        if named.is_empty() && bound.is_some() {
            bits |= flags::CONSTRAINED;
        }
        for name_node in named {
            let name = names::name_of(walk, name_node);
            walk.bind(walk.context.scope, name, BindingKind::TypeParam, 0, bound, default);
        }
    }
    let run = Run::of(start..walk.facts.facts.bindings.len());
    if symbol.is_some() {
        walk.facts.symbol_mut(symbol).flags |= bits;
        if !run.is_empty() {
            walk.facts.clauses_mut(symbol).type_params = run;
        }
    }
}

/// Adds bounds to their type parameter; one of an outer scope gets them for this scope only.
fn bound<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(Rule::Bound { name, bound }) = rule_choice::rule_at(&walk.input, node) else { return };
    let bounds = children::every(&walk.input, Some(bound), node);
    let Some(name_node) = name.first(node).filter(|_| !bounds.is_empty()) else { return };
    types::visit_type(walk, name_node, Usage::Site(SiteKind::Type));
    let bounds: Vec<ExprId> = bounds
        .into_iter()
        .map(|bound| types::visit_type(walk, bound, Usage::Site(SiteKind::Type)))
        .collect();
    let bound = walk.facts.union(&bounds);
    if !bound.is_some() || name_node.named_child_count() > 0 {
        return;
    }
    let name = names::name_of(walk, name_node);
    let known = |walk: &Walk<'t>| {
        let known = walk.facts.visible_anywhere(walk.context.scope, name)?;
        (known.kind == BindingKind::TypeParam).then_some((known.scope, known.ty()))
    };
    let Some((scope, before)) = known(walk) else { return };
    let ty = walk.facts.union(&[before, bound]);
    if scope == walk.context.scope {
        walk.facts.set_bound_type(scope, name, ty);
    } else {
        walk.bind(walk.context.scope, name, BindingKind::TypeParam, 0, ty, ExprId::NONE);
    }
}

/// Defines positional fields: their names are `0`, `1`, ….
pub(crate) fn positions<'t>(walk: &mut Walk<'t>, node: Node<'t>, ty: &'static Selector) -> ExprId {
    let types = children::every(&walk.input, Some(ty), node);
    let mut position = 0;
    for child in children::named_children(&walk.input, node) {
        if !types.iter().any(|ty| ty.id() == child.id()) {
            if matches!(rule_choice::rule_at(&walk.input, child), Some(Rule::Decorator { .. })) {
                walk.visit(child, crate::walk::READ);
            } else if walk.input.language.is_modifier_node(child.kind_id()) {
                walk.context.around.section = walk.marked_visibility(child);
            }
            continue;
        }
        let name: NameId = walk.facts.name(&position.to_string());
        let definition = Definition {
            name,
            name_node: child,
            node: child,
            kind: SymbolKind::Field,
            header_end: child.end_byte(),
            has_body: true,
        };
        let symbol = walk.define(&definition);
        walk.context.around.section = None;
        let ty = types::visit_type(walk, child, Usage::Site(SiteKind::Type));
        walk.facts.symbol_mut(symbol).ty = ty;
        position += 1;
    }
    ExprId::NONE
}
