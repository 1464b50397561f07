//! Constructions with member initializers, and the arguments of calls.

use crate::bindings::{bound_names, variables};
use crate::definitions::{constructions, shadowing};
use crate::expressions::{literals, values};
use crate::types;
use crate::walk::{READ, Usage, Walk, children, fallback, names, rule_choice};
use cograph_grammar::{Pattern, Rule, Selector};
use cograph_model::SiteKind;
use cograph_model::facts::{
    ArgumentLabel, BindingKind, Expr, ExprId, LocalSymbol, Run, ScopeKind, Wrapper,
};
use smallvec::SmallVec;
use tree_sitter::Node;

/// Visits arguments: returns their values, whether some are spread, and their number.
pub(crate) fn arguments<'t>(walk: &mut Walk<'t>, node: Option<Node<'t>>) -> (Run, bool, usize) {
    let callee = std::mem::replace(&mut walk.context.callee, ExprId::NONE);
    let Some(node) = node else { return (Run::default(), false, 0) };
    if rule_choice::rule_at(&walk.input, node)
        .is_some_and(|rule| !matches!(rule, Rule::Pass { .. }))
    {
        let value = walk.visit(node, READ);
        let value = names::known(&mut walk.facts, value);
        return (walk.facts.list(&[value]), false, 1);
    }
    let mut values = SmallVec::<[ExprId; 8]>::new();
    let mut spread = false;
    for (position, child) in children::named_children(&walk.input, node).into_iter().enumerate() {
        let rule = rule_choice::rule_at(&walk.input, child);
        let several = matches!(rule, Some(Rule::Spread {}));
        spread |= several;
        let value = match rule.filter(|_| callee.is_some()) {
            Some(rule) => argument(walk, child, rule, (callee, position)),
            None => walk.visit(child, READ),
        };
        let value = if several { spread_argument(walk, value) } else { value };
        values.push(names::known(&mut walk.facts, value));
    }
    let count = values.len();
    (walk.facts.list(&values), spread, count)
}

/// Visits an argument. A construction without a type, and a variable that is declared as the
/// argument, have the type of the parameter.
fn argument<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    rule: &'static Rule,
    (callee, position): (ExprId, usize),
) -> ExprId {
    let mut inner = Some(rule);
    let mut at = node;
    while let Some(Rule::Pass { .. } | Rule::NamedArgument { name: None, .. }) = inner
        && let Some(only) = children::only_named_child(&walk.input, at)
    {
        (at, inner) = (only, rule_choice::rule_at(&walk.input, only));
    }
    let position = u32::try_from(position).unwrap_or(u32::MAX);
    match inner {
        Some(Rule::Construct { ty: None, args: Some(_), .. }) => {
            let wanted = walk.facts.expr(Expr::Parameter(callee, position));
            visit_as(walk, node, wanted)
        }
        Some(Rule::Variable { value: None, .. }) => {
            walk.context.expected = walk.facts.expr(Expr::Parameter(callee, position));
            let value = walk.visit(node, READ);
            walk.context.expected = ExprId::NONE;
            value
        }
        _ => walk.visit(node, READ),
    }
}

/// Where overloads are chosen by all conversions of their arguments, spread elements are only for
/// a variadic parameter.
fn spread_argument(walk: &mut Walk<'_>, value: ExprId) -> ExprId {
    if walk.input.language.manifest.conversions.top.is_none() {
        return ExprId::NONE;
    }
    let value = names::known(&mut walk.facts, value);
    walk.facts.expr(Expr::Argument(value, ArgumentLabel::Spread))
}

/// Visits arguments and a closure behind them.
pub(super) fn all_arguments<'t>(
    walk: &mut Walk<'t>,
    node: Option<Node<'t>>,
    trailing: Option<Node<'t>>,
) -> (Run, bool, usize) {
    let (list, spread, count) = arguments(walk, node);
    let Some(trailing) = trailing else { return (list, spread, count) };
    let closure = walk.visit(trailing, READ);
    let closure = walk.facts.of(closure, |closure| Expr::Argument(closure, ArgumentLabel::Last));
    let mut values: SmallVec<[ExprId; 8]> = walk.facts.items(list).into();
    values.push(names::known(&mut walk.facts, closure));
    (walk.facts.list(&values), spread, count + 1)
}

/// Returns an argument for the parameter of a name; the value alone if it has none.
pub(super) fn named_argument<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: Option<&'static Selector>,
    value: &'static Selector,
    of_variable: bool,
) -> ExprId {
    let mut value = walk.visit_selected(node, Some(value), READ);
    if of_variable {
        value = names::known(&mut walk.facts, value);
        value = walk.facts.expr(Expr::Wrap(value, Wrapper::Variable));
    }
    let Some(name_node) = name.and_then(|selector| selector.first(node)) else { return value };
    let name = names::name_of(walk, name_node);
    let value = names::known(&mut walk.facts, value);
    let argument = walk.facts.expr(Expr::Argument(value, ArgumentLabel::Name(name)));
    let before = walk.facts.sites.len();
    walk.site(Usage::Site(SiteKind::Write), name_node, name, argument);
    if walk.facts.sites.len() > before {
        walk.context.named.push(before);
    }
    argument
}

pub(super) fn construct<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Construct { ty, args, body, fields, type_args, positional } = rule else {
        return ExprId::NONE;
    };
    walk.take_call_site();
    if ty.is_none() && args.is_none() && fields.is_none() {
        return construct_untyped(walk, node, *positional);
    }
    let ty_node = ty.as_ref().and_then(|selector| selector.first(node));
    let outer_context = walk.context.around;
    let wanted = std::mem::replace(&mut walk.context.around.item, ExprId::NONE);
    walk.context.around.constructed = ExprId::NONE;
    let mut built = match ty {
        None => wanted_type(walk, node, wanted),
        Some(_) => ty_node.map_or(ExprId::NONE, |ty| {
            types::visit_type(walk, ty, Usage::Site(SiteKind::Construct))
        }),
    };
    if let (None, Some(ty), Expr::SelfType(_)) = (fields, ty_node, walk.facts.get(built)) {
        let name = names::name_of(walk, ty);
        walk.site(Usage::Site(SiteKind::Construct), ty, name, built);
    }
    if !walk.context.call_site.is_some() && ty.is_some() {
        fallback::computed_call(walk, ty_node.unwrap_or(node), SiteKind::Construct);
    }
    let site = walk.take_call_site();
    let mut type_list = Vec::new();
    for args in children::every(&walk.input, type_args.as_ref(), node) {
        for arg in types::visit_types(walk, args, Usage::Site(SiteKind::Type)) {
            type_list.push(names::known(&mut walk.facts, arg));
        }
    }
    built = types::applied(&mut walk.facts, built, &type_list);
    let args_node = args.as_ref().and_then(|selector| selector.first(node));
    let outer = std::mem::take(&mut walk.context.named);
    walk.context.callee = built;
    let (list, spread, _) = arguments(walk, args_node);
    let named = std::mem::replace(&mut walk.context.named, outer);
    walk.context.around = outer_context;
    if let Some(index) = site.get() {
        let entry = &mut walk.facts.sites[index];
        entry.args = list;
        entry.spread = spread;
    }
    let value = walk.facts.of(built, |ty| Expr::Construct(ty, list));
    names::written(walk, &named, value);
    if let Some(fields) = fields.as_ref().and_then(|selector| selector.first(node)) {
        let made = walk.facts.of(built, Expr::OfType);
        shadowing::constructed_fields(walk, fields, made);
        return value;
    }
    if let Some(body) = body.as_ref().and_then(|selector| selector.first(node)) {
        let scope = walk.open(ScopeKind::Type, LocalSymbol::NONE, body);
        if let Some(index) = walk.context.scope.get() {
            walk.facts.facts.scopes[index].owner = built;
        }
        set_member_context(walk, value);
        let inner = walk.context.scope;
        let outer = std::mem::replace(&mut walk.context.callable.self_scope, inner);
        walk.visit_children(body);
        walk.context.callable.self_scope = outer;
        walk.close(scope);
        if *positional {
            positional_fields(walk, body, value);
        }
    }
    value
}

/// Elements without keys write the fields of the constructed value, by their positions.
fn positional_fields<'t>(walk: &mut Walk<'t>, body: Node<'t>, whole: ExprId) {
    let (Expr::Construct(ty, _) | Expr::OfType(ty)) = walk.facts.get(whole) else { return };
    let is_named =
        matches!(walk.facts.get(ty), Expr::Name(..) | Expr::Member(..) | Expr::Apply(..));
    if !is_named {
        return;
    }
    let elements = children::named_children(&walk.input, body);
    let is_keyed = |element: &Node<'t>| {
        matches!(rule_choice::rule_at(&walk.input, *element), Some(Rule::Initializer { .. }))
    };
    if elements.is_empty() || elements.iter().any(is_keyed) {
        return;
    }
    let list = walk.facts.list(&vec![ExprId::NONE; elements.len()]);
    let made = walk.facts.expr(Expr::Construct(ty, list));
    for (position, element) in elements.into_iter().enumerate() {
        let name = walk.facts.name(&position.to_string());
        let field = walk.facts.item(made, position);
        walk.site(Usage::Site(SiteKind::Write), element, name, field);
    }
}

/// The type of a construction with arguments and without a type (`new(1)`): the expected one. The
/// site is where the construction begins.
fn wanted_type<'t>(walk: &mut Walk<'t>, node: Node<'t>, wanted: ExprId) -> ExprId {
    if !wanted.is_some() {
        return ExprId::NONE;
    }
    let usage = Usage::Site(SiteKind::Construct);
    if let Expr::OfType(ty) | Expr::Construct(ty, _) = walk.facts.get(wanted) {
        if let Some(name) = types::named(&walk.facts, ty) {
            walk.site(usage, node, name, ty);
        }
        return ty;
    }
    // The type of a parameter, a member or an element is not written here.
    let ty = walk.facts.expr(Expr::TypeOf(wanted));
    let word = children::first_token(&walk.input, node).map_or("", |token| token.kind());
    let name = walk.facts.name(word);
    walk.site(usage, node, name, ty);
    ty
}

/// A copy of a value, with the members that initializers write.
pub(super) fn copy<'t>(walk: &mut Walk<'t>, node: Node<'t>, of: &'static Selector) -> ExprId {
    let of_node = of.first(node);
    let value = of_node.map_or(ExprId::NONE, |of| walk.visit(of, READ));
    for child in children::named_children(&walk.input, node) {
        if of_node.is_none_or(|of| of.id() != child.id()) {
            shadowing::constructed_part(walk, child, value);
        }
    }
    value
}

/// Construction without a type: its type is the expected one (of the declaration, the member or
/// the item).
fn construct_untyped<'t>(walk: &mut Walk<'t>, node: Node<'t>, positional: bool) -> ExprId {
    let (value, outer) = (walk.context.around.item, walk.context.around);
    let mut parts = SmallVec::<[ExprId; 8]>::new();
    for child in children::named_children(&walk.input, node) {
        set_expected(walk, child, value);
        parts.push(walk.visit(child, READ));
    }
    walk.context.around = outer;
    constructions::element(walk, node, value, &parts);
    if positional {
        positional_fields(walk, node, value);
    }
    value
}

/// Sets the expected type for a part of a constructed value. Other nodes reset it: a
/// construction in the arguments of a call is no part.
fn set_expected<'t>(walk: &mut Walk<'t>, part: Node<'t>, whole: ExprId) {
    match rule_choice::rule_at(&walk.input, part) {
        Some(Rule::Construct { ty: None, .. } | Rule::Initializer { .. } | Rule::Pass { .. }) => {
            set_member_context(walk, whole)
        }
        _ => {
            (walk.context.around.constructed, walk.context.around.item) =
                (ExprId::NONE, ExprId::NONE)
        }
    }
}

/// Visits a value with the expected value `wanted` for a construction without a type.
pub(crate) fn visit_as<'t>(walk: &mut Walk<'t>, value: Node<'t>, wanted: ExprId) -> ExprId {
    let outer = walk.context.around;
    let is_untyped = matches!(
        rule_choice::rule_at(&walk.input, value),
        Some(Rule::Construct { ty: None, .. } | Rule::Pass { .. })
    );
    walk.context.around.constructed = ExprId::NONE;
    walk.context.around.item = if is_untyped { wanted } else { ExprId::NONE };
    let given = walk.visit(value, READ);
    walk.context.around = outer;
    given
}

/// Visits a value; one that is a construction without a type, or has such elements, has the
/// expected one.
pub(crate) fn visit_wanted<'t>(walk: &mut Walk<'t>, value: Node<'t>, wanted: ExprId) -> ExprId {
    match rule_choice::rule_at(&walk.input, value) {
        Some(Rule::Construct { ty: None, args: Some(_), .. }) => visit_as(walk, value, wanted),
        Some(Rule::List { .. }) => {
            walk.context.expected = wanted;
            let value = walk.visit(value, READ);
            walk.context.expected = ExprId::NONE;
            value
        }
        _ => walk.visit(value, READ),
    }
}

/// Sets the expected owner of keys and the expected value of untyped constructions in the body
/// of a constructed value.
fn set_member_context(walk: &mut Walk<'_>, value: ExprId) {
    let (Expr::Construct(ty, _) | Expr::OfType(ty)) = walk.facts.get(value) else {
        walk.context.around.constructed = value;
        walk.context.around.item = walk.facts.of(value, Expr::Element);
        return;
    };
    match walk.facts.get(ty) {
        Expr::Array(item) | Expr::Mapping(_, item) => {
            let item = match walk.facts.get(item) {
                Expr::Wrap(inner, _) => inner,
                _ => item,
            };
            walk.context.around.constructed = ExprId::NONE;
            walk.context.around.item = walk.facts.expr(Expr::OfType(item));
        }
        _ => {
            walk.context.around.constructed = value;
            walk.context.around.item = walk.facts.expr(Expr::Element(value));
        }
    }
}

pub(super) fn initializer<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: &'static Selector,
    value: Option<&'static Selector>,
) -> ExprId {
    let Some(name_node) = name.first(node) else { return walk.visit_children(node) };
    names::visit_computed(walk, name_node);
    let value_node = value.and_then(|selector| selector.first(node));
    let is_designator =
        matches!(walk.input.language.pattern(name_node.kind_id()), Some(Pattern::Name { .. }));
    let is_name = is_designator
        || matches!(rule_choice::rule_at(&walk.input, name_node), Some(Rule::Name { .. }));
    if walk.context.around.constructed.is_some() || walk.context.around.item.is_some() {
        let mut wanted = walk.context.around.item;
        if is_name && walk.context.around.constructed.is_some() {
            let name = names::name_of(walk, name_node);
            wanted = walk.facts.expr(Expr::Member(walk.context.around.constructed, name));
            walk.site(Usage::Site(SiteKind::Write), name_node, name, wanted);
        } else {
            walk.visit(name_node, READ);
        }
        let given = value_node.map_or(ExprId::NONE, |value| visit_as(walk, value, wanted));
        bound_names::give_type(walk, wanted, given);
        return given;
    }
    if let Some((rule, lambda)) =
        value_node.and_then(|value| variables::lambda_in(&walk.input, value))
    {
        let name = names::name_of(walk, name_node);
        if is_name && walk.facts.scope_kind(walk.context.scope) == ScopeKind::Type {
            literals::note_key(walk, name_node, name);
        }
        values::function_value(walk, name, name_node, node, rule, lambda);
        return ExprId::NONE;
    }
    let given = value_node.map_or(ExprId::NONE, |value| walk.visit(value, READ));
    if is_designator {
        // The owner of the member is unknown.
        let name = names::name_of(walk, name_node);
        walk.site(Usage::Site(SiteKind::Write), name_node, name, ExprId::NONE);
    } else if is_name && walk.facts.scope_kind(walk.context.scope) == ScopeKind::Type {
        let name = names::name_of(walk, name_node);
        literals::note_key(walk, name_node, name);
        walk.bind(
            walk.context.scope,
            name,
            BindingKind::Field,
            node.start_byte(),
            ExprId::NONE,
            given,
        );
    }
    ExprId::NONE
}
