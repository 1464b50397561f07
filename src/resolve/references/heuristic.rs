//! Heuristic for unknown receivers: the only reachable member of that name, if it fits the call and
//! is no common name of builtin types.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::inference::{
    derived, lookup,
    overload::{self, argument_count},
    scopes,
};
use crate::references::outcome::unresolved;
use crate::units::bounds::MAX_CANDIDATES;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::ImplicitUse;
use cograph_model::facts::{Expr, ExprId, ScopeKind, Site};
use cograph_model::graph::{FileId, Resolution, SymbolRef, Target};
use cograph_model::{SiteKind, Step, Verdict};
use smallvec::SmallVec;

/// Minimum number of letters of a receiver whose name begins that of its type.
const MIN_ABBREVIATION: usize = 2;

/// Maximum number of members of one name whose types are compared with the name of a receiver.
const MAX_NAMESAKES: usize = 64;

/// Returns the target of a call on a receiver whose type does not have the member, or is unknown:
/// the only one that types have which derive from it, or that of the type with the receiver's name.
pub(super) fn by_receiver(
    db: &Db,
    file: FileId,
    site: &Site,
    receiver: Option<&Ty>,
    name: Name,
) -> Resolution {
    let language = db.program.known(file).language;
    let rules = &language.manifest.resolution;
    if !rules.open_types || site.kind != SiteKind::Call {
        return by_unique_name(db, file, site, name);
    }
    let is_common = language.is_common_member(db.program.text(name));
    let further = match receiver {
        Some(Ty::Instance(symbol, _)) => derived::members(db, *symbol, name),
        Some(Ty::Type(symbol, _)) if !is_common => derived::members(db, *symbol, name),
        Some(Ty::Super(symbol)) => derived::next_members(db, *symbol, name),
        _ => Symbols::new(),
    };
    match further[..] {
        [only] => return likely(only),
        [] => {}
        _ => return candidates(further),
    }
    // A library may define more of the type of an instance, where it may be opened again.
    if matches!(receiver, Some(Ty::Type(..) | Ty::Super(_))) {
        return unresolved(Step::NoSuchMember);
    }
    match outside_receiver(db, file, site) {
        Some(Outside::Name) => return unresolved(Step::NoSuchMember),
        // What a library gives back may come from the repository; nothing but the name is evidence.
        Some(Outside::Result) => return possible(by_unique_name(db, file, site, name)),
        None => {}
    }
    let found = by_unique_name(db, file, site, name);
    if found.verdict == Verdict::Likely || is_common || !rules.names_tell_types {
        return found;
    }
    match by_receiver_name(db, file, site, name) {
        Some(only) => likely(only),
        None => found,
    }
}

/// Returns the target of a call on the receiver of a method whose type does not have the member:
/// the only one of the types that derive from it, or all as candidates.
pub(super) fn by_derived(
    db: &Db,
    file: FileId,
    site: &Site,
    (object, of): (ExprId, &Ty),
    name: Name,
) -> Resolution {
    let further = match of {
        Ty::Instance(symbol, _) | Ty::Type(symbol, _)
            if site.kind == SiteKind::Call && is_own_receiver(db, file, object) =>
        {
            derived::members(db, *symbol, name)
        }
        // The constructor of the top type ends the order of every type.
        Ty::Super(symbol) if site.kind == SiteKind::Call && !is_constructor(db, file, name) => {
            derived::next_members(db, *symbol, name)
        }
        _ => Symbols::new(),
    };
    let mut further = further;
    further.retain(|symbol| db.program.symbol(*symbol).kind.is_callable());
    match further[..] {
        [only] if !passes_on(db, of) => likely(only),
        [] => unresolved(Step::NoSuchMember),
        _ => candidates(further),
    }
}

/// True if another object may have what a type does not have.
fn passes_on(db: &Db, of: &Ty) -> bool {
    let (Ty::Instance(symbol, _) | Ty::Type(symbol, _) | Ty::Super(symbol)) = of else {
        return false;
    };
    let names = &db.program.known(symbol.file).language.manifest.names;
    let has =
        |member: &String| !lookup::type_member(db, *symbol, db.program.named(member)).is_empty();
    names.members_behind(ImplicitUse::Missing).iter().any(has)
}

fn is_constructor(db: &Db, file: FileId, name: Name) -> bool {
    let constructors = &db.program.known(file).language.manifest.names.constructors;
    constructors.iter().any(|constructor| constructor == db.program.text(name))
}

/// True for the receiver of the method around it, as an instance or as a type.
fn is_own_receiver(db: &Db, file: FileId, object: ExprId) -> bool {
    let unit = db.program.known(file);
    let is_receiver = |value: ExprId| {
        let value = value.get().map(|position| unit.facts.exprs[position]);
        matches!(value, Some(Expr::SelfValue(_) | Expr::SelfType(_)))
    };
    let Some(position) = object.get() else { return false };
    match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            let found = scopes::lookup(
                db,
                file,
                db.name(file, name),
                scope,
                unit.facts.positions[position],
            );
            matches!(found, Some((Entity::Local(of, bindings), _)) if of == file
                && bindings.iter().all(|id| is_receiver(unit.binding(*id).value)))
        }
        _ => is_receiver(object),
    }
}

/// True if a member of a library type is not known to be one, in languages in which what a variable
/// may hold is not declared.
pub(super) fn may_be_another(db: &Db, file: FileId, object: ExprId, of: &Ty, name: Name) -> bool {
    let (language, facts) = (db.program.known(file).language, db.program.known(file).facts);
    let object = object.get().map(|object| facts.exprs[object]);
    let is_written = matches!(
        object,
        Some(Expr::Literal(_) | Expr::Apply(..) | Expr::Mapping(..) | Expr::Lambda(_))
    );
    language.manifest.resolution.open_types
        && !is_written
        && match of {
            // What a library returns may come from the repository.
            Ty::External(_) => true,
            Ty::Builtin(..) | Ty::Instance(..) => !language.is_common_member(db.program.text(name)),
            _ => false,
        }
}

/// Value from outside of the repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    /// A name that nothing in the repository defines, or a member of one.
    Name,
    /// Result of calling such a member, or a member of that.
    Result,
}

/// Returns what the receiver of a call is, if it comes from outside of the repository.
fn outside_receiver(db: &Db, file: FileId, site: &Site) -> Option<Outside> {
    let facts = db.program.known(file).facts;
    match facts.exprs[site.target.get()?] {
        Expr::Member(object, _) => outside_value(db, file, object),
        _ => None,
    }
}

fn outside_value(db: &Db, file: FileId, value: ExprId) -> Option<Outside> {
    let unit = db.program.known(file);
    let position = value.get()?;
    if db.is_too_deep() || !db.budget.take(1) {
        return None;
    }
    db.deeper(|| match unit.facts.exprs[position] {
        Expr::Member(object, _) => outside_value(db, file, object),
        // A name that is called without a receiver is a member of the implicit one.
        Expr::Call(callee, _) => match unit.facts.exprs[callee.get()?] {
            Expr::Member(object, _) => outside_value(db, file, object).map(|_| Outside::Result),
            _ => None,
        },
        Expr::Name(name, scope) => {
            let name = db.name(file, name);
            match scopes::lookup(db, file, name, scope, unit.facts.positions[position]) {
                None => Some(Outside::Name),
                Some((Entity::Local(of, bindings), _)) if of == file => {
                    let values =
                        bindings.iter().map(|id| outside_value(db, file, unit.binding(*id).value));
                    let values: Option<SmallVec<[Outside; 2]>> = values.collect();
                    let values = values?;
                    let is_result = values.contains(&Outside::Result);
                    Some(if is_result { Outside::Result } else { Outside::Name })
                }
                Some(_) => None,
            }
        }
        _ => None,
    })
}

/// Lowers a likely target that a declaration makes, an accessor: a call outside of types, without a
/// receiver, means one of another kind.
pub(super) fn without_accessor(db: &Db, found: Resolution) -> Resolution {
    match found.target {
        Target::Symbol(only) if !db.program.symbol(only).inner.is_some() => possible(found),
        _ => found,
    }
}

/// Lowers a likely target to a candidate.
pub(super) fn possible(found: Resolution) -> Resolution {
    match found {
        Resolution { verdict: Verdict::Likely, target: Target::Symbol(only), .. } => {
            candidates(Symbols::from_slice(&[only]))
        }
        other => other,
    }
}

pub(super) fn candidates(symbols: Symbols) -> Resolution {
    let mut candidates = symbols.to_vec();
    candidates.sort_unstable();
    candidates.dedup();
    Resolution {
        verdict: Verdict::Ambiguous,
        step: Step::ReceiverUnknown,
        target: Target::Candidates(candidates.into()),
    }
}

/// Returns the only member of a name in types that have the name of a receiver, apart from case and
/// separators of words.
fn by_receiver_name(db: &Db, file: FileId, site: &Site, name: Name) -> Option<SymbolRef> {
    let unit = db.program.known(file);
    let expr = |id: ExprId| id.get().map(|position| unit.facts.exprs[position]);
    let Expr::Member(object, _) = expr(site.target)? else { return None };
    let mut object = expr(object)?;
    if let Expr::Call(callee, _) = object {
        object = expr(callee)?;
    }
    let (Expr::Name(receiver, _) | Expr::Member(_, receiver)) = object else { return None };
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let receiver = plain(unit.text(receiver));
    let all = db.program.members(name)?;
    if site.kind != SiteKind::Call || all.len() > MAX_NAMESAKES {
        return None;
    }
    let count = argument_count(site.args);
    let is_named = |ty: SymbolRef, is_short: bool| {
        let text = db.program.text(db.program.name_of(ty));
        let is_word = || text.chars().skip(1).all(char::is_lowercase);
        match is_short {
            true => is_word() && plain(text).starts_with(&receiver),
            false => plain(text) == receiver,
        }
    };
    let fits = |symbol: &SymbolRef, is_short: bool| {
        let container =
            SymbolRef { file: symbol.file, symbol: db.program.symbol(*symbol).container };
        let is_own = symbol.file == file && symbol.symbol == site.enclosing;
        container.symbol.is_some()
            && !is_own
            && overload::accepts(db, *symbol, count, site.spread)
            && (is_named(container, is_short)
                || derived::types(db, container).iter().any(|ty| is_named(*ty, is_short)))
    };
    // A short name is the start of that of the type, which is one word.
    let is_short = receiver.len() >= MIN_ABBREVIATION;
    [false, true].into_iter().filter(|short| !short || is_short).find_map(|short| {
        let mut fitting = all.iter().copied().filter(|symbol| fits(symbol, short));
        let only = fitting.next()?;
        fitting.next().is_none().then_some(only)
    })
}

fn likely(only: SymbolRef) -> Resolution {
    Resolution { verdict: Verdict::Likely, step: Step::UniqueName, target: Target::Symbol(only) }
}

/// Returns the target of a call on a receiver of unknown type, if exactly one candidate is
/// supported.
pub(super) fn by_unique_name(db: &Db, file: FileId, site: &Site, name: Name) -> Resolution {
    let unknown = unresolved(if site.in_macro { Step::Macro } else { Step::ReceiverUnknown });
    if site.kind != SiteKind::Call
        || db.program.known(file).language.is_common_member(db.program.text(name))
    {
        return unknown;
    }
    let Some(all) = db.program.members(name) else { return unknown };
    let family = crate::units::import_target::family(db.program.known(file).language);
    let in_family = |symbol: &SymbolRef| {
        crate::units::import_target::family(db.program.known(symbol.file).language) == family
    };
    // Object literals without a name are unlikely receivers.
    let in_object = |symbol: &SymbolRef| {
        let unit = db.program.known(symbol.file);
        let scope = db.program.symbol(*symbol).scope;
        unit.scope_kind(scope) == ScopeKind::Type
            && !unit.scope_symbol(scope).is_some()
            && !unit.scope_owner(scope).is_some()
    };
    // One more than the limit: candidates that are not read do not enter the footprint.
    let all = all.iter().copied().filter(|symbol| in_family(symbol) && !in_object(symbol));
    let all: Symbols = all.take(MAX_CANDIDATES + 1).collect();
    if all.is_empty() || all.len() > MAX_CANDIDATES {
        return unknown;
    }
    let count = argument_count(site.args);
    let fitting: Symbols = all
        .iter()
        .copied()
        .filter(|symbol| overload::accepts(db, *symbol, count, site.spread))
        .collect();
    let reach = db.reachable(file);
    let reached: Symbols =
        fitting.iter().copied().filter(|symbol| reach.contains(symbol.file)).collect();
    // A call of its own name on another object often delegates.
    let is_own = |only: &SymbolRef| {
        only.file == file && only.symbol == site.enclosing && !is_on_self(db, file, site)
    };
    match (&all[..], &reached[..]) {
        ([_], [only]) if !is_own(only) => Resolution {
            verdict: Verdict::Likely,
            step: Step::UniqueName,
            target: Target::Symbol(*only),
        },
        _ => candidates(if fitting.is_empty() { all } else { fitting }),
    }
}

/// True if a call is of a member of the receiver of the function around it.
fn is_on_self(db: &Db, file: FileId, site: &Site) -> bool {
    let facts = db.program.known(file).facts;
    let expr = |id: ExprId| id.get().map(|position| facts.exprs[position]);
    let Some(Expr::Member(object, _)) = expr(site.target) else { return false };
    matches!(expr(object), Some(Expr::SelfValue(_)))
}
