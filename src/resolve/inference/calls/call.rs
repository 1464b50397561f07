//! Calls: overload resolution by arity, constructors, and results.

use crate::db::Db;
use crate::db::in_progress::Operation;
use crate::db::ty::{Entity, Member, Parameter, Ty, TyList, no_types, unify};
use crate::inference::calls::{extensions, functional, overload, receivers};
use crate::inference::members::{aliases, hierarchy, lookup, overrides, statics, type_flow};
use crate::inference::names::definition;
use crate::inference::types::generics::WRITTEN_TYPE;
use crate::inference::types::{builtin_types, generics, infer, lists, return_types, symbol_types};
use crate::units::bounds::qualified;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::{ImplicitUse, Tier};
use cograph_model::SymbolKind;
use cograph_model::facts::{CALL_SUFFIX, ExprId, LocalSymbol, Run, ScopeId, flags};
use cograph_model::graph::{FileId, SymbolRef};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Marker in type flow tables: type of the first argument of a call.
const FIRST_ARGUMENT: &str = "arg0";

/// Marker in type flow tables: result of the closure passed to a call.
const CLOSURE_RESULT: &str = "result";

/// Marker in type flow tables: result of the second closure passed to a call.
const SECOND_RESULT: &str = "result1";

/// Marker in type flow tables: type of the items of the first argument.
const FIRST_ITEM: &str = "item0";

/// Marker in type flow tables: type of the items of the closure's result.
const RESULT_ITEM: &str = "itemOfResult";

/// Marker in result tables: calling the first argument.
pub(super) const FIRST_CALLEE: &str = "callee0";

/// Marker in result tables: another value of the type of the first argument.
pub(super) const LIKE_FIRST: &str = "like0";

/// Arguments of a call.
#[derive(Clone, Copy)]
pub(crate) enum CallArguments<'t> {
    /// Types of the arguments, as written.
    Typed(&'t [Ty], Run),
    /// Expressions of the arguments: their types are inferred only if several callables accept
    /// their number.
    Written(Run),
}

impl CallArguments<'_> {
    fn count(self) -> u16 {
        let count = match self {
            Self::Typed(types, _) => types.len(),
            Self::Written(args) => args.len() as usize,
        };
        u16::try_from(count).unwrap_or(u16::MAX)
    }
}

/// Returns the result of calling a value.
pub(crate) fn call_result(db: &Db, file: FileId, callee: &Ty, args: Run) -> Ty {
    match callee {
        Ty::Callable(symbols, Some(receiver))
            if let Some(&first) = symbols.first()
                && let name = db.program.name_of(first)
                && is_of_library(db, file, receiver, symbols, name, args) =>
        {
            let text = Rc::from(db.program.text(name));
            let member = builtin_types::outside_member(db, receiver, name, &text);
            call_result(db, file, &member, args)
        }
        Ty::Callable(symbols, receiver) => {
            let mut given = lists::types_of(db, file, args);
            if let Some(first) = extensions::receiver(db, symbols, receiver.as_deref()) {
                given.insert(0, first.clone());
            }
            let symbols = &receivers::for_receiver_type(db, receiver.as_deref(), symbols);
            let symbols = &overrides::signatures(db, symbols);
            let chosen = fitting(db, file, symbols, CallArguments::Typed(&given, args), false);
            return_types::result_of(db, &chosen, receiver.as_deref(), &given)
        }
        Ty::Type(symbol, given) => constructed(db, file, *symbol, given, args),
        Ty::Instance(..) => result_of_calling_value(db, file, callee, args),
        Ty::Members(of, scope) => match functional::only_stated_in(db, *of, *scope) {
            Some(stated) => call_result(db, file, &infer::instance_of_expr(db, *of, stated), args),
            None => Ty::Unknown,
        },
        Ty::Filled(inner, params, given) => call_result(db, file, inner, args).with(params, given),
        Ty::Lambda(file, scope) => return_types::lambda_result(db, *file, *scope),
        Ty::Function(result) => filled(db, file, result, args),
        Ty::BuiltinType(name, given) => builtin_result(db, file, name, given, args),
        Ty::External(name) => outside_result(db, file, name, args),
        Ty::Union(parts) => parts.clone().each(|part| call_result(db, file, part, args)),
        _ => Ty::Unknown,
    }
}

fn result_of_calling_value(db: &Db, file: FileId, value: &Ty, args: Run) -> Ty {
    let of_underlying = |underlying: &Ty| call_result(db, file, underlying, args);
    if let Some(result) = aliases::operated(db, value, Operation::Call, of_underlying) {
        return result;
    }
    let Ty::Instance(symbol, _) = value else { return Ty::Unknown };
    if let Some((of, stated)) = functional::stated(db, *symbol) {
        let called = infer::instance_of_expr(db, of, stated);
        return call_result(db, file, &generics::substituted(db, called, Some(value)), args);
    }
    let names = &db.program.known(symbol.file).language.manifest.names;
    let Some(name) = names.member_behind(ImplicitUse::Call) else { return Ty::Unknown };
    let name = db.program.named(name);
    let member = symbol_types::member_ty(db, value, name);
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
    if template == LIKE_FIRST {
        return Ty::External(qualified(name, "", CALL_SUFFIX));
    }
    let types = lists::types_of(db, file, args);
    if template == FIRST_CALLEE {
        return types.into_iter().next().unwrap_or(Ty::Unknown);
    }
    let result = of_arguments(db, file, template, &types, given);
    filled(db, file, &result, args)
}

/// Instantiates a type of a result table for the types of arguments and the type arguments that a
/// call writes.
pub(super) fn of_arguments(
    db: &Db,
    file: FileId,
    template: &str,
    args: &[Ty],
    written: &[Ty],
) -> Ty {
    let elements: Vec<Ty> = args.iter().map(|arg| builtin_types::element(db, file, arg)).collect();
    let flow = cograph_grammar::TypeFlow {
        params: ["arg0", "arg1", "item0", "item1", "type0", "type1", "value0"]
            .map(str::to_owned)
            .to_vec(),
        ..cograph_grammar::TypeFlow::default()
    };
    let pick = |list: &[Ty], position: usize| list.get(position).cloned().unwrap_or(Ty::Unknown);
    let or_written = |list: &[Ty], position: usize| match written.get(position) {
        Some(written) => written.clone(),
        None => pick(list, position),
    };
    let values = [
        or_written(args, 0),
        or_written(args, 1),
        or_written(&elements, 0),
        or_written(&elements, 1),
        pick(written, 0),
        pick(written, 1),
        written.first().cloned().unwrap_or_else(|| made_by(db, file, &pick(args, 0))),
    ];
    let result = type_flow::instantiated(template, &flow, &values, &Ty::Unknown);
    crate::db::ty::instance_of(&result)
}

/// Returns a value, or what the closure in its place makes.
fn made_by(db: &Db, file: FileId, value: &Ty) -> Ty {
    match value {
        Ty::Lambda(..) | Ty::Callable(..) | Ty::Function(_) => {
            call_result(db, file, value, Run::default())
        }
        _ => value.clone(),
    }
}

/// A call of an external callable has an external result, unless a table of results defines it.
fn outside_result(db: &Db, file: FileId, name: &Rc<str>, args: Run) -> Ty {
    let language = db.program.known(file).language;
    let last = type_flow::last_segment(name);
    if language.manifest.builtins.results.contains_key(last) {
        return builtin_result(db, file, &Rc::from(last), &no_types(), args);
    }
    match language.flow(last) {
        Some((canonical, _)) => Ty::builtin(canonical, &[]),
        None => Ty::External(qualified(name, "", CALL_SUFFIX)),
    }
}

/// True if a call of a member means that of a library type, which precedes extensions that do not
/// certainly accept the arguments.
pub(crate) fn is_of_library(
    db: &Db,
    file: FileId,
    of: &Ty,
    symbols: &Symbols,
    name: Name,
    args: Run,
) -> bool {
    if !matches!(of, Ty::Builtin(..) | Ty::External(_))
        || !type_flow::has_own_method(db, file, of, name)
    {
        return false;
    }
    let types = lists::types_of(db, file, args);
    !overload::is_applicable(db, file, &Entity::Symbols(symbols.clone()), &types, args, true)
}

/// Returns the callables that accept the arguments; all if none does.
pub(crate) fn fitting(
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
        let types = lists::types_of(db, file, written);
        return fitting(db, file, symbols, CallArguments::Typed(&types, written), spread);
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
    let is_open = spread && db.program.known(file).language.manifest.conversions.top.is_none();
    if left.len() < 2 || is_open || db.tier(file) != Tier::Full {
        return left;
    }
    match args {
        CallArguments::Typed(types, args) => overload::closest(db, file, left, types, args),
        CallArguments::Written(args) => {
            let types = lists::types_of(db, file, args);
            overload::closest(db, file, left, &types, args)
        }
    }
}

/// Returns the constructors that a type itself defines.
pub(crate) fn constructors(db: &Db, symbol: SymbolRef) -> Symbols {
    let mut found = Symbols::new();
    for part in hierarchy::parts_of_type(db, symbol) {
        let inner = db.program.symbol(part).inner;
        if let Some(own) = constructors_of(db, part.file).get(&inner)
            && inner.is_some()
        {
            found.extend(own.iter().copied());
        }
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

/// Returns what a construction of a type may call: its constructors, the type itself for the one
/// in its header, and with `operators` the call operators of the type, which replace constructors
/// that are not accessible.
pub(crate) fn makers(db: &Db, symbol: SymbolRef, operators: bool) -> Symbols {
    let definitions = aliases::definitions_of_type(db, symbol);
    if !definitions.is_empty() {
        return definitions.iter().flat_map(|one| makers(db, *one, operators)).collect();
    }
    let mut makers = constructors(db, symbol);
    let names = &db.program.known(symbol.file).language.manifest.names;
    if !names.field_parameter_words.is_empty() && !db.program.symbol(symbol).params().is_empty() {
        makers.push(symbol);
    }
    if names.field_parameter_words.is_empty() {
        return makers;
    }
    if let Some(operator) = names.member_behind(ImplicitUse::Call).filter(|_| operators) {
        let operator = db.program.named(operator);
        let is_static = |member: &SymbolRef| db.program.symbol(*member).flags & flags::STATIC != 0;
        makers.extend(lookup::own_members(db, symbol, operator).into_iter().filter(is_static));
        if let Some(Member::Symbols(of_bases)) = statics::of_bases(db, symbol, operator) {
            makers.extend(of_bases);
        }
    }
    makers
}

/// Returns the constructors that a declaration without arguments calls, or one that copies a value
/// of the same type.
pub(crate) fn implied_constructors(db: &Db, file: FileId, ty: ExprId, args: Run) -> Symbols {
    let Ty::Instance(made, _) = infer::instance_of_expr(db, file, ty) else {
        return Symbols::new();
    };
    let copied = lists::types_of(db, file, args);
    let is_same = |ty: &Ty| matches!(ty, Ty::Instance(of, _) if *of == made);
    if !copied.iter().all(is_same) {
        return Symbols::new();
    }
    let count = u16::try_from(copied.len()).unwrap_or(u16::MAX);
    let fits = |constructor: &SymbolRef| {
        overload::accepts(db, *constructor, count, false)
            && (count == 0
                || overload::parameter_types(db, *constructor).first().is_some_and(is_same))
    };
    makers(db, made, false).into_iter().filter(fits).collect()
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
/// argument, the results of its closures, and the items of both.
fn filled(db: &Db, file: FileId, result: &Ty, args: Run) -> Ty {
    let is = |ty: &Ty, marker: &str| matches!(ty, Ty::Builtin(name, _) if &**name == marker);
    let is_of_closure =
        |ty: &Ty| is(ty, CLOSURE_RESULT) || is(ty, RESULT_ITEM) || is(ty, SECOND_RESULT);
    let (argument, closure) = (std::cell::Cell::new(false), std::cell::Cell::new(false));
    result.map(&|ty: &Ty| {
        argument.set(argument.get() || is(ty, FIRST_ARGUMENT) || is(ty, FIRST_ITEM));
        argument.set(argument.get() || is(ty, WRITTEN_TYPE));
        closure.set(closure.get() || is_of_closure(ty));
        None
    });
    if !argument.get() && !closure.get() {
        return result.clone();
    }
    let first =
        db.program.known(file).facts.lists[args.range()].first().copied().unwrap_or(ExprId::NONE);
    let first = infer::ty(db, file, first);
    let is_callable =
        |ty: &Ty| matches!(ty, Ty::Lambda(..) | Ty::Callable(..) | Ty::Function(_) | Ty::Type(..));
    let mut closures: Vec<Ty> = Vec::new();
    if closure.get() {
        let is_first = is_callable(&first);
        let all = lists::types_of(db, file, args).into_iter().enumerate();
        let passed = all.filter(|(place, ty)| {
            matches!(ty, Ty::Lambda(..)) || is_first && (*place == 0 || is_callable(ty))
        });
        closures.extend(passed.map(|(_, ty)| ty));
    }
    // A marker has what it means where no closure is passed as its argument.
    let given_back = |place: usize, marker: &Ty| match (closures.get(place), marker) {
        (Some(passed), _) => call_result(db, file, passed, Run::default()),
        (None, Ty::Builtin(_, or)) => or.first().cloned().unwrap_or(Ty::Unknown),
        _ => Ty::Unknown,
    };
    let given = crate::db::ty::instance_of(&first);
    result.map(&|ty: &Ty| match ty {
        ty if is(ty, FIRST_ARGUMENT) => Some(given.clone()),
        ty if is(ty, WRITTEN_TYPE) => Some(Ty::Unknown),
        ty if is(ty, CLOSURE_RESULT) => Some(given_back(0, ty)),
        ty if is(ty, SECOND_RESULT) => Some(given_back(1, ty)),
        ty if is(ty, FIRST_ITEM) => Some(builtin_types::element(db, file, &given)),
        ty if is(ty, RESULT_ITEM) => Some(builtin_types::element(db, file, &given_back(0, ty))),
        _ => None,
    })
}

/// Returns the instance that a constructor call creates; the arguments may bind type
/// parameters.
fn constructed(db: &Db, file: FileId, symbol: SymbolRef, given: &TyList, args: Run) -> Ty {
    let plain = Ty::Instance(symbol, given.clone());
    if !given.is_empty() || args.is_empty() || !hierarchy::has_variables(db, symbol.file) {
        return plain;
    }
    let params = generics::parameters_of_type(db, symbol);
    let (false, Some(&constructor)) = (params.is_empty(), constructors(db, symbol).last()) else {
        return plain;
    };
    let values = lists::types_of(db, file, args);
    let mut known: Vec<(Parameter, Ty)> = Vec::new();
    for (declared, value) in overload::parameter_types(db, constructor).iter().zip(&values) {
        unify(declared, &crate::db::ty::instance_of(value), &mut known);
    }
    if known.is_empty() {
        return plain;
    }
    let represents = |param: &Parameter| {
        known.iter().find(|(of, _)| of == param).map_or(Ty::Unknown, |(_, ty)| ty.clone())
    };
    Ty::Instance(symbol, params.iter().map(|(param, _)| represents(param)).collect())
}
