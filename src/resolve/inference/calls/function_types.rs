//! Function types: the types of their parameters and of their results, as they are written.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::inference::calls::{functional, overload};
use crate::inference::members::{lookup, type_flow};
use crate::inference::names::scopes;
use crate::inference::types::{generics, infer};
use cograph_grammar::{FlowKind, TypeFlow};
use cograph_model::SymbolKind;
use cograph_model::facts::{Contextual, Expr, ExprId, FileFacts, Run, Wrapper};
use cograph_model::graph::{FileId, SymbolRef};

/// Returns the type of a parameter of a function type, through aliases, wrappers and
/// alternatives.
pub(super) fn parameter_of(db: &Db, file: FileId, function: ExprId, what: Contextual) -> Ty {
    let Some(expr) = function.get() else { return Ty::Unknown };
    if db.is_too_deep() {
        return Ty::Unknown;
    }
    let facts = db.program.known(file).facts;
    db.deeper(|| match facts.exprs[expr] {
        Expr::Function(parts) => {
            let parts = &facts.lists[parts.range()];
            let Some((result, params)) = parts.split_last() else { return Ty::Unknown };
            if what == Contextual::Result {
                return infer::instance_of_expr(db, file, *result);
            }
            let (receiver, params) = match params.split_first() {
                Some((first, rest)) if is_receiver(facts, *first) => (Some(first), rest),
                _ => (None, params),
            };
            let param = match what {
                Contextual::Receiver => receiver,
                _ => what.position().and_then(|position| params.get(position)),
            };
            param.map_or(Ty::Unknown, |param| infer::instance_of_expr(db, file, *param))
        }
        Expr::Union(parts) => {
            let parts = facts.lists[parts.range()].iter();
            parts
                .map(|part| parameter_of(db, file, *part, what))
                .find(Ty::is_known)
                .unwrap_or(Ty::Unknown)
        }
        // A closure among those that a variadic parameter gathers.
        Expr::Wrap(inner, _) | Expr::Array(inner) => parameter_of(db, file, inner, what),
        Expr::TypeOf(value) => declared_type(db, file, value)
            .map_or(Ty::Unknown, |(of, ty)| parameter_of(db, of, ty, what)),
        Expr::Members(scope) => functional::stated_in(db, file, scope)
            .map_or(Ty::Unknown, |stated| parameter_of(db, file, stated, what)),
        Expr::Name(..) | Expr::Member(..) | Expr::Apply(..) => {
            match infer::type_of(db, file, function) {
                Ty::Type(symbol, args) | Ty::Instance(symbol, args) => {
                    let entry = db.program.symbol(symbol);
                    if entry.kind == SymbolKind::TypeAlias {
                        let ty = parameter_of(db, symbol.file, entry.ty, what);
                        let map = generics::arguments_of(db, symbol, &args);
                        ty.map(&map)
                    } else {
                        parameter_of_type(db, &Ty::Instance(symbol, args), symbol, what)
                    }
                }
                // A type parameter represents a function by its bounds.
                Ty::Param(of, binding) => {
                    parameter_of(db, of, db.program.known(of).binding(binding).ty(), what)
                }
                _ => match facts.exprs[expr] {
                    Expr::Apply(base, args) => {
                        parameter_of_applied(db, file, base, args, what).unwrap_or(Ty::Unknown)
                    }
                    _ => Ty::Unknown,
                },
            }
        }
        _ => Ty::Unknown,
    })
}

/// Returns the parameter of a function type as it is stated, also of what bounds a type parameter.
pub(super) fn stated_parameter(
    db: &Db,
    file: FileId,
    function: ExprId,
    what: Contextual,
) -> Option<(FileId, ExprId)> {
    let facts = db.program.known(file).facts;
    if db.is_too_deep() {
        return None;
    }
    db.deeper(|| match facts.exprs[function.get()?] {
        Expr::Function(parts) => {
            let (_, params) = facts.lists[parts.range()].split_last()?;
            Some((file, *params.get(what.position()?)?))
        }
        Expr::Union(parts) => facts.lists[parts.range()]
            .iter()
            .find_map(|part| stated_parameter(db, file, *part, what)),
        Expr::Wrap(inner, _) => stated_parameter(db, file, inner, what),
        Expr::Name(..) => match infer::type_of(db, file, function) {
            Ty::Param(of, binding) => {
                stated_parameter(db, of, db.program.known(of).binding(binding).ty(), what)
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns the type of a parameter of the closure that is a value of a functional type.
pub(super) fn parameter_of_type(db: &Db, ty: &Ty, symbol: SymbolRef, what: Contextual) -> Ty {
    let declared = match functional::stated(db, symbol) {
        Some((file, stated)) => parameter_of(db, file, stated, what),
        None => functional::implemented(db, symbol)
            .map_or(Ty::Unknown, |member| parameter_of_callable(db, member, what)),
    };
    generics::substituted(db, declared, Some(ty))
}

/// Returns the type of a parameter of a value that can be called, by the type of the value.
pub(super) fn parameter_of_value(db: &Db, of: &Ty, what: Contextual) -> Ty {
    match of {
        Ty::Instance(symbol, _) => {
            let entry = db.program.symbol(*symbol);
            match entry.kind {
                SymbolKind::TypeAlias => parameter_of(db, symbol.file, entry.ty, what),
                _ => parameter_of_type(db, of, *symbol, what),
            }
        }
        Ty::Members(file, scope) => functional::only_stated_in(db, *file, *scope)
            .map_or(Ty::Unknown, |stated| parameter_of(db, *file, stated, what)),
        Ty::Filled(inner, params, args) => parameter_of_value(db, inner, what).with(params, args),
        _ => Ty::Unknown,
    }
}

/// True if a part of a function type is that of its receiver.
fn is_receiver(facts: &FileFacts, part: ExprId) -> bool {
    matches!(part.get().map(|part| facts.exprs[part]), Some(Expr::Wrap(_, Wrapper::Receiver)))
}

/// Returns the same for an external generic type whose type flow table makes it a function
/// type, with a list of parameters before the result, or a transparent one.
fn parameter_of_applied(
    db: &Db,
    file: FileId,
    base: ExprId,
    args: Run,
    what: Contextual,
) -> Option<Ty> {
    let (Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _)) =
        infer::type_of(db, file, base)
    else {
        return None;
    };
    let flow = type_flow::flow(db, file, &name)?.1;
    let facts = db.program.known(file).facts;
    let Some(kind) = flow.kind else {
        // A closure among those that a list holds.
        let element = *facts.lists[args.range()].get(place_of_element(flow)?)?;
        return Some(parameter_of(db, file, element, what));
    };
    match (kind, &facts.lists[args.range()]) {
        (FlowKind::Function, [.., result]) if what == Contextual::Result => {
            Some(infer::instance_of_expr(db, file, *result))
        }
        (FlowKind::Function, [params, rest @ ..]) if !rest.is_empty() => {
            let list = match facts.exprs[params.get()?] {
                Expr::Tuple(list) if rest.len() == 1 => &facts.lists[list.range()],
                _ => &facts.lists[args.range()][..rest.len()],
            };
            Some(infer::instance_of_expr(db, file, *list.get(what.position()?)?))
        }
        (FlowKind::Procedure, params) => {
            Some(infer::instance_of_expr(db, file, *params.get(what.position()?)?))
        }
        (FlowKind::Transparent, args) => {
            args.iter().map(|arg| parameter_of(db, file, *arg, what)).find(Ty::is_known)
        }
        _ => None,
    }
}

/// Returns the position of the type parameter that is the type of the elements.
fn place_of_element(flow: &TypeFlow) -> Option<usize> {
    let element = flow.element.as_deref()?;
    flow.params.iter().position(|param| param == element)
}

/// Returns the declared type of a parameter, or of the result, of a callable.
pub(super) fn parameter_of_callable(db: &Db, callable: SymbolRef, what: Contextual) -> Ty {
    if what == Contextual::Result {
        return infer::instance_of_expr(db, callable.file, db.program.symbol(callable).ty);
    }
    let types = overload::parameter_types(db, callable);
    what.position().and_then(|position| types.get(position).cloned()).unwrap_or(Ty::Unknown)
}

/// Returns the result that is declared for the function whose call is the only value of a variable.
fn declared_result(db: &Db, variable: SymbolRef) -> Option<(FileId, ExprId)> {
    let facts = db.program.known(variable.file).facts;
    let [value] = facts.lists[db.program.symbol(variable).values.range()] else { return None };
    let Expr::Call(callee, _) = facts.exprs[value.get()?] else { return None };
    let Ty::Callable(symbols, _) = infer::ty(db, variable.file, callee) else { return None };
    let [made] = symbols[..] else { return None };
    let ty = db.program.symbol(made).ty;
    ty.is_some().then_some((made.file, ty))
}

/// Returns the declared type of the variable, parameter or member that an expression names.
pub(super) fn declared_type(db: &Db, file: FileId, named: ExprId) -> Option<(FileId, ExprId)> {
    let unit = db.program.known(file);
    let position = named.get()?;
    let of_symbol = |symbol: &SymbolRef| {
        let ty = db.program.symbol(*symbol).ty;
        match ty.is_some() {
            true => Some((symbol.file, ty)),
            false => declared_result(db, *symbol),
        }
    };
    match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            let at = unit.facts.positions[position];
            match scopes::lookup(db, file, unit.name(name), scope, at)?.0 {
                Entity::Symbols(symbols) => of_symbol(symbols.first()?),
                Entity::Local(of, bindings) => {
                    let binding = db.program.known(of).binding(*bindings.first()?);
                    match binding.ty().is_some() {
                        true => Some((of, binding.ty())),
                        // Values of variables may lead back to themselves.
                        false if db.is_too_deep() => None,
                        false => db.deeper(|| declared_type(db, of, binding.value)),
                    }
                }
                _ => None,
            }
        }
        Expr::Member(object, name) => {
            let object = infer::ty(db, file, object);
            lookup::member_symbols(db, &object, unit.name(name)).iter().find_map(of_symbol)
        }
        _ => None,
    }
}
