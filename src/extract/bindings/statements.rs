//! Binding statements: loops, handlers, cases, comprehensions.

use crate::bindings::bound_names::{Bind, Flow};
pub(super) use crate::bindings::narrowing::before;
use crate::bindings::{narrowing, patterns, variables};
use crate::types;
use crate::walk::{READ, Usage, Walk, children, rule_choice};
use cograph_grammar::{Rule, Selector, Yielded};
use cograph_model::facts::{BindingKind, Expr, ExprId, LocalSymbol, ScopeKind};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Selectors for the parts of a case.
struct CaseParts {
    labels: Option<&'static Selector>,
    pattern: Option<&'static Selector>,
    types: Option<&'static Selector>,
    value: Option<&'static Selector>,
    guard: Option<&'static Selector>,
}

pub(crate) fn comprehension<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    value: &'static Selector,
    container: &str,
) -> ExprId {
    let scope = walk.open(ScopeKind::Block, LocalSymbol::NONE, node);
    let value_node = value.first(node);
    for child in children::named_children(&walk.input, node) {
        if value_node.is_none_or(|value| value.id() != child.id()) {
            walk.visit(child, READ);
        }
    }
    let item = value_node.map_or(ExprId::NONE, |value| walk.visit(value, READ));
    walk.close(scope);
    let name = walk.facts.name(container);
    let base = walk.facts.literal(name);
    if !item.is_some() {
        return base;
    }
    let list = walk.facts.list(&[item]);
    walk.facts.expr(Expr::Apply(base, list))
}

pub(crate) fn for_loop<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::For { pattern, declarator, ty, iterable, body, value, keys_mark } = rule else {
        return ExprId::NONE;
    };
    let keys = keys_mark.as_ref().is_some_and(|selector| selector.first(node).is_some());
    let clause = body.is_none();
    let scope = (!clause).then(|| walk.open(ScopeKind::Block, LocalSymbol::NONE, node));
    let iterable_node = iterable.first(node);
    let source = iterable_node.map_or(ExprId::NONE, |iterable| walk.visit(iterable, READ));
    let ty = match ty.as_ref().and_then(|selector| selector.first(node)) {
        Some(ty) => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        None => ExprId::NONE,
    };
    let mut pattern_node = pattern.as_ref().and_then(|selector| selector.first(node));
    let is_read_only = variables::is_read_only(&walk.input, node);
    let ty = variables::qualified(walk, ty, is_read_only);
    if let Some(start) = declarator.as_ref().and_then(|selector| selector.first(node)) {
        pattern_node = walk.declarator(start).name;
    }
    if let Some(pattern) = pattern_node {
        if clause
            && *value == Yielded::Items
            && walk.facts.scope_kind(walk.context.scope) == ScopeKind::Block
        {
            let element = walk.facts.of(source, Expr::Element);
            // The value before the clause sees its variables, and nothing around it does.
            let is_owned = !walk.input.language.manifest.resolution.function_scoped;
            let how = if is_owned { Bind::Declare(SymbolKind::Variable) } else { Bind::Param };
            patterns::bind_pattern(walk, pattern, Flow { ty, value: element, node: pattern }, how);
        } else {
            let is_late = walk.input.language.manifest.resolution.scope_after_declaration;
            patterns::bind_loop(
                walk,
                pattern,
                source,
                if keys { Yielded::Keys } else { *value },
                iterable_node.filter(|_| is_late).unwrap_or(pattern),
                ty,
            );
        }
    }
    if let Some(scope) = scope {
        let skip = [iterable_node, pattern_node];
        for child in children::named_children(&walk.input, node) {
            let done = skip.iter().flatten().any(|done| {
                child.start_byte() <= done.start_byte() && done.end_byte() <= child.end_byte()
            });
            if !done && walk.input.language.type_rule(child.kind_id()).is_none() {
                walk.visit(child, READ);
            }
        }
        walk.close(scope);
    }
    ExprId::NONE
}

pub(crate) fn with<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    value: &'static Selector,
    name: Option<&'static Selector>,
) -> ExprId {
    let given = walk.visit_selected(node, Some(value), READ);
    if let Some(name) = name.and_then(|selector| selector.first(node)) {
        let entered = walk.facts.of(given, Expr::Enter);
        patterns::bind_pattern(
            walk,
            name,
            Flow { ty: ExprId::NONE, value: entered, node },
            Bind::AssignNew,
        );
    }
    given
}

pub(crate) fn catch<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    ty: Option<&'static Selector>,
    name: Option<&'static Selector>,
    body: Option<&'static Selector>,
) -> ExprId {
    let scope = walk.open(ScopeKind::Block, LocalSymbol::NONE, node);
    let ty_node = ty.and_then(|selector| selector.first(node));
    let ty =
        ty_node.map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, Usage::Site(SiteKind::Type)));
    let name_node = name.and_then(|selector| selector.first(node));
    if let Some(name) = name_node {
        let value = walk.facts.of(ty, Expr::OfType);
        patterns::bind_pattern(
            walk,
            name,
            Flow { ty: ExprId::NONE, value, node: name },
            Bind::Declare(SymbolKind::Variable),
        );
    }
    match body.and_then(|selector| selector.first(node)) {
        Some(body) => {
            walk.visit(body, READ);
        }
        None => {
            for child in children::named_children(&walk.input, node) {
                // The type and the name may be parts of one node.
                let has = |done: &Node<'t>| child.byte_range().contains(&done.start_byte());
                if ![ty_node, name_node].iter().flatten().any(has) {
                    walk.visit(child, READ);
                }
            }
        }
    }
    walk.close(scope);
    ExprId::NONE
}

pub(crate) fn match_value<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    value: Option<&'static Selector>,
    name: Option<&'static Selector>,
    body: Option<&'static Selector>,
) -> ExprId {
    let value_node = value.and_then(|selector| selector.first(node));
    let alias = name.and_then(|selector| selector.first(node));
    let outer = walk.open(ScopeKind::Block, LocalSymbol::NONE, node);
    let initial = before(&walk.input, node, value_node, &[alias]);
    for child in &initial {
        walk.visit(*child, READ);
    }
    let given = value_node.map_or(ExprId::NONE, |value| walk.visit(value, READ));
    let cases = match body.and_then(|selector| selector.first(node)) {
        Some(body) => children::named_children(&walk.input, body),
        None => children::named_children(&walk.input, node),
    };
    let mut values = Vec::new();
    for case in cases {
        if [value_node, alias].iter().flatten().chain(&initial).any(|done| done.id() == case.id()) {
            continue;
        }
        let Some(Rule::Case { labels, pattern, types, value, guard }) =
            rule_choice::rule_at(&walk.input, case)
        else {
            // What is left when no case matches.
            let is_rest = matches!(rule_choice::rule_at(&walk.input, case), Some(Rule::Flow {}));
            let left = walk.visit(case, READ);
            values.extend(is_rest.then_some(left));
            continue;
        };
        let parts = CaseParts {
            labels: labels.as_ref(),
            pattern: pattern.as_ref(),
            types: types.as_ref(),
            value: value.as_ref(),
            guard: guard.as_ref(),
        };
        values.push(self::case(walk, case, given, alias, parts));
    }
    walk.close(outer);
    walk.facts.union(&values)
}

fn has_names_alone<'t>(walk: &Walk<'t>, label: Node<'t>) -> bool {
    let is_name =
        |name: Node<'t>| matches!(rule_choice::rule_at(&walk.input, name), Some(Rule::Name { .. }));
    children::named_children(&walk.input, label).into_iter().all(is_name)
}

/// Visits the names of a label, in whose scope are the members of the type of the value.
fn visit_label<'t>(walk: &mut Walk<'t>, label: Node<'t>, given: ExprId) {
    let outer = walk.open(ScopeKind::Type, LocalSymbol::NONE, label);
    let owner = walk.facts.expr(Expr::TypeOf(given));
    if let Some(position) = walk.context.scope.get() {
        walk.facts.facts.scopes[position].owner = owner;
    }
    walk.visit_children(label);
    walk.close(outer);
}

fn case<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    given: ExprId,
    alias: Option<Node<'t>>,
    CaseParts { labels, pattern, types, value, guard }: CaseParts,
) -> ExprId {
    let scope = walk.open(ScopeKind::Block, LocalSymbol::NONE, node);
    let mut done: Vec<usize> = Vec::new();
    for label in children::every(&walk.input, labels, node) {
        if given.is_some() && has_names_alone(walk, label) {
            done.push(label.id());
            visit_label(walk, label, given);
        }
    }
    let pattern_node = pattern.and_then(|selector| selector.first(node));
    if let Some(pattern) = pattern_node {
        done.push(pattern.id());
        done.extend(pattern.parent().map(|parent| parent.id()));
        patterns::bind_pattern(
            walk,
            pattern,
            Flow { ty: ExprId::NONE, value: given, node: pattern },
            Bind::Declare(SymbolKind::Variable),
        );
    }
    let mut cases = Vec::new();
    for ty in children::every(&walk.input, types, node) {
        // A type that is part of the pattern has been visited with it.
        let in_pattern =
            pattern_node.is_some_and(|pattern| pattern.byte_range().contains(&ty.start_byte()));
        done.push(ty.id());
        cases.push(types::visit_type(
            walk,
            ty,
            if in_pattern { Usage::Silent } else { Usage::Site(SiteKind::Type) },
        ));
    }
    if let Some(alias) = alias {
        let ty = if let [only] = cases[..] { only } else { ExprId::NONE };
        let value = if ty.is_some() { ExprId::NONE } else { given };
        patterns::bind_pattern(
            walk,
            alias,
            Flow { ty, value, node: alias },
            Bind::Declare(SymbolKind::Variable),
        );
    } else if let ([only], Expr::Name(name, _)) = (&cases[..], walk.facts.get(given)) {
        walk.bind(
            walk.context.scope,
            name,
            BindingKind::Narrow,
            node.start_byte(),
            *only,
            ExprId::NONE,
        );
    }
    walk.visit_selected(node, guard, READ);
    if let [only] = children::every(&walk.input, guard, node)[..] {
        narrowing::narrow(walk, only, true);
    }
    let value_node = value.and_then(|selector| selector.first(node));
    let mut result = ExprId::NONE;
    for child in children::named_children(&walk.input, node) {
        if !done.contains(&child.id()) {
            let visited = walk.visit(child, READ);
            if value_node.is_some_and(|value| value.id() == child.id()) {
                result = visited;
            }
        }
    }
    walk.close(scope);
    result
}
