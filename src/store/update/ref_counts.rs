//! Reference counts after an update: the previous counts minus removed sites plus new ones. The
//! cost is proportional to the change, not to the graph.

use std::collections::hash_map::Entry;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::build::key_assignment::symbols_in;
use crate::build::keys::Places;
use crate::format::statements;
use crate::update::amendment::Amendment;
use cograph_faults::{Fault, planted};
use cograph_model::graph::{FileResolution, SymbolRef};

/// Counts of the files affected by an update, by current position.
#[derive(Debug, Default)]
pub(super) struct UpdatedCounts {
    /// Previous counts; none for a new file.
    before: FxHashMap<usize, Vec<u32>>,
    now: FxHashMap<usize, Vec<u32>>,
}

impl UpdatedCounts {
    /// Computes the counts for `amendment` in a store whose files have the keys `old`.
    pub(crate) fn new(
        connection: &Connection,
        old: &Places,
        amendment: &Amendment<'_>,
    ) -> rusqlite::Result<Self> {
        let mut recounted = Self::default();
        let counts = Counts { connection, old, origins: amendment.origins };
        let gone =
            amendment.replaced.iter().chain(amendment.resolved.iter().map(|(_, before)| before));
        for symbol in gone.flat_map(FileResolution::targets).filter(|_| !planted(Fault::StaleCount))
        {
            // Deleted files have no counts.
            if let Some(count) = recounted.count(&counts, symbol)? {
                *count -= 1;
            }
        }
        for file in amendment.changed {
            let symbols = symbols_in(&amendment.file(*file).record);
            recounted.of_file(&counts, file.0 as usize)?.resize(symbols, 0);
        }
        let again = amendment.changed.iter().chain(amendment.resolved.iter().map(|(file, _)| file));
        for file in again {
            recounted.of_file(&counts, file.0 as usize)?;
            for symbol in amendment.file(*file).found.targets() {
                *recounted.count(&counts, symbol)?.expect("sites lead to files that are there") +=
                    1;
            }
        }
        Ok(recounted)
    }

    /// Counts of an affected file.
    pub(crate) fn get(&self, place: usize) -> &[u32] {
        self.now.get(&place).map(Vec::as_slice).unwrap_or_default()
    }

    /// Previous counts of an affected file.
    pub(crate) fn before(&self, place: usize) -> &[u32] {
        self.before.get(&place).map(Vec::as_slice).unwrap_or_default()
    }

    /// Files whose counts may have changed, in order.
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

/// Counts in a store.
struct Counts<'c> {
    connection: &'c Connection,
    old: &'c Places,
    /// Previous position of each file, by its current one.
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
