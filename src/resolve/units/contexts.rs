//! Syntactic contexts of closures and objects, from which their types can be inferred.

use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, Expr, ExprId, FileFacts, NameId, ScopeId, ScopeKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Returns the closures that a value may be.
pub(crate) fn closures(facts: &FileFacts, value: ExprId) -> SmallVec<[ScopeId; 1]> {
    match value.get().map(|value| facts.exprs[value]) {
        Some(Expr::Lambda(scope)) => smallvec::smallvec![scope],
        Some(Expr::Argument(value, _)) => closures(facts, value),
        Some(Expr::Union(parts)) => {
            facts.lists[parts.range()].iter().flat_map(|part| closures(facts, *part)).collect()
        }
        _ => SmallVec::new(),
    }
}

/// Adds the object literals that a value may be or hold in lists, and the closures in lists, with
/// the number of lists around each.
fn objects(facts: &FileFacts, value: ExprId, depth: u32, all: &mut SmallVec<[(ScopeId, u32); 2]>) {
    match value.get().map(|value| facts.exprs[value]) {
        Some(Expr::Members(scope)) => all.push((scope, depth)),
        Some(Expr::Lambda(scope)) if depth > 0 => all.push((scope, depth)),
        Some(Expr::Union(parts)) => {
            facts.lists[parts.range()].iter().for_each(|part| objects(facts, *part, depth, all));
        }
        Some(Expr::Apply(base, items)) if depth < MAX_LISTS => {
            if matches!(base.get().map(|base| facts.exprs[base]), Some(Expr::Literal(_))) {
                let items = facts.lists[items.range()].iter();
                items.for_each(|item| objects(facts, *item, depth + 1, all));
            }
        }
        _ => {}
    }
}

/// Maximum number of lists around an object literal in its context.
const MAX_LISTS: u32 = 4;

/// Context of a closure or an object that may determine its type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Context {
    /// Argument of a call, by its position.
    Argument(ExprId, usize),
    /// Value of something with a declared type.
    Declared(ExprId),
    /// Member of the object with this scope.
    Member(ScopeId, NameId),
    /// Result of the closure with this scope.
    Result(ScopeId),
}

/// Returns the contexts of all closures and objects, with the number of lists around each.
pub(crate) fn contexts(facts: &FileFacts) -> FxHashMap<ScopeId, (Context, u32)> {
    let mut contexts = FxHashMap::default();
    let in_object = |scope: ScopeId| {
        let Some(scope) = scope.get().map(|position| &facts.scopes[position]) else { return false };
        let is_type = |kind: SymbolKind| kind.is_type() || kind == SymbolKind::Module;
        let of_type = scope.symbol.get().is_some_and(|symbol| is_type(facts.symbols[symbol].kind));
        scope.kind == ScopeKind::Type && !of_type && !scope.owner.is_some()
    };
    // Most files have neither closures nor objects among their values.
    let has_any = facts.exprs.iter().any(|expr| matches!(expr, Expr::Lambda(_) | Expr::Members(_)));
    let scopes = |value: ExprId| {
        let mut all: SmallVec<[(ScopeId, u32); 2]> =
            closures(facts, value).into_iter().map(|closure| (closure, 0)).collect();
        objects(facts, value, 0, &mut all);
        all
    };
    // The result that a closure declares is bound at its start.
    let declared_results: FxHashMap<ScopeId, ExprId> = facts
        .bindings
        .iter()
        .filter(|binding| binding.kind == BindingKind::Result && binding.from == 0)
        .filter_map(|binding| match facts.exprs[binding.value.get()?] {
            Expr::OfType(ty) => Some((binding.scope, ty)),
            _ => None,
        })
        .collect();
    for binding in facts.bindings.iter().filter(|binding| binding.name.is_some()) {
        // The context of a closure has a type; its result has a value.
        if binding.kind == BindingKind::Result && binding.ty().is_some() {
            contexts.insert(binding.scope, (Context::Declared(binding.ty()), 0));
        }
        if !has_any {
            continue;
        }
        for (scope, depth) in scopes(binding.value) {
            if binding.ty().is_some() {
                contexts.insert(scope, (Context::Declared(binding.ty()), depth));
            } else if in_object(binding.scope) {
                contexts.insert(scope, (Context::Member(binding.scope, binding.name), depth));
            } else if binding.kind == BindingKind::Result {
                let declared = declared_results.get(&binding.scope).copied();
                let context = declared.map_or(Context::Result(binding.scope), Context::Declared);
                contexts.insert(scope, (context, depth));
            }
        }
    }
    for symbol in &facts.symbols {
        if symbol.inner.is_some() && symbol.kind.is_callable() && in_object(symbol.scope) {
            contexts.insert(symbol.inner, (Context::Member(symbol.scope, symbol.name), 0));
        }
        for value in facts.lists[symbol.values.range()].iter().filter(|_| has_any) {
            for (scope, depth) in scopes(*value) {
                if symbol.ty.is_some() {
                    contexts.insert(scope, (Context::Declared(symbol.ty), depth));
                } else if symbol.kind.is_callable() {
                    contexts.insert(scope, (Context::Result(symbol.inner), depth));
                } else if in_object(symbol.scope) {
                    contexts.insert(scope, (Context::Member(symbol.scope, symbol.name), depth));
                }
            }
        }
    }
    for (position, expr) in facts.exprs.iter().enumerate().filter(|_| has_any) {
        let (Expr::Call(_, args) | Expr::Construct(_, args)) = expr else { continue };
        for (argument, value) in facts.lists[args.range()].iter().enumerate() {
            for (scope, depth) in scopes(*value) {
                contexts.insert(scope, (Context::Argument(ExprId::at(position), argument), depth));
            }
        }
    }
    contexts
}
