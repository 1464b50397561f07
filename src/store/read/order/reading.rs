//! Reads the key order from a snapshot, and lists symbols by reference count.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{FileRank, KeyOrder};
use crate::format::error::StoreError;
use crate::format::rows::{FileKey, SymbolHead, SymbolKey};
use crate::format::statements;
use crate::read::connection::Snapshot;
use crate::read::row_decoder::symbol_head;

/// If more than one in this many files is an added one, a scan of all paths is cheaper than a
/// lookup for each.
const SCAN_FROM_SHARE: u64 = 8;

impl Snapshot {
    /// Key order of this generation.
    pub fn key_order(&self) -> Result<Arc<KeyOrder>, StoreError> {
        let state = self.identity();
        if let Some(known) = self.store().known_order(state) {
            return Ok(known);
        }
        let (last_file, last_symbol) = (self.meta().last_file, self.meta().last_symbol);
        let greatest =
            self.one(statements::LAST_SYMBOL, [], |row| row.get::<_, Option<u32>>(0))?.flatten();
        let is_by_key = greatest.is_none_or(|greatest| greatest <= last_symbol);
        let order = Arc::new(KeyOrder {
            last_file,
            last_symbol,
            added: self.ranks_of_added(last_file)?,
            is_by_key,
        });
        self.store().keep_order(state, Arc::clone(&order));
        Ok(order)
    }

    fn ranks_of_added(&self, last_file: u32) -> Result<FxHashMap<FileKey, FileRank>, StoreError> {
        let mut files: Vec<(String, FileKey)> =
            self.all(statements::ADDED_FILES, [last_file], |row| {
                Ok((row.get(1)?, FileKey(row.get(0)?)))
            })?;
        let mut ranks = FxHashMap::default();
        if files.len() as u64 * SCAN_FROM_SHARE > self.meta().files {
            let mut last = FileRank::default();
            self.visit(statements::FILE_KEYS_BY_PATH, [], |row| {
                let key: u32 = row.get(0)?;
                last =
                    if key <= last_file { FileRank(key, 0) } else { FileRank(last.0, last.1 + 1) };
                if key > last_file {
                    ranks.insert(FileKey(key), last);
                }
                Ok(true)
            })?;
            return Ok(ranks);
        }
        files.sort_unstable();
        for (path, key) in files {
            let before =
                self.one(statements::FILE_KEY_BEFORE, [path], |row| row.get(0).map(FileKey))?;
            // Ranks of the preceding added files are known: they come by path.
            let rank = match before.map(|before| (before, ranks.get(&before))) {
                None => FileRank(0, 1),
                Some((before, None)) => FileRank(before.0, 1),
                Some((_, Some(&FileRank(anchor, place)))) => FileRank(anchor, place + 1),
            };
            ranks.insert(key, rank);
        }
        Ok(ranks)
    }

    /// File of a symbol.
    pub fn file_of(&self, symbol: SymbolKey) -> Result<Option<FileKey>, StoreError> {
        self.one(statements::FILE_OF_SYMBOL, [symbol.0], |row| row.get(0).map(FileKey))
    }

    /// Passes symbols with at least this many references to `visit` until it returns false: by
    /// descending reference count, then by path and position.
    pub fn visit_referenced(
        &self,
        at_least: u32,
        mut visit: impl FnMut(SymbolHead) -> bool,
    ) -> Result<(), StoreError> {
        let order = self.key_order()?;
        let mut equals: Vec<SymbolHead> = Vec::new();
        let mut goes_on = true;
        let mut hand_out = |equals: &mut Vec<SymbolHead>| {
            equals.sort_unstable_by_key(|head| order.head(head));
            equals.drain(..).all(&mut visit)
        };
        self.visit(statements::FREQUENTLY_REFERENCED, [], |row| {
            let head = symbol_head(row)?;
            if equals.first().is_some_and(|first| first.references != head.references) {
                goes_on = hand_out(&mut equals);
            }
            let is_wanted = goes_on && head.references >= at_least;
            if is_wanted {
                equals.push(head);
            }
            Ok(is_wanted)
        })?;
        goes_on = goes_on && hand_out(&mut equals);
        if goes_on {
            let mut rest = self.all(statements::REFERENCED, [at_least], symbol_head)?;
            rest.sort_unstable_by_key(|head| (Reverse(head.references), order.head(head)));
            rest.into_iter().all(visit);
        }
        Ok(())
    }
}
