//! Bases that a program gives to constructor functions when it runs: a prototype that is made of
//! another one, or a call.

use crate::walk::Walk;
use cograph_grammar::CallMeaning;
use cograph_model::facts::{Expr, ExprId, LocalSymbol, NameId, Run};

/// An assignment to a member that holds those of the instances: they derive from the value.
pub(super) fn by_assignment(walk: &mut Walk<'_>, object: ExprId, name: NameId, value: ExprId) {
    let prototype = walk.input.language.manifest.names.values_member.as_deref();
    if prototype != Some(walk.facts.text(name)) {
        return;
    }
    let base = match walk.facts.get(value) {
        Expr::Call(callee, args) if meaning(walk, callee) == Some(CallMeaning::Prototype) => {
            walk.facts.items(args).first().copied()
        }
        Expr::Construct(base, _) => Some(base),
        _ => None,
    };
    if let Some(base) = base {
        derive(walk, object, base);
    }
}

/// A call that makes its first argument derive from its second.
pub(crate) fn by_call(walk: &mut Walk<'_>, callee: ExprId, args: Run) {
    if walk.input.language.manifest.names.has_calls(CallMeaning::Derive)
        && meaning(walk, callee) == Some(CallMeaning::Derive)
        && let [derived, base] = *walk.facts.items(args)
    {
        derive(walk, derived, base);
    }
}

/// Returns what a callee means by its name, with or without the value before it.
fn meaning(walk: &Walk<'_>, callee: ExprId) -> Option<CallMeaning> {
    let calls = &walk.input.language.manifest.names.special_calls;
    let text = |name| walk.facts.text(name);
    match walk.facts.get(callee) {
        Expr::Name(name, _) => calls.get(text(name)).copied(),
        Expr::Member(object, name) => match walk.facts.get(object) {
            Expr::Name(object, _) => calls.get(&format!("{}.{}", text(object), text(name))),
            _ => None,
        }
        .or_else(|| calls.get(text(name)))
        .copied(),
        _ => None,
    }
}

fn derive(walk: &mut Walk<'_>, derived: ExprId, base: ExprId) {
    let (derived, base) = (without_prototype(walk, derived), without_prototype(walk, base));
    if !base.is_some() {
        return;
    }
    let symbol = constructor(walk, derived);
    if symbol.is_some() {
        let made = walk.facts.expr(Expr::Construct(base, Run::default()));
        let base = walk.facts.expr(Expr::TypeOf(made));
        walk.facts.add_base(symbol, base, false);
    }
}

/// Returns the constructor function of a prototype, or what is none.
fn without_prototype(walk: &Walk<'_>, value: ExprId) -> ExprId {
    let prototype = walk.input.language.manifest.names.values_member.as_deref();
    match walk.facts.get(value) {
        Expr::Member(of, name) if Some(walk.facts.text(name)) == prototype => of,
        _ => value,
    }
}

/// Returns the callable or type of the file that a name means.
fn constructor(walk: &Walk<'_>, value: ExprId) -> LocalSymbol {
    let Expr::Name(name, mut scope) = walk.facts.get(value) else { return LocalSymbol::NONE };
    while scope.is_some() {
        if let Some(binding) = walk.facts.bound(scope, name) {
            let kind = binding.symbol().get().map(|at| walk.facts.facts.symbols[at].kind);
            return match kind {
                Some(kind) if kind.is_callable() || kind.is_type() => binding.symbol(),
                _ => LocalSymbol::NONE,
            };
        }
        scope = walk.facts.parent(scope);
    }
    LocalSymbol::NONE
}
