//! Closures: types of their parameters from the calls that they are passed to, and their results
//! for those calls.

use crate::grammar::FlowKind;
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, Expr, ExprId, GIVEN, Run, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::Name;
use crate::resolve::calls::call;
use crate::resolve::calls::call::CallArguments;
use crate::resolve::db::Db;
use crate::resolve::db::ty::{Ty, unify};
use crate::resolve::members::{aliases, hierarchy, lookup, type_flow};
use crate::resolve::types::generics;
use crate::resolve::units::contexts::Context;

/// Returns the type of a closure's parameter from the call that the closure is passed to.
pub(in crate::resolve) fn given(db: &Db, file: FileId, closure: ScopeId, position: usize) -> Ty {
    let unit = db.program.known(file);
    let (call, argument) = match unit.context(closure) {
        Some(Context::Argument(call, argument)) => (call, argument),
        Some(Context::Declared(ty)) => return parameter_of(db, file, ty, position),
        Some(Context::Member(object, name)) => {
            return given_to_member(db, file, object, unit.name(name), position);
        }
        None => return Ty::Unknown,
    };
    let Some(call) = call.get() else { return Ty::Unknown };
    match unit.facts.exprs[call] {
        Expr::Call(callee, args) => {
            let known = db.ty(file, callee);
            if let Ty::Callable(symbols, receiver) = &known {
                let given = arguments_without_closures(db, file, args);
                let fitting = call::fitting(db, file, symbols, CallArguments::Typed(&given), false);
                let declared =
                    given_by(db, &fitting, receiver.as_deref(), &given, argument, position);
                return match declared {
                    Ty::Unknown => given_in_body(db, &fitting, position),
                    declared => declared,
                };
            }
            let Expr::Member(object, name) = unit.facts.exprs[callee.get().unwrap_or(call)] else {
                return Ty::Unknown;
            };
            let object = db.ty(file, object);
            let member = db.program.text(unit.name(name));
            let parts: Vec<Ty> = object
                .alternatives()
                .iter()
                .map(|object| given_by_table(db, file, object, member, position))
                .collect();
            Ty::union(parts)
        }
        Expr::Construct(ty, args) => {
            let made = db.type_of(file, ty);
            let (Ty::Type(symbol, _) | Ty::Instance(symbol, _)) = made else {
                return Ty::Unknown;
            };
            let symbol = aliases::alias_target(db, symbol).unwrap_or(symbol);
            let types: Vec<SymbolRef> =
                hierarchy::hierarchy(db, symbol).types.iter().map(|(ty, _)| *ty).collect();
            let Some(constructors) = types
                .into_iter()
                .map(|ty| call::constructors(db, ty))
                .find(|found| !found.is_empty())
            else {
                return Ty::Unknown;
            };
            let given = arguments_without_closures(db, file, args);
            given_by(db, &constructors, Some(&made), &given, argument, position)
        }
        _ => Ty::Unknown,
    }
}

/// Returns the type of a parameter of a closure that is a member of an object, from the
/// declared type of the object.
fn given_to_member(db: &Db, file: FileId, object: ScopeId, name: Name, position: usize) -> Ty {
    let object = object_type(db, file, object);
    let Some(&member) = lookup::member_symbols(db, &object, name).first() else {
        return Ty::Unknown;
    };
    let entry = db.program.symbol(member);
    let given = match entry.kind.is_callable() {
        true => db.parameter_types(member).get(position).cloned().unwrap_or(Ty::Unknown),
        false => parameter_of(db, member.file, entry.ty, position),
    };
    generics::substituted(db, given, Some(&object))
}

/// Returns the type of an object literal from its context.
fn object_type(db: &Db, file: FileId, object: ScopeId) -> Ty {
    let unit = db.program.known(file);
    if db.is_too_deep() {
        return Ty::Unknown;
    }
    db.deeper(|| match unit.context(object) {
        Some(Context::Declared(ty)) => db.instance_of_expr(file, ty),
        Some(Context::Member(outer, name)) => {
            let outer = object_type(db, file, outer);
            db.member_ty(&outer, unit.name(name))
        }
        Some(Context::Argument(call, argument)) => {
            match call.get().map(|call| unit.facts.exprs[call]) {
                Some(Expr::Call(callee, args)) => match db.ty(file, callee) {
                    Ty::Callable(symbols, receiver) => {
                        let given = arguments_without_closures(db, file, args);
                        let fitting =
                            call::fitting(db, file, &symbols, CallArguments::Typed(&given), false);
                        let declared = fitting.first().and_then(|callable| {
                            db.parameter_types(*callable).get(argument).cloned()
                        });
                        generics::substituted(
                            db,
                            declared.unwrap_or(Ty::Unknown),
                            receiver.as_deref(),
                        )
                    }
                    _ => Ty::Unknown,
                },
                _ => Ty::Unknown,
            }
        }
        None => Ty::Unknown,
    })
}

/// Returns the types of arguments. Closures stay unknown: their results may depend on the
/// current inference.
fn arguments_without_closures(db: &Db, file: FileId, args: Run) -> Vec<Ty> {
    let facts = db.program.known(file).facts;
    let is_closure = |value: ExprId| {
        let is_object =
            matches!(value.get().map(|value| facts.exprs[value]), Some(Expr::Members(_)));
        is_object || !crate::resolve::units::contexts::closures(facts, value).is_empty()
    };
    let items = &facts.lists[args.range()];
    items
        .iter()
        .map(|item| if is_closure(*item) { Ty::Unknown } else { db.ty(file, *item) })
        .collect()
}

/// Returns the type of what callables pass to their closure at a position.
fn given_in_body(db: &Db, callables: &[SymbolRef], position: usize) -> Ty {
    let name = db.program.named(&format!("{GIVEN}{position}"));
    let mut parts = Vec::new();
    for callable in callables {
        let unit = db.program.known(callable.file);
        let bound = unit.bindings(db.program.symbol(*callable).inner, name);
        parts.extend(bound.map(|(_, binding)| db.ty(callable.file, binding.value)));
    }
    Ty::union(parts)
}

/// Returns the declared type of a closure's parameter in callables that accept the closure as
/// an argument.
fn given_by(
    db: &Db,
    callables: &[SymbolRef],
    receiver: Option<&Ty>,
    given: &[Ty],
    argument: usize,
    position: usize,
) -> Ty {
    for &callable in callables {
        let entry = db.program.symbol(callable);
        let Some(param) = entry.params.range().nth(argument) else { continue };
        let facts = db.program.known(callable.file).facts;
        let declared = facts.bindings[param].ty;
        let ty = parameter_of(db, callable.file, declared, position);
        if !ty.is_known() {
            continue;
        }
        let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
        for (param, given) in entry.params.range().zip(given) {
            let declared = db.instance_of_expr(callable.file, facts.bindings[param].ty);
            unify(&declared, given, &mut known);
        }
        let bound = ty.map(&|ty: &Ty| match ty {
            Ty::Param(file, binding) => known
                .iter()
                .find(|(param, _)| *param == (*file, *binding))
                .map(|(_, ty)| ty.clone()),
            _ => None,
        });
        return generics::substituted(db, bound, receiver);
    }
    Ty::Unknown
}

/// Returns the type of a parameter of a function type, through aliases, wrappers and
/// alternatives.
fn parameter_of(db: &Db, file: FileId, function: ExprId, position: usize) -> Ty {
    let Some(expr) = function.get() else { return Ty::Unknown };
    if db.is_too_deep() {
        return Ty::Unknown;
    }
    let facts = db.program.known(file).facts;
    db.deeper(|| match facts.exprs[expr] {
        Expr::Function(parts) => {
            let parts = &facts.lists[parts.range()];
            match parts.split_last().and_then(|(_, params)| params.get(position)) {
                Some(param) => db.instance_of_expr(file, *param),
                None => Ty::Unknown,
            }
        }
        Expr::Union(parts) => {
            let parts = facts.lists[parts.range()].iter();
            parts
                .map(|part| parameter_of(db, file, *part, position))
                .find(Ty::is_known)
                .unwrap_or(Ty::Unknown)
        }
        Expr::Wrap(inner, _) => parameter_of(db, file, inner, position),
        Expr::Name(..) | Expr::Member(..) | Expr::Apply(..) => match db.type_of(file, function) {
            Ty::Type(symbol, args) | Ty::Instance(symbol, args) => {
                let entry = db.program.symbol(symbol);
                if entry.kind == SymbolKind::TypeAlias {
                    let ty = parameter_of(db, symbol.file, entry.ty, position);
                    let map = db.arguments_of(symbol, &args);
                    ty.map(&map)
                } else {
                    Ty::Unknown
                }
            }
            _ => match facts.exprs[expr] {
                Expr::Apply(base, args) => {
                    parameter_of_applied(db, file, base, args, position).unwrap_or(Ty::Unknown)
                }
                _ => Ty::Unknown,
            },
        },
        _ => Ty::Unknown,
    })
}

/// Returns the same for an external generic type whose type flow table makes it a function
/// type, with a list of parameters before the result, or a transparent one.
fn parameter_of_applied(
    db: &Db,
    file: FileId,
    base: ExprId,
    args: Run,
    position: usize,
) -> Option<Ty> {
    let (Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _)) =
        db.type_of(file, base)
    else {
        return None;
    };
    let kind = type_flow::flow(db, file, &name)?.1.kind?;
    let facts = db.program.known(file).facts;
    match (kind, &facts.lists[args.range()]) {
        (FlowKind::Function, [params, _]) => {
            let param = match facts.exprs[params.get()?] {
                Expr::Tuple(list) => *facts.lists[list.range()].get(position)?,
                _ if position == 0 => *params,
                _ => return None,
            };
            Some(db.instance_of_expr(file, param))
        }
        (FlowKind::Transparent, args) => {
            args.iter().map(|arg| parameter_of(db, file, *arg, position)).find(Ty::is_known)
        }
        _ => None,
    }
}

/// Returns the type of a closure's parameter from the type flow table of a builtin type's
/// member.
fn given_by_table(db: &Db, file: FileId, object: &Ty, member: &str, position: usize) -> Ty {
    let (Ty::Builtin(name, args) | Ty::BuiltinType(name, args)) = object else {
        return Ty::Unknown;
    };
    let Some((_, flow)) = type_flow::flow(db, file, name) else { return Ty::Unknown };
    match flow.callbacks.get(member).and_then(|params| params.get(position)) {
        Some(template) => type_flow::instantiated(template, flow, args, object),
        None => Ty::Unknown,
    }
}
