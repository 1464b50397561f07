//! Named callables: headers, bodies, and the context inside.

use crate::definitions::{callable_scope, declarator_chain, doc_types, parameters, symbols};
use crate::facts::builder::Builder;
use crate::types;
use crate::types::generics;
use crate::walk::input::Input;
use crate::walk::position::offset;
use crate::walk::{
    Definition, READ, Usage, Walk, children, fallback, names, rule_choice, surroundings,
};
use cograph_grammar::{ModifierMeaning, Rule, SelfRule};
use cograph_model::facts::{
    BindingKind, Expr, ExprId, LocalSymbol, NameId, ScopeId, ScopeKind, Synthetic, flags,
};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

pub(crate) fn function<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Function {
        kind,
        name,
        declarator,
        params,
        returns,
        body,
        type_params,
        receiver,
        r#static,
        tail,
        property,
        prefix,
        implements,
        clause,
    } = rule
    else {
        return ExprId::NONE;
    };
    let declared = declarator
        .as_ref()
        .and_then(|selector| selector.first(node))
        .map(|start| declarator_chain::declarator(walk, start));
    let name_node = match &declared {
        Some(declared) => declared.name,
        None => name.as_ref().and_then(|selector| selector.first(node)),
    };
    let Some(mut name_node) = name_node else {
        walk.visit_children(node);
        return ExprId::NONE;
    };
    names::visit_computed(walk, name_node);
    // `macro(name) { … }` in a body looks like a definition without parameters but is a
    // statement.
    let in_callable = walk.context.callable.symbol.is_some();
    if in_callable && declared.as_ref().is_some_and(|declared| !declared.is_callable) {
        return walk.block(node, ScopeKind::Block);
    }
    let mut kind = *kind;
    let mut declared = declared;
    let (mut fixture, mut test_name) = (None, None);
    if let Some(test) = surroundings::test_macro(walk, name_node, declared.as_ref()) {
        (name_node, kind, declared) = (test.node, SymbolKind::Test, None);
        (fixture, test_name) = (test.fixture, Some(test.name));
    }
    let made = surroundings::made_at(&walk.input, name_node);
    // The arguments of the macro are neither parameters nor a result, unless they were parsed
    // as such.
    let is_given = |node: Node<'t>| made.is_some_and(|made| made.head.start == node.start_byte());
    if is_given(name_node) {
        declared = None;
    }
    let body_node = body.as_ref().and_then(|selector| selector.first(node));
    let decorators = symbols::visit_modifiers(walk, node);
    let outer = (walk.context.around.owner, walk.context.around.implements);
    let interface_node = implements.as_ref().and_then(|selector| selector.first(node));
    if let Some(interface) = interface_node {
        let interface = types::visit_type(walk, interface, Usage::Site(SiteKind::Implement));
        walk.context.around.implements = interface;
        walk.context.around.detached = true;
    }
    let receiver_node = receiver.as_ref().and_then(|selector| selector.first(node));
    let (name, name_node) = match test_name.or(made.map(|made| walk.facts.name(&made.name))) {
        Some(name) => (name, name_node),
        None => member_or_qualified_name(walk, name_node),
    };
    let name = match prefix {
        Some(prefix) => {
            let whole = format!("{prefix}{}", walk.facts.text(name));
            walk.facts.name(&whole)
        }
        None => name,
    };
    let (params_node, returns_node) = match &declared {
        Some(declared) => {
            let returns = declared
                .returns
                .or_else(|| returns.as_ref().and_then(|selector| selector.first(node)));
            (declared.params, returns)
        }
        None => (
            params.as_ref().and_then(|s| s.first(node)),
            returns.as_ref().and_then(|s| s.first(node)),
        ),
    };
    if let Some(receiver) = receiver_node {
        walk.context.around.owner = types::receiver_type(walk, receiver);
        walk.context.around.detached = true;
    } else if let Some(fixture) = fixture {
        walk.context.around.owner = types::visit_type(walk, fixture, READ);
    }
    let header_end = body_node.map_or(node.end_byte(), |body| body.start_byte());
    let definition =
        Definition { name, name_node, node, kind, header_end, has_body: body_node.is_some() };
    let in_statics = walk.context.around.declared_static;
    walk.context.around.declared_static |= *r#static == Some(true);
    let continued = params_node.filter(|_| *clause == Some(true)).and_then(|params| {
        let count = children::named_children(&walk.input, params).len();
        symbols::continued(walk, &definition, count)
    });
    let symbol = continued.unwrap_or_else(|| symbols::define(walk, &definition));
    walk.context.around.declared_static = in_statics;
    (walk.context.around.owner, walk.context.around.implements) = outer;
    walk.context.around.detached = false;
    if made.is_some_and(|made| !made.is_known) {
        // The name is a guess: other files may refer to it by another one.
        walk.facts.symbol_mut(symbol).flags &= !flags::EXPORTED;
    }
    if let Some(made) = made {
        let words: Vec<&str> = made.words.iter().map(String::as_str).collect();
        if walk.input.language.manifest.modifiers.have(&words, ModifierMeaning::Static) {
            let entry = walk.facts.symbol_mut(symbol);
            entry.flags = entry.flags & !flags::EXPORTED | flags::STATIC;
        }
    }
    if kind == SymbolKind::Test {
        walk.facts.symbol_mut(symbol).flags |= flags::TEST;
    }
    if *property == Some(true) {
        walk.facts.symbol_mut(symbol).flags |= flags::PROPERTY;
    }
    if declared.as_ref().is_some_and(|declared| declared.is_read_only) {
        walk.facts.symbol_mut(symbol).flags |= flags::READ_ONLY;
    }
    let context = callable_scope::enter_callable(walk, symbol, node);
    generics::generics(walk, symbol, node, type_params.as_ref());
    doc_types::receiver(walk, node);
    if let Some(receiver) = receiver_node {
        if types::is_given_as_type(&walk.input, receiver) {
            // It may name type parameters of the callable.
            let owner = types::visit_type(walk, receiver, Usage::Site(SiteKind::Type));
            walk.facts.symbol_mut(symbol).flags |= flags::EXTENSION;
            walk.facts.clauses_mut(symbol).owner = owner;
        } else {
            parameters::receiver_type_params(walk, symbol);
            parameters::parameters(walk, receiver, LocalSymbol::NONE);
        }
    }
    if let Some(params) = params_node {
        parameters::parameters(walk, params, symbol);
    } else if params.is_none() && walk.seen.is_kept() {
        parameters_of(walk, node, symbol);
    } else if params.is_some() || declarator.is_some() {
        walk.facts.symbol_mut(symbol).arity = (0, 0);
    }
    let is_result = |returns: &Node<'t>| {
        made.is_none_or(|made| made.is_typed || returns.end_byte() <= made.head.start)
    };
    if let Some(returns) = returns_node.filter(is_result) {
        let ty = parameters::result_type(walk, returns);
        let ty = declared
            .as_ref()
            .map_or(ty, |declared| declarator_chain::wrapped(&mut walk.facts, ty, &declared.wraps));
        walk.facts.symbol_mut(symbol).ty = ty;
    }
    if walk.input.language.manifest.names.self_rule == SelfRule::Declared
        && walk.context.callable.type_scope.is_some()
    {
        let entry = walk.facts.symbol_mut(symbol);
        entry.flags |= if entry.flags & flags::HAS_SELF == 0 { flags::STATIC } else { 0 };
    }
    visit_rest(
        walk,
        node,
        &[body_node, params_node, returns_node, Some(name_node), receiver_node, interface_node],
        &decorators,
    );
    if let Some(body) = body_node {
        implied_constructor(walk, symbol, name_node, body);
        self::body(walk, body, symbol, *tail);
    }
    fallback::visit_left_out(walk, node);
    callable_scope::leave_callable(walk, context);
    ExprId::NONE
}

/// Code that writes a property: what is written has the type of the property.
pub(crate) fn accessor<'t>(walk: &mut Walk<'t>, node: Node<'t>, value: &'static str) -> ExprId {
    let outer = walk.open(ScopeKind::Block, LocalSymbol::NONE, node);
    let property = walk.context.callable.symbol;
    let ty = property.get().map_or(ExprId::NONE, |property| walk.facts.facts.symbols[property].ty);
    let name = walk.facts.name(value);
    walk.bind(walk.context.scope, name, BindingKind::Value, node.start_byte(), ty, ExprId::NONE);
    let written = walk.visit_children(node);
    walk.close(outer);
    written
}

/// A member of a value as a name (`value.name`) defines a member of the value's type.
fn member_or_qualified_name<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> (NameId, Node<'t>) {
    if let Some(Rule::Member { object: Some(object), name, scoped: false, .. }) =
        rule_choice::rule_at(&walk.input, node)
        && let (Some(object), Some(name)) = (object.first(node), name.first(node))
    {
        walk.context.around.owner = walk.visit(object, READ);
        walk.context.around.detached = true;
        return (names::name_of(walk, name), name);
    }
    walk.qualified_name(node)
}

/// Parameters next to the name and the body, without a list.
fn parameters_of<'t>(walk: &mut Walk<'t>, node: Node<'t>, symbol: LocalSymbol) {
    let is_param = |walk: &Walk<'t>, child: Node<'t>| {
        matches!(rule_choice::rule_at(&walk.input, child), Some(Rule::Param { .. }))
    };
    let children = children::named_children(&walk.input, node);
    let params: crate::walk::children::Children<'t> =
        children.into_iter().filter(|child| is_param(walk, *child)).collect();
    if !params.is_empty() {
        parameters::parameters_among(walk, node, params, symbol);
    }
}

/// A constructor without a call of another constructor among its statements implicitly calls that
/// of its base.
fn implied_constructor<'t>(
    walk: &mut Walk<'t>,
    symbol: LocalSymbol,
    name_node: Node<'t>,
    body: Node<'t>,
) {
    let entry = walk.facts.symbol_mut(symbol);
    let (kind, container, name) = (entry.kind, entry.container, entry.name);
    if !walk.input.language.manifest.names.implied_base_constructor
        || kind != SymbolKind::Constructor
        || !walk.facts.extends(container)
    {
        return;
    }
    let calls_another = |node: Node<'t>| {
        if let Some(Rule::Call { callee: Some(callee), .. }) =
            rule_choice::rule_at(&walk.input, node)
            && let Some(callee) = callee.first(node)
        {
            let rule = rule_choice::rule_at(&walk.input, callee);
            return matches!(rule, Some(Rule::SelfValue { .. } | Rule::SuperValue {}));
        }
        false
    };
    let is_call = |statement: &Node<'t>| {
        let only = || children::only_named_child(&walk.input, *statement);
        calls_another(*statement) || only().is_some_and(calls_another)
    };
    if children::named_children(&walk.input, body).iter().any(is_call) {
        return;
    }
    let base = walk.facts.expr(Expr::SuperValue(walk.context.scope));
    walk.site(Usage::Site(SiteKind::Call), name_node, name, base);
    walk.take_call_site();
}

/// Visits a body in its callable's scope; with `tail` its last value is returned.
pub(crate) fn body<'t>(walk: &mut Walk<'t>, body: Node<'t>, symbol: LocalSymbol, tail: bool) {
    let is_block =
        matches!(rule_choice::rule_at(&walk.input, body), Some(Rule::Block {} | Rule::Flow {}));
    let inner = walk.context.scope;
    if walk.input.language.manifest.resolution.parameters_in_body {
        begin_parameters(&mut walk.facts, inner, offset(body.start_byte()));
    }
    let value = if is_block { walk.visit_children(body) } else { walk.visit(body, READ) };
    walk.context.scope = inner;
    if !symbol.is_some() && never_ends(&walk.input, body, is_block) {
        // A closure that only throws may have any result.
        let (name, value) =
            (walk.facts.synthetic(Synthetic::Results), walk.facts.expr(Expr::Unknown));
        walk.bind(inner, name, BindingKind::Result, body.start_byte(), ExprId::NONE, value);
        return;
    }
    if !tail && is_block {
        return;
    }
    // A body that is an expression has a result, be its type known or not; an assignment is meant
    // as a statement.
    let is_value = !is_block
        && !matches!(
            rule_choice::rule_at(&walk.input, body),
            None | Some(Rule::Assign { .. } | Rule::Jump { .. })
        );
    let value = match !symbol.is_some() && is_value {
        true => names::known(&mut walk.facts, value),
        false => value,
    };
    if symbol.is_some() {
        walk.facts.add_value(symbol, value);
    } else if value.is_some() {
        let name = walk.facts.synthetic(Synthetic::Results);
        walk.bind(inner, name, BindingKind::Result, body.start_byte(), ExprId::NONE, value);
    }
}

/// True for a body that is, or whose last statement is, a jump that returns nothing.
fn never_ends<'t>(input: &Input<'t>, body: Node<'t>, is_block: bool) -> bool {
    let last = match is_block {
        true => children::named_children(input, body).pop(),
        false => Some(body),
    };
    let rule = last.and_then(|last| rule_choice::rule_at(input, last));
    matches!(rule, Some(Rule::Jump { returns: false, .. }))
}

/// Lets the scope of the parameters of a callable begin at its body.
fn begin_parameters(facts: &mut Builder, scope: ScopeId, body: u32) {
    let own = facts.facts.bindings.iter_mut().rev().take_while(|one| {
        one.scope.get().is_some_and(|of| scope.get().is_some_and(|scope| of >= scope))
    });
    for binding in own.filter(|one| one.scope == scope && one.kind == BindingKind::Param) {
        binding.from = body;
    }
}

/// Visits the statements of a body without a node of its own: the children but `params`.
pub(crate) fn statements<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    params: Option<Node<'t>>,
    symbol: LocalSymbol,
    tail: bool,
) {
    let inner = walk.context.scope;
    let mut last = None;
    for child in children::children(&walk.input, node) {
        if params.is_none_or(|params| params.id() != child.id())
            && let Some(value) = walk.visit_child(child)
        {
            last = Some((child, value));
        }
    }
    walk.context.scope = inner;
    let Some((child, value)) = last.filter(|(_, value)| tail && value.is_some()) else { return };
    if symbol.is_some() {
        walk.facts.add_value(symbol, value);
    } else {
        let name = walk.facts.synthetic(Synthetic::Results);
        walk.bind(inner, name, BindingKind::Result, child.start_byte(), ExprId::NONE, value);
    }
}

/// Visits children without a selector, such as initialisers between header and body.
fn visit_rest<'t>(walk: &mut Walk<'t>, node: Node<'t>, done: &[Option<Node<'t>>], also: &[usize]) {
    let selected: Vec<usize> =
        done.iter().flatten().map(|node| node.id()).chain(also.iter().copied()).collect();
    for child in children::named_children(&walk.input, node) {
        let covers = done.iter().flatten().any(|done| {
            child.start_byte() <= done.start_byte() && done.end_byte() <= child.end_byte()
        });
        if !selected.contains(&child.id())
            && !covers
            && matches!(
                rule_choice::rule_at(&walk.input, child),
                Some(
                    Rule::Pass { .. }
                        | Rule::Declaration { .. }
                        | Rule::Call { .. }
                        | Rule::Construct { .. }
                )
            )
        {
            walk.visit(child, READ);
        }
    }
}
