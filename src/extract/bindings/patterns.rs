//! Destructuring patterns in declarations, parameters, loops and cases, and the names they bind.

use crate::bindings::bound_names::{Bind, Flow};
use crate::bindings::{bound_names, fields, implied, stated_types};
use crate::facts::builder::Builder;
use crate::types;
use crate::walk::children::Children;
use crate::walk::input::Input;
use crate::walk::{READ, Usage, Walk, children, names, rule_choice, texts};
use cograph_grammar::{Pattern, Rule, Selector, Yielded};
use cograph_model::facts::{Expr, ExprId, LocalSymbol, NameId};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Binds the names in a pattern. Returns the symbol if the pattern is a single name that became
/// one.
pub(crate) fn bind_pattern<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    flow: Flow<'t>,
    how: Bind,
) -> LocalSymbol {
    walk.nested(node, LocalSymbol::NONE, |walk| bind_nested(walk, node, flow, how))
}

fn bind_nested<'t>(walk: &mut Walk<'t>, node: Node<'t>, flow: Flow<'t>, how: Bind) -> LocalSymbol {
    if let Some(pattern) = walk.input.language.pattern(node.kind_id()) {
        return apply_pattern(walk, pattern, node, flow, how);
    }
    match rule_choice::rule_at(&walk.input, node) {
        Some(Rule::Name { .. }) => return bound_names::bind_name(walk, node, flow, how),
        Some(Rule::Member { object: Some(object), name, .. }) => {
            fields::bind_member(walk, node, object, name, flow)
        }
        Some(Rule::Field {}) => fields::bind_field(walk, node, flow),
        Some(Rule::Index { object, key }) if walk.input.language.has_operator_methods() => {
            let object = walk.visit_selected(node, Some(object), READ);
            let keys: Vec<ExprId> = children::every(&walk.input, key.as_ref(), node)
                .into_iter()
                .map(|key| walk.visit(key, READ))
                .collect();
            implied::subscript(walk, node, object, &keys, Some(flow.value));
        }
        Some(Rule::Tuple {}) => {
            for (position, child) in
                children::named_children(&walk.input, node).into_iter().enumerate()
            {
                let value = walk.facts.item(flow.value, position);
                bind_pattern(walk, child, Flow { ty: ExprId::NONE, value, node: flow.node }, how);
            }
        }
        _ => {
            let target = walk.visit(node, READ);
            stated_types::of_target(walk, flow.value, target, node);
        }
    }
    LocalSymbol::NONE
}

fn apply_pattern<'t>(
    walk: &mut Walk<'t>,
    pattern: &'static Pattern,
    node: Node<'t>,
    flow: Flow<'t>,
    how: Bind,
) -> LocalSymbol {
    match pattern {
        Pattern::Skip {} => {}
        Pattern::Name { capitals: true }
            if texts::text_of(&walk.input, node).starts_with(char::is_uppercase) =>
        {
            walk.visit(node, READ);
        }
        Pattern::Name { .. } => return bound_names::bind_name(walk, node, flow, how),
        Pattern::Items {} => {
            let value = walk.facts.of(flow.value, Expr::Element);
            for child in children::named_children(&walk.input, node) {
                bind_pattern(walk, child, Flow { ty: ExprId::NONE, value, node: flow.node }, how);
            }
        }
        Pattern::Pass { of } => {
            let child = match of {
                Some(selector) => selector.first(node),
                None => children::last_named_child(node),
            };
            if let Some(child) = child {
                return bind_pattern(walk, child, flow, how);
            }
        }
        Pattern::Element { of, key } => {
            walk.visit_selected(node, key.as_ref(), READ);
            if let Some(child) = of.first(node) {
                bind_pattern(
                    walk,
                    child,
                    Flow { ty: ExprId::NONE, value: ExprId::NONE, node: flow.node },
                    how,
                );
            }
        }
        Pattern::Tuple { single } => {
            let children = pattern_parts(&walk.input, node);
            let alone = *single && children.len() == 1;
            for (position, child) in children.into_iter().enumerate() {
                if alone {
                    return bind_pattern(walk, child, flow, how);
                }
                let value = walk.facts.item(flow.value, position);
                let ty = walk
                    .facts
                    .of(flow.ty, |ty| Expr::Item(ty, u32::try_from(position).unwrap_or(u32::MAX)));
                bind_pattern(walk, child, Flow { ty, value, node: flow.node }, how);
            }
        }
        Pattern::Targets {} => {
            let children = children::named_children(&walk.input, node);
            if let [only] = children[..] {
                return bind_pattern(walk, only, flow, how);
            }
            let several = matches!(walk.facts.get(flow.value), Expr::Tuple(_) | Expr::Call(..));
            for (position, child) in children.into_iter().enumerate() {
                // Any other value belongs to the first target: further ones receive parts
                // without an expression, such as a flag for its presence.
                let value = match (several, position) {
                    (true, _) => walk.facts.item(flow.value, position),
                    (false, 0) => flow.value,
                    (false, _) => ExprId::NONE,
                };
                bind_pattern(walk, child, Flow { ty: ExprId::NONE, value, node: flow.node }, how);
            }
        }
        Pattern::Rest { of, .. } => {
            let child = match of {
                Some(selector) => selector.first(node),
                None => pattern_parts(&walk.input, node).first().copied(),
            };
            if let Some(child) = child {
                let ty = if matches!(how, Bind::Param) { flow.ty } else { ExprId::NONE };
                bind_pattern(walk, child, Flow { ty, value: ExprId::NONE, node: flow.node }, how);
            }
        }
        Pattern::Default { of, value } => {
            let default = walk.visit_selected(node, Some(value), READ);
            if let Some(child) = of.first(node) {
                let value = walk.facts.union(&[flow.value, default]);
                bind_pattern(walk, child, Flow { value, ..flow }, how);
            }
        }
        Pattern::Fields { ty } => bind_fields(walk, node, ty.as_ref(), flow, how),
        Pattern::Field { .. } | Pattern::Shorthand {} => {
            bind_field(walk, pattern, node, flow, how, ExprId::NONE)
        }
        Pattern::Variant { ty } => {
            let variant = match ty.first(node) {
                Some(ty) => walk.visit(ty, READ),
                None => ExprId::NONE,
            };
            let parts = pattern_parts(&walk.input, node);
            let mut counted = true;
            for (position, child) in parts.into_iter().skip(1).enumerate() {
                counted &= !matches!(
                    walk.input.language.pattern(child.kind_id()),
                    Some(Pattern::Rest { .. })
                );
                let position = u32::try_from(position).unwrap_or(u32::MAX);
                let value = if counted {
                    variant_part(&mut walk.facts, variant, flow.value, position)
                } else {
                    ExprId::NONE
                };
                bind_pattern(walk, child, Flow { ty: ExprId::NONE, value, node: flow.node }, how);
            }
        }
        Pattern::Both { name, of, ty } => {
            let ty = ty.as_ref().and_then(|selector| selector.first(node));
            let ty = ty.map_or(ExprId::NONE, |ty| {
                types::visit_type(walk, ty, Usage::Site(SiteKind::Type))
            });
            let mut flow =
                if ty.is_some() { Flow { ty, value: ExprId::NONE, ..flow } } else { flow };
            if let Some(inner) = of.as_ref().and_then(|selector| selector.first(node)) {
                bind_pattern(walk, inner, flow, how);
                let stated = stated_type(walk, inner);
                if stated.is_some() {
                    flow = Flow { ty: stated, value: ExprId::NONE, ..flow };
                }
            }
            if let Some(name) = name.as_ref().and_then(|selector| selector.first(node)) {
                return bind_pattern(walk, name, flow, how);
            }
        }
        Pattern::Compare {} => {
            walk.visit(node, READ);
        }
        Pattern::Either {} => {
            for child in children::named_children(&walk.input, node) {
                bind_pattern(walk, child, flow, how);
            }
        }
    }
    LocalSymbol::NONE
}

/// Returns the type that a pattern of members states, possibly inside of transparent nodes.
fn stated_type<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    match walk.input.language.pattern(node.kind_id()) {
        Some(Pattern::Pass { .. }) => children::only_named_child(&walk.input, node)
            .map_or(ExprId::NONE, |only| stated_type(walk, only)),
        Some(Pattern::Fields { ty: Some(ty) }) => {
            ty.first(node).map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, Usage::Silent))
        }
        _ => ExprId::NONE,
    }
}

/// Returns the parts of a pattern, including placeholders without a binding, which have a
/// position.
pub(crate) fn pattern_parts<'t>(input: &Input<'t>, node: Node<'t>) -> Children<'t> {
    let ignored = &input.language.manifest.names.ignored;
    let mut parts = children::children(input, node);
    parts.retain(|part| match part.is_named() {
        true => !part.is_extra(),
        false => ignored.iter().any(|word| word == part.kind()),
    });
    parts
}

/// Returns a part of a variant: of the declared one, or of the matched value's member with the
/// variant's name.
fn variant_part(facts: &mut Builder, variant: ExprId, value: ExprId, position: u32) -> ExprId {
    let name = match facts.get(variant) {
        Expr::Name(name, _) | Expr::Member(_, name) => name,
        _ => NameId::NONE,
    };
    let of_variant = facts.of(variant, |variant| Expr::Item(variant, position));
    if !value.is_some() || !name.is_some() {
        return of_variant;
    }
    let held = facts.expr(Expr::Member(value, name));
    let of_value = facts.expr(Expr::Item(held, position));
    facts.union(&[of_variant, of_value])
}

fn bind_fields<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    ty: Option<&'static Selector>,
    flow: Flow<'t>,
    how: Bind,
) {
    let ty_node = ty.and_then(|selector| selector.first(node));
    let value = match ty_node {
        Some(ty) => {
            let ty = types::visit_type(walk, ty, READ);
            walk.facts.of(ty, Expr::OfType)
        }
        None if flow.ty.is_some() => walk.facts.expr(Expr::OfType(flow.ty)),
        None => flow.value,
    };
    for child in children::named_children(&walk.input, node) {
        if ty_node.is_some_and(|ty| ty.id() == child.id()) {
            continue;
        }
        let flow = Flow { ty: ExprId::NONE, value, node: flow.node };
        match walk.input.language.pattern(child.kind_id()) {
            Some(pattern @ (Pattern::Field { .. } | Pattern::Shorthand {})) => {
                bind_field(walk, pattern, child, flow, how, ExprId::NONE);
            }
            Some(Pattern::Default { of, value }) => {
                let default = walk.visit_selected(child, Some(value), READ);
                let Some(of) = of.first(child) else { continue };
                match walk.input.language.pattern(of.kind_id()) {
                    Some(pattern @ (Pattern::Field { .. } | Pattern::Shorthand {})) => {
                        bind_field(walk, pattern, of, flow, how, default);
                    }
                    _ => drop(bind_pattern(walk, of, flow, how)),
                }
            }
            // The rest has the members of the whole.
            Some(Pattern::Rest { of, .. }) => {
                let rest = match of {
                    Some(selector) => selector.first(child),
                    None => pattern_parts(&walk.input, child).first().copied(),
                };
                if let Some(rest) = rest {
                    bind_pattern(walk, rest, flow, how);
                }
            }
            // A part without a field name is no known member.
            _ if !is_field(&walk.input, child) => {
                bind_pattern(walk, child, Flow { value: ExprId::NONE, ..flow }, how);
            }
            _ => {
                bind_pattern(walk, child, flow, how);
            }
        }
    }
}

/// True if a pattern is a field, possibly inside transparent nodes.
fn is_field<'t>(input: &Input<'t>, node: Node<'t>) -> bool {
    let mut next = Some(node);
    while let Some(node) = next {
        match input.language.pattern(node.kind_id()) {
            Some(Pattern::Field { .. } | Pattern::Shorthand {}) => return true,
            Some(Pattern::Pass { .. }) => next = children::last_named_child(node),
            _ => return false,
        }
    }
    false
}

fn bind_field<'t>(
    walk: &mut Walk<'t>,
    pattern: &'static Pattern,
    node: Node<'t>,
    flow: Flow<'t>,
    how: Bind,
    default: ExprId,
) {
    let (key, target) = match pattern {
        Pattern::Field { key, value } => {
            let key = key.first(node);
            (key, value.as_ref().and_then(|selector| selector.first(node)).or(key))
        }
        _ => (Some(node), Some(node)),
    };
    let (Some(key), Some(target)) = (key, target) else { return };
    names::visit_computed(walk, key);
    let member = key_of(walk, key, flow.value);
    let flow = Flow { value: walk.facts.union(&[member, default]), ..flow };
    if target.id() == key.id() {
        bound_names::bind_name(walk, target, flow, how);
    } else {
        bind_pattern(walk, target, flow, how);
    }
}

/// Reads the member of a value that a key names, or by a path the member of a member.
fn key_of<'t>(walk: &mut Walk<'t>, key: Node<'t>, of: ExprId) -> ExprId {
    if let Some(Rule::Member { object: Some(object), name, .. }) =
        rule_choice::rule_at(&walk.input, key)
        && let (Some(object), Some(name)) = (object.first(key), name.first(key))
    {
        let of = walk.nested(key, ExprId::NONE, |walk| key_of(walk, object, of));
        return key_of(walk, name, of);
    }
    let name = names::name_of(walk, key);
    let member = walk.facts.of(of, |value| Expr::Member(value, name));
    if member.is_some() {
        walk.site(READ, key, name, member);
    }
    member
}

/// Binds the variables of a loop.
pub(super) fn bind_loop<'t>(
    walk: &mut Walk<'t>,
    pattern: Node<'t>,
    iterable: ExprId,
    yielded: Yielded,
    before: Node<'t>,
    ty: ExprId,
) {
    let element = walk.facts.of(iterable, Expr::Element);
    let key = walk.facts.of(iterable, Expr::Key);
    let how = loop_binding(&walk.input);
    // The items are bound from the pattern, or the iterable, on, not behind the loop.
    let flow = |value| Flow { ty, value, node: before };
    match yielded {
        Yielded::Items => {
            bind_pattern(walk, pattern, flow(element), how);
        }
        Yielded::Keys => {
            bind_pattern(walk, pattern, flow(key), how);
        }
        Yielded::KeyAndItem => {
            let parts =
                if matches!(rule_choice::rule_at(&walk.input, pattern), Some(Rule::Name { .. })) {
                    smallvec::smallvec![pattern]
                } else {
                    children::named_children(&walk.input, pattern)
                };
            for (part, value) in parts.into_iter().zip([key, element]) {
                bind_pattern(walk, part, flow(value), how);
            }
        }
    }
}

fn loop_binding(input: &Input<'_>) -> Bind {
    if input.language.manifest.resolution.function_scoped {
        Bind::AssignNew
    } else {
        Bind::Declare(SymbolKind::Variable)
    }
}
