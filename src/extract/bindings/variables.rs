//! Variables: declarations and assignments, and the kinds of bindings they create.

use crate::bindings::bound_names::{Bind, Flow};
use crate::bindings::{bound_names, patterns};
use crate::facts::text;
use crate::imports::export;
use crate::types;
use crate::walk::input::Input;
use crate::walk::{
    Definition, Pending, READ, Surroundings, Usage, Walk, children, names, rule_choice, texts,
};
use cograph_grammar::{ModifierMeaning, Pattern, Rule, Selector};
use cograph_model::facts::{
    BindingKind, Expr, ExprId, LocalSymbol, Run, ScopeKind, Wrapper, flags,
};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Maximum number of nodes from the base of an object literal to the call that makes it one.
const MAX_ABOVE: usize = 4;

/// True if modifiers before a definition make its value constant.
pub(crate) fn is_constant(input: &Input<'_>, words: &[&str]) -> bool {
    input.language.manifest.modifiers.have(words, ModifierMeaning::Constant)
}

/// Returns the words among a node's own tokens and modifier nodes.
pub(crate) fn words<'t>(input: &Input<'t>, node: Node<'t>) -> Vec<&'t str> {
    let mut words = Vec::new();
    for child in children::children(input, node) {
        if !child.is_named() || input.language.is_modifier_node(child.kind_id()) {
            words.extend(texts::text_of(input, child).split_whitespace());
        }
    }
    words
}

/// True if a declaration or declarator has a modifier that makes its target constant.
pub(crate) fn is_read_only<'t>(input: &Input<'t>, node: Node<'t>) -> bool {
    let modifiers = &input.language.manifest.modifiers;
    modifiers.has_modifier(ModifierMeaning::ReadOnly)
        && children::named_children(input, node).into_iter().any(|child| {
            input.language.is_modifier_node(child.kind_id())
                && modifiers.have(&[texts::text_of(input, child)], ModifierMeaning::ReadOnly)
        })
}

/// Applies the modifiers of a declaration to its type.
pub(crate) fn qualified(walk: &mut Walk<'_>, ty: ExprId, is_read_only: bool) -> ExprId {
    if !is_read_only {
        return ty;
    }
    walk.facts.of(ty, |ty| Expr::Wrap(ty, Wrapper::ReadOnly))
}

pub(crate) fn variable<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Variable {
        kind,
        name,
        ty,
        value,
        params,
        base,
        embeds,
        body,
        receiver,
        accessors,
        ..
    } = rule
    else {
        return ExprId::NONE;
    };
    let base = base.as_ref().and_then(|selector| selector.first(node));
    let expected = std::mem::replace(&mut walk.context.expected, ExprId::NONE);
    let pending = std::mem::take(&mut walk.context.pending);
    walk.context.pending.comment = pending.comment;
    walk.context.pending.decorators = pending.decorators;
    walk.visit_modifiers(node);
    let pending = std::mem::take(&mut walk.context.pending);
    let names = children::every(&walk.input, Some(name), node);
    if names.is_empty() && *embeds {
        walk.context.pending = pending;
        return walk.embedded_field(node, ty.as_ref());
    }
    let mut kind = bound_names::variable_kind(&walk.context, *kind);
    if kind == SymbolKind::Variable {
        let words = self::words(&walk.input, node);
        if is_constant(&walk.input, &words) {
            kind = SymbolKind::Constant;
        }
    }
    walk.context.pending.comment = pending.comment;
    let declared = match ty.as_ref().and_then(|selector| selector.first(node)) {
        Some(ty) => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        None => {
            let declared = walk.context.around.declared;
            walk.or_documented_variable(declared, node)
        }
    };
    walk.context.pending.comment = None;
    let mut values = children::every(&walk.input, value.as_ref(), node);
    if let ([name_node], [value_node]) = (&names[..], &mut values[..]) {
        *value_node = walk.exported_value(*name_node, *value_node);
        if walk.import_value(*name_node, *value_node) {
            return ExprId::NONE;
        }
        if !walk.input.language.manifest.resolution.closures_are_values
            && is_plain_name(&walk.input, *name_node)
        {
            let name = names::name_of(walk, *name_node);
            walk.context.pending = pending.clone();
            walk.context.held_as =
                if lambda_in(&walk.input, *value_node).is_some() { declared } else { ExprId::NONE };
            let first = LocalSymbol::at(walk.facts.facts.symbols.len());
            if walk.named_value(name, *name_node, node, *value_node)
                || walk.object_value(name, *name_node, node, *value_node, declared, kind)
            {
                if base.is_some() {
                    let scopes = &walk.facts.facts.scopes;
                    let object = scopes.iter().rposition(|scope| scope.symbol == first);
                    inherit(walk, object, base);
                }
                return ExprId::NONE;
            }
            walk.context.pending = Pending::default();
        }
    }
    let wanted = walk.facts.of(declared, Expr::OfType);
    let mut given: Vec<ExprId> =
        values.iter().map(|value| walk.visit_wanted(*value, wanted)).collect();
    if expected.is_some() && given.is_empty() && !declared.is_some() {
        given.push(expected);
    }
    if let Some(Expr::Members(scope)) = given.first().map(|value| walk.facts.get(*value)) {
        inherit(walk, scope.get(), base);
    }
    let owner = receiver
        .as_ref()
        .and_then(|selector| selector.first(node))
        .map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, Usage::Site(SiteKind::Type)));
    if let Some(result) = self::accessors(walk, node, accessors, owner)
        && given.is_empty()
    {
        given.push(result);
    }
    let around = walk.context.around;
    if owner.is_some() {
        walk.context.around.owner = owner;
        walk.context.around.detached = true;
    }
    for (position, name_node) in names.iter().enumerate() {
        let value = match given[..] {
            [] => ExprId::NONE,
            [one] if names.len() > 1 => walk.facts.item(one, position),
            _ => given.get(position).copied().unwrap_or(ExprId::NONE),
        };
        walk.context.pending = pending.clone();
        let flow = Flow { ty: declared, value, node };
        let symbol = match rule_choice::rule_at(&walk.input, *name_node) {
            Some(Rule::Text { .. }) => {
                let name = names::name_of(walk, *name_node);
                bound_names::declare_name(walk, *name_node, name, flow, kind)
            }
            Some(Rule::Name { .. }) => {
                bound_names::bind_name(walk, *name_node, flow, Bind::Declare(kind))
            }
            _ => patterns::bind_pattern(walk, *name_node, flow, Bind::Declare(kind)),
        };
        if symbol.is_some() && matches!(walk.facts.get(value), Expr::Lambda(_)) {
            walk.facts.symbol_mut(symbol).flags |= flags::FUNCTION_VALUE;
        }
        variant_parts(walk, symbol, node, params.as_ref(), body.as_ref());
    }
    walk.context.around = around;
    // A variable that is declared as an argument is its value.
    if expected.is_some() { wanted } else { ExprId::NONE }
}

/// Makes the members of a value those of an object literal as well. The call around both is a
/// reference of its own.
fn inherit<'t>(walk: &mut Walk<'t>, scope: Option<usize>, base: Option<Node<'t>>) {
    let (Some(scope), Some(base_node)) = (scope, base) else { return };
    let base = walk.visit(base_node, READ);
    walk.facts.facts.scopes[scope].owner = base;
    let calls = std::iter::successors(base_node.parent(), Node::parent).take(MAX_ABOVE);
    for around in calls {
        if let Some(Rule::Call { callee: Some(callee), .. }) =
            rule_choice::rule_at(&walk.input, around)
            && let Some(callee) = callee.first(around)
        {
            walk.visit(callee, Usage::Site(SiteKind::Call));
            walk.take_call_site();
            return;
        }
    }
}

/// Visits the accessors of a property, which see the receiver of an extension. Returns the result
/// of the first one.
fn accessors<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    accessors: &'static [Selector],
    owner: ExprId,
) -> Option<ExprId> {
    let found: Vec<Node<'t>> =
        accessors.iter().filter_map(|selector| selector.first(node)).collect();
    if found.is_empty() {
        return None;
    }
    let (before, callable) = (walk.context.around, walk.context.callable);
    let scope = walk.open(ScopeKind::Block, LocalSymbol::NONE, node);
    if owner.is_some()
        && let Some(position) = walk.context.scope.get()
    {
        walk.facts.facts.scopes[position].owner = owner;
        walk.context.callable.self_scope = walk.context.scope;
    }
    let mut result = None;
    for accessor in found {
        let closure = walk.visit(accessor, READ);
        let none = walk.facts.list(&[]);
        let value = walk.facts.of(closure, |closure| Expr::Call(closure, none));
        result = result.or(Some(value));
    }
    walk.close(scope);
    (walk.context.around, walk.context.callable) = (before, callable);
    result
}

/// Defines positional or named parts of a variant.
fn variant_parts<'t>(
    walk: &mut Walk<'t>,
    symbol: LocalSymbol,
    node: Node<'t>,
    params: Option<&Selector>,
    body: Option<&Selector>,
) {
    if !symbol.is_some() {
        return;
    }
    if let Some(list) = params.and_then(|selector| selector.first(node)) {
        let mut parts = Vec::new();
        for part in children::named_children(&walk.input, list) {
            let is_mark =
                matches!(rule_choice::rule_at(&walk.input, part), Some(Rule::Decorator { .. }));
            if !is_mark && !walk.input.language.is_modifier_node(part.kind_id()) {
                let ty = types::visit_type(walk, part, Usage::Site(SiteKind::Type));
                parts.push(names::known(&mut walk.facts, ty));
            }
        }
        let list = walk.facts.list(&parts);
        let tuple = walk.facts.expr(Expr::Tuple(list));
        walk.facts.symbol_mut(symbol).ty = tuple;
    }
    if let Some(body) = body.and_then(|selector| selector.first(node)) {
        let signature =
            text::signature(&texts::text_at(&walk.input, node.start_byte()..body.start_byte()));
        walk.facts.details_mut(symbol).signature = signature;
        let scope = walk.open(ScopeKind::Type, symbol, body);
        let inner = walk.context.scope;
        walk.facts.symbol_mut(symbol).inner = inner;
        walk.visit_children(body);
        walk.close(scope);
    }
}

pub(crate) fn variants<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    for child in children::named_children(&walk.input, node) {
        if matches!(rule_choice::rule_at(&walk.input, child), Some(Rule::Name { .. })) {
            let flow = Flow { ty: ExprId::NONE, value: ExprId::NONE, node: child };
            patterns::bind_pattern(walk, child, flow, Bind::Declare(SymbolKind::Variant));
        } else {
            walk.visit(child, READ);
        }
    }
    ExprId::NONE
}

/// Returns the closure that a node is, possibly inside transparent nodes.
pub(crate) fn lambda_in<'t>(
    input: &Input<'t>,
    node: Node<'t>,
) -> Option<(&'static Rule, Node<'t>)> {
    match rule_choice::rule_at(input, node)? {
        rule @ Rule::Lambda { .. } => Some((rule, node)),
        Rule::Pass { of: None } | Rule::Tuple {} => {
            children::only_named_child(input, node).and_then(|only| lambda_in(input, only))
        }
        _ => None,
    }
}

pub(crate) fn assign<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Assign { left, right, ty, declares, reads } = rule else { return ExprId::NONE };
    let Some(left_node) = left.first(node) else { return walk.visit_children(node) };
    let right_node = right.as_ref().and_then(|selector| selector.first(node));
    let ty = match ty.as_ref().and_then(|selector| selector.first(node)) {
        Some(ty) => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        None => walk.documented_variable(node),
    };
    export::note_export_list(walk, left_node, right_node, *reads);
    if let (true, Some(right_node)) = (*declares, right_node)
        && !walk.input.language.manifest.names.import_calls.is_empty()
        && let (Some(name), Some(value)) =
            (innermost(&walk.input, left_node), innermost(&walk.input, right_node))
        && walk.import_value(name, value)
    {
        return ExprId::NONE;
    }
    let defines = !walk.input.language.manifest.resolution.closures_are_values;
    if let Some(right_node) = right_node
        && let Some(exported) = walk.export_assignment(left_node, right_node, node)
    {
        return exported;
    }
    if let Some(right_node) = right_node
        && defines
        && let Some((lambda, lambda_node)) = lambda_in(&walk.input, right_node)
        && let Some(Rule::Member { object: Some(object), name, .. }) =
            rule_choice::rule_at(&walk.input, left_node)
        && let (Some(object_node), Some(name_node)) =
            (object.first(left_node), name.first(left_node))
    {
        return member_function(walk, object_node, name_node, node, lambda, lambda_node);
    }
    if let Some(right_node) = right_node
        && let Some(value) = values_object(walk, left_node, right_node)
    {
        return value;
    }
    if let Some(right_node) = right_node
        && *declares
        && defines
        && matches!(rule_choice::rule_at(&walk.input, left_node), Some(Rule::Name { .. }))
        && let Some((lambda, lambda_node)) = lambda_in(&walk.input, right_node)
    {
        let name = names::name_of(walk, left_node);
        walk.function_value(name, left_node, node, lambda, lambda_node);
        return ExprId::NONE;
    }
    let pending = std::mem::take(&mut walk.context.pending);
    let value = right_node.map_or(ExprId::NONE, |right| walk.visit(right, READ));
    let before =
        if *reads && !walk.context.in_target { walk.visit(left_node, READ) } else { ExprId::NONE };
    walk.context.pending = pending;
    let how = if *declares && !*reads { Bind::AssignNew } else { Bind::AssignKnown };
    let in_target = walk.context.in_target;
    walk.context.in_target |= *reads;
    patterns::bind_pattern(
        walk,
        left_node,
        Flow { ty, value: if *reads { ExprId::NONE } else { value }, node },
        how,
    );
    walk.context.in_target = in_target;
    if *reads {
        bound_names::give_type(walk, before, value);
    }
    if *reads && !value.is_some() { before } else { value }
}

/// Returns the only item of a list.
fn innermost<'t>(input: &Input<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let is_list = matches!(rule_choice::rule_at(input, node), Some(Rule::Tuple {}))
        || matches!(
            input.language.pattern(node.kind_id()),
            Some(cograph_grammar::Pattern::Targets {})
        );
    if is_list { children::lone_child(node) } else { Some(node) }
}

/// `object.name = closure`: a method of the object, or of the receiver's type.
fn member_function<'t>(
    walk: &mut Walk<'t>,
    object: Node<'t>,
    name_node: Node<'t>,
    node: Node<'t>,
    lambda: &'static Rule,
    lambda_node: Node<'t>,
) -> ExprId {
    let pending = std::mem::take(&mut walk.context.pending);
    let mut owner = walk.visit(object, READ);
    walk.context.pending = pending;
    let mut shared = true;
    let is_write;
    if let Expr::Member(ty, member) = walk.facts.get(owner)
        && walk.input.language.manifest.names.values_member.as_deref()
            == Some(walk.facts.text(member))
    {
        (owner, shared) = (ty, false);
    }
    let (scope, around) = (walk.context.scope, walk.context.around);
    if names::is_receiver(walk, owner) && walk.context.callable.type_scope.is_some() {
        walk.context.scope = walk.context.callable.type_scope;
        // A declared field holds the function.
        walk.context.around.detached = is_declared(walk, name_node);
        is_write = walk.context.around.detached;
    } else {
        walk.context.around = Surroundings { owner, ..Surroundings::NONE };
        shared &= walk.input.language.manifest.names.values_member.is_some();
        walk.context.around.declared_static = shared;
        // Where objects accept any member, those of another object are not bound in this scope.
        walk.context.around.detached = walk.input.language.manifest.names.values_member.is_some();
        is_write = shared && owner.is_some();
    }
    let name = names::name_of(walk, name_node);
    let header_end = children::lambda_header(lambda, lambda_node);
    let definition = Definition {
        name,
        name_node,
        node,
        kind: SymbolKind::Function,
        header_end,
        has_body: true,
    };
    let symbol = walk.define(&definition);
    (walk.context.scope, walk.context.around) = (scope, around);
    let member = walk.facts.of(owner, |owner| Expr::Member(owner, name));
    if is_write {
        // If the type of the value has the member.
        walk.site(Usage::Site(SiteKind::Write), name_node, name, member);
    }
    walk.context.held_as = walk.facts.of(member, Expr::TypeOf);
    walk.lambda(lambda, lambda_node, symbol)
}

/// True for a member of the receiver that its type declares as a field. Where an assignment makes
/// members as well, one of an assignment is not declared.
fn is_declared<'t>(walk: &mut Walk<'t>, name_node: Node<'t>) -> bool {
    let name = names::name_of(walk, name_node);
    let declared = walk.facts.bound(walk.context.callable.type_scope, name);
    let symbol = declared.and_then(|binding| binding.symbol().get());
    let declared_alone = walk.input.language.manifest.resolution.declared_members;
    symbol.map(|symbol| &walk.facts.facts.symbols[symbol]).is_some_and(|symbol| {
        let is_assigned = symbol.flags & flags::ASSIGNED != 0;
        symbol.kind == SymbolKind::Field && (declared_alone || !is_assigned)
    })
}

/// `Type.prototype = { … }`: the members of the object are those of the instances of the type.
fn values_object<'t>(walk: &mut Walk<'t>, left: Node<'t>, right: Node<'t>) -> Option<ExprId> {
    let values = walk.input.language.manifest.names.values_member.as_deref()?;
    let Some(Rule::Member { object: Some(object), name, .. }) =
        rule_choice::rule_at(&walk.input, left)
    else {
        return None;
    };
    let is_object = matches!(rule_choice::rule_at(&walk.input, right), Some(Rule::Object { .. }));
    if !is_object || texts::text_of(&walk.input, name.first(left)?) != values {
        return None;
    }
    let pending = std::mem::take(&mut walk.context.pending);
    let owner = walk.visit(object.first(left)?, READ);
    let first = walk.facts.facts.symbols.len();
    let value = walk.visit(right, READ);
    walk.context.pending = pending;
    if let (true, Expr::Members(members)) = (owner.is_some(), walk.facts.get(value)) {
        for position in first..walk.facts.facts.symbols.len() {
            let symbol = LocalSymbol::at(position);
            if walk.facts.symbol_mut(symbol).scope == members && !walk.facts.owner(symbol).is_some()
            {
                walk.facts.clauses_mut(symbol).owner = owner;
            }
        }
        let made = walk.facts.expr(Expr::Construct(owner, Run::default()));
        let made = walk.facts.expr(Expr::TypeOf(made));
        if let Some(position) = members.get() {
            walk.facts.facts.scopes[position].owner = made;
        }
    }
    Some(value)
}

/// True for the name of one variable: a node without a role in patterns or, where objects accept
/// members, with that of a name.
fn is_plain_name(input: &Input<'_>, node: Node<'_>) -> bool {
    let takes_members = input.language.manifest.names.values_member.is_some();
    match input.language.pattern(node.kind_id()) {
        None => true,
        Some(Pattern::Name { .. }) => takes_members,
        Some(_) => false,
    }
}

pub(crate) fn outer<'t>(walk: &mut Walk<'t>, node: Node<'t>, of: &'static Selector) -> ExprId {
    for name_node in children::every(&walk.input, Some(of), node) {
        let name = names::name_of(walk, name_node);
        walk.bind(
            walk.owner_scope(),
            name,
            BindingKind::Outer,
            node.start_byte(),
            ExprId::NONE,
            ExprId::NONE,
        );
    }
    ExprId::NONE
}
