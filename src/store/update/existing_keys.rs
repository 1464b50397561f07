//! Existing keys for the values of an update: names by text, candidate sets by members.

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::format::statements;
use crate::name_index::names;

/// Keys of names in deleted rows: most of them occur in the replacing rows too.
#[derive(Default)]
pub(super) struct RemovedNames(FxHashMap<Box<str>, u32>);

impl RemovedNames {
    /// Records the names of rows to be deleted: first symbol and end, first site and end.
    pub(crate) fn record(
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

    /// Key of a name.
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

/// Existing candidate sets, by their first symbol, loaded on demand.
#[derive(Default)]
pub(super) struct Sets(FxHashMap<u32, FxHashMap<Vec<u32>, u32>>);

impl Sets {
    /// Key of a set; `wanted` is sorted.
    pub(crate) fn find(
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
