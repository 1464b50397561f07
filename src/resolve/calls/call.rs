//! Calls: overload resolution by arity, constructors, and results.

use crate::grammar::Tier;
use crate::model::SymbolKind;
use crate::model::facts::{ExprId, LocalSymbol, Run, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::Symbols;
use crate::resolve::calls::{overload, receivers};
use crate::resolve::db::Db;
use crate::resolve::db::ty::{Parameter, Ty, TyList, no_types, unify};
use crate::resolve::members::{aliases, hierarchy, overrides, type_flow};
use crate::resolve::names::{definition, linkage};
use crate::resolve::types::{builtin_types, generics, lists, return_types};
use crate::resolve::units::bounds::qualified;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Marker in type flow tables: type of the first argument of a call.
const FIRST_ARGUMENT: &str = "arg0";

/// Marker in type flow tables: result of the closure passed to a call.
const CLOSURE_RESULT: &str = "result";

/// Marker in result tables: calling the first argument.
const FIRST_CALLEE: &str = "callee0";

/// Arguments of a call.
#[derive(Clone, Copy)]
pub(in crate::resolve) enum CallArguments<'t> {
    /// Types of the arguments.
    Typed(&'t [Ty]),
    /// Expressions of the arguments: their types are inferred only if several callables accept
    /// their number.
    Written(Run),
}

impl CallArguments<'_> {
    fn count(self) -> u16 {
        let count = match self {
            Self::Typed(types) => types.len(),
            Self::Written(args) => args.len as usize,
        };
        u16::try_from(count).unwrap_or(u16::MAX)
    }
}

/// Returns the result of calling a value.
pub(in crate::resolve) fn call_result(db: &Db, file: FileId, callee: &Ty, args: Run) -> Ty {
    match callee {
        Ty::Callable(symbols, receiver) => {
            let given = lists::argument_types(db, file, args);
            let symbols = &receivers::for_receiver_type(db, receiver.as_deref(), symbols);
            let chosen = fitting(db, file, symbols, CallArguments::Typed(&given), false);
            db.result_of(&chosen, receiver.as_deref(), &given)
        }
        Ty::Type(symbol, given) => constructed(db, file, *symbol, given, args),
        Ty::Instance(..) => result_of_calling_value(db, file, callee, args),
        Ty::Lambda(file, scope) => return_types::lambda_result(db, *file, *scope),
        Ty::Function(result) => filled(db, file, result, args),
        Ty::BuiltinType(name, given) => builtin_result(db, file, name, given, args),
        Ty::External(name) => outside_result(db, file, name, args),
        Ty::Union(parts) => Ty::union(
            parts.clone().iter().map(|part| call_result(db, file, part, args)).collect::<Vec<_>>(),
        ),
        _ => Ty::Unknown,
    }
}

fn result_of_calling_value(db: &Db, file: FileId, value: &Ty, args: Run) -> Ty {
    if let Some(underlying) = aliases::underlying(db, value) {
        return call_result(db, file, &underlying, args);
    }
    let Ty::Instance(symbol, _) = value else { return Ty::Unknown };
    let names = &db.program.known(symbol.file).language.manifest.names;
    let Some(name) = names.call_member.as_deref().map(|member| db.program.named(member)) else {
        return Ty::Unknown;
    };
    let member = db.member_ty(value, name);
    match member {
        Ty::Callable(..) => call_result(db, file, &member, args),
        _ => Ty::Unknown,
    }
}

fn builtin_result(db: &Db, file: FileId, name: &Rc<str>, given: &TyList, args: Run) -> Ty {
    let manifest = &db.program.known(file).language.manifest;
    let Some(template) = manifest.builtins.results.get(&**name) else {
        return Ty::Builtin(name.clone(), given.clone());
    };
    let args = lists::argument_types(db, file, args);
    if template == FIRST_CALLEE {
        return args.into_iter().next().unwrap_or(Ty::Unknown);
    }
    let elements: Vec<Ty> = args.iter().map(|arg| builtin_types::element(db, file, arg)).collect();
    let flow = crate::grammar::TypeFlow {
        params: ["arg0", "arg1", "item0", "item1"].map(str::to_owned).to_vec(),
        ..crate::grammar::TypeFlow::default()
    };
    let pick = |list: &[Ty], position: usize| list.get(position).cloned().unwrap_or(Ty::Unknown);
    let values = [pick(&args, 0), pick(&args, 1), pick(&elements, 0), pick(&elements, 1)];
    let result = type_flow::instantiated(template, &flow, &values, &Ty::Unknown);
    crate::resolve::db::ty::instance_of(&result)
}

/// A call of an external callable has an external result, unless a table of results defines it.
fn outside_result(db: &Db, file: FileId, name: &Rc<str>, args: Run) -> Ty {
    let language = db.program.known(file).language;
    let last = crate::resolve::members::type_flow::last_segment(name);
    if language.manifest.builtins.results.contains_key(last) {
        return builtin_result(db, file, &Rc::from(last), &no_types(), args);
    }
    match language.flow(last) {
        Some((canonical, _)) => Ty::builtin(canonical, &[]),
        None => Ty::External(qualified(name, "", "()")),
    }
}

/// Returns the callables that accept the arguments; all if none does.
pub(in crate::resolve) fn fitting(
    db: &Db,
    file: FileId,
    symbols: &Symbols,
    args: CallArguments<'_>,
    spread: bool,
) -> Symbols {
    if let CallArguments::Written(written) = args
        && db.program.known(file).language.manifest.resolution.infer_returns
    {
        // The result of a recursive inference depends on its entry point: always start with the
        // arguments of calls, in order.
        let types = lists::argument_types(db, file, written);
        return fitting(db, file, symbols, CallArguments::Typed(&types), spread);
    }
    if symbols.first().is_some_and(|symbol| has_declarations(db, *symbol)) {
        let distinct = definition::distinct_signatures(db, symbols);
        let chosen = fitting_distinct(db, file, &distinct, args, spread);
        return definition::with_definitions(db, &chosen);
    }
    fitting_distinct(db, file, symbols, args, spread)
}

fn has_declarations(db: &Db, symbol: SymbolRef) -> bool {
    db.program.known(symbol.file).language.manifest.resolution.declarations
}

fn fitting_distinct(
    db: &Db,
    file: FileId,
    symbols: &Symbols,
    args: CallArguments<'_>,
    spread: bool,
) -> Symbols {
    if symbols.len() < 2 {
        return symbols.clone();
    }
    let count = args.count();
    let by_arity: Symbols = symbols
        .iter()
        .copied()
        .filter(|symbol| overload::accepts(db, *symbol, count, spread))
        .collect();
    let mut left = if by_arity.is_empty() { symbols.clone() } else { by_arity };
    if !has_declarations(db, symbols[0]) {
        overrides::defined(db, &mut left);
    }
    // In languages without a measurement against a compiler, several callables of the same
    // arity stay ambiguous.
    if left.len() < 2 || spread || db.tier(file) != Tier::Full {
        return left;
    }
    match args {
        CallArguments::Typed(types) => overload::closest(db, file, left, types),
        CallArguments::Written(args) => {
            let types = lists::argument_types(db, file, args);
            overload::closest(db, file, left, &types)
        }
    }
}

/// Returns the constructors that a type itself defines.
pub(in crate::resolve) fn constructors(db: &Db, symbol: SymbolRef) -> Symbols {
    let mut found = Symbols::new();
    for part in linkage::openings(db, symbol) {
        let inner = db.program.symbol(part).inner;
        let own = constructors_of(db, part.file);
        found.extend(own.get(&inner).filter(|_| inner.is_some()).into_iter().flatten().copied());
    }
    let elsewhere =
        db.program.extensions(symbol).and_then(|members| members.get(&db.program.name_of(symbol)));
    for member in elsewhere.into_iter().flatten() {
        if db.program.symbol(*member).kind == SymbolKind::Constructor && !found.contains(member) {
            found.push(*member);
        }
    }
    found
}

/// Returns the constructors of a file by the scopes that they are in.
fn constructors_of(db: &Db, file: FileId) -> Rc<FxHashMap<ScopeId, Symbols>> {
    if let Some(known) = db.constructors.get(&file) {
        return known;
    }
    let mut by_scope: FxHashMap<ScopeId, Symbols> = FxHashMap::default();
    for (position, symbol) in db.program.known(file).facts.symbols.iter().enumerate() {
        if symbol.kind == SymbolKind::Constructor {
            by_scope
                .entry(symbol.scope)
                .or_default()
                .push(SymbolRef { file, symbol: LocalSymbol::at(position) });
        }
    }
    let by_scope = Rc::new(by_scope);
    db.constructors.insert(file, Rc::clone(&by_scope));
    by_scope
}

/// Substitutes the parts of a table's result that depend on the call: the type of its first
/// argument, and the result of its closure.
fn filled(db: &Db, file: FileId, result: &Ty, args: Run) -> Ty {
    let is = |ty: &Ty, marker: &str| matches!(ty, Ty::Builtin(name, _) if &**name == marker);
    let (argument, closure) = (std::cell::Cell::new(false), std::cell::Cell::new(false));
    result.map(&|ty: &Ty| {
        argument.set(argument.get() || is(ty, FIRST_ARGUMENT));
        closure.set(closure.get() || is(ty, CLOSURE_RESULT));
        None
    });
    if !argument.get() && !closure.get() {
        return result.clone();
    }
    let first =
        db.program.known(file).facts.lists[args.range()].first().copied().unwrap_or(ExprId::NONE);
    let first = db.ty(file, first);
    let given_back = match &first {
        Ty::Lambda(..) | Ty::Callable(..) | Ty::Function(_) | Ty::Type(..) if closure.get() => {
            call_result(db, file, &first, Run::default())
        }
        _ => Ty::Unknown,
    };
    let given = crate::resolve::db::ty::instance_of(&first);
    result.map(&|ty: &Ty| match ty {
        ty if is(ty, FIRST_ARGUMENT) => Some(given.clone()),
        ty if is(ty, CLOSURE_RESULT) => Some(given_back.clone()),
        _ => None,
    })
}

/// Returns the instance that a constructor call creates; the arguments may bind type
/// parameters.
fn constructed(db: &Db, file: FileId, symbol: SymbolRef, given: &TyList, args: Run) -> Ty {
    let plain = Ty::Instance(symbol, given.clone());
    if !given.is_empty() || args.len == 0 || !hierarchy::has_variables(db, symbol.file) {
        return plain;
    }
    let params = generics::parameters_of_type(db, symbol);
    let (false, Some(&constructor)) = (params.is_empty(), constructors(db, symbol).last()) else {
        return plain;
    };
    let values = lists::argument_types(db, file, args);
    let mut known: Vec<(Parameter, Ty)> = Vec::new();
    for (declared, value) in db.parameter_types(constructor).iter().zip(&values) {
        unify(declared, &crate::resolve::db::ty::instance_of(value), &mut known);
    }
    if known.is_empty() {
        return plain;
    }
    let stands_for = |param: &Parameter| {
        known.iter().find(|(of, _)| of == param).map_or(Ty::Unknown, |(_, ty)| ty.clone())
    };
    Ty::Instance(symbol, params.iter().map(|(param, _)| stands_for(param)).collect())
}
