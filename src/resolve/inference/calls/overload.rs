//! Overload resolution by types: the applicable overloads, and the most specific of them.

use crate::db::Db;
use crate::db::ty::{ARRAY, Entity, Ty};
use crate::inference::calls::arguments::Label;
use crate::inference::calls::library_types::Passing;
use crate::inference::calls::passing::{is_closed, is_unlisted, passing};
use crate::inference::calls::{arguments, closure_arity};
use crate::inference::members::lookup::stated;
use crate::inference::types::infer;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_grammar::ImplicitUse;
use cograph_model::facts::{Binding, Run, flags};
use cograph_model::graph::{FileId, SymbolRef};

use std::rc::Rc;

/// Maximum number of overloads that are compared pairwise; of more, each is compared with the best
/// so far.
const MAX_PAIRWISE: usize = 32;

/// Candidate with the types of its parameters, one for each argument.
struct Candidate {
    symbol: SymbolRef,
    params: Vec<Ty>,
    /// Conversions of the arguments.
    conversions: Vec<Passing>,
    /// Worst of them.
    worst: Passing,
    /// True if arguments are collected into its variadic parameter.
    gathers: bool,
    /// Number of all its parameters.
    declared: usize,
}

impl Candidate {
    /// Returns the candidate unless one of its conversions is impossible.
    fn applicable(
        symbol: SymbolRef,
        params: Vec<Ty>,
        conversions: Vec<Passing>,
        gathers: bool,
        declared: usize,
    ) -> Option<Self> {
        let worst = conversions.iter().copied().max().unwrap_or(Passing::Same);
        let candidate = Self { symbol, params, conversions, worst, gathers, declared };
        (worst != Passing::Never).then_some(candidate)
    }
}

/// Returns the callables that fit the arguments best, as far as types are known.
pub(super) fn closest(
    db: &Db,
    file: FileId,
    symbols: Symbols,
    args: &[Ty],
    written: Run,
) -> Symbols {
    if planted(Fault::FirstOverload) {
        return symbols.into_iter().take(1).collect();
    }
    let labels = arguments::labels(db, file, written, args.len());
    let mut left: Vec<Candidate> = Vec::new();
    for symbol in &symbols {
        if !db.budget.take(1) {
            return symbols;
        }
        if !arguments::take_variables(db, file, *symbol, (written, args.len())) {
            continue;
        }
        left.extend(candidate(db, file, *symbol, args, &labels));
    }
    if left.is_empty() {
        return symbols;
    }
    // A member that fits precedes any extension.
    if left.iter().any(|candidate| !is_extension(db, candidate)) {
        left.retain(|candidate| !is_extension(db, candidate));
    }
    // Phases: without boxing, with boxing, variadic. Unknown types fit any phase; a conversion that
    // is only not excluded precedes none.
    let rank = |candidate: &Candidate| match (candidate.gathers, candidate.worst) {
        (true, Passing::Unlikely) => 3,
        (true, _) | (false, Passing::Unlikely) => 2,
        (false, Passing::Boxed) => 1,
        (false, _) => 0,
    };
    if let Some(least) = left.iter().map(rank).min() {
        left.retain(|candidate| rank(candidate) == least);
    }
    if !is_closed(db, file) && left.len() <= MAX_PAIRWISE {
        let is_beaten = |candidate: &Candidate| left.iter().any(|other| beats(other, candidate));
        let beaten: Vec<bool> = left.iter().map(is_beaten).collect();
        let mut beaten = beaten.into_iter();
        left.retain(|_| !beaten.next().unwrap_or(false));
    }
    let all = 0..left.len();
    let is_as_specific = |one: usize, other: usize| {
        one == other || is_as_specific(db, file, &left[one], &left[other], args)
    };
    let most_specific: Vec<usize> = if left.len() <= MAX_PAIRWISE {
        all.clone().filter(|&one| all.clone().all(|other| is_as_specific(one, other))).collect()
    } else {
        // Tournament: a candidate as specific as all others survives, because each one is
        // replaced only by one that it is not as specific as.
        let best = all
            .clone()
            .reduce(|best, next| if is_as_specific(best, next) { best } else { next })
            .unwrap_or(0);
        let is_best = all.clone().all(|other| is_as_specific(best, other));
        all.filter(|&one| is_best && is_as_specific(one, best)).collect()
    };
    match most_specific[..] {
        [] => left.into_iter().map(|candidate| candidate.symbol).collect(),
        // Identical signatures stay ambiguous; a definition precedes the one that it overrides, and
        // one that leaves fewer parameters to their default values precedes another.
        _ => {
            let is_closed = is_closed(db, file);
            let declared = |&position: &usize| left[position].declared;
            let fewest = most_specific.iter().map(declared).min();
            most_specific
                .iter()
                .filter(|position| !is_closed || Some(declared(position)) == fewest)
                .map(|&position| left[position].symbol)
                .collect()
        }
    }
}

/// True if something that a call may mean accepts the arguments, as far as types are known; with
/// `certainly`, if all are.
pub(crate) fn is_applicable(
    db: &Db,
    file: FileId,
    entity: &Entity,
    args: &[Ty],
    written: Run,
    certainly: bool,
) -> bool {
    let Entity::Symbols(symbols) = entity else { return true };
    let labels = arguments::labels(db, file, written, args.len());
    let spread = labels.contains(&Label::Spread);
    symbols.iter().any(|symbol| {
        !db.program.symbol(*symbol).kind.is_callable()
            || accepts(db, *symbol, argument_count(written), spread)
                && candidate(db, file, *symbol, args, &labels)
                    .is_some_and(|found| !certainly || is_certain(&found, args))
    })
}

/// True if a callable takes arguments of these types by their positions, as far as they are known.
pub(super) fn takes(db: &Db, file: FileId, symbol: SymbolRef, args: &[Ty]) -> bool {
    let count = u16::try_from(args.len()).unwrap_or(u16::MAX);
    accepts(db, symbol, count, false) && candidate(db, file, symbol, args, &[]).is_some()
}

/// True if the types of all arguments are known, and those of the library are the same.
fn is_certain(candidate: &Candidate, args: &[Ty]) -> bool {
    let of_library = |ty: &Ty| matches!(ty, Ty::Builtin(..));
    let mut conversions = candidate.conversions.iter().zip(args);
    conversions.all(|(conversion, arg)| {
        let worst = if of_library(arg) { Passing::Same } else { Passing::Open };
        arg.is_known() && *conversion <= worst
    })
}

fn is_extension(db: &Db, candidate: &Candidate) -> bool {
    db.program.symbol(candidate.symbol).flags & flags::EXTENSION != 0
}

/// Candidate for arguments of which some do not find their parameter by position.
fn labelled(
    db: &Db,
    file: FileId,
    symbol: SymbolRef,
    args: &[Ty],
    labels: &[Label],
) -> Option<Candidate> {
    let declared = seen_from(db, file, symbol, &parameter_types(db, symbol));
    let variadic = arguments::variadic_place(db, symbol);
    let places = arguments::places(db, symbol, labels, variadic)?;
    let mut gathers = false;
    let mut params: Vec<Ty> = Vec::new();
    let mut conversions: Vec<Passing> = Vec::new();
    for ((place, label), arg) in places.iter().zip(labels).zip(args) {
        let whole = declared.get(*place).cloned().unwrap_or(Ty::Unknown);
        let is_gathered = Some(*place) == variadic && *label == Label::Position;
        gathers |= is_gathered || *label == Label::Spread;
        let param = match &whole {
            Ty::Builtin(name, item) if is_gathered && &**name == ARRAY => {
                item.first().cloned().unwrap_or(Ty::Unknown)
            }
            _ => whole,
        };
        let is_spread = *label == Label::Spread;
        conversions.push(match is_spread {
            true => Passing::Same,
            false => passing_to(db, file, (symbol, *place), &param, arg),
        });
        params.push(param);
    }
    Candidate::applicable(symbol, params, conversions, gathers, declared.len())
}

fn candidate(
    db: &Db,
    file: FileId,
    symbol: SymbolRef,
    args: &[Ty],
    labels: &[Label],
) -> Option<Candidate> {
    if !labels.is_empty() {
        return labelled(db, file, symbol, args, labels);
    }
    let declared = seen_from(db, file, symbol, &parameter_types(db, symbol));
    let is_variadic = db.program.symbol(symbol).arity.1 == u16::MAX && !declared.is_empty();
    let mut gathers = false;
    if is_variadic {
        let whole = declared.len() == args.len()
            && declared.last().zip(args.last()).is_some_and(|(param, arg)| {
                passing(db, file, param, arg) < Passing::Boxed
                    && (arg.is_known() || !is_closed(db, file))
            });
        gathers = !whole;
    }
    let params: Vec<Ty> =
        (0..args.len()).map(|position| parameter(&declared, position, gathers)).collect();
    let is_constrained = db.program.symbol(symbol).flags & flags::CONSTRAINED != 0;
    let conversion = |(place, (param, arg)): (usize, (&Ty, &Ty))| {
        match passing_to(db, file, (symbol, place), param, arg) {
            // A condition on the parameter may exclude the argument.
            Passing::Same if is_constrained && matches!(param, Ty::Param(..)) => Passing::Boxed,
            conversion => conversion,
        }
    };
    let mut conversions: Vec<Passing> =
        params.iter().zip(args).enumerate().map(conversion).collect();
    join_inferred(db, file, &params, args, &mut conversions);
    Candidate::applicable(symbol, params, conversions, gathers, declared.len())
}

/// Joins the conversions of the arguments that a type parameter takes alone: where values convert
/// by declared operators, it represents the type of one of them, to which the others convert.
fn join_inferred(db: &Db, file: FileId, params: &[Ty], args: &[Ty], conversions: &mut [Passing]) {
    let names = &db.program.known(file).language.manifest.names;
    if !is_closed(db, file) || names.member_behind(ImplicitUse::Convert).is_none() {
        return;
    }
    let is_plain = |arg: &Ty| matches!(arg, Ty::Instance(..) | Ty::Builtin(..));
    for (place, param) in params.iter().enumerate() {
        let others = || {
            let of_param = params.iter().zip(args).enumerate().filter(|(_, (of, _))| *of == param);
            of_param.map(|(place, (_, arg))| (place, arg)).filter(|(_, arg)| is_plain(arg))
        };
        if !matches!(param, Ty::Param(..))
            || others().next().is_none_or(|(first, _)| first != place)
        {
            continue;
        }
        let to = |made: &Ty| -> Vec<(usize, Passing)> {
            others().map(|(place, arg)| (place, passing(db, file, made, arg))).collect()
        };
        let worst = |to: &Vec<(usize, Passing)>| to.iter().map(|(_, passing)| *passing).max();
        for (place, found) in
            others().map(|(_, made)| to(made)).min_by_key(worst).unwrap_or_default()
        {
            conversions[place] = conversions[place].max(found.min(Passing::Unlikely));
        }
    }
}

/// Returns the conversion of an argument to the parameter of a callable at a place.
fn passing_to(
    db: &Db,
    file: FileId,
    (symbol, place): (SymbolRef, usize),
    param: &Ty,
    arg: &Ty,
) -> Passing {
    match is_closed(db, file) && !closure_arity::fits(db, file, symbol, place, arg) {
        true => Passing::Never,
        false => passing(db, file, param, arg),
    }
}

/// True if one candidate needs a better conversion for an argument and a worse one for none.
fn beats(one: &Candidate, other: &Candidate) -> bool {
    let mut is_better = false;
    for (position, conversion) in one.conversions.iter().enumerate() {
        if one.params[position] == other.params[position] {
            continue;
        }
        let of_other = other.conversions[position];
        if *conversion > of_other || *conversion == Passing::Open || of_other == Passing::Open {
            return false;
        }
        is_better |= *conversion < of_other;
    }
    is_better
}

/// How the first parameter of an extension takes a receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Identical types, apart from type arguments.
    Same,
    /// Any conversion.
    Converted,
    /// Unknown types.
    Open,
    /// Types of libraries of which one may derive from the other.
    Unlisted,
}

/// Returns how an extension takes a receiver; none if it does not.
pub(super) fn receiver_fit(db: &Db, file: FileId, symbol: SymbolRef, of: &Ty) -> Option<Fit> {
    let params = parameter_types(db, symbol);
    let param = params.first()?;
    let is_same =
        matches!((param, of), (Ty::Builtin(one, _), Ty::Builtin(other, _)) if one == other);
    match passing(db, file, param, of) {
        Passing::Same => Some(Fit::Same),
        Passing::Derived | Passing::Boxed if is_same => Some(Fit::Same),
        Passing::Derived | Passing::Boxed => Some(Fit::Converted),
        Passing::Open => Some(Fit::Open),
        Passing::Unlikely if is_unlisted(db, file, param, of) => Some(Fit::Unlisted),
        Passing::Unlikely | Passing::Never => None,
    }
}

pub(crate) fn parameter_types(db: &Db, symbol: SymbolRef) -> Rc<[Ty]> {
    if let Some(known) = db.parameters.get(&symbol) {
        return known;
    }
    if let Some(stated) = stated::member(db, symbol) {
        let types = parameter_types(db, stated[0]);
        db.parameters.insert(symbol, types.clone());
        return types;
    }
    let params = db.program.symbol(symbol).params();
    let facts = db.program.known(symbol.file).facts;
    // A parameter that is a field has the type of that.
    let declared = |param: &Binding| match param.symbol().get() {
        Some(field) => facts.symbols[field].ty,
        None => param.ty(),
    };
    let types: Rc<[Ty]> = facts.bindings[params.range()]
        .iter()
        .map(|param| infer::instance_of_expr(db, symbol.file, declared(param)))
        .collect();
    db.parameters.insert(symbol, types.clone());
    types
}

fn is_null(db: &Db, file: FileId, arg: &Ty) -> bool {
    let null = &db.program.known(file).language.manifest.conversions.null;
    matches!((arg, null), (Ty::Builtin(name, _), Some(null)) if **name == **null)
}

/// True if one callable is at least as specific as another, in the parameters that differ for
/// these arguments.
fn is_as_specific(db: &Db, file: FileId, one: &Candidate, other: &Candidate, args: &[Ty]) -> bool {
    one.params.iter().zip(&other.params).zip(args).all(|((one, other), arg)| {
        // Nothing but itself is closer to a value of a type parameter.
        if matches!(arg, Ty::Param(..)) && (one == arg || other == arg) {
            return one == arg;
        }
        one == other
            || (arg.is_known() && passing(db, file, other, one) <= Passing::Derived)
            // Null decides nothing between types of which neither converts to the other.
            || (is_null(db, file, arg) && passing(db, file, one, other) > Passing::Derived)
    })
}

/// Returns the type of the parameter for the argument at a position.
fn parameter(declared: &[Ty], position: usize, gathers: bool) -> Ty {
    match declared.get(position) {
        Some(param) if !gathers || position + 1 < declared.len() => param.clone(),
        _ => match declared.last() {
            Some(Ty::Builtin(name, item)) if gathers && &**name == ARRAY => {
                item.first().cloned().unwrap_or(Ty::Unknown)
            }
            _ => Ty::Unknown,
        },
    }
}

/// True if a callable accepts this number of arguments; a spread argument may expand to any
/// number.
pub(crate) fn accepts(db: &Db, symbol: SymbolRef, count: u16, spread: bool) -> bool {
    let (least, most) = db.program.symbol(symbol).arity;
    planted(Fault::ArgumentsUncounted)
        || count <= most
            && (spread || count >= least || arguments::inherits_defaults(db, symbol, count))
}

/// Returns the types of parameters as a file of another language sees them: library types of its
/// own name are known, the names of others mean nothing there.
fn seen_from(db: &Db, file: FileId, symbol: SymbolRef, declared: &[Ty]) -> Vec<Ty> {
    let language = db.program.known(file).language;
    let is_foreign = !std::ptr::eq(language, db.program.known(symbol.file).language);
    let seen = |ty: &Ty| match ty {
        Ty::Builtin(name, _) if is_foreign && !language.is_builtin(name) => Ty::Unknown,
        other => other.clone(),
    };
    declared.iter().map(seen).collect()
}

/// Returns the number of arguments of a reference.
pub(crate) fn argument_count(args: Run) -> u16 {
    u16::try_from(args.len()).unwrap_or(u16::MAX)
}
