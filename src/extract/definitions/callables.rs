//! Named callables: headers, bodies, and the context inside.

use crate::extract::walk::Definition;
use crate::extract::walk::{Callable, READ, Surroundings, Usage, Walker};
use crate::grammar::{Rule, SelfRule};
use crate::model::facts::{
    BindingKind, Expr, ExprId, LocalSymbol, NameId, RESULT, ScopeId, ScopeKind, flags,
};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(in crate::extract) fn function(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Function {
            kind,
            name,
            declarator,
            params,
            returns,
            body,
            type_params,
            receiver,
            tail,
        } = rule
        else {
            return ExprId::NONE;
        };
        let declared = declarator
            .as_ref()
            .and_then(|selector| selector.first(node))
            .map(|start| self.declarator(start));
        let name_node = match &declared {
            Some(declared) => declared.name,
            None => name.as_ref().and_then(|selector| selector.first(node)),
        };
        let Some(mut name_node) = name_node else {
            self.visit_children(node);
            return ExprId::NONE;
        };
        // `macro(name) { … }` in a body looks like a definition without parameters but is a
        // statement.
        let in_callable = self.callable.symbol.is_some();
        if in_callable && declared.as_ref().is_some_and(|declared| !declared.is_callable) {
            return self.block(node, ScopeKind::Block);
        }
        let mut kind = *kind;
        let mut declared = declared;
        let (mut fixture, mut test_name) = (None, None);
        if let Some(test) = self.test_macro(name_node, declared.as_ref()) {
            (name_node, kind, declared) = (test.node, SymbolKind::Test, None);
            (fixture, test_name) = (test.fixture, Some(test.name));
        }
        let made = self.made_at(name_node);
        // The arguments of the macro are neither parameters nor a result, unless they were parsed
        // as such.
        let is_given =
            |node: Node<'t>| made.is_some_and(|made| made.head.start == node.start_byte());
        if is_given(name_node) {
            declared = None;
        }
        let body_node = body.as_ref().and_then(|selector| selector.first(node));
        let decorators = self.visit_modifiers(node);
        let outer_owner = self.around.owner;
        let receiver_node = receiver.as_ref().and_then(|selector| selector.first(node));
        let (name, name_node) = match test_name.or(made.map(|made| self.build.name(&made.name))) {
            Some(name) => (name, name_node),
            None => self.member_or_qualified_name(name_node),
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
            self.around.owner = self.receiver_type(receiver);
            self.around.detached = true;
        } else if let Some(fixture) = fixture {
            self.around.owner = self.visit_type(fixture, READ);
        }
        let header_end = body_node.map_or(node.end_byte(), |body| body.start_byte());
        let definition =
            Definition { name, name_node, node, kind, header_end, has_body: body_node.is_some() };
        let symbol = self.define(&definition);
        self.around.owner = outer_owner;
        self.around.detached = false;
        if made.is_some_and(|made| !made.is_known) {
            // The name is a guess: other files may refer to it by another one.
            self.build.symbol_mut(symbol).flags &= !flags::EXPORTED;
        }
        if kind == SymbolKind::Test {
            self.build.symbol_mut(symbol).flags |= flags::TEST;
        }
        let context = self.enter_callable(symbol, node);
        self.generics(symbol, node, type_params.as_ref());
        if let Some(receiver) = receiver_node {
            self.receiver_type_params(symbol);
            self.parameters(receiver, LocalSymbol::NONE);
        }
        if let Some(params) = params_node {
            self.parameters(params, symbol);
        } else if params.is_none() && self.seen.is_kept() {
            self.parameters_of(node, symbol);
        } else if params.is_some() || declarator.is_some() {
            self.build.symbol_mut(symbol).arity = (0, 0);
        }
        let is_result = |returns: &Node<'t>| {
            made.is_none_or(|made| made.is_typed || returns.end_byte() <= made.head.start)
        };
        if let Some(returns) = returns_node.filter(is_result) {
            let ty = self.result_type(returns);
            let ty = declared.as_ref().map_or(ty, |declared| self.wrapped(ty, &declared.wraps));
            self.build.symbol_mut(symbol).ty = ty;
        }
        if self.language.manifest.names.self_rule == SelfRule::Declared
            && self.callable.type_scope.is_some()
        {
            let entry = self.build.symbol_mut(symbol);
            entry.flags |= if entry.flags & flags::HAS_SELF == 0 { flags::STATIC } else { 0 };
        }
        self.visit_rest(
            node,
            &[body_node, params_node, returns_node, Some(name_node), receiver_node],
            &decorators,
        );
        if let Some(body) = body_node {
            self.implied_constructor(symbol, name_node, body);
            self.body(body, symbol, *tail);
        }
        self.visit_left_out(node);
        self.leave_callable(context);
        ExprId::NONE
    }

    /// A member of a value as a name (`value.name`) defines a member of the value's type.
    fn member_or_qualified_name(&mut self, node: Node<'t>) -> (NameId, Node<'t>) {
        if let Some(Rule::Member { object: Some(object), name, scoped: false }) = self.rule_at(node)
            && let (Some(object), Some(name)) = (object.first(node), name.first(node))
        {
            self.around.owner = self.visit(object, READ);
            self.around.detached = true;
            return (self.name_of(name), name);
        }
        self.qualified_name(node)
    }

    /// Parameters next to the name and the body, without a list.
    fn parameters_of(&mut self, node: Node<'t>, symbol: LocalSymbol) {
        let is_param = |walker: &Self, child: Node<'t>| {
            matches!(walker.rule_at(child), Some(Rule::Param { .. }))
        };
        let children = self.named_children(node);
        let params: crate::extract::walk::children::Children<'t> =
            children.into_iter().filter(|child| is_param(self, *child)).collect();
        if !params.is_empty() {
            self.parameters_among(node, params, symbol);
        }
    }

    /// A constructor that does not begin with a call of another constructor implicitly calls that
    /// of its base.
    fn implied_constructor(&mut self, symbol: LocalSymbol, name_node: Node<'t>, body: Node<'t>) {
        let entry = self.build.symbol_mut(symbol);
        let (kind, container, name) = (entry.kind, entry.container, entry.name);
        if !self.language.manifest.names.implied_base_constructor
            || kind != SymbolKind::Constructor
            || !self.build.extends(container)
        {
            return;
        }
        let first = self.first_named_child(body);
        if let Some(first) = first
            && let Some(Rule::Call { callee: Some(callee), .. }) = self.rule_at(first)
            && let Some(callee) = callee.first(first)
            && matches!(self.rule_at(callee), Some(Rule::SelfValue {} | Rule::SuperValue {}))
        {
            return;
        }
        let base = self.build.expr(Expr::SuperValue(self.scope));
        self.site(Usage::Site(SiteKind::Call), name_node, name, base);
        self.take_call_site();
    }

    /// Visits a body in its callable's scope; with `tail` its last value is returned.
    pub(in crate::extract) fn body(&mut self, body: Node<'t>, symbol: LocalSymbol, tail: bool) {
        let is_block = matches!(self.rule_at(body), Some(Rule::Block {} | Rule::Flow {}));
        let inner = self.scope;
        let value = if is_block { self.visit_children(body) } else { self.visit(body, READ) };
        self.scope = inner;
        if !tail && is_block {
            return;
        }
        if symbol.is_some() {
            self.build.add_value(symbol, value);
        } else if value.is_some() {
            let name = self.build.name(RESULT);
            self.bind(inner, name, BindingKind::Result, body.start_byte(), ExprId::NONE, value);
        }
    }

    /// Visits children without a selector, such as initialisers between header and body.
    fn visit_rest(&mut self, node: Node<'t>, done: &[Option<Node<'t>>], also: &[usize]) {
        let selected: Vec<usize> =
            done.iter().flatten().map(|node| node.id()).chain(also.iter().copied()).collect();
        for child in self.named_children(node) {
            let covers = done.iter().flatten().any(|done| {
                child.start_byte() <= done.start_byte() && done.end_byte() <= child.end_byte()
            });
            if !selected.contains(&child.id())
                && !covers
                && matches!(self.rule_at(child), Some(Rule::Pass { .. } | Rule::Declaration { .. }))
            {
                self.visit(child, READ);
            }
        }
    }

    pub(super) fn enter_callable(
        &mut self,
        symbol: LocalSymbol,
        node: Node<'t>,
    ) -> CallableContext {
        let declaring = self.build.symbol_mut(symbol).scope;
        let context = CallableContext {
            scope: self.open(ScopeKind::Function, symbol, node),
            callable: self.callable,
            enclosing: self.enclosing,
        };
        let scope = self.scope;
        self.build.symbol_mut(symbol).inner = scope;
        let type_scope = if self.build.scope_kind(declaring) == ScopeKind::Type {
            declaring
        } else {
            ScopeId::NONE
        };
        let self_scope =
            if self.is_member(symbol) || self.is_constructor_function(symbol, context.scope.0) {
                scope
            } else {
                ScopeId::NONE
            };
        self.callable = Callable { symbol, receiver: NameId::NONE, type_scope, self_scope };
        self.enclosing = symbol;
        context
    }

    /// True if a callable is a constructor function: in languages where callables have members, a
    /// top-level function with a capitalized name. Its scope is then owned by the type of the
    /// instances.
    fn is_constructor_function(&mut self, symbol: LocalSymbol, outer: ScopeId) -> bool {
        let names = &self.language.manifest.names;
        let entry = self.build.symbol_mut(symbol);
        let (name, top) =
            (entry.name, entry.scope == ScopeId(0) && entry.kind == SymbolKind::Function);
        let makes = names.values_member.is_some()
            && top
            && self.build.text(name).starts_with(char::is_uppercase);
        if let (true, Some(scope)) = (makes, self.scope.get()) {
            self.build.facts.scopes[scope].owner = self.build.expr(Expr::Name(name, outer));
        }
        makes
    }

    /// True if a callable belongs to a type or object.
    pub(in crate::extract) fn is_member(&mut self, symbol: LocalSymbol) -> bool {
        symbol.is_some() && {
            let entry = self.build.symbol_mut(symbol);
            let (owner, declaring) = (entry.owner, entry.scope);
            owner.is_some() || self.build.scope_kind(declaring) == ScopeKind::Type
        }
    }

    pub(super) fn leave_callable(&mut self, context: CallableContext) {
        self.close(context.scope);
        self.callable = context.callable;
        self.enclosing = context.enclosing;
    }

    /// Returns the meaning of the first parameter of the enclosing callable: its receiver
    /// (`SelfValue`) or its type (`SelfType`).
    pub(super) fn first_parameter(&self, symbol: LocalSymbol) -> Option<Expr> {
        if self.language.manifest.names.self_rule != SelfRule::FirstParameter
            || !self.callable.type_scope.is_some()
        {
            return None;
        }
        let symbol = &self.build.facts.symbols[symbol.get()?];
        if symbol.flags & flags::STATIC != 0 {
            return None;
        }
        let is_type = symbol.flags & flags::CLASS_METHOD != 0;
        Some(if is_type { Expr::SelfType(self.scope) } else { Expr::SelfValue(self.scope) })
    }
}

/// Context to restore behind a callable or type.
pub(super) struct CallableContext {
    pub(in crate::extract) scope: (ScopeId, Surroundings),
    pub(in crate::extract) callable: Callable,
    pub(in crate::extract) enclosing: LocalSymbol,
}
