//! How often symbols are referred to after a change: as before, without what the change takes away
//! and with what it adds. Costs what the change concerns, however large the graph is.

use std::collections::hash_map::Entry;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::faults::{Fault, planted};
use crate::model::graph::SymbolRef;
use crate::store::build::key_assignment::{leads_to, symbols_in};
use crate::store::build::keys::Places;
use crate::store::format::statements;
use crate::store::update::amendment::Amendment;

/// The counts of the files that a change concerns, by position now.
#[derive(Debug, Default)]
pub(super) struct Recounted {
    /// As the store has them; nothing of a new file.
    before: FxHashMap<usize, Vec<u32>>,
    now: FxHashMap<usize, Vec<u32>>,
}

impl Recounted {
    /// Counts again what `amendment` changes in a store whose files have the keys `old`.
    pub(in crate::store) fn new(
        connection: &Connection,
        old: &Places,
        amendment: &Amendment<'_>,
    ) -> rusqlite::Result<Self> {
        let mut recounted = Self::default();
        let counts = Counts { connection, old, origins: amendment.origins };
        let gone =
            amendment.replaced.iter().chain(amendment.resolved.iter().map(|(_, before)| before));
        for symbol in gone.flat_map(leads_to).filter(|_| !planted(Fault::StaleCount)) {
            // Files that are gone have no counts any more.
            if let Some(count) = recounted.count(&counts, symbol)? {
                *count -= 1;
            }
        }
        let graph = amendment.graph;
        for place in amendment.changed.iter().map(|file| file.0 as usize) {
            recounted.of_file(&counts, place)?.resize(symbols_in(&graph.files[place]), 0);
        }
        let again = amendment.changed.iter().chain(amendment.resolved.iter().map(|(file, _)| file));
        for file in again {
            recounted.of_file(&counts, file.0 as usize)?;
            for symbol in leads_to(&graph.resolutions[file.0 as usize]) {
                *recounted.count(&counts, symbol)?.expect("sites lead to files that are there") +=
                    1;
            }
        }
        Ok(recounted)
    }

    /// The counts of a file that the change concerns.
    pub(in crate::store) fn get(&self, place: usize) -> &[u32] {
        self.now.get(&place).map(Vec::as_slice).unwrap_or_default()
    }

    /// The counts of such a file before.
    pub(in crate::store) fn before(&self, place: usize) -> &[u32] {
        self.before.get(&place).map(Vec::as_slice).unwrap_or_default()
    }

    /// The files of which counts may be others than before, in order.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = self.now.keys().copied().collect();
        places.sort_unstable();
        places
    }

    fn of_file(&mut self, counts: &Counts<'_>, place: usize) -> rusqlite::Result<&mut Vec<u32>> {
        Ok(match self.now.entry(place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                vacant.insert(self.before.entry(place).or_insert(counts.of_file(place)?).clone())
            }
        })
    }

    fn count(
        &mut self,
        counts: &Counts<'_>,
        symbol: SymbolRef,
    ) -> rusqlite::Result<Option<&mut u32>> {
        let place = symbol.file.0 as usize;
        if place >= counts.origins.len() {
            return Ok(None);
        }
        self.of_file(counts, place).map(|counts| counts.get_mut(symbol.symbol.0 as usize))
    }
}

/// The counts that a store has.
struct Counts<'c> {
    connection: &'c Connection,
    old: &'c Places,
    /// Where each file was before, by its position now.
    origins: &'c [Option<usize>],
}

impl Counts<'_> {
    fn of_file(&self, place: usize) -> rusqlite::Result<Vec<u32>> {
        let Some(origin) = self.origins[place] else { return Ok(Vec::new()) };
        let symbols = self.old.0[origin].symbols;
        let mut statement =
            self.connection.prepare_cached(statements::REFERENCES_OF_SYMBOLS.text())?;
        let rows = statement.query_map([symbols.first, symbols.end()], |row| row.get(0))?;
        rows.collect()
    }
}
