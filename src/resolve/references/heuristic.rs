//! Heuristic for unknown receivers: the only reachable member of that name, if it fits the call and
//! is no common name of builtin types.

use crate::model::facts::{Expr, ExprId, ScopeKind, Site};
use crate::model::graph::{FileId, Resolution, SymbolRef, Target};
use crate::model::{SiteKind, Step, Verdict};
use crate::resolve::calls::overload;
use crate::resolve::calls::overload::argument_count;
use crate::resolve::db::Db;
use crate::resolve::references::outcome::unresolved;
use crate::resolve::units::bounds::MAX_CANDIDATES;
use crate::resolve::{Name, Symbols};

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
    let family = crate::resolve::units::import_target::family(db.program.known(file).language);
    let in_family = |symbol: &SymbolRef| {
        crate::resolve::units::import_target::family(db.program.known(symbol.file).language)
            == family
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
        _ => {
            let mut candidates = if fitting.is_empty() { all.to_vec() } else { fitting.to_vec() };
            candidates.sort_unstable();
            candidates.dedup();
            Resolution {
                verdict: Verdict::Ambiguous,
                step: Step::ReceiverUnknown,
                target: Target::Candidates(candidates.into()),
            }
        }
    }
}

/// True if a call is of a member of the receiver of the function around it.
fn is_on_self(db: &Db, file: FileId, site: &Site) -> bool {
    let facts = db.program.known(file).facts;
    let expr = |id: ExprId| id.get().map(|position| facts.exprs[position]);
    let Some(Expr::Member(object, _)) = expr(site.target) else { return false };
    matches!(expr(object), Some(Expr::SelfValue(_)))
}
