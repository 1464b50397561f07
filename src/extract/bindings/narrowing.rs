//! Branches and type narrowing: conditions narrow the types of names in the branch, in the other
//! branch, and behind it.

use crate::bindings::bound_names::{Bind, Flow};
use crate::bindings::{conditions, patterns};
use crate::facts::builder::Builder;
use crate::types;
use crate::walk::children::Children;
use crate::walk::input::Input;
use crate::walk::scopes::OuterScope;
use crate::walk::{READ, Usage, Walk, children, names, rule_choice, texts};
use cograph_grammar::{CallMeaning, Rule, Selector};
use cograph_model::facts::{BindingKind, Expr, ExprId, LocalSymbol, ScopeKind};
use cograph_model::{SiteKind, SymbolKind};
use smallvec::{SmallVec, smallvec};
use tree_sitter::Node;

pub(crate) fn branch<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    condition: &'static Selector,
    then: &'static Selector,
    otherwise: Option<&'static Selector>,
) -> ExprId {
    // Names bound by the condition are visible in the branch; with function scope only
    // narrowings are limited to it.
    let kind = if walk.input.language.manifest.resolution.function_scoped {
        ScopeKind::Flow
    } else {
        ScopeKind::Block
    };
    let condition_node = condition.first(node);
    // Initializers before the condition are visible in both branches.
    let then_node = then.first(node);
    // A branch may be written before its condition.
    let mut branches: SmallVec<[Option<Node<'t>>; 4]> = smallvec![then_node];
    let written = children::every(&walk.input, otherwise, node);
    branches.extend(written.into_iter().filter(|_| otherwise.is_some()).map(Some));
    let written: SmallVec<[Node<'t>; 4]> = branches.iter().skip(1).flatten().copied().collect();
    conditions::branches(walk, condition_node, then_node, &written);
    let initial = before(&walk.input, node, condition_node, &branches);
    let outer = (!initial.is_empty()).then(|| walk.open(ScopeKind::Block, LocalSymbol::NONE, node));
    for child in &initial {
        walk.visit(*child, READ);
    }
    let scope = walk.open(kind, LocalSymbol::NONE, node);
    if let Some(condition) = condition_node {
        walk.visit(condition, READ);
        narrow(walk, condition, true);
    }
    let mut values: SmallVec<[ExprId; 8]> =
        smallvec![then_node.map_or(ExprId::NONE, |then| walk.visit(then, READ))];
    walk.close(scope);
    let others = match otherwise {
        Some(selector) => children::every(&walk.input, Some(selector), node),
        None => children::named_children(&walk.input, node)
            .into_iter()
            .filter(|child| {
                ![condition_node, then_node]
                    .iter()
                    .flatten()
                    .chain(&initial)
                    .any(|done| done.id() == child.id())
            })
            .collect(),
    };
    for other in &others {
        let value = match condition_node {
            Some(condition) => visit_unless(walk, condition, *other),
            None => walk.visit(*other, READ),
        };
        values.push(value);
    }
    if let (Some(condition), Some(then)) = (condition_node, then_node)
        && others.is_empty()
        && never_completes(&walk.input, then)
    {
        narrow(walk, condition, false);
    }
    if let Some(outer) = outer {
        walk.close(outer);
    }
    walk.facts.union(&values)
}

/// True if control never reaches the end of a branch.
fn never_completes<'t>(input: &Input<'t>, node: Node<'t>) -> bool {
    let mut next = Some(node);
    while let Some(node) = next {
        match rule_choice::rule_at(input, node) {
            Some(Rule::Jump { .. }) => return true,
            Some(Rule::Block {} | Rule::Flow {} | Rule::Pass { .. }) => {
                next = children::last_named_child(node)
            }
            _ => return false,
        }
    }
    false
}

pub(crate) fn choice<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: &'static [Selector],
    condition: Option<&'static Selector>,
) -> ExprId {
    let condition = condition.and_then(|selector| selector.first(node));
    let chosen: Vec<Node<'t>> = of.iter().filter_map(|selector| selector.first(node)).collect();
    let mut parts = Vec::new();
    for child in children::named_children(&walk.input, node) {
        let value = match condition.filter(|condition| condition.id() != child.id()) {
            Some(condition) if chosen.first().is_some_and(|first| first.id() == child.id()) => {
                visit_where(walk, Some(condition), child)
            }
            Some(condition) => visit_unless(walk, condition, child),
            None => walk.visit(child, READ),
        };
        if chosen.iter().any(|chosen| chosen.id() == child.id()) {
            parts.push(value);
        }
    }
    walk.facts.union(&parts)
}

/// Visits a node that is evaluated only if a condition holds.
pub(crate) fn visit_where<'t>(
    walk: &mut Walk<'t>,
    condition: Option<Node<'t>>,
    node: Node<'t>,
) -> ExprId {
    let Some(condition) = condition else { return walk.visit(node, READ) };
    let scope = open_flow(walk, node);
    narrow(walk, condition, true);
    let value = walk.visit(node, READ);
    walk.close(scope);
    value
}

fn visit_unless<'t>(walk: &mut Walk<'t>, condition: Node<'t>, node: Node<'t>) -> ExprId {
    let scope = open_flow(walk, node);
    narrow(walk, condition, false);
    let value = walk.visit(node, READ);
    walk.close(scope);
    value
}

/// Opens a scope for narrowings only: definitions in it belong to the enclosing scope.
fn open_flow<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> OuterScope {
    let around = walk.context.around;
    let before = walk.open(ScopeKind::Flow, LocalSymbol::NONE, node);
    walk.context.around = around;
    before
}

pub(crate) fn type_test<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    value: &'static Selector,
    ty: Option<&'static Selector>,
    name: Option<&'static Selector>,
) -> ExprId {
    let value_node = value.first(node);
    let tested = value_node.map_or(ExprId::NONE, |value| walk.visit(value, READ));
    let ty_node = ty.and_then(|selector| selector.first(node));
    let ty =
        ty_node.map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, Usage::Site(SiteKind::Type)));
    let name_node = name.and_then(|selector| selector.first(node));
    for child in children::named_children(&walk.input, node) {
        if ![value_node, ty_node, name_node].iter().flatten().any(|done| done.id() == child.id()) {
            walk.visit(child, READ);
        }
    }
    if let Some(name) = name_node {
        patterns::bind_pattern(
            walk,
            name,
            Flow { ty, value: tested, node },
            Bind::Declare(SymbolKind::Variable),
        );
    }
    ExprId::NONE
}

/// Narrows names from here on by a condition that is known to hold, or not to.
pub(crate) fn narrow<'t>(walk: &mut Walk<'t>, condition: Node<'t>, holds: bool) {
    walk.nested(condition, (), |walk| narrow_nested(walk, condition, holds));
}

fn narrow_nested<'t>(walk: &mut Walk<'t>, condition: Node<'t>, holds: bool) {
    let rules = &walk.input.language.manifest.narrowing;
    let special_calls = &walk.input.language.manifest.names.special_calls;
    match rule_choice::rule_at(&walk.input, condition) {
        Some(Rule::Call { callee: Some(callee), args: Some(args), .. }) => {
            let (Some(callee), Some(args)) = (callee.first(condition), args.first(condition))
            else {
                return;
            };
            if holds
                && rules.guards
                && let Some(call) = walk.context.calls.get(&condition.id()).copied()
                && let Some(value) = children::first_named_child(&walk.input, args)
                && matches!(rule_choice::rule_at(&walk.input, value), Some(Rule::Name { .. }))
            {
                let name = names::name_of(walk, value);
                walk.bind(
                    walk.context.scope,
                    name,
                    BindingKind::Narrow,
                    condition.end_byte(),
                    ExprId::NONE,
                    call,
                );
            }
            let meaning = special_calls.get(texts::text_of(&walk.input, callee));
            if meaning == Some(&CallMeaning::TypeTest)
                && let [value, ty] = children::named_children(&walk.input, args)[..]
            {
                narrow_by(walk, condition, value, ty, holds);
            }
        }
        Some(Rule::TypeTest { value, ty: Some(ty), name: None, negated }) => {
            if let (Some(value), Some(ty)) = (value.first(condition), ty.first(condition)) {
                narrow_by(walk, condition, value, ty, holds != *negated);
            }
        }
        // The name bound by a type test is visible where the test holds.
        Some(Rule::TypeTest { ty: Some(ty), name: Some(name), negated, .. })
            if holds != *negated =>
        {
            if let (Some(ty), Some(name)) = (ty.first(condition), name.first(condition)) {
                let ty = types::visit_type(walk, ty, Usage::Silent);
                let flow = Flow { ty, value: ExprId::NONE, node: condition };
                patterns::bind_pattern(walk, name, flow, Bind::Declare(SymbolKind::Variable));
            }
        }
        Some(Rule::Operator { left, right, type_test, .. }) => {
            let word =
                children::first_token(&walk.input, condition).map_or("", |token| token.kind());
            let is = |words: &[String]| words.iter().any(|candidate| candidate == word);
            if is(type_test)
                && let Some(value) = left.as_ref().and_then(|selector| selector.first(condition))
                && let Some(ty) = right.as_ref().and_then(|selector| selector.first(condition))
            {
                narrow_by(walk, condition, value, ty, holds);
            } else if is(if holds { &rules.and } else { &rules.or }) {
                for child in children::named_children(&walk.input, condition) {
                    narrow(walk, child, holds);
                }
            } else if is(&rules.not) {
                for child in children::named_children(&walk.input, condition) {
                    narrow(walk, child, !holds);
                }
            }
        }
        Some(Rule::Pass { .. } | Rule::Tuple {}) => {
            if let Some(only) = children::only_named_child(&walk.input, condition) {
                narrow(walk, only, holds);
            }
        }
        _ => {}
    }
}

/// Narrows a name from the end of a condition, or of a cast, on.
pub(crate) fn narrow_to<'t>(
    walk: &mut Walk<'t>,
    condition: Node<'t>,
    value: Node<'t>,
    ty: Node<'t>,
) {
    if matches!(rule_choice::rule_at(&walk.input, value), Some(Rule::Name { .. })) {
        let name = names::name_of(walk, value);
        let ty = types::visit_type(walk, ty, Usage::Silent);
        walk.bind(
            walk.context.scope,
            name,
            BindingKind::Narrow,
            condition.end_byte(),
            ty,
            ExprId::NONE,
        );
    }
}

/// Narrows a name by a test for a type that holds, or not.
fn narrow_by<'t>(
    walk: &mut Walk<'t>,
    condition: Node<'t>,
    value: Node<'t>,
    ty: Node<'t>,
    holds: bool,
) {
    match holds {
        true => narrow_to(walk, condition, value, ty),
        false => narrow_from(walk, condition, value, ty),
    }
}

/// Narrows a name to the alternatives of its declared type without the one that a failed test
/// excludes.
fn narrow_from<'t>(walk: &mut Walk<'t>, condition: Node<'t>, value: Node<'t>, ty: Node<'t>) {
    if !matches!(rule_choice::rule_at(&walk.input, value), Some(Rule::Name { .. })) {
        return;
    }
    let name = names::name_of(walk, value);
    let scope = walk.context.scope;
    let known = walk.facts.narrowed_type(scope, name);
    if !matches!(walk.facts.get(known), Expr::Union(_)) {
        return;
    }
    let mut parts = SmallVec::<[ExprId; 4]>::new();
    alternatives(&walk.facts, known, &mut parts);
    let excluded = types::visit_type(walk, ty, Usage::Silent);
    let left: SmallVec<[ExprId; 4]> =
        parts.iter().copied().filter(|part| !is_same(&walk.facts, *part, excluded)).collect();
    if left.is_empty() || left.len() == parts.len() {
        return;
    }
    let ty = walk.facts.union(&left);
    walk.bind(scope, name, BindingKind::Narrow, condition.end_byte(), ty, ExprId::NONE);
}

/// Adds the alternatives of a type.
fn alternatives(facts: &Builder, ty: ExprId, all: &mut SmallVec<[ExprId; 4]>) {
    match facts.get(ty) {
        Expr::Union(parts) => {
            facts.items(parts).iter().for_each(|part| alternatives(facts, *part, all));
        }
        _ => all.push(ty),
    }
}

/// True if two types have one name, whatever their arguments are.
fn is_same(facts: &Builder, one: ExprId, other: ExprId) -> bool {
    let name = |ty: ExprId| match facts.get(ty) {
        Expr::Name(name, _) => Some(name),
        Expr::Apply(base, _) => match facts.get(base) {
            Expr::Name(name, _) => Some(name),
            _ => None,
        },
        _ => None,
    };
    name(one).is_some() && name(one) == name(other)
}

/// Returns the named children before `mark` except those in `without`: initializers of a branch
/// or match.
pub(crate) fn before<'t>(
    input: &Input<'t>,
    node: Node<'t>,
    mark: Option<Node<'t>>,
    without: &[Option<Node<'t>>],
) -> Children<'t> {
    let mut children = Children::new();
    let Some(mark) = mark.map(|mark| mark.start_byte()) else { return children };
    input.lister.each_named(node, |child| {
        let is_before = child.end_byte() <= mark;
        if is_before
            && !child.is_extra()
            && !without.iter().flatten().any(|other| other.id() == child.id())
        {
            children.push(child);
        }
        is_before
    });
    children
}
