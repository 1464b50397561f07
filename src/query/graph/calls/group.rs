//! Certainty of a site for a group of symbols that are one meaning of a name.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::answer::Certainty;
use crate::graph::calls::edge::certainty;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::Step;
use cograph_store::{SiteRow, SiteTarget, SymbolKey};

/// Group of symbols, with a memo of the candidate lists that have no other symbol.
pub(crate) struct Group<'g> {
    symbols: &'g FxHashSet<SymbolKey>,
    is_within: FxHashMap<u32, bool>,
}

impl<'g> Group<'g> {
    pub(crate) fn new(symbols: &'g FxHashSet<SymbolKey>) -> Self {
        Self { symbols, is_within: FxHashMap::default() }
    }

    /// Returns the certainty of a site that leads to the group: one whose overloads are all in it
    /// is a certain use. Candidates for another reason may be incomplete.
    pub(crate) fn certainty(
        &mut self,
        lookup: &Lookup<'_>,
        site: &SiteRow,
    ) -> Result<Certainty, QueryError> {
        let SiteTarget::Candidates(list) = site.target else { return Ok(certainty(site)) };
        if site.step != Step::Overloads {
            return Ok(certainty(site));
        }
        let is_within = match self.is_within.get(&list) {
            Some(known) => *known,
            None => {
                let candidates = lookup.candidates(list)?;
                let all = candidates.iter().all(|symbol| self.symbols.contains(symbol));
                self.is_within.insert(list, all);
                all
            }
        };
        Ok(if is_within { Certainty::Certain } else { certainty(site) })
    }
}
