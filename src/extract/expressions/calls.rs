//! Calls: callee, arguments, and special calls: imports, tests, casts.

use crate::bindings::{derivation, fields};
use crate::definitions::constructions;
use crate::expressions::{construct, values};
use crate::facts::builder::Builder;
use crate::types;
use crate::walk::input::Input;
use crate::walk::position::offset;
use crate::walk::{READ, Usage, Walk, children, fallback, names, rule_choice, texts};
use cograph_grammar::{CallMeaning, ImplicitUse, Rule, Selector, TypeRule};
use cograph_model::SiteKind;
use cograph_model::facts::{Expr, ExprId, Run, Synthetic};
use tree_sitter::Node;

/// Calls the member of the base that the enclosing callable overrides.
pub(super) fn super_call<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    args: Option<&'static Selector>,
) -> ExprId {
    let args_node = args.and_then(|selector| selector.first(node));
    let Some(symbol) = walk.context.callable.named.get() else {
        fallback::computed_call(walk, node, SiteKind::Call);
        return walk.visit_children(node);
    };
    let name = walk.facts.facts.symbols[symbol].name;
    let base = walk.facts.expr(Expr::SuperValue(walk.context.callable.self_scope));
    let member = walk.facts.expr(Expr::Member(base, name));
    walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Call), node, name, member);
    let site = walk.take_call_site();
    let (list, spread, _) = construct::arguments(walk, args_node);
    if let Some(index) = site.get() {
        let entry = &mut walk.facts.sites[index];
        entry.args = list;
        entry.spread = spread || args_node.is_none();
    }
    walk.facts.expr(Expr::Call(member, list))
}

pub(super) fn call<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Call { callee, object, name, args, trailing, type_args, closure, suffix, evaluates } =
        rule
    else {
        return ExprId::NONE;
    };
    let args_node = args.as_ref().and_then(|selector| selector.first(node));
    let mut callee_node = callee.as_ref().and_then(|selector| selector.first(node));
    if let (Some(callee), Some(args)) = (callee_node, args_node) {
        if let Some(module) = values::import_call(walk, node, callee, args) {
            return module;
        }
        if let Some(title) = values::test_title(&walk.input, callee, args) {
            return values::test_call(walk, node, callee, args, title);
        }
    }
    // Some grammars parse `await f<T>(x)` as a call of the result of awaiting `f`.
    let awaited =
        match callee_node.map(|callee| (callee, rule_choice::rule_at(&walk.input, callee))) {
            Some((awaits, Some(Rule::Await { of: None })))
                if type_args.as_ref().is_some_and(|s| s.first(node).is_some()) =>
            {
                callee_node = children::first_named_child(&walk.input, awaits);
                true
            }
            _ => false,
        };
    let usage = Usage::Site(SiteKind::Call);
    walk.take_call_site();
    let callee_value = match name.as_ref().and_then(|selector| selector.first(node)) {
        Some(name_node) => match object.as_ref().and_then(|selector| selector.first(node)) {
            Some(object_node) => {
                let object = walk.visit(object_node, READ);
                let object = names::known(&mut walk.facts, object);
                let mut name = names::name_of(walk, name_node);
                if let Some(suffix) = suffix {
                    name = names::with_suffix(walk, name, suffix);
                }
                let value = walk.facts.expr(Expr::Member(object, name));
                walk.take_call_site();
                walk.site(usage, name_node, name, value);
                value
            }
            None => walk.visit(name_node, usage),
        },
        None if let Some(value) = called_value(walk, node, object.as_ref()) => value,
        None => {
            let Some(callee_node) = callee_node else {
                fallback::computed_call(walk, node, SiteKind::Call);
                return walk.visit_children(node);
            };
            if let Some(cast) = cast_call(walk, callee_node) {
                construct::arguments(walk, args_node);
                return cast;
            }
            let value = walk.visit(callee_node, usage);
            if value.is_some()
                && !matches!(
                    walk.facts.get(value),
                    Expr::Name(..) | Expr::Member(..) | Expr::SuperValue(_)
                )
            {
                walk.take_call_site();
                let is_self = matches!(
                    rule_choice::rule_at(&walk.input, callee_node),
                    Some(Rule::SelfValue { .. })
                );
                // A call without a name is where its arguments begin.
                let (name, at) = match is_self {
                    true => (names::name_of(walk, callee_node), callee_node),
                    false => {
                        let unnamed = walk.facts.synthetic(Synthetic::UnnamedCallee);
                        (unnamed, args_node.unwrap_or(callee_node))
                    }
                };
                walk.site(usage, at, name, value);
            }
            value
        }
    };
    if !walk.context.call_site.is_some() {
        fallback::computed_call(walk, callee_node.unwrap_or(node), SiteKind::Call);
    }
    let site = walk.take_call_site();
    let made = callee_node.and_then(|callee| made_type(&walk.input, callee));
    let mut written = Vec::new();
    let sites = walk.facts.sites.len();
    for args in children::every(&walk.input, type_args.as_ref(), node) {
        // Type arguments inside of the callee may have been visited with it.
        let inside = offset(args.start_byte())..offset(args.end_byte());
        let start = offset(node.start_byte());
        let mut around = walk.facts.sites.iter().rev().take_while(|site| site.byte >= start);
        let is_visited = around.any(|site| inside.contains(&site.byte));
        for ty in types::visit_types(walk, args, Usage::Site(SiteKind::Type)) {
            written.push(names::known(&mut walk.facts, ty));
        }
        if is_visited {
            walk.facts.sites.truncate(sites);
        }
    }
    let applied = match walk.input.language.manifest.resolution.type_arguments {
        true => types::applied(&mut walk.facts, callee_value, &written),
        false => callee_value,
    };
    let trailing = trailing.as_ref().and_then(|selector| selector.first(node));
    let outer = std::mem::take(&mut walk.context.named);
    let gathered = gathered_items(walk, callee_node, args_node);
    let (list, spread, count) = match gathered {
        Some(_) => (walk.facts.list(&[ExprId::NONE]), false, 1),
        None => {
            walk.context.callee = applied;
            construct::all_arguments(walk, args_node, trailing)
        }
    };
    let named = std::mem::replace(&mut walk.context.named, outer);
    if let Some(index) = site.get() {
        let entry = &mut walk.facts.sites[index];
        entry.args = list;
        entry.spread = spread;
    }
    if let Some(ty) = made {
        constructions::made(walk, ty, list);
    }
    derivation::by_call(walk, callee_value, list);
    if count == 0 && is_super_call(&walk.input, &walk.facts, callee_value) {
        if let Some(index) = site.get() {
            walk.facts.sites[index].kind = SiteKind::Call;
        }
        return walk.facts.expr(Expr::SuperValue(walk.context.scope));
    }
    let callee_value = applied;
    if suffix.is_some()
        && let Expr::Member(object, _) = walk.facts.get(callee_value)
        && let Some(name_node) = name.as_ref().and_then(|selector| selector.first(node))
        && let [value] = *walk.facts.items(list)
    {
        let name = names::name_of(walk, name_node);
        fields::set_accessor(walk, object, name, value);
    }
    let closure = closure.as_ref().and_then(|selector| selector.first(node));
    let object = match callee_value.is_some().then(|| walk.facts.get(callee_value)) {
        Some(Expr::Member(object, _)) if evaluates.is_some() => object,
        _ => ExprId::NONE,
    };
    let receiver = walk.facts.of(object, Expr::TypeOf);
    let list = closure.map_or(list, |closure| with_closure(walk, list, closure, receiver));
    let value = match gathered {
        Some(items) => gathered_value(walk, callee_value, &items),
        // The holder of what is made is transparent.
        None if made.is_some() && !written.is_empty() => walk.facts.of(written[0], Expr::OfType),
        None => walk.facts.of(callee_value, |callee| Expr::Call(callee, list)),
    };
    names::written(walk, &named, value);
    if walk.input.language.manifest.narrowing.guards && count > 0 {
        walk.context.calls.insert(node.id(), value);
    }
    if awaited { walk.facts.of(value, Expr::Await) } else { value }
}

/// Visits a call of a value without the name of the member that it calls (`value.()`).
fn called_value<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    object: Option<&'static Selector>,
) -> Option<ExprId> {
    let member = walk.input.language.manifest.names.member_behind(ImplicitUse::Call)?;
    let object_node = object?.first(node)?;
    let object = walk.visit(object_node, READ);
    let object = names::known(&mut walk.facts, object);
    let name = walk.facts.name(member);
    let value = walk.facts.expr(Expr::Member(object, name));
    walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Call), object_node.next_sibling().unwrap_or(node), name, value);
    Some(value)
}

/// Visits the items of the list that a call gathers; none if it gathers no list in place.
fn gathered_items<'t>(
    walk: &mut Walk<'t>,
    callee: Option<Node<'t>>,
    args: Option<Node<'t>>,
) -> Option<Vec<ExprId>> {
    let names = &walk.input.language.manifest.names;
    if !names.has_calls(CallMeaning::Gather)
        || names.special_calls.get(texts::text_of(&walk.input, callee?))
            != Some(&CallMeaning::Gather)
    {
        return None;
    }
    let list = children::only_named_child(&walk.input, args?)?;
    let rule = |node: Node<'t>| rule_choice::rule_at(&walk.input, node);
    let items = children::named_children(&walk.input, list);
    let has_spread = items.iter().any(|item| matches!(rule(*item), Some(Rule::Spread {})));
    if !matches!(rule(list), Some(Rule::List { .. })) || has_spread {
        return None;
    }
    Some(items.into_iter().map(|item| walk.visit(item, READ)).collect())
}

/// Returns the value of a call that gathers: of the type before its name, with the awaited items.
fn gathered_value(walk: &mut Walk<'_>, callee: ExprId, items: &[ExprId]) -> ExprId {
    let Expr::Member(object, _) = walk.facts.get(callee) else { return ExprId::NONE };
    let Expr::Name(name, _) = walk.facts.get(object) else { return ExprId::NONE };
    let mut parts = Vec::with_capacity(items.len());
    for item in items {
        let awaited = walk.facts.of(*item, Expr::Await);
        parts.push(names::known(&mut walk.facts, awaited));
    }
    let parts = walk.facts.list(&parts);
    let (base, tuple) = (walk.facts.literal(name), walk.facts.expr(Expr::Tuple(parts)));
    types::applied(&mut walk.facts, base, &[tuple])
}

/// Visits a closure behind the arguments of a call; returns these with it. `receiver`: the type of
/// that of the closure, if it has one of its own.
fn with_closure<'t>(walk: &mut Walk<'t>, list: Run, closure: Node<'t>, receiver: ExprId) -> Run {
    let closure = walk.visit(closure, READ);
    if closure.is_some()
        && let Expr::Lambda(scope) = walk.facts.get(closure)
        && let Some(scope) = scope.get()
    {
        walk.facts.facts.scopes[scope].owner = receiver;
    }
    let closure = names::known(&mut walk.facts, closure);
    let mut values = walk.facts.items(list).to_vec();
    values.push(closure);
    walk.facts.list(&values)
}

/// Call with the result type as a type argument (`static_cast<T>(…)`): returns a value of that
/// type.
fn cast_call<'t>(walk: &mut Walk<'t>, callee: Node<'t>) -> Option<ExprId> {
    let names = &walk.input.language.manifest.names;
    if !names.has_calls(CallMeaning::Cast) {
        return None;
    }
    let (name, arguments) = applied(&walk.input, callee)?;
    if names.special_calls.get(name) != Some(&CallMeaning::Cast) {
        return None;
    }
    let types = types::visit_types(walk, arguments, Usage::Site(SiteKind::Type));
    let ty = types.first().copied().unwrap_or(ExprId::NONE);
    Some(walk.facts.of(ty, Expr::OfType))
}

/// Returns the type that a call makes an instance of, the first type argument of its callee.
fn made_type<'t>(input: &Input<'t>, callee: Node<'t>) -> Option<Node<'t>> {
    let names = &input.language.manifest.names;
    if !names.has_calls(CallMeaning::Construct) {
        return None;
    }
    let (head, arguments) = applied(input, callee)?;
    let name = head.rsplit([':', '.']).next().unwrap_or(head);
    if names.special_calls.get(name) != Some(&CallMeaning::Construct) {
        return None;
    }
    children::first_named_child(input, arguments)
}

/// Returns the type arguments at the end of a callee, and what is before them.
fn applied<'t>(input: &Input<'t>, callee: Node<'t>) -> Option<(&'t str, Node<'t>)> {
    let mut arguments = children::last_named_child(callee)?;
    while !matches!(input.language.type_rule(arguments.kind_id()), Some(TypeRule::Each {})) {
        arguments = children::last_named_child(arguments)?;
    }
    let head = arguments.start_byte() - callee.start_byte();
    Some((texts::text_of(input, callee).get(..head)?.trim_end(), arguments))
}

fn is_super_call(input: &Input<'_>, facts: &Builder, callee: ExprId) -> bool {
    let Expr::Name(name, _) = facts.get(callee) else { return false };
    let text = facts.text(name);
    input.language.manifest.names.special_calls.get(text) == Some(&CallMeaning::Base)
}
