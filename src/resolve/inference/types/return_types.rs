//! Return types of callables, declared or inferred from returned values, for a receiver and
//! arguments.

use crate::db::Db;
use crate::db::ty::{Ty, instance_of, unify};
use crate::inference::members::lookup::stated;
use crate::inference::members::{hierarchy, inherent};
use crate::inference::types::{generics, lists};
use crate::units::symbols::Symbols;
use cograph_model::SymbolKind;
use cograph_model::facts::{
    BindingId, BindingKind, Expr, ExprId, LocalSymbol, ScopeId, Synthetic, external_callable, flags,
};
use cograph_model::graph::{FileId, SymbolRef};

/// Returns the instance that decorators substitute for a callable, if they return a type of the
/// repository.
pub(super) fn decorated(db: &Db, symbol: SymbolRef) -> Option<Ty> {
    let (unit, entry) = (db.program.known(symbol.file), db.program.symbol(symbol));
    let decorators = unit.facts.clauses_of(entry).decorators;
    if decorators.is_empty()
        || !unit.language.manifest.resolution.decorators_replace
        || db.is_too_deep()
    {
        return None;
    }
    db.deeper(|| {
        let mut value = None;
        for decorator in unit.facts.lists[decorators.range()].iter().rev() {
            let decorator = db.ty(symbol.file, *decorator);
            let results: Vec<Ty> = decorator
                .alternatives()
                .iter()
                .map(|decorator| match decorator {
                    Ty::Callable(symbols, receiver) => {
                        result_of(db, symbols, receiver.as_deref(), &[])
                    }
                    Ty::Function(result) => (**result).clone(),
                    _ => Ty::Unknown,
                })
                .collect();
            let results = Ty::union(results);
            let instances: Vec<Ty> = results
                .alternatives()
                .iter()
                .filter(|ty| matches!(ty, Ty::Instance(..)))
                .cloned()
                .collect();
            if !instances.is_empty() {
                value = Some(Ty::union(instances));
            }
        }
        value
    })
}

/// Returns an instance of the type that contains a symbol.
pub(super) fn container_instance(db: &Db, symbol: SymbolRef, receiver: Option<&Ty>) -> Ty {
    let container = db.program.container_or_own(symbol);
    if container.symbol.get().is_none() {
        return Ty::Unknown;
    }
    match receiver {
        Some(Ty::Type(of, args) | Ty::Instance(of, args)) if *of == container => {
            Ty::Instance(container, args.clone())
        }
        _ => Ty::instance(container),
    }
}

/// Returns the result of one callable for a receiver and arguments.
pub(crate) fn return_ty(db: &Db, symbol: SymbolRef, receiver: Option<&Ty>, args: &[Ty]) -> Ty {
    let entry = db.program.symbol(symbol);
    if matches!(entry.kind, SymbolKind::Constructor | SymbolKind::Variant) {
        return container_instance(db, symbol, receiver);
    }
    if let Some(stated) = stated::member(db, symbol) {
        return result_of(db, &stated, receiver, args);
    }
    let facts = db.program.known(symbol.file).facts;
    let returns_self = |expr: ExprId| {
        let mut expr = expr;
        while let Some(Expr::Wrap(inner, _)) = expr.get().map(|position| facts.exprs[position]) {
            expr = inner;
        }
        matches!(
            expr.get().map(|position| facts.exprs[position]),
            Some(Expr::SelfType(_) | Expr::SelfValue(_))
        )
    };
    if returns_self(entry.ty)
        && let Some(receiver @ (Ty::Instance(..) | Ty::Type(..))) = receiver
    {
        return instance_of(receiver);
    }
    let result = declared_or_inferred(db, symbol);
    if let (Ty::Instance(made, _), Some(Ty::Instance(given, _) | Ty::Type(given, _))) =
        (&result, receiver)
        && declared_result(db, symbol).is_none()
        && returns_receiver(db, symbol)
        && hierarchy::hierarchy(db, *given).types.iter().any(|(ty, _)| ty == made)
    {
        return receiver.map_or(Ty::Unknown, instance_of);
    }
    let result = bind_parameters(db, symbol, result, args);
    let result = inherent::bind_receiver_parameters(db, symbol, result, receiver);
    generics::substituted(db, result, receiver)
}

fn declared_or_inferred(db: &Db, symbol: SymbolRef) -> Ty {
    if let Some(known) = db.results.get(&symbol) {
        return known;
    }
    db.results.insert(symbol, Ty::Unknown);
    let entry = db.program.symbol(symbol);
    let infers = db.program.known(symbol.file).language.manifest.resolution.infer_returns;
    let ty = if let Some(declared) = declared_result(db, symbol) {
        declared
    } else if infers || entry.is_macro() || entry.flags & flags::FUNCTION_VALUE != 0 {
        let parts = lists::types_of(db, symbol.file, entry.values);
        let union = Ty::union(parts);
        match entry.flags & flags::GENERATOR != 0 {
            true => Ty::builtin("Iterator", &[union]),
            false if !union.is_known() && entry.ty.is_some() => {
                db.instance_of_expr(symbol.file, entry.ty)
            }
            false => union,
        }
    } else {
        Ty::Unknown
    };
    db.results.insert(symbol, ty.clone());
    ty
}

/// Returns the declared return type of a callable. If it is a type variable, the returned
/// values determine it.
fn declared_result(db: &Db, symbol: SymbolRef) -> Option<Ty> {
    let entry = db.program.symbol(symbol);
    let declared = entry.ty.is_some().then(|| db.instance_of_expr(symbol.file, entry.ty))?;
    let is_variable = matches!(declared, Ty::Param(..))
        && db.program.clauses(symbol).type_params.is_empty()
        && hierarchy::has_variables(db, symbol.file);
    (names_a_type(&declared) && !is_variable).then_some(declared)
}

/// True if a callable returns only its receiver or a call of its receiver.
fn returns_receiver(db: &Db, symbol: SymbolRef) -> bool {
    let unit = db.program.known(symbol.file);
    let entry = db.program.symbol(symbol);
    let expr =
        |value: ExprId| value.get().map_or(Expr::Unknown, |position| unit.facts.exprs[position]);
    let bound_to = |name, wanted: fn(Expr) -> bool| {
        unit.bindings(entry.inner, unit.name(name)).any(|(_, binding)| wanted(expr(binding.value)))
    };
    let is_receiver = |value: &ExprId| match expr(*value) {
        Expr::SelfValue(_) => true,
        Expr::Name(name, _) => bound_to(name, |bound| matches!(bound, Expr::SelfValue(_))),
        Expr::Call(callee, _) => match expr(callee) {
            Expr::Name(name, _) => bound_to(name, |bound| matches!(bound, Expr::SelfType(_))),
            _ => false,
        },
        _ => false,
    };
    !entry.values.is_empty() && unit.facts.lists[entry.values.range()].iter().all(is_receiver)
}

/// Substitutes a callable's own type parameters, inferred from the arguments.
fn bind_parameters(db: &Db, symbol: SymbolRef, result: Ty, args: &[Ty]) -> Ty {
    let entry = db.program.symbol(symbol);
    if (db.program.clauses(symbol).type_params.is_empty()
        && !hierarchy::has_variables(db, symbol.file))
        || args.is_empty()
    {
        return result;
    }
    let null = db.program.known(symbol.file).language.manifest.conversions.null.as_deref();
    let is_null = |arg: &Ty| matches!(arg, Ty::Builtin(name, _) if Some(&**name) == null);
    let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
    for (position, arg) in entry.params().range().zip(args).filter(|(_, arg)| !is_null(arg)) {
        let param = &db.program.known(symbol.file).facts.bindings[position];
        let declared = db.instance_of_expr(symbol.file, param.ty());
        let arg =
            if matches!(declared, Ty::Function(_)) { as_function(db, arg) } else { arg.clone() };
        unify(&declared, &arg, &mut known);
    }
    result.map(&|ty: &Ty| ty.filled(&known))
}

/// Converts a closure or callable to a function type with its result.
fn as_function(db: &Db, value: &Ty) -> Ty {
    let result = match value {
        Ty::Lambda(file, scope) => lambda_result(db, *file, *scope),
        Ty::Callable(symbols, receiver) => result_of(db, symbols, receiver.as_deref(), &[]),
        other => return other.clone(),
    };
    Ty::function(result)
}

/// Returns the result type of a closure.
pub(crate) fn lambda_result(db: &Db, file: FileId, scope: ScopeId) -> Ty {
    let symbol = db.program.known(file).scope_symbol(scope);
    match symbol.get() {
        Some(_) => return_ty(db, SymbolRef { file, symbol: LocalSymbol(symbol.0) }, None, &[]),
        None => {
            let unit = db.program.known(file);
            let name = db.program.synthetic(Synthetic::Results);
            let results = || {
                let bound = unit.bindings(scope, name).map(|(_, binding)| binding);
                bound.filter(|binding| binding.kind == BindingKind::Result)
            };
            // What is declared is bound at the start, and says all.
            let declared = results().find(|binding| binding.from == 0);
            let values: Vec<ExprId> = match declared {
                Some(declared) => vec![declared.value],
                None => results().map(|binding| binding.value).collect(),
            };
            Ty::union(
                values
                    .into_iter()
                    .map(|value| instance_of(&db.ty(file, value)))
                    .collect::<Vec<_>>(),
            )
        }
    }
}

/// True if a declared type is known: the name of a computed type is not.
fn names_a_type(ty: &Ty) -> bool {
    match ty {
        Ty::Unknown => false,
        Ty::External(name) => external_callable(name).is_none(),
        _ => true,
    }
}

/// Returns the union of the results of callables.
pub(crate) fn result_of(db: &Db, symbols: &Symbols, receiver: Option<&Ty>, args: &[Ty]) -> Ty {
    let results: Vec<Ty> =
        symbols.iter().map(|symbol| return_ty(db, *symbol, receiver, args)).collect();
    Ty::union(results)
}
