//! Where closures and objects stand in a file: what may say of which type they are.

use crate::model::facts::{BindingKind, Expr, ExprId, FileFacts, NameId, ScopeId, ScopeKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The closure that a value is, or the closures of which it is one.
pub(in crate::resolve) fn closures(facts: &FileFacts, value: ExprId) -> SmallVec<[ScopeId; 1]> {
    match value.get().map(|value| facts.exprs[value]) {
        Some(Expr::Lambda(scope)) => smallvec::smallvec![scope],
        Some(Expr::Union(parts)) => {
            facts.lists[parts.range()].iter().flat_map(|part| closures(facts, *part)).collect()
        }
        _ => SmallVec::new(),
    }
}

/// Where a closure or an object stands, as far as that may say of what type it is.
#[derive(Clone, Copy, Debug)]
pub(in crate::resolve) enum Context {
    /// Argument of a call, by its position.
    Argument(ExprId, usize),
    /// Given to something of a declared type.
    Declared(ExprId),
    /// A member of the object with this scope.
    Member(ScopeId, NameId),
}

pub(in crate::resolve) fn contexts(facts: &FileFacts) -> FxHashMap<ScopeId, Context> {
    let mut contexts = FxHashMap::default();
    let in_object = |scope: ScopeId| {
        let Some(scope) = scope.get().map(|position| &facts.scopes[position]) else { return false };
        let of_type = scope.symbol.get().is_some_and(|symbol| facts.symbols[symbol].kind.is_type());
        scope.kind == ScopeKind::Type && !of_type && !scope.owner.is_some()
    };
    // Most files have neither closures nor objects among their values.
    let has_any = facts.exprs.iter().any(|expr| matches!(expr, Expr::Lambda(_) | Expr::Members(_)));
    let scopes = |value: ExprId| {
        let object = match value.get().map(|value| facts.exprs[value]) {
            Some(Expr::Members(scope)) => Some(scope),
            _ => None,
        };
        closures(facts, value).into_iter().chain(object)
    };
    for binding in facts.bindings.iter().filter(|binding| binding.name.is_some()) {
        // What a closure is held as has a type, what it gives back has a value.
        if binding.kind == BindingKind::Result && binding.ty.is_some() {
            contexts.insert(binding.scope, Context::Declared(binding.ty));
        }
        if !has_any {
            continue;
        }
        for scope in scopes(binding.value) {
            if binding.ty.is_some() {
                contexts.insert(scope, Context::Declared(binding.ty));
            } else if in_object(binding.scope) {
                contexts.insert(scope, Context::Member(binding.scope, binding.name));
            }
        }
    }
    for symbol in &facts.symbols {
        if symbol.inner.is_some() && symbol.kind.is_callable() && in_object(symbol.scope) {
            contexts.insert(symbol.inner, Context::Member(symbol.scope, symbol.name));
        }
        for value in facts.lists[symbol.values.range()].iter().filter(|_| has_any) {
            for scope in scopes(*value) {
                if symbol.ty.is_some() {
                    contexts.insert(scope, Context::Declared(symbol.ty));
                } else if in_object(symbol.scope) && !symbol.kind.is_callable() {
                    contexts.insert(scope, Context::Member(symbol.scope, symbol.name));
                }
            }
        }
    }
    for (position, expr) in facts.exprs.iter().enumerate().filter(|_| has_any) {
        let (Expr::Call(_, args) | Expr::Construct(_, args)) = expr else { continue };
        for (argument, value) in facts.lists[args.range()].iter().enumerate() {
            for scope in scopes(*value) {
                contexts.insert(scope, Context::Argument(ExprId::at(position), argument));
            }
        }
    }
    contexts
}
