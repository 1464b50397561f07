//! Closures: types of their parameters from the calls that they are passed to, and their results
//! for those calls.

use crate::db::Db;
use crate::db::ty::{Ty, instance_of, unify};
use crate::inference::calls::arguments;
use crate::inference::calls::call::CallArguments;
use crate::inference::calls::function_types::{
    declared_type, parameter_of, parameter_of_callable, parameter_of_type, parameter_of_value,
    stated_parameter,
};
use crate::inference::calls::{call, closure_arity, extensions, overload, returned};
use crate::inference::members::{
    aliases, hierarchy, inherent, lookup, overrides, receiver, type_flow,
};
use crate::inference::types::{builtin_types, callee, generics, infer, symbol_types};
use crate::units::contexts::Context;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::facts::{
    BindingId, BindingKind, Contextual, Expr, ExprId, Run, ScopeId, Synthetic,
};
use cograph_model::graph::{FileId, SymbolRef};
use std::borrow::Cow;

/// Marker in lists of a closure's parameters: the receiver.
const RECEIVER_MARK: &str = "this ";

/// Name under which a type flow table lists what a value takes that is called itself.
const CALLED: &str = "()";

/// Returns the type of a closure's parameter from the call that the closure is passed to.
pub(crate) fn given(db: &Db, file: FileId, closure: ScopeId, what: Contextual) -> Ty {
    let unit = db.program.known(file);
    if what == Contextual::Object {
        return awaited(db, file, object_type(db, file, closure));
    }
    let (call, argument) = match unit.context(closure).map(|(context, _)| context) {
        Some(Context::Argument(call, argument)) => (call, argument),
        Some(Context::Declared(ty)) => return parameter_of(db, file, ty, what),
        Some(Context::Member(object, name)) => {
            return given_to_member(db, file, object, unit.name(name), what);
        }
        Some(Context::Result(_)) | None => return Ty::Unknown,
    };
    let Some(call) = call.get() else { return Ty::Unknown };
    match unit.facts.exprs[call] {
        Expr::Call(callee, args) => {
            let (callee, types) = generics::unapplied(db, file, callee);
            if argument == 0
                && returned::gives_back(db, file, callee)
                && let Some(ty) = returned::declared_for(unit, ExprId::at(call))
            {
                return parameter_of(db, file, ty, what);
            }
            let mut given = PassedArguments::without_closures(db, file, args, (argument, closure));
            given.applied = types.map_or_else(Vec::new, |types| written_types(db, file, types));
            let count = overload::argument_count(args);
            let extension =
                extensions::callee_ty(db, file, callee, extensions::KnownArguments::Number(count));
            let known = extension
                .unwrap_or_else(|| callee::callee_ty(db, file, callee, &given.types, args));
            if let Ty::Callable(symbols, receiver) = &known {
                let count = types.map_or(0, |types| types.len() as usize);
                let symbols = generics::with_parameters(db, symbols, count);
                let symbols = &overrides::signatures(db, &symbols);
                let receiver = receiver.as_deref();
                if let Some(first) = extensions::receiver(db, symbols, receiver) {
                    given.insert_receiver(first);
                }
                let fitting = call::fitting(db, file, symbols, given.as_arguments(), false);
                return match given_by(db, &fitting, receiver, &given, what) {
                    Ty::Unknown => given_in_body(db, &fitting, what),
                    declared => declared,
                };
            }
            if let Ty::Type(symbol, _) = known {
                return given_to_type(db, symbol, &known, &given, what);
            }
            if let Ty::External(function) = &known {
                let function = type_flow::last_segment(function);
                let of_library = given_by_function(db, &given, function, types, what);
                if of_library.is_known() {
                    return of_library;
                }
            }
            if matches!(known, Ty::Builtin(..)) {
                let of_value = given_by_table(db, file, &known, CALLED, what);
                if of_value.is_known() {
                    return of_value;
                }
            }
            let (object, name) = match unit.facts.exprs[callee.get().unwrap_or(call)] {
                Expr::Member(object, name) => (infer::ty(db, file, object), name),
                Expr::Name(name, scope) => {
                    let Ty::BuiltinType(function, _) = &known else {
                        let receiver = receiver::receiver_type(db, file, scope);
                        let receiver = receiver.unwrap_or(Ty::Unknown);
                        let member = db.program.text(unit.name(name));
                        return given_by_table(db, file, &receiver, member, what);
                    };
                    return given_by_function(db, &given, function, None, what);
                }
                _ => return Ty::Unknown,
            };
            let member = db.program.text(unit.name(name));
            let parts: Vec<Ty> = object
                .alternatives()
                .iter()
                .map(|object| given_by_table(db, file, object, member, what))
                .collect();
            match (Ty::union(parts), taken_by_table(db, file, callee, argument)) {
                (Ty::Unknown, taken @ Ty::Instance(symbol, _)) => {
                    parameter_of_type(db, &taken, symbol, what)
                }
                (of_closure, _) => of_closure,
            }
        }
        Expr::Construct(ty, args) => {
            let made = infer::type_of(db, file, ty);
            let (Ty::Type(symbol, _) | Ty::Instance(symbol, _)) = made else {
                return Ty::Unknown;
            };
            let given = PassedArguments::without_closures(db, file, args, (argument, closure));
            given_to_type(db, symbol, &made, &given, what)
        }
        _ => Ty::Unknown,
    }
}

/// Returns the type of a parameter of a closure that a constructor takes, or that the name of a
/// functional type converts to it.
fn given_to_type(
    db: &Db,
    symbol: SymbolRef,
    made: &Ty,
    given: &PassedArguments,
    what: Contextual,
) -> Ty {
    let symbol = aliases::alias_target(db, symbol).unwrap_or(symbol);
    let hierarchy = hierarchy::hierarchy(db, symbol);
    let constructors = hierarchy.types.iter().map(|(ty, _)| call::constructors(db, *ty));
    match constructors.into_iter().find(|found| !found.is_empty()) {
        Some(constructors) => given_by(db, &constructors, Some(made), given, what),
        None if !db.program.symbol(symbol).params().is_empty() => {
            given_by(db, &[symbol], Some(made), given, what)
        }
        None => parameter_of_type(db, &instance_of(made), symbol, what),
    }
}

/// Returns the type of a parameter of a closure that is a member of an object, from the
/// declared type of the object.
fn given_to_member(db: &Db, file: FileId, object: ScopeId, name: Name, what: Contextual) -> Ty {
    let object = object_type(db, file, object);
    let Some(&member) = lookup::member_symbols(db, &object, name).first() else {
        return Ty::Unknown;
    };
    let entry = db.program.symbol(member);
    let given = match entry.kind.is_callable() {
        true => parameter_of_callable(db, member, what),
        false => parameter_of(db, member.file, entry.ty, what),
    };
    generics::substituted(db, given, Some(&object))
}

/// Returns what awaiting a value gives.
fn awaited(db: &Db, file: FileId, value: Ty) -> Ty {
    type_flow::through(db, file, &value, |flow| flow.awaited.as_deref()).unwrap_or(value)
}

/// Returns the type of an object literal from its context.
fn object_type(db: &Db, file: FileId, object: ScopeId) -> Ty {
    let unit = db.program.known(file);
    if db.is_too_deep() {
        return Ty::Unknown;
    }
    let Some((context, lists)) = unit.context(object) else { return Ty::Unknown };
    let whole = db.deeper(|| match context {
        Context::Declared(ty) => infer::instance_of_expr(db, file, ty),
        Context::Member(outer, name) => {
            let outer = object_type(db, file, outer);
            symbol_types::member_ty(db, &outer, unit.name(name))
        }
        Context::Argument(call, argument) => match call.get().map(|call| unit.facts.exprs[call]) {
            Some(Expr::Call(callee, args)) => {
                let given = PassedArguments::without_closures(db, file, args, (argument, object));
                expected_of_call(db, callee, &given)
            }
            Some(Expr::Construct(ty, args)) => {
                let made = infer::type_of(db, file, ty);
                let Ty::Type(symbol, _) = made else { return Ty::Unknown };
                let given = PassedArguments::without_closures(db, file, args, (argument, object));
                let constructors = call::constructors(db, symbol);
                expected_by(db, &constructors, Some(&instance_of(&made)), &given)
            }
            _ => Ty::Unknown,
        },
        Context::Result(closure) => given(db, file, closure, Contextual::Result),
    });
    // The list is what an asynchronous function gives.
    let whole = if lists > 0 { awaited(db, file, whole) } else { whole };
    (0..lists).fold(whole, |list, _| builtin_types::element(db, file, &list))
}

/// Returns the type of the parameter for an argument of a call.
fn expected_of_call(db: &Db, callee: ExprId, given: &PassedArguments) -> Ty {
    let file = given.file;
    let (plain, types) = generics::unapplied(db, file, callee);
    let types = types.map_or_else(Vec::new, |types| written_types(db, file, types));
    let first = types.first().cloned();
    let (callee, bind) = generics::with_arguments(db, file, infer::ty(db, file, plain), types);
    match callee {
        Ty::Callable(symbols, receiver) => {
            expected_by(db, &symbols, receiver.as_deref(), given).map(&bind)
        }
        // What a variable of a function type takes is known, not which function it is.
        _ => match declared_type(db, file, plain) {
            Some((of, ty)) => parameter_of(db, of, ty, Contextual::at(given.closure)),
            None => match callee {
                Ty::Instance(..) | Ty::Members(..) | Ty::Filled(..) => {
                    parameter_of_value(db, &callee, Contextual::at(given.closure))
                }
                Ty::Builtin(..) => argument_in_table(db, file, &callee, CALLED, given.closure),
                Ty::Lambda(of, closure) => declared_parameter(db, of, closure, given.closure),
                Ty::External(function) | Ty::BuiltinType(function, _)
                    if given.closure == 0
                        && first.is_some()
                        && returned::holds_first(db, file, &function) =>
                {
                    first.unwrap_or(Ty::Unknown)
                }
                _ => taken_by_table(db, file, plain, given.closure),
            },
        },
    }
}

/// Returns the type that a closure declares for a parameter.
fn declared_parameter(db: &Db, file: FileId, closure: ScopeId, position: usize) -> Ty {
    let unit = db.program.known(file);
    let mut params: Vec<BindingId> = unit.all_bound(closure).to_vec();
    params.retain(|binding| unit.binding(*binding).kind == BindingKind::Param);
    params.sort_unstable();
    let param = params.get(position);
    param.map_or(Ty::Unknown, |param| infer::instance_of_expr(db, file, unit.binding(*param).ty()))
}

/// Returns the type of an argument from the type flow table of the builtin type whose member is
/// called.
pub(super) fn taken_by_table(db: &Db, file: FileId, callee: ExprId, position: usize) -> Ty {
    let unit = db.program.known(file);
    let Some(Expr::Member(object, name)) = callee.get().map(|callee| unit.facts.exprs[callee])
    else {
        return Ty::Unknown;
    };
    argument_in_table(db, file, &infer::ty(db, file, object), unit.text(name), position)
}

fn argument_in_table(db: &Db, file: FileId, object: &Ty, member: &str, position: usize) -> Ty {
    let library = hierarchy::library_base(db, object);
    let object = library.as_ref().unwrap_or(object);
    for (flow, args) in type_flow::tables(db, file, object) {
        let taken = flow.arguments.get(member).map_or(&[][..], Vec::as_slice);
        if let Some(template) = taken.get(position).or(taken.last()) {
            return type_flow::instantiated(template, flow, &args, object);
        }
    }
    Ty::Unknown
}

/// Returns the type of the parameter for an argument of one of several callables.
fn expected_by(db: &Db, symbols: &Symbols, receiver: Option<&Ty>, given: &PassedArguments) -> Ty {
    let declared = |callable: &SymbolRef| {
        let place = given.place(db, *callable)?;
        let whole = overload::parameter_types(db, *callable).get(place).cloned()?;
        // An object is one of those that a variadic parameter gathers.
        Some(match arguments::variadic_place(db, *callable) == Some(place) {
            true => builtin_types::element(db, callable.file, &whole),
            false => whole,
        })
    };
    let fitting =
        |symbols: &Symbols| call::fitting(db, given.file, symbols, given.as_arguments(), false);
    // The keys would choose among signatures that take different objects: the definition takes all.
    let signatures = fitting(&overrides::signatures(db, symbols));
    let is_object = |ty: &Ty| !matches!(ty, Ty::Function(_));
    let mut objects = signatures.iter().filter_map(declared).filter(is_object);
    let object = match (objects.next(), objects.next()) {
        (only, None) => only,
        _ => fitting(symbols).first().and_then(declared),
    };
    generics::substituted(db, object.unwrap_or(Ty::Unknown), receiver)
}

/// Arguments of a call that a closure is passed to.
struct PassedArguments {
    file: FileId,
    args: Run,
    types: Vec<Ty>,
    /// Position of the closure among them.
    closure: usize,
    /// Its scope.
    scope: ScopeId,
    /// Type arguments that the call writes.
    applied: Vec<Ty>,
}

impl PassedArguments {
    /// Closures stay unknown: their results may depend on the current inference.
    fn without_closures(
        db: &Db,
        file: FileId,
        args: Run,
        (closure, scope): (usize, ScopeId),
    ) -> Self {
        let types = arguments_without_closures(db, file, args);
        Self { file, args, types, closure, scope, applied: Vec::new() }
    }

    /// Adds the receiver of an extension, which is the argument for its first parameter.
    fn insert_receiver(&mut self, receiver: &Ty) {
        self.types.insert(0, receiver.clone());
        self.closure += 1;
    }

    fn as_arguments(&self) -> CallArguments<'_> {
        CallArguments::Typed(&self.types, self.args)
    }

    /// Returns the closure as a value.
    fn value(&self) -> Ty {
        Ty::Lambda(self.file, self.scope)
    }

    /// Returns the parameter of a callable that the closure is for.
    fn place(&self, db: &Db, callable: SymbolRef) -> Option<usize> {
        let args = (self.args, self.types.len());
        arguments::place(db, self.file, callable, args, self.closure)
    }
}

/// Returns the types of type arguments.
pub(super) fn written_types(db: &Db, file: FileId, types: Run) -> Vec<Ty> {
    let types = &db.program.known(file).facts.lists[types.range()];
    types.iter().map(|ty| infer::instance_of_expr(db, file, *ty)).collect()
}

fn arguments_without_closures(db: &Db, file: FileId, args: Run) -> Vec<Ty> {
    let facts = db.program.known(file).facts;
    let is_closure = |value: ExprId| {
        let is_object =
            matches!(value.get().map(|value| facts.exprs[value]), Some(Expr::Members(_)));
        is_object || !crate::units::contexts::closures(facts, value).is_empty()
    };
    let items = &facts.lists[args.range()];
    items
        .iter()
        .map(|item| if is_closure(*item) { Ty::Unknown } else { infer::ty(db, file, *item) })
        .collect()
}

/// Returns the type of what callables pass to their closure at a position.
fn given_in_body(db: &Db, callables: &[SymbolRef], what: Contextual) -> Ty {
    let name = what.position().and_then(Synthetic::passed_argument);
    let Some(name) = name.map(|name| db.program.synthetic(name)) else { return Ty::Unknown };
    let mut parts = Vec::new();
    for callable in callables {
        let unit = db.program.known(callable.file);
        let bound = unit.bindings(db.program.symbol(*callable).inner, name);
        parts.extend(bound.map(|(_, binding)| infer::ty(db, callable.file, binding.value)));
    }
    Ty::union(parts)
}

/// Returns the declared type of a closure's parameter in callables that accept the closure as
/// an argument.
fn given_by(
    db: &Db,
    callables: &[SymbolRef],
    receiver: Option<&Ty>,
    given: &PassedArguments,
    what: Contextual,
) -> Ty {
    for &callable in callables {
        let entry = db.program.symbol(callable);
        let place = given.place(db, callable);
        let of_place = |place| Some((place, entry.params().range().nth(place)?));
        let Some((place, param)) = place.and_then(of_place) else { continue };
        if !closure_arity::fits(db, given.file, callable, place, &given.value()) {
            continue;
        }
        let facts = db.program.known(callable.file).facts;
        let declared = facts.bindings[param].ty();
        let ty = parameter_of(db, callable.file, declared, what);
        if !ty.is_known() {
            continue;
        }
        let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
        let type_params = facts.clauses_of(entry).type_params.range();
        if type_params.len() == given.applied.len() {
            let params = type_params.map(|at| (callable.file, BindingId::at(at)));
            known.extend(params.zip(given.applied.iter().cloned()));
        }
        for (param, given) in entry.params().range().zip(&given.types) {
            let declared = infer::instance_of_expr(db, callable.file, facts.bindings[param].ty());
            unify(&declared, given, &mut known);
        }
        let ty = associated(db, callable.file, (declared, what), &known).unwrap_or(ty);
        let bound = ty.map(&|ty: &Ty| match ty {
            Ty::Param(file, binding) => known
                .iter()
                .find(|(param, _)| *param == (*file, *binding))
                .map(|(_, ty)| ty.clone()),
            _ => None,
        });
        let bound = inherent::bind_receiver_parameters(db, callable, bound, receiver);
        return generics::substituted(db, bound, receiver);
    }
    Ty::Unknown
}

/// Returns the parameter of a function type that is an associated type of a type parameter
/// (`G::Edge`): that of the type which is known to be the argument.
fn associated(
    db: &Db,
    file: FileId,
    (function, what): (ExprId, Contextual),
    known: &[((FileId, BindingId), Ty)],
) -> Option<Ty> {
    let (file, param) = stated_parameter(db, file, function, what)?;
    let Expr::Member(object, name) = db.program.known(file).facts.exprs[param.get()?] else {
        return None;
    };
    let Ty::Param(of, binding) = infer::type_of(db, file, object) else { return None };
    let (_, given) = known.iter().find(|(param, _)| *param == (of, binding))?;
    let Ty::Instance(symbol, args) = given else { return None };
    let of = Ty::Type(*symbol, args.clone());
    let ty = instance_of(&symbol_types::member_ty(db, &of, db.name(file, name)));
    ty.is_known().then_some(ty)
}

/// Returns the type of a closure's parameter from the type flow table of a builtin type's
/// member.
fn given_by_table(db: &Db, file: FileId, object: &Ty, member: &str, what: Contextual) -> Ty {
    let library = hierarchy::library_base(db, object);
    let known = library.as_ref().unwrap_or(object);
    let mut tables = type_flow::tables(db, file, known);
    // What every value has.
    let every = type_flow::flow(db, file, inherent::ANY_TYPE);
    tables.extend(every.map(|(_, flow)| (flow, Cow::Borrowed(&[][..]))));
    for (flow, args) in tables {
        let params = flow.callbacks.get(member).map_or(&[][..], Vec::as_slice);
        // A closure that is passed instead of an argument returns one.
        let template = match what == Contextual::Result && !params.is_empty() {
            true => flow.arguments.get(member).and_then(|taken| taken.first()).map(String::as_str),
            false => in_list(params, what),
        };
        if let Some(template) = template {
            let this = if flow.params.is_empty() { object } else { known };
            return type_flow::instantiated(template, flow, &args, this);
        }
    }
    Ty::Unknown
}

/// Returns the same for a function of the library, with the type arguments that the call writes.
fn given_by_function(
    db: &Db,
    given: &PassedArguments,
    function: &str,
    written: Option<Run>,
    what: Contextual,
) -> Ty {
    let file = given.file;
    let unit = db.program.known(file);
    let callbacks = &unit.language.manifest.builtins.callbacks;
    let template = callbacks.get(function).and_then(|params| in_list(params, what));
    let Some(template) = template else { return Ty::Unknown };
    let written = written.map_or_else(Vec::new, |types| written_types(db, file, types));
    call::of_arguments(db, file, template, &given.types, &written)
}

/// Returns the type of a parameter in a list: of the receiver, or of one by position.
fn in_list(params: &[String], what: Contextual) -> Option<&str> {
    if what == Contextual::Receiver {
        return params.iter().find_map(|param| param.strip_prefix(RECEIVER_MARK));
    }
    let mut params = params.iter().filter(|param| !param.starts_with(RECEIVER_MARK));
    params.nth(what.position()?).map(String::as_str)
}
