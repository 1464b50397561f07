//! Dispatch of expression rules: values and the references in them.

use crate::bindings::bound_names::{Bind, Flow};
use crate::bindings::implied;
use crate::bindings::narrowing;
use crate::bindings::patterns;
use crate::bindings::stated_types;
use crate::bindings::statements;
use crate::definitions::shadowing;
use crate::expressions::calls;
use crate::expressions::construct;
use crate::expressions::literals;
use crate::expressions::paths;
use crate::expressions::values;
use crate::facts::builder::Builder;
use crate::macros;
use crate::types;
use crate::walk::children;
use crate::walk::names;
use crate::walk::texts;
use crate::walk::{READ, Usage, Walk};
use cograph_grammar::{CastEffect, Rule, Selector, TypeRule};
use cograph_model::SiteKind;
use cograph_model::facts::{Expr, ExprId, LocalSymbol, ScopeKind, SiteId};
use smallvec::SmallVec;
use tree_sitter::Node;

/// Visits nodes with a value, and binding statements. Nested expressions recurse through this
/// function: its arms are calls, so that its frame is small.
pub(crate) fn express<'t>(
    walk: &mut Walk<'t>,
    rule: &'static Rule,
    node: Node<'t>,
    usage: Usage,
) -> ExprId {
    match rule {
        Rule::Name { calls } => paths::name_expression(walk, node, usage, *calls),
        Rule::Path {} => paths::path(walk, node, usage),
        Rule::Member { object, name, scoped, written } => {
            let value = paths::member(walk, node, object.as_ref(), name, *scoped, usage);
            if written.is_some_and(|written| written) {
                paths::written(walk, node, name, value);
            }
            value
        }
        Rule::Field {} => paths::field(walk, node, usage),
        Rule::TypeOf { of } => of_child(walk, node, Some(of), Expr::TypeOf),
        Rule::Call { .. } => calls::call(walk, rule, node),
        Rule::Construct { .. } => construct::construct(walk, rule, node),
        Rule::Copy { of } => construct::copy(walk, node, of),
        Rule::Element { name } => literals::element(walk, node, name),
        Rule::Shorthand {} => literals::shorthand(walk, node),
        Rule::TypeValue {} => types::visit_type(walk, node, READ),
        Rule::Types {} => type_list(walk, node),
        Rule::Index { object, key } => index(walk, node, object, key.as_ref()),
        Rule::SelfValue { of } => values::receiver(walk, node, of.as_ref()),
        Rule::SuperValue {} => super_value(walk, node, usage),
        Rule::SuperCall { args } => calls::super_call(walk, node, args.as_ref()),
        Rule::Literal { ty, suffixes, fractions } => {
            let special = literals::by_form(&walk.input, node, suffixes, fractions);
            literals::literal(walk, special.unwrap_or(ty))
        }
        Rule::Text { ty, mark } => {
            walk.visit_children(node);
            if let Some(mark) = mark {
                literals::marked_names(walk, node, mark);
            }
            literals::literal(walk, ty)
        }
        Rule::List { ty } => literals::list_literal(walk, node, ty),
        Rule::ClassObject { of, ty } => literals::class_object(walk, node, of, ty),
        Rule::Mapping { key, value, .. } => {
            literals::mapping_literal(walk, node, key.as_ref(), value.as_ref())
        }
        Rule::Tuple {} => literals::tuple(walk, node, usage),
        Rule::Object { pairs } => literals::object(walk, node, LocalSymbol::NONE, pairs.as_deref()),
        Rule::Await { of } => of_child(walk, node, of.as_ref(), Expr::Await),
        Rule::Unwrap { of } => of_child(walk, node, of.as_ref(), Expr::Unwrapped),
        Rule::Choice { of, condition } => narrowing::choice(walk, node, of, condition.as_ref()),
        Rule::Spread {} => literals::spread(walk, node),
        Rule::Operator { .. } => operator(walk, rule, node),
        Rule::TypeTest { value, ty, name, .. } => {
            narrowing::type_test(walk, node, value, ty.as_ref(), name.as_ref())
        }
        Rule::Cast { .. } => cast(walk, rule, node),
        Rule::Lambda { .. } => values::lambda(walk, rule, node, LocalSymbol::NONE),
        Rule::Comprehension { value, container } => {
            statements::comprehension(walk, node, value, container)
        }
        Rule::For { .. } => statements::for_loop(walk, rule, node),
        Rule::With { value, name } => statements::with(walk, node, value, name.as_ref()),
        Rule::As { value, name } => bound_as(walk, node, value, name),
        Rule::Catch { ty, name, body } => {
            statements::catch(walk, node, ty.as_ref(), name.as_ref(), body.as_ref())
        }
        Rule::If { condition, then, otherwise } => {
            narrowing::branch(walk, node, condition, then, otherwise.as_ref())
        }
        Rule::Let { .. } => shadowing::let_binding(walk, rule, node),
        Rule::Match { value, name, body } => {
            statements::match_value(walk, node, value.as_ref(), name.as_ref(), body.as_ref())
        }
        Rule::Case { .. } => walk.block(node, ScopeKind::Block),
        Rule::MacroCall { .. } => macros::macro_call(walk, rule, node),
        Rule::NamedArgument { name, value, of_variable } => {
            construct::named_argument(walk, node, name.as_ref(), value, of_variable.is_some())
        }
        Rule::MethodReference { object, name } => method_reference(walk, node, object, name),
        Rule::Initializer { name, value } => {
            construct::initializer(walk, node, name, value.as_ref())
        }
        _ => walk.visit_children(node),
    }
}

/// Visits a child, or all children without a selector; returns an expression of its value.
fn of_child<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: Option<&'static Selector>,
    make: fn(ExprId) -> Expr,
) -> ExprId {
    let value = match of {
        Some(_) => walk.visit_selected(node, of, READ),
        None => walk.visit_children(node),
    };
    walk.facts.of(value, make)
}

fn type_list<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    types::visit_types(walk, node, Usage::Site(SiteKind::Type));
    ExprId::NONE
}

fn index<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    object: &'static Selector,
    key: Option<&'static Selector>,
) -> ExprId {
    if applies_type(walk, node, object) {
        return types::visit_type(walk, node, Usage::Site(SiteKind::Type));
    }
    let object = walk.visit_selected(node, Some(object), READ);
    // Of several keys none is that of an element.
    let keys: SmallVec<[ExprId; 1]> = children::every(&walk.input, key, node)
        .into_iter()
        .map(|key| walk.visit(key, READ))
        .collect();
    implied::subscript(walk, node, object, &keys, None);
    let key = if let [only] = keys[..] { only } else { ExprId::NONE };
    walk.facts.of(object, |object| Expr::Index(object, key))
}

/// True for a subscript that gives a type of the library its arguments, where these may be quoted:
/// the value of an alias.
fn applies_type<'t>(walk: &Walk<'t>, node: Node<'t>, object: &'static Selector) -> bool {
    let language = walk.input.language;
    if !language.has_quoted_types() {
        return false;
    }
    let Some(TypeRule::Apply { .. }) = language.type_rule(node.kind_id()) else { return false };
    let Some(object) = object.first(node) else { return false };
    let text = texts::text_of(&walk.input, object);
    let name = text.rsplit('.').next().unwrap_or_default();
    language.flow(name).is_some_and(|(_, flow)| flow.kind.is_some() || !flow.params.is_empty())
}

fn super_value<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    let known = walk.context.callable.self_scope.is_some();
    let scope = if known { walk.context.callable.self_scope } else { walk.context.scope };
    let value = walk.facts.expr(Expr::SuperValue(scope));
    if usage == Usage::Site(SiteKind::Call) {
        let name = names::name_of(walk, node);
        walk.site(usage, node, name, value);
    }
    value
}

/// Returns a literal of the type of the suffix of its text.
fn bound_as<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    value: &'static Selector,
    name: &'static Selector,
) -> ExprId {
    let given = walk.visit_selected(node, Some(value), READ);
    if let Some(name) = name.first(node) {
        let flow = Flow { ty: ExprId::NONE, value: given, node };
        patterns::bind_pattern(walk, name, flow, Bind::AssignNew);
    }
    given
}

fn method_reference<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    object: &'static Selector,
    name: &'static Selector,
) -> ExprId {
    let Some(name_node) = name.first(node) else {
        return paths::constructor_reference(walk, node, object);
    };
    let object = match object.first(node) {
        Some(object) => walk.visit(object, READ),
        None => names::receiver(walk),
    };
    let name = names::name_of(walk, name_node);
    let member = walk.facts.of(object, |object| Expr::Member(object, name));
    let before = walk.facts.sites.len();
    walk.site(READ, name_node, name, member);
    walk.facts.sites[before..].iter_mut().for_each(|site| site.spread = true);
    walk.facts.of(member, Expr::Uncalled)
}

fn cast<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Cast { ty, value, array, effect } = rule else { return ExprId::NONE };
    let ty_node = ty.first(node);
    let mut ty =
        ty_node.map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, Usage::Site(SiteKind::Type)));
    if *array == Some(true) {
        ty = walk.facts.of(ty, Expr::Array);
    }
    let wanted = walk.facts.of(ty, Expr::OfType);
    let value_node = value.as_ref().and_then(|selector| selector.first(node));
    let mut value = ExprId::NONE;
    for child in children::named_children(&walk.input, node) {
        if ty_node.is_none_or(|ty| ty.id() != child.id()) {
            let is_value = value_node.is_some_and(|value| value.id() == child.id());
            let visited = if is_value {
                construct::visit_as(walk, child, wanted)
            } else {
                walk.visit(child, READ)
            };
            value = if is_value { visited } else { value };
        }
    }
    stated_types::of_cast(walk, value, ty, node);
    if *effect == Some(CastEffect::Narrows)
        && let (Some(value), Some(ty)) = (value_node, ty_node)
    {
        narrowing::narrow_to(walk, node, value, ty);
    }
    let keeps = *effect == Some(CastEffect::Keeps) && value.is_some();
    if wanted.is_some() && !keeps { wanted } else { value }
}

fn operator<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Operator {
        left,
        right,
        operator,
        either,
        truth,
        last,
        truth_type,
        arithmetic,
        item,
        type_test,
    } = rule
    else {
        return ExprId::NONE;
    };
    if left.is_none() && right.is_none() {
        walk.visit_children(node);
        return ExprId::NONE;
    }
    let operator_node = operator.as_ref().and_then(|selector| selector.first(node));
    let word = match operator_node {
        Some(operator) => texts::text_of(&walk.input, operator),
        None => children::first_token(&walk.input, node).map_or("", |token| token.kind()),
    };
    let is = |words: &[String]| words.iter().any(|candidate| candidate == word);
    if is(type_test)
        && let (Some(left), Some(right)) = (left, right)
    {
        return narrowing::type_test(walk, node, left, Some(right), None);
    }
    let left_node = left.as_ref().and_then(|selector| selector.first(node));
    let left = left_node.map_or(ExprId::NONE, |left| walk.visit(left, READ));
    let right_node = right.as_ref().and_then(|selector| selector.first(node));
    let called = match walk.input.language.manifest.names.operators.get(word) {
        Some(member) if right_node.is_some() => {
            implied::call(walk, operator_node.unwrap_or(node), left, member)
        }
        _ => SiteId::NONE,
    };
    let right = match right_node {
        Some(right) => narrowing::visit_where(
            walk,
            left_node.filter(|_| is(&walk.input.language.manifest.narrowing.and)),
            right,
        ),
        None => ExprId::NONE,
    };
    implied::arguments(walk, called, &[right]);
    if is(last) {
        right
    } else if is(either) {
        walk.facts.union(&[left, right])
    } else if is(truth) {
        literals::literal(walk, truth_type)
    } else if is(arithmetic) {
        operator_call(&mut walk.facts, left, word, right)
    } else if is(item) {
        walk.facts.of(left, Expr::Element)
    } else {
        match walk.facts.get(left) {
            Expr::Literal(_) | Expr::Apply(..) => left,
            _ => match walk.input.language.manifest.names.operators.get(word) {
                Some(member) if left.is_some() => {
                    operator_call(&mut walk.facts, left, member, right)
                }
                _ => ExprId::NONE,
            },
        }
    }
}

fn operator_call(facts: &mut Builder, left: ExprId, member: &str, right: ExprId) -> ExprId {
    let (left, right, name) =
        (names::known(facts, left), names::known(facts, right), facts.name(member));
    let (callee, args) = (facts.expr(Expr::Member(left, name)), facts.list(&[right]));
    facts.expr(Expr::Call(callee, args))
}
