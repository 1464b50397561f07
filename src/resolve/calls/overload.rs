//! Overload resolution by types: the applicable overloads, and the most specific of them.

use crate::grammar::Conversions;
use crate::model::SymbolKind;
use crate::model::facts::{Run, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::Symbols;
use crate::resolve::calls::arguments;
use crate::resolve::calls::arguments::Label;
use crate::resolve::db::Db;
use crate::resolve::db::ty::{ARRAY, Entity, Ty};
use crate::resolve::members::hierarchy;
use crate::resolve::members::type_flow::last_segment;
use std::rc::Rc;

/// Maximum number of overloads that are compared pairwise; of more, each is compared with the best
/// so far.
const MAX_PAIRWISE: usize = 32;

/// Conversion of an argument to the type of a parameter, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Passing {
    /// Identical types.
    Same,
    /// Subtype or widening conversion.
    Derived,
    /// Unknown types.
    Open,
    /// Boxing, unboxing, or construction of a library type.
    Boxed,
    /// No known conversion, but none is excluded.
    Unlikely,
    /// Impossible.
    Never,
}

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

/// Returns the callables that fit the arguments best, as far as types are known.
pub(super) fn closest(
    db: &Db,
    file: FileId,
    symbols: Symbols,
    args: &[Ty],
    written: Run,
) -> Symbols {
    let labels = arguments::labels(db, file, written);
    let mut left: Vec<Candidate> = Vec::new();
    for symbol in &symbols {
        if !db.budget.take(1) {
            return symbols;
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
    // Phases: without boxing, with boxing, variadic. Unknown types fit any phase.
    let rank = |candidate: &Candidate| match (candidate.gathers, candidate.worst) {
        (true, _) => 3,
        (false, Passing::Unlikely) => 2,
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
pub(in crate::resolve) fn is_applicable(
    db: &Db,
    file: FileId,
    entity: &Entity,
    args: &[Ty],
    written: Run,
    certainly: bool,
) -> bool {
    let Entity::Symbols(symbols) = entity else { return true };
    let labels = arguments::labels(db, file, written);
    let spread = labels.contains(&Label::Spread);
    symbols.iter().any(|symbol| {
        !db.program.symbol(*symbol).kind.is_callable()
            || accepts(db, *symbol, argument_count(written), spread)
                && candidate(db, file, *symbol, args, &labels)
                    .is_some_and(|found| !certainly || is_certain(&found, args))
    })
}

fn is_certain(candidate: &Candidate, args: &[Ty]) -> bool {
    args.iter().all(Ty::is_known) && candidate.worst < Passing::Boxed
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
    let declared = parameter_types(db, symbol);
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
        conversions.push(if is_spread { Passing::Same } else { passing(db, file, &param, arg) });
        params.push(param);
    }
    let worst = conversions.iter().copied().max().unwrap_or(Passing::Same);
    let declared = declared.len();
    let candidate = Candidate { symbol, params, conversions, worst, gathers, declared };
    (worst != Passing::Never).then_some(candidate)
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
    let declared = parameter_types(db, symbol);
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
    let conversions: Vec<Passing> =
        params.iter().zip(args).map(|(param, arg)| passing(db, file, param, arg)).collect();
    let worst = conversions.iter().copied().max().unwrap_or(Passing::Same);
    let declared = declared.len();
    let candidate = Candidate { symbol, params, conversions, worst, gathers, declared };
    (worst != Passing::Never).then_some(candidate)
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

fn is_closed(db: &Db, file: FileId) -> bool {
    db.program.known(file).language.manifest.conversions.top.is_some()
}

pub(in crate::resolve) fn parameter_types(db: &Db, symbol: SymbolRef) -> Rc<[Ty]> {
    if let Some(known) = db.parameters.get(&symbol) {
        return known;
    }
    let params = db.program.symbol(symbol).params;
    let bindings = db.program.known(symbol.file).facts.bindings.as_slice();
    let types: Rc<[Ty]> = bindings[params.range()]
        .iter()
        .map(|param| db.instance_of_expr(symbol.file, param.ty))
        .collect();
    db.parameters.insert(symbol, types.clone());
    types
}

/// True if one callable is at least as specific as another, in the parameters that differ for
/// these arguments.
fn is_as_specific(db: &Db, file: FileId, one: &Candidate, other: &Candidate, args: &[Ty]) -> bool {
    one.params.iter().zip(&other.params).zip(args).all(|((one, other), arg)| {
        one == other || (arg.is_known() && passing(db, file, other, one) <= Passing::Derived)
    })
}

/// Returns the conversion of a value of type `given` to `wanted`.
fn passing(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> Passing {
    let rules = &db.program.known(file).language.manifest.conversions;
    if !wanted.is_known() || !given.is_known() {
        return Passing::Open;
    }
    if wanted == given {
        return Passing::Same;
    }
    match (wanted, given) {
        (Ty::Union(parts), _) => {
            let all = parts.iter().map(|part| passing(db, file, part, given));
            all.max().unwrap_or(Passing::Open)
        }
        (_, Ty::Union(parts)) => {
            let all = parts.iter().map(|part| passing(db, file, wanted, part));
            all.max().unwrap_or(Passing::Open)
        }
        (_, Ty::Builtin(null, _)) if rules.null.as_deref() == Some(&**null) => {
            match primitive(rules, wanted) {
                true => Passing::Never,
                false => Passing::Derived,
            }
        }
        (Ty::Param(of, binding), _) => {
            let bound = db.program.known(*of).binding(*binding).ty;
            let limit = if bound.is_some() { db.instance_of_expr(*of, bound) } else { Ty::Unknown };
            match limit {
                Ty::Unknown | Ty::Param(..) => match primitive(rules, given) {
                    _ if rules.top.is_none() => Passing::Same,
                    true => Passing::Boxed,
                    false => Passing::Derived,
                },
                limit => passing(db, file, &limit, given).max(Passing::Derived),
            }
        }
        (_, Ty::Param(of, binding)) => {
            let bound = db.program.known(*of).binding(*binding).ty;
            match (bound.is_some(), &rules.top) {
                (true, _) => {
                    let limit = db.instance_of_expr(*of, bound);
                    if matches!(limit, Ty::Param(..)) {
                        Passing::Open
                    } else {
                        passing(db, file, wanted, &limit)
                    }
                }
                (false, Some(top)) => passing(db, file, wanted, &Ty::builtin(top, &[])),
                (false, None) => Passing::Open,
            }
        }
        (Ty::Instance(wanted, _), Ty::Instance(given, _)) => passing_project(db, *wanted, *given),
        (_, Ty::Lambda(..) | Ty::Callable(..) | Ty::Function(_)) => {
            passing_closure(db, file, wanted)
        }
        (Ty::Builtin(wanted, inner), Ty::Builtin(given, held))
            if &**wanted == ARRAY && &**given == ARRAY =>
        {
            let (Some(inner), Some(held)) = (inner.first(), held.first()) else {
                return Passing::Open;
            };
            match passing(db, file, inner, held) {
                Passing::Derived if primitive(rules, held) || primitive(rules, inner) => {
                    Passing::Never
                }
                Passing::Boxed if rules.top.is_some() => Passing::Never,
                passing => passing,
            }
        }
        (_, Ty::Instance(given, _)) => passing_outside(db, file, wanted, *given),
        (Ty::Instance(..), _) => match outside_name(db, file, given) {
            Some(_) if rules.top.is_some() => Passing::Never,
            Some(_) => Passing::Unlikely,
            None => Passing::Open,
        },
        _ => match (outside_name(db, file, wanted), outside_name(db, file, given)) {
            (Some(name), Some(other)) => {
                passing_names(rules, name, other).max(passing_arguments(db, file, wanted, given))
            }
            _ => Passing::Open,
        },
    }
}

/// Worst conversion between the type arguments of a library type: those that exclude each other
/// make it unlikely.
fn passing_arguments(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> Passing {
    let (Ty::Builtin(name, wanted), Ty::Builtin(other, given)) = (wanted, given) else {
        return Passing::Same;
    };
    let excludes = |(wanted, given): (&Ty, &Ty)| passing(db, file, wanted, given) == Passing::Never;
    let are_alike = name == other && wanted.len() == given.len();
    match are_alike && is_closed(db, file) && wanted.iter().zip(given.iter()).any(excludes) {
        true => Passing::Unlikely,
        false => Passing::Same,
    }
}

fn passing_project(db: &Db, wanted: SymbolRef, given: SymbolRef) -> Passing {
    if wanted == given {
        return Passing::Same;
    }
    let hierarchy = hierarchy::hierarchy(db, given);
    match hierarchy.types.iter().any(|(ty, _)| *ty == wanted) {
        true => Passing::Derived,
        // A constructor may convert.
        false if hierarchy.open || !is_closed(db, wanted.file) => Passing::Unlikely,
        false => Passing::Never,
    }
}

fn passing_closure(db: &Db, file: FileId, wanted: &Ty) -> Passing {
    let rules = &db.program.known(file).language.manifest.conversions;
    match wanted {
        Ty::Instance(symbol, _) => match db.program.symbol(*symbol).kind {
            SymbolKind::Interface | SymbolKind::TypeAlias => Passing::Derived,
            _ if rules.top.is_some() => Passing::Never,
            _ => Passing::Unlikely,
        },
        _ if primitive(rules, wanted) => Passing::Never,
        Ty::Builtin(name, _) if &**name == ARRAY => Passing::Never,
        _ => match outside_name(db, file, wanted) {
            Some(_) if rules.top.is_none() => Passing::Open,
            Some(name)
                if rules.supertypes.contains_key(name) || rules.top.as_deref() == Some(name) =>
            {
                Passing::Never
            }
            _ => Passing::Open,
        },
    }
}

/// Conversion of a value of a type of the repository to an external type.
fn passing_outside(db: &Db, file: FileId, wanted: &Ty, given: SymbolRef) -> Passing {
    let rules = &db.program.known(file).language.manifest.conversions;
    let Some(wanted_name) = outside_name(db, file, wanted) else { return Passing::Open };
    if is_final(rules, wanted_name) {
        return Passing::Never;
    }
    if rules.top.as_deref() == Some(wanted_name) {
        return Passing::Derived;
    }
    if primitive(rules, wanted) || wanted_name == ARRAY {
        return if rules.top.is_some() { Passing::Never } else { Passing::Unlikely };
    }
    let hierarchy = hierarchy::hierarchy(db, given);
    let mut all_known = !hierarchy.open;
    for base in &hierarchy.outside {
        match passing_names(rules, wanted_name, last_segment(base)) {
            Passing::Same | Passing::Derived => return Passing::Derived,
            Passing::Never => {}
            _ => all_known = false,
        }
    }
    if all_known && rules.top.is_some() { Passing::Never } else { Passing::Unlikely }
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

fn primitive(rules: &Conversions, ty: &Ty) -> bool {
    matches!(ty, Ty::Builtin(name, _) if rules.boxes.contains_key(&**name))
}

/// Returns the name of an external type: by its spelling where all conversions are known, else
/// only of a library type in the tables. The result of an external call or member has none.
fn outside_name<'t>(db: &Db, file: FileId, ty: &'t Ty) -> Option<&'t str> {
    match ty {
        Ty::Builtin(name, _) => Some(name),
        Ty::External(name) => {
            let last = last_segment(name);
            let language = db.program.known(file).language;
            let rules = &language.manifest.conversions;
            let is_type = match rules.top {
                Some(_) => !last.ends_with(')') && last.starts_with(char::is_uppercase),
                None => rules.supertypes.contains_key(last) || language.flow(last).is_some(),
            };
            is_type.then_some(last)
        }
        _ => None,
    }
}

fn is_final(rules: &Conversions, name: &str) -> bool {
    rules.r#final.iter().any(|other| other == name)
}

fn passing_names(rules: &Conversions, wanted: &str, given: &str) -> Passing {
    if wanted == given {
        return Passing::Same;
    }
    if is_final(rules, wanted) {
        return Passing::Never;
    }
    if rules.top.is_none() {
        return passing_library(rules, wanted, given);
    }
    let (boxed, unboxed) =
        (rules.boxes.get(given), rules.boxes.iter().find(|(_, object)| *object == given));
    if rules.boxes.contains_key(wanted) {
        return match (boxed, unboxed) {
            (Some(_), _)
                if rules
                    .widening
                    .get(given)
                    .is_some_and(|wider| wider.iter().any(|name| name == wanted)) =>
            {
                Passing::Derived
            }
            (None, Some((primitive, _)))
                if passing_names(rules, wanted, primitive) <= Passing::Derived =>
            {
                Passing::Boxed
            }
            _ => Passing::Never,
        };
    }
    if let Some(object) = boxed {
        return if passing_names(rules, wanted, object) <= Passing::Derived {
            Passing::Boxed
        } else {
            Passing::Never
        };
    }
    if rules.top.as_deref() == Some(wanted) {
        return Passing::Derived;
    }
    match derivation(rules, wanted, given) {
        Derivation::Found => Passing::Derived,
        Derivation::Excluded => Passing::Never,
        Derivation::Open => Passing::Unlikely,
    }
}

/// Conversion between library types of a language where other conversions than the listed ones
/// are possible.
fn passing_library(rules: &Conversions, wanted: &str, given: &str) -> Passing {
    let is_constructed =
        rules.constructs.get(given).is_some_and(|made| made.iter().any(|name| name == wanted));
    match derivation(rules, wanted, given) {
        Derivation::Found => Passing::Derived,
        _ if is_constructed => Passing::Boxed,
        _ => Passing::Unlikely,
    }
}

/// Whether one library type derives from another.
enum Derivation {
    Found,
    /// All supertypes are known, and it is none of them.
    Excluded,
    /// The supertypes are not known.
    Open,
}

fn derivation(rules: &Conversions, wanted: &str, given: &str) -> Derivation {
    let mut all_known = true;
    let mut waiting = vec![given];
    let mut seen = vec![given];
    while let Some(next) = waiting.pop() {
        match rules.supertypes.get(next) {
            Some(above) => {
                for name in above {
                    if name == wanted {
                        return Derivation::Found;
                    }
                    if !seen.contains(&name.as_str()) {
                        seen.push(name);
                        waiting.push(name);
                    }
                }
            }
            None => all_known &= rules.top.as_deref() == Some(next) || next == ARRAY,
        }
    }
    if all_known { Derivation::Excluded } else { Derivation::Open }
}

/// True if a callable accepts this number of arguments; a spread argument may expand to any
/// number.
pub(in crate::resolve) fn accepts(db: &Db, symbol: SymbolRef, count: u16, spread: bool) -> bool {
    let (least, most) = db.program.symbol(symbol).arity;
    count <= most && (spread || count >= least)
}

/// Returns the number of arguments of a reference.
pub(in crate::resolve) fn argument_count(args: Run) -> u16 {
    u16::try_from(args.len).unwrap_or(u16::MAX)
}
