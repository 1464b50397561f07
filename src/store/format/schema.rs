//! Schema: tables, indexes, and the numbering of the closed vocabularies of `model`.
//!
//! Columns are integers and interned names; ids of a file's symbols and sites are consecutive, so
//! they need no index by file. Any change here, in `views` or in the vocabularies requires a new
//! `FORMAT`: files of other formats are ignored.

use cograph_model::{
    ProblemKind, RelationKind, SiteKind, SkipReason, Step, SymbolKind, Verdict, Visibility,
};

/// Format version of a store file.
pub const FORMAT: u32 = 17;

/// "cogr" in SQLite's header: identifies files of this application.
pub(crate) const APPLICATION_ID: i32 = 0x636f_6772;

/// Tables, created before the rows.
pub(crate) const TABLES: &str = "
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uid INTEGER NOT NULL, generation INTEGER NOT NULL, fingerprint INTEGER NOT NULL, root BLOB NOT NULL,
    built_at_ns INTEGER NOT NULL, build_ns INTEGER NOT NULL,
    files INTEGER NOT NULL, symbols INTEGER NOT NULL, sites INTEGER NOT NULL, symbol_names INTEGER NOT NULL,
    last_file INTEGER NOT NULL, last_symbol INTEGER NOT NULL
);
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE language (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
-- Names that symbols have come first, in order of their letters.
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
-- The names that are not in that order: those that no symbol had when the store was made, and those that came later.
CREATE TABLE other_name (text TEXT NOT NULL COLLATE NOCASE, name INTEGER NOT NULL, PRIMARY KEY (text, name)) WITHOUT ROWID;
-- The names of symbols in runs, the tops of all runs in one row, and the runs that have three letters: see `front_coding`. They stay as
-- they were made.
CREATE TABLE name_run (id INTEGER PRIMARY KEY, names BLOB NOT NULL);
CREATE TABLE name_tops (id INTEGER PRIMARY KEY CHECK (id = 1), tops BLOB NOT NULL);
CREATE TABLE name_gram (id INTEGER PRIMARY KEY, runs BLOB NOT NULL);
-- Names of which the runs do not tell any more how many symbols have them and how often these are used.
CREATE TABLE name_changed (name INTEGER PRIMARY KEY);
-- What `index` knows of files that have changed since the store's segment was written, by key, in a form of its own; 0 is
-- the repository.
CREATE TABLE known (file INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE file (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, language INTEGER, size INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
    hash BLOB, lines INTEGER NOT NULL, skipped INTEGER, flags INTEGER NOT NULL,
    first_symbol INTEGER NOT NULL, symbols INTEGER NOT NULL, first_site INTEGER NOT NULL, sites INTEGER NOT NULL,
    resolved INTEGER NOT NULL, likely INTEGER NOT NULL, ambiguous INTEGER NOT NULL, external INTEGER NOT NULL,
    unresolved INTEGER NOT NULL, possible INTEGER NOT NULL, changed_ns INTEGER NOT NULL, inode INTEGER NOT NULL, package TEXT
);
-- The words of each file, and the symbols that have them, see `model::words`. The second is read for a few files only.
CREATE TABLE file_words (file INTEGER PRIMARY KEY, words BLOB NOT NULL, postings BLOB NOT NULL);
-- The files that have a term, by blocks of terms, and the lengths of all files in one row: see `term_index`. They stay as they were made.
CREATE TABLE term_block (first INTEGER PRIMARY KEY, postings BLOB NOT NULL);
CREATE TABLE file_lengths (id INTEGER PRIMARY KEY CHECK (id = 1), lengths BLOB NOT NULL);
-- Files in `file_lengths` whose terms are not those of the blocks any more, or that are gone.
CREATE TABLE words_changed (file INTEGER PRIMARY KEY);
-- `traits` is visibility + 4 * kind + 128 * flags. Lines are counted from the first line. For `signature` see `columns`.
CREATE TABLE symbol (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, name INTEGER NOT NULL, traits INTEGER NOT NULL, container INTEGER,
    least INTEGER NOT NULL, most INTEGER NOT NULL, start_line INTEGER NOT NULL, start_column INTEGER NOT NULL,
    more_lines INTEGER NOT NULL, end_column INTEGER NOT NULL, start_byte INTEGER NOT NULL, length INTEGER NOT NULL,
    name_down INTEGER NOT NULL, name_column INTEGER NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL, refs INTEGER NOT NULL,
    first_site INTEGER NOT NULL, site_span INTEGER NOT NULL, complexity INTEGER NOT NULL
);
-- `mark` is verdict + 8 * kind + 128 * step + 4096 * line. What `target` is depends on the verdict: a symbol (resolved, likely),
-- a set of symbols with a minus (candidates if ambiguous or possible, variants if resolved), a name (external), the variable or field that holds what is called (unresolved).
CREATE TABLE site (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, enclosing INTEGER, name INTEGER NOT NULL, mark INTEGER NOT NULL,
    col INTEGER NOT NULL, target INTEGER
);
-- Many sites have the same candidates or variants; a set is stored once.
CREATE TABLE candidate (list INTEGER NOT NULL, symbol INTEGER NOT NULL, PRIMARY KEY (list, symbol)) WITHOUT ROWID;
CREATE TABLE site_file (site INTEGER PRIMARY KEY, file INTEGER NOT NULL);
CREATE TABLE import (
    file INTEGER NOT NULL, place INTEGER NOT NULL, module INTEGER NOT NULL, level INTEGER NOT NULL, item INTEGER,
    line INTEGER NOT NULL, col INTEGER NOT NULL, target INTEGER, marks INTEGER NOT NULL, PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE TABLE relation (
    source INTEGER NOT NULL, kind INTEGER NOT NULL, target INTEGER NOT NULL, PRIMARY KEY (source, kind, target)
) WITHOUT ROWID;
CREATE TABLE problem (
    file INTEGER NOT NULL, place INTEGER NOT NULL, kind INTEGER NOT NULL, first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL, PRIMARY KEY (file, place)
) WITHOUT ROWID;
-- Resolved and likely sites, and imports, that lead from one file to another. `imports` has a bit for each sort of import.
CREATE TABLE file_edge (
    source INTEGER NOT NULL, target INTEGER NOT NULL, sites INTEGER NOT NULL, imports INTEGER NOT NULL,
    PRIMARY KEY (source, target)
) WITHOUT ROWID;
";

/// Indexes. Each serves a statement of `statements`, as the snapshots of the query plans show;
/// `bulk_loader` fills them.
pub(crate) const INDEXES: &str = "
CREATE UNIQUE INDEX file_path ON file (path);
CREATE INDEX file_skipped ON file (skipped) WHERE skipped IS NOT NULL;
CREATE INDEX symbol_name ON symbol (name);
CREATE INDEX symbol_refs ON symbol (refs DESC) WHERE refs >= 16;
CREATE INDEX symbol_container ON symbol (container) WHERE container IS NOT NULL;
CREATE INDEX site_target ON site (target) WHERE mark & 7 != 3 AND target IS NOT NULL;
CREATE INDEX site_open ON site (name) WHERE mark & 7 = 4;
CREATE INDEX candidate_symbol ON candidate (symbol);
CREATE INDEX import_target ON import (target) WHERE target IS NOT NULL;
CREATE INDEX relation_target ON relation (target);
";

/// Minimum reference count of symbols in the partial index of frequently used ones.
pub(crate) const MIN_INDEXED_REFS: i64 = 16;

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
