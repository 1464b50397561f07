//! Entering and leaving a callable: its scope, its receiver, and the context around it.

use crate::facts::builder::Builder;
use crate::walk::scopes::OuterScope;
use crate::walk::{Callable, Walk};
use cograph_grammar::SelfRule;
use cograph_model::SymbolKind;
use cograph_model::facts::{Expr, LocalSymbol, NameId, ScopeId, ScopeKind, flags};
use tree_sitter::Node;

/// Context to restore behind a callable or type.
pub(super) struct CallableContext {
    pub(crate) outer: OuterScope,
    pub(crate) callable: Callable,
    pub(crate) enclosing: LocalSymbol,
}

pub(super) fn enter_callable<'t>(
    walk: &mut Walk<'t>,
    symbol: LocalSymbol,
    node: Node<'t>,
) -> CallableContext {
    let declaring = walk.facts.symbol_mut(symbol).scope;
    let context = CallableContext {
        outer: walk.open(ScopeKind::Function, symbol, node),
        callable: walk.context.callable,
        enclosing: walk.context.enclosing,
    };
    let scope = walk.context.scope;
    walk.facts.symbol_mut(symbol).inner = scope;
    let type_scope =
        if walk.facts.scope_kind(declaring) == ScopeKind::Type { declaring } else { ScopeId::NONE };
    let self_scope = if is_member(&mut walk.facts, symbol)
        || is_constructor_function(walk, symbol, context.outer.scope)
    {
        scope
    } else {
        ScopeId::NONE
    };
    walk.context.callable =
        Callable { symbol, named: symbol, receiver: NameId::NONE, type_scope, self_scope };
    walk.context.enclosing = symbol;
    context
}

/// True if a callable is a constructor function: in languages where callables have members, a
/// top-level function with a capitalized name. Its scope is then owned by the type of the
/// instances.
fn is_constructor_function(walk: &mut Walk<'_>, symbol: LocalSymbol, outer: ScopeId) -> bool {
    let names = &walk.input.language.manifest.names;
    let entry = walk.facts.symbol_mut(symbol);
    let (name, top) = (entry.name, entry.scope == ScopeId(0) && entry.kind == SymbolKind::Function);
    let makes = names.values_member.is_some()
        && top
        && walk.facts.text(name).starts_with(char::is_uppercase);
    if let (true, Some(scope)) = (makes, walk.context.scope.get()) {
        walk.facts.facts.scopes[scope].owner = walk.facts.expr(Expr::Name(name, outer));
    }
    makes
}

/// True if a callable belongs to a type or object.
pub(crate) fn is_member(facts: &mut Builder, symbol: LocalSymbol) -> bool {
    symbol.is_some() && {
        let declaring = facts.symbol_mut(symbol).scope;
        facts.owner(symbol).is_some() || facts.scope_kind(declaring) == ScopeKind::Type
    }
}

pub(super) fn leave_callable(walk: &mut Walk<'_>, context: CallableContext) {
    walk.close(context.outer);
    walk.context.callable = context.callable;
    walk.context.enclosing = context.enclosing;
}

/// Returns the meaning of the first parameter of the enclosing callable: its receiver
/// (`SelfValue`) or its type (`SelfType`).
pub(super) fn first_parameter(walk: &Walk<'_>, symbol: LocalSymbol) -> Option<Expr> {
    if walk.input.language.manifest.names.self_rule != SelfRule::FirstParameter
        || !walk.context.callable.type_scope.is_some()
    {
        return None;
    }
    let symbol = &walk.facts.facts.symbols[symbol.get()?];
    if symbol.flags & flags::STATIC != 0 {
        return None;
    }
    let is_type = symbol.flags & flags::CLASS_METHOD != 0;
    Some(if is_type {
        Expr::SelfType(walk.context.scope)
    } else {
        Expr::SelfValue(walk.context.scope)
    })
}
