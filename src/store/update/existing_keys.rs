//! What a store has already of that which a change writes: names by their text, sets of candidates
//! by their members.

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::store::format::statements;
use crate::store::name_index::names;

/// The keys of names that stood in rows that were removed: most of them are in what comes in their
/// place.
#[derive(Default)]
pub(super) struct RemovedNames(FxHashMap<Box<str>, u32>);

impl RemovedNames {
    /// Remembers the names of rows that are about to be removed: first symbol and end, first site
    /// and end.
    pub(in crate::store) fn take_in(
        &mut self,
        connection: &Connection,
        ranges: [u32; 4],
    ) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(statements::NAMES_OF_ROWS.text())?;
        let mut rows = statement.query(ranges)?;
        while let Some(row) = rows.next()? {
            self.0.insert(row.get(1)?, row.get(0)?);
        }
        Ok(())
    }

    /// The key of a name, whether it stood there or not.
    pub(super) fn key_of(
        &self,
        connection: &Connection,
        symbol_names: u32,
        name: &str,
    ) -> rusqlite::Result<Option<u32>> {
        match self.0.get(name) {
            Some(&key) => Ok(Some(key)),
            None => names::key_of(connection, symbol_names, name),
        }
    }
}

/// Sets of candidates that the store has, by their first symbol, as far as they were asked for.
#[derive(Default)]
pub(super) struct Sets(FxHashMap<u32, FxHashMap<Vec<u32>, u32>>);

impl Sets {
    /// The key of a set; `wanted` is sorted.
    pub(in crate::store) fn find(
        &mut self,
        connection: &Connection,
        wanted: &[u32],
    ) -> rusqlite::Result<Option<u32>> {
        let Some(&first) = wanted.first() else { return Ok(None) };
        if let Some(known) = self.0.get(&first) {
            return Ok(known.get(wanted).copied());
        }
        let mut known = FxHashMap::default();
        let mut lists = connection.prepare_cached(statements::LISTS_OF_SYMBOL.text())?;
        let lists: Vec<u32> =
            lists.query_map([first], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut members = connection.prepare_cached(statements::CANDIDATES.text())?;
        for list in lists {
            let symbols: Vec<u32> =
                members.query_map([list], |row| row.get(0))?.collect::<Result<_, _>>()?;
            known.insert(symbols, list);
        }
        let found = known.get(wanted).copied();
        self.0.insert(first, known);
        Ok(found)
    }
}
