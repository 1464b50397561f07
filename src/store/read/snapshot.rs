//! Queries on a snapshot: rows by key, by name and by edge. No ranking, no selection.

mod sites;

use super::row_decoder::{
    file_row, import_row, optional, problem_row, relation_row, symbol_document, symbol_head,
    symbol_row,
};
use std::ops::Range;
use std::time::Duration;

use rusqlite::{Params, Row};

use super::connection::Snapshot;
use crate::format::error::StoreError;
use crate::format::rows::{
    FileEdge, FileKey, FileRow, ImportRow, LanguageKey, NameKey, NamedInside, ProblemRow,
    RelationRow, SymbolDocument, SymbolHead, SymbolKey, SymbolRow,
};
use crate::format::statements::{self, Statement};
use crate::format::term_index;
use crate::read::kept::LoadKept;
use crate::read::sandbox::{self, SqlBounds, SqlOutcome};
use cograph_model::facts::DocumentTerms;
use cograph_model::words::{Frequency, Term};
use cograph_model::{RepoPath, SkipReason, SymbolKind};

impl SymbolRow {
    /// Columns for ranking.
    pub fn head(&self) -> SymbolHead {
        let Self { key, file, kind, container, flags, references, .. } = *self;
        SymbolHead { key, file, kind, container, flags, references }
    }
}

impl Snapshot {
    /// Languages: key and name.
    pub fn languages(&self) -> Result<Vec<(LanguageKey, String)>, StoreError> {
        self.all(statements::LANGUAGES, [], |row| Ok((LanguageKey(row.get(0)?), row.get(1)?)))
    }

    /// Text of a name.
    pub fn name(&self, key: NameKey) -> Result<String, StoreError> {
        self.one(statements::NAME_BY_KEY, [key.0], |row| row.get(0)).map(Option::unwrap_or_default)
    }

    /// Every file, by path.
    pub fn files(&self) -> Result<Vec<FileRow>, StoreError> {
        self.all(statements::FILES, [], file_row)
    }

    /// Files that were not indexed for this reason.
    pub fn files_skipped(&self, reason: SkipReason) -> Result<Vec<FileRow>, StoreError> {
        self.all(statements::FILES_SKIPPED, [reason as u8], file_row)
    }

    /// Number of files that are left out because of what indexing them costs: those that another
    /// run will index, and the others.
    pub fn left_out(&self) -> Result<(u64, u64), StoreError> {
        let (mut deferred, mut others) = (0, 0);
        for reason in SkipReason::ALL.iter().filter(|reason| reason.is_of_cost()) {
            let count = self.one(statements::COUNT_SKIPPED, [*reason as u8], |row| row.get(0))?;
            match reason {
                SkipReason::Deferred => deferred += count.unwrap_or(0_u64),
                _ => others += count.unwrap_or(0),
            }
        }
        Ok((deferred, others))
    }

    /// Delta over the segment: rows of table `known`, by key.
    pub fn known(&self) -> Result<Vec<(u32, Vec<u8>)>, StoreError> {
        self.all(statements::KNOWN, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Key and path of every file, by path.
    pub fn paths(&self) -> Result<Vec<(FileKey, String)>, StoreError> {
        self.all(statements::PATHS, [], |row| Ok((FileKey(row.get(0)?), row.get(1)?)))
    }

    /// Path and size of a file.
    pub(crate) fn file_size(&self, key: u32) -> Result<Option<(RepoPath, u64)>, StoreError> {
        Ok(self.one(statements::FILE_SIZE, [key], path_and_size)?.flatten())
    }

    /// Path and size of every file.
    pub(crate) fn file_sizes(&self) -> Result<Vec<(RepoPath, u64)>, StoreError> {
        Ok(self.all(statements::FILE_SIZES, [], path_and_size)?.into_iter().flatten().collect())
    }

    /// File by key.
    pub fn file(&self, key: FileKey) -> Result<Option<FileRow>, StoreError> {
        Ok(self.noted(self.one(statements::FILE_BY_KEY, [key.0], file_row)?))
    }

    /// File by path.
    pub fn file_at(&self, path: &str) -> Result<Option<FileRow>, StoreError> {
        Ok(self.noted(self.one(statements::FILE_BY_PATH, [path], file_row)?))
    }

    /// Files below a directory, recursively, by path.
    pub fn files_below(&self, directory: &RepoPath) -> Result<Vec<FileRow>, StoreError> {
        // From `directory/` up to the character after the slash.
        self.all(
            statements::FILES_BELOW,
            [format!("{directory}/"), format!("{directory}0")],
            file_row,
        )
    }

    /// Lengths in words of the files in the index of terms, by key from key 1; none for a file
    /// without terms.
    pub fn file_lengths(&self) -> Result<Vec<Option<u32>>, StoreError> {
        let lengths = self.one(statements::FILE_LENGTHS, [], |row| {
            Ok(term_index::lengths(row.get_ref(0)?.as_blob()?).collect())
        })?;
        Ok(lengths.unwrap_or_default())
    }

    /// Passes the files in the index of terms that have a term to `visit`, by key. They include
    /// those of [`Self::visit_later_words`], as they were.
    pub fn visit_postings(
        &self,
        term: Term,
        mut visit: impl FnMut(FileKey, Frequency),
    ) -> Result<(), StoreError> {
        self.visit(statements::TERM_BLOCK, [term.0], |row| {
            let (first, block) = (row.get(0)?, row.get_ref(1)?.as_blob()?);
            term_index::list_in(first, block, term)
                .for_each(|(file, frequency)| visit(FileKey(file), frequency));
            Ok(false)
        })
    }

    /// Passes the terms (see `model::words`) of files that have changed since the index of terms
    /// was made to `visit`; none for those without terms now.
    pub fn visit_later_words(
        &self,
        mut visit: impl FnMut(FileKey, Option<&[u8]>),
    ) -> Result<(), StoreError> {
        self.visit(statements::LATER_WORDS, [self.meta().last_file], |row| {
            let words = row.get_ref(1)?;
            visit(FileKey(row.get(0)?), words.as_blob_or_null().map_err(rusqlite::Error::from)?);
            Ok(true)
        })
    }

    /// Terms of a file with the passages that have them; none for a file without facts.
    pub fn terms_of(&self, file: FileKey) -> Result<Option<DocumentTerms>, StoreError> {
        let blob = |row: &Row<'_>, column| -> rusqlite::Result<Box<[u8]>> {
            Ok(row.get_ref(column)?.as_blob()?.into())
        };
        self.one(statements::FILE_POSTINGS, [file.0], |row| {
            Ok(DocumentTerms { words: blob(row, 0)?, postings: blob(row, 1)? })
        })
    }

    /// Passes dependencies of files to `visit` until it returns false.
    pub fn visit_file_edges(
        &self,
        mut visit: impl FnMut(FileEdge) -> bool,
    ) -> Result<(), StoreError> {
        self.visit(statements::FILE_EDGES, [], |row| {
            let (from, to) = (FileKey(row.get(0)?), FileKey(row.get(1)?));
            Ok(visit(FileEdge { from, to, sites: row.get(2)?, imports: row.get(3)? }))
        })
    }

    /// Imports of a file, in order.
    pub fn imports_of(&self, file: FileKey) -> Result<Vec<ImportRow>, StoreError> {
        self.all(statements::IMPORTS_OF_FILE, [file.0], import_row)
    }

    /// Imports whose target is a file.
    pub fn imports_to(&self, file: FileKey) -> Result<Vec<ImportRow>, StoreError> {
        self.all(statements::IMPORTS_OF_TARGET, [file.0], import_row)
    }

    /// Every incomplete region.
    pub fn problems(&self) -> Result<Vec<ProblemRow>, StoreError> {
        self.all(statements::PROBLEMS, [], problem_row)
    }

    /// Incomplete regions of a file.
    pub fn problems_of(&self, file: FileKey) -> Result<Vec<ProblemRow>, StoreError> {
        self.all(statements::PROBLEMS_OF_FILE, [file.0], problem_row)
    }

    /// Symbol by key.
    pub fn symbol(&self, key: SymbolKey) -> Result<Option<SymbolRow>, StoreError> {
        self.one(statements::SYMBOL_BY_KEY, [key.0], symbol_row)
    }

    /// Name and enclosing symbol of a symbol.
    pub fn named_inside(&self, key: SymbolKey) -> Result<Option<NamedInside>, StoreError> {
        let read = |row: &Row<'_>| {
            Ok(NamedInside { name: row.get(0)?, container: optional(row, 1)?.map(SymbolKey) })
        };
        self.one(statements::NAME_AND_CONTAINER, [key.0], read)
    }

    /// Symbols with a name.
    pub fn symbols_named(&self, name: NameKey) -> Result<Vec<SymbolRow>, StoreError> {
        self.all(statements::SYMBOLS_OF_NAME, [name.0], symbol_row)
    }

    /// Symbols of a file, by start position.
    pub fn symbols_of(&self, file: &FileRow) -> Result<Vec<SymbolRow>, StoreError> {
        self.all(
            statements::SYMBOLS_BETWEEN,
            [file.first_symbol, file.first_symbol + file.symbols],
            symbol_row,
        )
    }

    /// Symbols of a file with at least `min_lines` lines, and those of these kinds whatever their
    /// length, by start position.
    pub fn symbol_documents_of(
        &self,
        file: &FileRow,
        kinds: impl Fn(SymbolKind) -> bool,
        min_lines: u32,
    ) -> Result<Vec<SymbolDocument>, StoreError> {
        let wanted = SymbolKind::ALL.iter().filter(|kind| kinds(**kind));
        let bits = wanted.fold(0_i64, |bits, kind| bits | 1 << *kind as u8);
        let keys = [file.first_symbol, file.first_symbol + file.symbols].map(i64::from);
        self.all(
            statements::SYMBOL_DOCUMENTS,
            [keys[0], keys[1], bits, i64::from(min_lines) - 1],
            symbol_document,
        )
    }

    /// Symbols of a file whose extent includes one of these lines, or whose name is on one, by
    /// start position.
    pub fn symbols_at(
        &self,
        file: &FileRow,
        first_line: u32,
        last_line: u32,
    ) -> Result<Vec<SymbolRow>, StoreError> {
        let range = [file.first_symbol, file.first_symbol + file.symbols, first_line, last_line];
        self.all(statements::SYMBOLS_AT, range, symbol_row)
    }

    /// Direct members of a symbol.
    pub fn symbols_in(&self, container: SymbolKey) -> Result<Vec<SymbolRow>, StoreError> {
        self.all(statements::SYMBOLS_IN, [container.0], symbol_row)
    }

    /// Direct members of a kind.
    pub fn kinds_in(
        &self,
        container: SymbolKey,
        kind: SymbolKind,
    ) -> Result<Vec<SymbolKey>, StoreError> {
        self.all(statements::KINDS_IN, [container.0, u32::from(kind as u8)], |row| {
            row.get(0).map(SymbolKey)
        })
    }

    /// Ranking columns of the symbols with a name.
    pub fn symbol_heads(&self, name: NameKey) -> Result<Vec<SymbolHead>, StoreError> {
        self.all(statements::SYMBOL_HEADS, [name.0], symbol_head)
    }

    /// Passes ranking columns of the symbols with a name to `visit` until it returns false.
    pub fn visit_symbol_heads(
        &self,
        name: NameKey,
        mut visit: impl FnMut(SymbolHead) -> bool,
    ) -> Result<(), StoreError> {
        self.visit(statements::SYMBOL_HEADS, [name.0], |row| Ok(visit(symbol_head(row)?)))
    }

    /// Number of symbols with a name, counted up to a limit.
    pub fn bearers(&self, name: NameKey, limit: usize) -> Result<usize, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let count = self.one(statements::COUNT_OF_NAME, [i64::from(name.0), limit], |row| {
            row.get::<_, u32>(0)
        })?;
        Ok(count.unwrap_or_default() as usize)
    }

    /// Ranking columns of the symbols of a file.
    pub fn symbol_heads_of(&self, file: &FileRow) -> Result<Vec<SymbolHead>, StoreError> {
        self.all(
            statements::SYMBOL_HEADS_BETWEEN,
            [file.first_symbol, file.first_symbol + file.symbols],
            symbol_head,
        )
    }

    /// Passes ranking columns and names of the symbols with these keys to `visit` until it returns
    /// false.
    pub fn visit_heads_between(
        &self,
        keys: Range<u32>,
        visit: impl FnMut(SymbolHead, &str) -> bool,
    ) -> Result<(), StoreError> {
        self.visit_named_heads(statements::NAMED_HEADS_BETWEEN, [keys.start, keys.end], visit)
    }

    /// Passes ranking columns and names of the direct members of a symbol to `visit` until it
    /// returns false.
    pub fn visit_heads_in(
        &self,
        container: SymbolKey,
        visit: impl FnMut(SymbolHead, &str) -> bool,
    ) -> Result<(), StoreError> {
        self.visit_named_heads(statements::NAMED_HEADS_IN, [container.0], visit)
    }

    fn visit_named_heads<P: Params>(
        &self,
        statement: Statement,
        params: P,
        mut visit: impl FnMut(SymbolHead, &str) -> bool,
    ) -> Result<(), StoreError> {
        self.visit(statement, params, |row| Ok(visit(symbol_head(row)?, row.get_ref(5)?.as_str()?)))
    }

    /// Outgoing relations of a symbol.
    pub fn relations_from(&self, symbol: SymbolKey) -> Result<Vec<RelationRow>, StoreError> {
        self.all(statements::RELATIONS_FROM, [symbol.0], relation_row)
    }

    /// Relations from the symbols of a file.
    pub fn relations_of(&self, file: &FileRow) -> Result<Vec<RelationRow>, StoreError> {
        let range = [file.first_symbol, file.first_symbol + file.symbols];
        self.all(statements::RELATIONS_BETWEEN, range, relation_row)
    }

    /// Incoming relations of a symbol.
    pub fn relations_to(&self, symbol: SymbolKey) -> Result<Vec<RelationRow>, StoreError> {
        self.all(statements::RELATIONS_TO, [symbol.0], relation_row)
    }

    /// Runs one user statement on the documented views, sandboxed; `kept` has the rows of those
    /// that are not in the store. The error is a sentence for its author.
    pub fn run_sql(
        &self,
        statement: &str,
        rows: usize,
        bytes: usize,
        time: Duration,
        kept: LoadKept<'_>,
    ) -> Result<SqlOutcome, String> {
        self.timed(|| sandbox::run(self, statement, SqlBounds { rows, bytes, time }, kept))
    }

    pub(crate) fn all<P: Params, T>(
        &self,
        statement: Statement,
        params: P,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        self.visit(statement, params, |row| {
            found.push(read(row)?);
            Ok(true)
        })?;
        Ok(found)
    }

    pub(crate) fn one<P: Params, T>(
        &self,
        statement: Statement,
        params: P,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut read = Some(read);
        let mut found = None;
        self.visit(statement, params, |row| {
            if let Some(read) = read.take() {
                found = Some(read(row)?);
            }
            Ok(false)
        })?;
        Ok(found)
    }

    pub(crate) fn visit<P: Params>(
        &self,
        statement: Statement,
        params: P,
        mut visit: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<(), StoreError> {
        let run = || -> rusqlite::Result<()> {
            let mut prepared = self.connection().prepare_cached(statement.text())?;
            let mut rows = prepared.query(params)?;
            while let Some(row) = rows.next()? {
                self.count_row();
                if !visit(row)? {
                    break;
                }
            }
            Ok(())
        };
        self.timed(run)
            .map_err(|error| StoreError::from_sqlite("reading store", self.store().path(), &error))
    }
}

/// Path and size of a file, from its row; none if its path is none of ours.
fn path_and_size(row: &Row<'_>) -> rusqlite::Result<Option<(RepoPath, u64)>> {
    let (path, size) = (row.get::<_, String>(0)?, row.get(1)?);
    Ok(RepoPath::new(&path).map(|path| (path, size)))
}
