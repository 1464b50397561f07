//! Path table: the paths of all files of a generation in one text, for fast scans; cached while the
//! store is open. Has only the columns that filters and ranking need.

mod reading;

use std::ops::Range;

use crate::format::rows::{FileKey, FileRow, LanguageKey};

/// Terminator of a path; no path contains it.
const END: char = '\0';

/// See the module.
#[derive(Debug, Default)]
pub struct PathTable {
    /// All paths, in key order.
    text: String,
    /// All paths in ASCII lower case.
    folded: Vec<u8>,
    files: Vec<PathEntry>,
}

/// File in the table.
#[derive(Debug)]
struct PathEntry {
    /// Offset of its path.
    start: u32,
    key: FileKey,
    /// Keys of its symbols.
    symbols: Range<u32>,
    language: Option<LanguageKey>,
    test: bool,
}

/// Columns for filters and ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileMark<'t> {
    /// Path.
    pub path: &'t str,
    /// Language, if known.
    pub language: Option<LanguageKey>,
    /// True if the whole file is test code.
    pub test: bool,
}

impl FileRow {
    /// Columns for filters and ranking.
    pub fn mark(&self) -> FileMark<'_> {
        FileMark { path: self.path.as_str(), language: self.language, test: self.test }
    }
}

impl PathTable {
    fn add(&mut self, key: FileKey, mark: FileMark<'_>, symbols: Range<u32>) {
        // Offsets are 32-bit: more than 4 GB of paths are not supported.
        let Ok(start) = u32::try_from(self.text.len()) else { return };
        self.files.push(PathEntry {
            start,
            key,
            symbols,
            language: mark.language,
            test: mark.test,
        });
        self.text.push_str(mark.path);
        self.text.push(END);
        self.folded
            .extend(self.text.as_bytes()[start as usize..].iter().map(u8::to_ascii_lowercase));
    }

    /// Path of a file.
    pub fn path(&self, key: FileKey) -> Option<&str> {
        self.mark(key).map(|mark| mark.path)
    }

    /// Columns of a file for filters and ranking.
    pub fn mark(&self, key: FileKey) -> Option<FileMark<'_>> {
        // Keys are nearly consecutive: the file is close to its key's offset.
        let first = self.files.first()?.key.0;
        let guess = key.0.checked_sub(first)? as usize;
        let place = match self.files.get(guess) {
            Some(entry) if entry.key == key => guess,
            _ => self.files.binary_search_by_key(&key, |entry| entry.key).ok()?,
        };
        let PathEntry { language, test, .. } = self.files[place];
        Some(FileMark { path: self.path_at(place), language, test })
    }

    /// Files whose paths end with `ending`.
    pub fn ending_with(&self, ending: &str) -> Vec<(FileKey, &str)> {
        let wanted = format!("{ending}{END}");
        let found = memchr::memmem::find_iter(self.text.as_bytes(), wanted.as_bytes());
        let found = found.map(|at| self.place_of(at));
        found.map(|place| (self.files[place].key, self.path_at(place))).collect()
    }

    /// Files whose paths may contain `part`, ASCII case-insensitive, with the keys of their
    /// symbols. A `part` with other characters is not filtered: all files.
    pub fn with_part(&self, part: &str) -> Vec<(FileKey, Range<u32>)> {
        let part = part.to_ascii_lowercase();
        let all = self.files.iter().map(|file| (file.key, file.symbols.clone()));
        if !part.is_ascii() || part.is_empty() {
            return all.collect();
        }
        let finder = memchr::memmem::Finder::new(part.as_bytes());
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = self.folded.get(from..).and_then(|rest| finder.find(rest)) {
            let place = self.place_of(from + hit);
            let file = &self.files[place];
            found.push((file.key, file.symbols.clone()));
            from = file.start as usize + self.path_at(place).len() + 1;
        }
        found
    }

    /// Index of the file whose path contains an offset.
    fn place_of(&self, at: usize) -> usize {
        self.files.partition_point(|file| file.start as usize <= at) - 1
    }

    fn path_at(&self, place: usize) -> &str {
        let end = self.files.get(place + 1).map_or(self.text.len(), |file| file.start as usize);
        &self.text[self.files[place].start as usize..end - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_by_key_ending_and_part() {
        let mut table = PathTable::default();
        for (key, path) in [(3, "src/a.x"), (4, "src/src/b.x"), (9, "a.x"), (12, "lib/Größe.x")] {
            let mark = FileMark { path, language: Some(LanguageKey(key)), test: key == 4 };
            table.add(FileKey(key), mark, key * 10..key * 10 + 5);
        }
        let mark =
            |key, path, test| Some(FileMark { path, language: Some(LanguageKey(key)), test });
        assert_eq!(table.mark(FileKey(4)), mark(4, "src/src/b.x", true));
        assert_eq!(table.mark(FileKey(12)), mark(12, "lib/Größe.x", false));
        assert_eq!([0, 5, 99].map(|key| table.mark(FileKey(key))), [None; 3]);
        assert_eq!(table.path(FileKey(9)), Some("a.x"));
        assert_eq!(table.path(FileKey(12)), Some("lib/Größe.x"));
        assert_eq!(table.path(FileKey(5)), None);
        let keys = |found: Vec<(FileKey, &str)>| {
            found.into_iter().map(|(key, _)| key.0).collect::<Vec<_>>()
        };
        assert_eq!(keys(table.ending_with("a.x")), [3, 9]);
        assert_eq!(keys(table.ending_with("src/b.x")), [4]);
        assert_eq!(keys(table.ending_with("src")), [0; 0]);
        let keys = |part: &str| {
            table.with_part(part).into_iter().map(|(key, _)| key.0).collect::<Vec<_>>()
        };
        assert_eq!(keys("SRC"), [3, 4], "each once");
        assert_eq!(keys("x"), [3, 4, 9, 12]);
        assert_eq!(keys("src/a"), [3]);
        assert_eq!(keys("none"), [0; 0]);
        assert_eq!(keys("größe"), [3, 4, 9, 12], "who asks compares");
        assert_eq!(table.with_part("b.x"), [(FileKey(4), 40..45)]);
    }
}
