//! Ambiguous call sites of a group of symbols.

use super::gathered::EdgeCollector;
use super::{CallGraph, certainty, enclosing};
use crate::query::{Certainty, QueryError};
use crate::store::{SiteTarget, SymbolKey};
use rustc_hash::{FxHashMap, FxHashSet};

impl CallGraph<'_, '_> {
    /// Collects the ambiguous sites with one of these symbols among their candidates. One whose
    /// candidates are all in `group` is a certain use of it.
    pub(super) fn take_possible(
        &self,
        gathered: &mut EdgeCollector,
        symbols: &[SymbolKey],
        group: &FxHashSet<SymbolKey>,
    ) -> Result<(), QueryError> {
        let mut taken = FxHashSet::default();
        let mut is_within: FxHashMap<u32, bool> = FxHashMap::default();
        for &symbol in symbols {
            for site in self.lookup.snapshot.sites_possibly_to(symbol)? {
                self.lookup.check()?;
                if !taken.insert(site.key) || !self.counts(&site)? {
                    continue;
                }
                let mut degree = certainty(&site);
                if let SiteTarget::Candidates(set) = site.target {
                    let is_within = match is_within.get(&set) {
                        Some(known) => *known,
                        None => {
                            let candidates = self.lookup.candidates(set)?;
                            let all = candidates.iter().all(|symbol| group.contains(symbol));
                            is_within.insert(set, all);
                            all
                        }
                    };
                    if is_within {
                        degree = Certainty::Certain;
                    }
                }
                gathered.add(enclosing(&site), None, degree, site, self.follow);
            }
        }
        Ok(())
    }
}
