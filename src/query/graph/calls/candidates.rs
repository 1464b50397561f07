//! Ambiguous call sites of a group of symbols.

use super::gathered::EdgeCollector;
use super::group::Group;
use super::{CallGraph, enclosing};
use crate::graph::error::QueryError;
use cograph_store::SymbolKey;
use rustc_hash::FxHashSet;

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
        let mut group = Group::new(group);
        for &symbol in symbols {
            for site in self.lookup.snapshot.sites_possibly_to(symbol)? {
                self.lookup.check()?;
                if !taken.insert(site.key) || !self.counts(&site)? {
                    continue;
                }
                let degree = group.certainty(self.lookup, &site)?;
                gathered.add(enclosing(&site), None, degree, site, self.follow);
            }
        }
        Ok(())
    }
}
