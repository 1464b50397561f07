//! Schema: the tables and indexes of a store, and the numbering of the closed vocabularies of
//! `model`.
//!
//! Columns are integers and interned names; ids of a file's symbols and sites are consecutive, so
//! they need no index by file. Any change here, in `tables`, `indexes`, `views` or in the
//! vocabularies requires a new `FORMAT`: files of other formats are ignored.

pub(crate) mod indexes;
pub(crate) mod tables;
pub(crate) mod value;

use self::indexes::{INDEXES, Index};
use self::tables::Table;
use cograph_model::{
    ProblemKind, RelationKind, SiteKind, SkipReason, Step, SymbolKind, Verdict, Visibility,
};

/// Format version of a store file.
pub const FORMAT: u32 = 21;

/// "cogr" in SQLite's header: identifies files of this application.
pub(crate) const APPLICATION_ID: i32 = 0x636f_6772;

/// Tables besides those of `tables`.
const OTHER_TABLES: &str = "
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uid INTEGER NOT NULL, generation INTEGER NOT NULL, fingerprint INTEGER NOT NULL, root BLOB NOT NULL,
    built_at_ns INTEGER NOT NULL, build_ns INTEGER NOT NULL,
    files INTEGER NOT NULL, symbols INTEGER NOT NULL, sites INTEGER NOT NULL, symbol_names INTEGER NOT NULL,
    last_file INTEGER NOT NULL, last_symbol INTEGER NOT NULL
);
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE language (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
-- Names of which the runs do not tell any more how many symbols have them and how often these are used.
CREATE TABLE name_changed (name INTEGER PRIMARY KEY);
-- What `index` knows of files that have changed since the store's segment was written, by key, in a form of its own; 0 is
-- the repository.
CREATE TABLE known (file INTEGER PRIMARY KEY, data BLOB NOT NULL);
-- Files in `file_lengths` whose terms are not those of the blocks any more, or that are gone.
CREATE TABLE words_changed (file INTEGER PRIMARY KEY);
";

/// Statements that create every table and index.
pub(crate) fn create() -> String {
    let tables = Table::ALL.iter().map(|table| table.schema().create.to_owned());
    let filled: Vec<String> = tables.chain(INDEXES.iter().map(Index::create)).collect();
    format!("{OTHER_TABLES}{};", filled.join(";\n"))
}

/// Bits of `file.flags`.
pub(crate) mod file_flags {
    /// The file is marked as generated.
    pub(crate) const GENERATED: i64 = 1;
    /// The whole file is test code.
    pub(crate) const TEST: i64 = 2;
}

/// Bits of `import.marks`.
pub(crate) mod import_marks {
    /// It leaves nothing at run time.
    pub(crate) const TYPE_ONLY: i64 = 1;
    /// It is inside of a function.
    pub(crate) const LAZY: i64 = 2;
    /// It is in test code.
    pub(crate) const TEST: i64 = 4;
    /// It declares a module that is part of its own.
    pub(crate) const DECLARES: i64 = 8;
}

/// Words of `model`'s vocabularies: (id in table `word`, word). The id is the base of the
/// vocabulary plus the number; `views` uses the same bases.
pub(crate) fn words() -> impl Iterator<Item = (i64, &'static str)> {
    fn numbered(
        base: i64,
        words: impl Iterator<Item = &'static str>,
    ) -> impl Iterator<Item = (i64, &'static str)> {
        (base..).zip(words)
    }
    numbered(100, SymbolKind::ALL.iter().map(|value| value.word()))
        .chain(numbered(200, SiteKind::ALL.iter().map(|value| value.word())))
        .chain(numbered(300, Verdict::ALL.iter().map(|value| value.word())))
        .chain(numbered(400, Step::ALL.iter().map(|value| value.word())))
        .chain(numbered(500, Visibility::ALL.iter().map(|value| value.word())))
        .chain(numbered(600, RelationKind::ALL.iter().map(|value| value.word())))
        .chain(numbered(700, SkipReason::ALL.iter().map(|value| value.word())))
        .chain(numbered(800, ProblemKind::ALL.iter().map(|value| value.word())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_has_a_number_of_its_own() {
        let words: Vec<_> = words().collect();
        let ids: BTreeSet<_> = words.iter().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), words.len());
        // Partial indexes and statements contain verdicts by number.
        assert_eq!(
            Verdict::ALL.iter().map(|verdict| verdict.word()).collect::<Vec<_>>(),
            ["resolved", "likely", "ambiguous", "external", "unresolved", "possible"]
        );
    }
}
