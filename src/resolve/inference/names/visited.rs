//! Visited set of a name lookup: ends circular imports and searches each place once.

use crate::db::Db;
use crate::db::wanted::Filter;
use crate::db::wildcards::ScopePlace;
use crate::units::interner::Name;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Maximum length of a chain of re-exports.
pub(super) const MAX_CHAIN: usize = 32;

/// Lookup key: place, name, and filter.
type Visit = (ScopePlace, Name, Filter);

/// Visited set of one lookup: names in progress, so that circular re-exports end, and names not
/// found, so that each place is searched once regardless of the number of paths to it. A failed
/// search inside a cycle is final: the parts that it skipped are searched by the lookup in
/// progress.
#[derive(Default, Debug)]
pub(crate) struct Visited {
    under_way: SmallVec<[Visit; 4]>,
    missing: FxHashSet<Visit>,
    /// True if wildcard imports are searched for this name separately, because the memo of modules
    /// does not apply to it.
    pub(crate) is_by_name: bool,
}

impl Visited {
    /// Enters a place; false if it was visited, or the chain is too long.
    pub(super) fn enter(&mut self, visit: Visit) -> bool {
        if self.under_way.len() >= MAX_CHAIN
            || self.under_way.contains(&visit)
            || self.missing.contains(&visit)
        {
            return false;
        }
        self.under_way.push(visit);
        true
    }

    /// Returns the place entered last, if it was for this name.
    pub(crate) fn last(&self, name: Name) -> Option<ScopePlace> {
        self.under_way.last().filter(|visit| visit.1 == name).map(|visit| visit.0)
    }

    /// Leaves the place entered last.
    pub(super) fn exit(&mut self, is_found: bool) {
        if let Some(visit) = self.under_way.pop().filter(|_| !is_found) {
            self.missing.insert(visit);
        }
    }
}

pub(super) fn visit(db: &Db, place: ScopePlace, name: Name) -> Visit {
    (place, name, db.filter())
}
