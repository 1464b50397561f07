//! Limits of verdicts. In languages that are not measured against a compiler (shared tier):
//! external only for names of imports, overload choices by types are no proof, and matches by name
//! alone are candidates. For calls by operators: only members of known receivers.

use crate::db::Db;
use crate::inference::overload::{self, argument_count};
use crate::references::heuristic;
use crate::references::outcome::unresolved;
use crate::units::bounds::MAX_CANDIDATES;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::Tier;
use cograph_model::facts::{Expr, Site};
use cograph_model::graph::{FileId, Resolution, SymbolRef, Target};
use cograph_model::{SiteKind, Step, SymbolKind, Verdict};

/// Lowers a verdict to the claims of the shared tier.
pub(super) fn limited_by_tier(db: &Db, file: FileId, site: &Site, found: Resolution) -> Resolution {
    if db.tier(file) == Tier::Full {
        return found;
    }
    let name = match site.target.get().map(|target| db.program.known(file).facts.exprs[target]) {
        Some(Expr::Name(name, _)) => Some((db.name(file, name), false)),
        Some(Expr::Member(_, name)) => Some((db.name(file, name), true)),
        _ => None,
    };
    match (found.verdict, found.step, name) {
        // The library may have the name, or the repository may extend it.
        (Verdict::External, step, _) if step != Step::ExternalImport => match name {
            Some((name, true)) => heuristic::by_unique_name(db, file, site, name),
            Some((name, false)) => by_name_alone(db, file, site, name),
            None => unresolved(Step::Dynamic),
        },
        // A member may have the name of its type: in type position, the type is the target.
        (
            Verdict::Resolved | Verdict::Unresolved,
            Step::Dynamic | Step::Lexical | Step::SelfMember,
            Some((name, false)),
        ) if wants_type(site.kind) && !leads_to_type(db, &found) => {
            by_name_alone(db, file, site, name)
        }
        (Verdict::Unresolved, Step::NoSuchName, Some((name, false))) => {
            by_name_alone(db, file, site, name)
        }
        // An external program may define the name as well: no file is linked with all others.
        (Verdict::Likely, Step::UniqueName, Some((name, false)))
            if !db.program.known(file).language.manifest.resolution.global_names =>
        {
            by_name_alone(db, file, site, name)
        }
        (Verdict::Unresolved, Step::NoSuchMember | Step::ReceiverUnknown, Some((name, true))) => {
            match site.kind {
                SiteKind::Call => heuristic::by_unique_name(db, file, site, name),
                _ => by_name_alone(db, file, site, name),
            }
        }
        _ => found,
    }
}

/// True if a verdict's target is a type or a constructor.
fn leads_to_type(db: &Db, found: &Resolution) -> bool {
    let is_type = |symbol: &SymbolRef| {
        let kind = db.program.symbol(*symbol).kind;
        kind.is_type()
            || matches!(kind, SymbolKind::Constructor | SymbolKind::Module | SymbolKind::Namespace)
    };
    match &found.target {
        Target::Symbol(symbol) => is_type(symbol),
        Target::Candidates(candidates) => candidates.iter().all(is_type),
        _ => false,
    }
}

/// Resolves a name without a binding or import: all symbols of that name are candidates. A
/// single one in an imported file is likely.
fn by_name_alone(db: &Db, file: FileId, site: &Site, name: Name) -> Resolution {
    if matches!(site.kind, SiteKind::Read | SiteKind::Write | SiteKind::Import) {
        return unresolved(Step::NoSuchName);
    }
    let wants_type = wants_type(site.kind);
    let Some(all) = db.program.named_alone(name) else { return unresolved(Step::NoSuchName) };
    let family = crate::units::import_target::family(db.program.known(file).language);
    let count = argument_count(site.args);
    let fits = |symbol: &SymbolRef| {
        let kind = db.program.symbol(*symbol).kind;
        let is_kind = if wants_type {
            kind.is_type()
        } else {
            kind == SymbolKind::Function || kind.is_type()
        };
        is_kind
            && (kind.is_type() || overload::accepts(db, *symbol, count, site.spread))
            && crate::units::import_target::family(db.program.known(symbol.file).language) == family
    };
    let all: Symbols = all.iter().copied().filter(fits).take(MAX_CANDIDATES + 1).collect();
    if all.is_empty() || all.len() > MAX_CANDIDATES {
        return unresolved(Step::NoSuchName);
    }
    let reach = db.reachable(file);
    if let [only] = all[..]
        && reach.contains(only.file)
    {
        return Resolution {
            verdict: Verdict::Likely,
            step: Step::UniqueName,
            target: Target::Symbol(only),
        };
    }
    let mut candidates = all.to_vec();
    candidates.sort_unstable();
    candidates.dedup();
    Resolution {
        verdict: Verdict::Ambiguous,
        step: Step::NoSuchName,
        target: Target::Candidates(candidates.into()),
    }
}

/// True if a reference of this kind is in type position.
fn wants_type(kind: SiteKind) -> bool {
    matches!(
        kind,
        SiteKind::Construct
            | SiteKind::Type
            | SiteKind::Inherit
            | SiteKind::Implement
            | SiteKind::Decorate
    )
}

/// Drops a call by an operator or a subscript unless the receiver's type has the member: the types
/// of most operands are of the library or unknown, and the name is no evidence.
pub(super) fn limited_to_members(
    db: &Db,
    file: FileId,
    site: &Site,
    found: Resolution,
) -> Resolution {
    let unit = db.program.known(file);
    if site.kind != SiteKind::Call || !unit.language.has_operator_methods() {
        return found;
    }
    let is_unknown = matches!(found.verdict, Verdict::Unresolved | Verdict::External)
        || matches!(found.step, Step::ReceiverUnknown | Step::UniqueName);
    match is_unknown && unit.language.manifest.names.is_operator(unit.text(site.name)) {
        true => unresolved(Step::LocalValue),
        false => found,
    }
}
