//! The paths of all files of a store in one text, so that a question looks through all of them at once. Made for one state of a
//! store and kept while the store is open. Knows paths and keys, nothing else of a file.

use std::ops::Range;
use std::sync::Arc;

use super::connection::Snapshot;
use super::error::StoreError;
use super::rows::FileKey;
use super::statements;

/// Ends every path: none has it.
const END: char = '\0';

/// See the module.
#[derive(Debug, Default)]
pub struct PathTable {
    /// All paths, in order of the keys.
    text: String,
    /// By file: where its path begins, its key, its symbols.
    files: Vec<(u32, FileKey, Range<u32>)>,
}

impl PathTable {
    fn add(&mut self, key: FileKey, path: &str, symbols: Range<u32>) {
        // A store whose paths take 4 GB has no more files that could be told apart here.
        let Ok(start) = u32::try_from(self.text.len()) else { return };
        self.files.push((start, key, symbols));
        self.text.push_str(path);
        self.text.push(END);
    }

    /// The path of a file.
    pub fn path(&self, key: FileKey) -> Option<&str> {
        self.files.binary_search_by_key(&key, |(_, key, _)| *key).ok().map(|place| self.path_at(place))
    }

    /// The files whose paths end with `ending`.
    pub fn ending_with(&self, ending: &str) -> Vec<(FileKey, &str)> {
        let wanted = format!("{ending}{END}");
        let found = self.text.match_indices(&wanted).map(|(at, _)| self.place_of(at));
        found.map(|place| (self.files[place].1, self.path_at(place))).collect()
    }

    /// The files in whose paths `pattern` matches, with the keys of their symbols. `pattern` matches no path's end.
    pub fn matching(&self, pattern: &regex::Regex) -> Vec<(FileKey, &str, Range<u32>)> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = pattern.find_at(&self.text, from) {
            let place = self.place_of(hit.start());
            let (start, key, symbols) = &self.files[place];
            let path = self.path_at(place);
            found.push((*key, path, symbols.clone()));
            from = *start as usize + path.len() + 1;
        }
        found
    }

    /// The file to whose path a place in the text belongs.
    fn place_of(&self, at: usize) -> usize {
        self.files.partition_point(|(start, ..)| *start as usize <= at) - 1
    }

    fn path_at(&self, place: usize) -> &str {
        let end = self.files.get(place + 1).map_or(self.text.len(), |(start, ..)| *start as usize);
        &self.text[self.files[place].0 as usize..end - 1]
    }
}

impl Snapshot {
    /// The paths of this state.
    pub fn path_table(&self) -> Result<Arc<PathTable>, StoreError> {
        let state = self.identity();
        if let Some(known) = self.store().known_paths(state) {
            return Ok(known);
        }
        let mut table = PathTable::default();
        self.visit(statements::PATHS_BY_KEY, [], |row| {
            let first: u32 = row.get(2)?;
            table.add(FileKey(row.get(0)?), row.get_ref(1)?.as_str()?, first..first + row.get::<_, u32>(3)?);
            Ok(true)
        })?;
        let table = Arc::new(table);
        self.store().keep_paths(state, Arc::clone(&table));
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_by_key_ending_and_pattern() {
        let mut table = PathTable::default();
        for (key, path) in [(3, "src/a.x"), (4, "src/src/b.x"), (9, "a.x"), (12, "lib/Größe.x")] {
            table.add(FileKey(key), path, key * 10..key * 10 + 5);
        }
        assert_eq!(table.path(FileKey(9)), Some("a.x"));
        assert_eq!(table.path(FileKey(12)), Some("lib/Größe.x"));
        assert_eq!(table.path(FileKey(5)), None);
        let keys = |found: Vec<(FileKey, &str)>| found.into_iter().map(|(key, _)| key.0).collect::<Vec<_>>();
        assert_eq!(keys(table.ending_with("a.x")), [3, 9]);
        assert_eq!(keys(table.ending_with("src/b.x")), [4]);
        assert_eq!(keys(table.ending_with("src")), [0; 0]);
        let pattern = regex::RegexBuilder::new("SRC|größe").case_insensitive(true).build().expect("a pattern");
        let found = table.matching(&pattern);
        assert_eq!(
            found,
            [(FileKey(3), "src/a.x", 30..35), (FileKey(4), "src/src/b.x", 40..45), (FileKey(12), "lib/Größe.x", 120..125)]
        );
    }
}
