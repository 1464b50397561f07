//! What a snapshot answers: rows by key, by name and by the ways that lead from one to the other.
//! No ranking, no choosing.

use super::row_decoder::{
    file_row, import_row, optional, problem_row, relation_row, site_row, symbol_head, symbol_row,
};
use std::ops::Range;
use std::time::Duration;

use rusqlite::{Params, Row};

use super::connection::Snapshot;
use crate::model::{RepoPath, SkipReason, SymbolKind};
use crate::store::format::error::StoreError;
use crate::store::format::rows::{
    FileKey, FileRow, ImportRow, LanguageKey, NameKey, NamedInside, ProblemRow, RelationRow,
    SiteKey, SiteRow, SymbolHead, SymbolKey, SymbolRow,
};
use crate::store::format::statements::{self, Statement};
use crate::store::read::sandbox::{self, SqlBounds, SqlOutcome};
use crate::store::read::site_cache::MOST_SITES;

impl SymbolRow {
    /// The part that ranking looks at.
    pub fn head(&self) -> SymbolHead {
        let Self { key, file, kind, container, flags, references, .. } = *self;
        SymbolHead { key, file, kind, container, flags, references }
    }
}

impl Snapshot {
    /// The languages: key and name.
    pub fn languages(&self) -> Result<Vec<(LanguageKey, String)>, StoreError> {
        self.all(statements::LANGUAGES, [], |row| Ok((LanguageKey(row.get(0)?), row.get(1)?)))
    }

    /// The text of a name.
    pub fn name(&self, key: NameKey) -> Result<String, StoreError> {
        self.one(statements::NAME_BY_KEY, [key.0], |row| row.get(0)).map(Option::unwrap_or_default)
    }

    /// Every file, by path.
    pub fn files(&self) -> Result<Vec<FileRow>, StoreError> {
        self.all(statements::FILES, [], file_row)
    }

    /// The files that were not indexed for this reason.
    pub fn files_skipped(&self, reason: SkipReason) -> Result<Vec<FileRow>, StoreError> {
        self.all(statements::FILES_SKIPPED, [reason as u8], file_row)
    }

    /// What is known of files that have changed since the store's segment was written, by key.
    pub fn known(&self) -> Result<Vec<(u32, Vec<u8>)>, StoreError> {
        self.all(statements::KNOWN, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Every file's key and path, by path.
    pub fn paths(&self) -> Result<Vec<(FileKey, String)>, StoreError> {
        self.all(statements::PATHS, [], |row| Ok((FileKey(row.get(0)?), row.get(1)?)))
    }

    /// The file of a key.
    pub fn file(&self, key: FileKey) -> Result<Option<FileRow>, StoreError> {
        Ok(self.noted(self.one(statements::FILE_BY_KEY, [key.0], file_row)?))
    }

    /// The file at a path.
    pub fn file_at(&self, path: &str) -> Result<Option<FileRow>, StoreError> {
        Ok(self.noted(self.one(statements::FILE_BY_PATH, [path], file_row)?))
    }

    /// The files in a directory and in those below it, by path.
    pub fn files_below(&self, directory: &RepoPath) -> Result<Vec<FileRow>, StoreError> {
        // Between `directory/` and what follows it: the character after the slash.
        self.all(
            statements::FILES_BELOW,
            [format!("{directory}/"), format!("{directory}0")],
            file_row,
        )
    }

    /// Hands to `visit` the words of every file that has symbols or may have them (see
    /// `model::words`), until it says stop by false.
    pub fn visit_file_words(
        &self,
        mut visit: impl FnMut(FileKey, &[u8]) -> bool,
    ) -> Result<(), StoreError> {
        self.visit(statements::FILE_WORDS, [], |row| {
            Ok(visit(FileKey(row.get(0)?), row.get_ref(1)?.as_blob()?))
        })
    }

    /// Hands to `visit` how files depend on each other (user, used, sites and imports), until it
    /// says stop by false.
    pub fn visit_file_edges(
        &self,
        mut visit: impl FnMut(FileKey, FileKey, u32) -> bool,
    ) -> Result<(), StoreError> {
        self.visit(statements::FILE_EDGES, [], |row| {
            Ok(visit(FileKey(row.get(0)?), FileKey(row.get(1)?), row.get(2)?))
        })
    }

    /// The files that one uses, with numbers of sites and imports.
    pub fn files_used_by(&self, file: FileKey) -> Result<Vec<(FileKey, u32)>, StoreError> {
        self.all(statements::FILES_USED_BY, [file.0], |row| Ok((FileKey(row.get(0)?), row.get(1)?)))
    }

    /// The imports of a file, in order.
    pub fn imports_of(&self, file: FileKey) -> Result<Vec<ImportRow>, StoreError> {
        self.all(statements::IMPORTS_OF_FILE, [file.0], import_row)
    }

    /// The imports that lead to a file.
    pub fn imports_to(&self, file: FileKey) -> Result<Vec<ImportRow>, StoreError> {
        self.all(statements::IMPORTS_OF_TARGET, [file.0], import_row)
    }

    /// Every region that is incomplete.
    pub fn problems(&self) -> Result<Vec<ProblemRow>, StoreError> {
        self.all(statements::PROBLEMS, [], problem_row)
    }

    /// The regions of a file that are incomplete.
    pub fn problems_of(&self, file: FileKey) -> Result<Vec<ProblemRow>, StoreError> {
        self.all(statements::PROBLEMS_OF_FILE, [file.0], problem_row)
    }

    /// The symbol of a key.
    pub fn symbol(&self, key: SymbolKey) -> Result<Option<SymbolRow>, StoreError> {
        self.one(statements::SYMBOL_BY_KEY, [key.0], symbol_row)
    }

    /// The name of the symbol of a key, and the symbol around it.
    pub fn named_inside(&self, key: SymbolKey) -> Result<Option<NamedInside>, StoreError> {
        let read = |row: &Row<'_>| {
            Ok(NamedInside { name: row.get(0)?, container: optional(row, 1)?.map(SymbolKey) })
        };
        self.one(statements::NAME_AND_CONTAINER, [key.0], read)
    }

    /// The symbols that have a name.
    pub fn symbols_named(&self, name: NameKey) -> Result<Vec<SymbolRow>, StoreError> {
        self.all(statements::SYMBOLS_OF_NAME, [name.0], symbol_row)
    }

    /// The symbols of a file, in order of their start.
    pub fn symbols_of(&self, file: &FileRow) -> Result<Vec<SymbolRow>, StoreError> {
        self.all(
            statements::SYMBOLS_BETWEEN,
            [file.first_symbol, file.first_symbol + file.symbols],
            symbol_row,
        )
    }

    /// The symbols of a file that have one of these lines, or their name on one, in order of their
    /// start.
    pub fn symbols_at(
        &self,
        file: &FileRow,
        first_line: u32,
        last_line: u32,
    ) -> Result<Vec<SymbolRow>, StoreError> {
        let range = [file.first_symbol, file.first_symbol + file.symbols, first_line, last_line];
        self.all(statements::SYMBOLS_AT, range, symbol_row)
    }

    /// The symbols written directly inside another.
    pub fn symbols_in(&self, container: SymbolKey) -> Result<Vec<SymbolRow>, StoreError> {
        self.all(statements::SYMBOLS_IN, [container.0], symbol_row)
    }

    /// The symbols of a kind written directly inside another.
    pub fn kinds_in(
        &self,
        container: SymbolKey,
        kind: SymbolKind,
    ) -> Result<Vec<SymbolKey>, StoreError> {
        self.all(statements::KINDS_IN, [container.0, u32::from(kind as u8)], |row| {
            row.get(0).map(SymbolKey)
        })
    }

    /// What ranking needs of the symbols that have a name.
    pub fn symbol_heads(&self, name: NameKey) -> Result<Vec<SymbolHead>, StoreError> {
        self.all(statements::SYMBOL_HEADS, [name.0], symbol_head)
    }

    /// What ranking needs of the symbols of a file.
    pub fn symbol_heads_of(&self, file: &FileRow) -> Result<Vec<SymbolHead>, StoreError> {
        self.all(
            statements::SYMBOL_HEADS_BETWEEN,
            [file.first_symbol, file.first_symbol + file.symbols],
            symbol_head,
        )
    }

    /// Hands what ranking needs of the symbols with these keys, and their names, to `visit`, until
    /// it says stop by false.
    pub fn visit_heads_between(
        &self,
        keys: Range<u32>,
        visit: impl FnMut(SymbolHead, &str) -> bool,
    ) -> Result<(), StoreError> {
        self.visit_named_heads(statements::NAMED_HEADS_BETWEEN, [keys.start, keys.end], visit)
    }

    /// Hands what ranking needs of the symbols written directly inside another, and their names, to
    /// `visit`, until it says stop by false.
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

    /// The sites of a file, in order of place.
    pub fn sites_of(&self, file: &FileRow) -> Result<Vec<SiteRow>, StoreError> {
        self.all(
            statements::SITES_BETWEEN,
            [file.first_site, file.first_site + file.sites],
            site_row,
        )
    }

    /// A site with those of its file that are at most `distance` sites away, in order of place.
    pub fn sites_around(&self, site: &SiteRow, distance: u32) -> Result<Vec<SiteRow>, StoreError> {
        let range = [site.key.0.saturating_sub(distance), site.key.0.saturating_add(distance + 1)];
        let mut sites = self.all(statements::SITES_BETWEEN, range, site_row)?;
        sites.retain(|other| other.file == site.file);
        Ok(sites)
    }

    /// The sites whose innermost symbol is this one, in order of place.
    pub fn sites_in(&self, symbol: &SymbolRow) -> Result<Vec<SiteRow>, StoreError> {
        let range = [symbol.first_site, symbol.first_site + symbol.site_span];
        let mut sites = self.all(statements::SITES_BETWEEN, range, site_row)?;
        sites.retain(|site| site.enclosing == Some(symbol.key));
        Ok(sites)
    }

    /// The resolved and likely sites that lead to a symbol, by file and place.
    pub fn sites_to(&self, symbol: SymbolKey) -> Result<Vec<SiteRow>, StoreError> {
        self.all(statements::SITES_OF_SYMBOL, [symbol.0], site_row)
    }

    /// Hands the resolved and likely sites that lead to a symbol to `visit`, by file and place,
    /// until it says stop by false.
    pub fn visit_sites_to(
        &self,
        symbol: SymbolKey,
        mut visit: impl FnMut(SiteRow) -> bool,
    ) -> Result<(), StoreError> {
        let (state, kept) = (self.identity(), self.store().kept_sites());
        if let Some(sites) = kept.get(state, symbol) {
            sites.iter().cloned().all(visit);
            return Ok(());
        }
        let mut sites = Vec::new();
        let mut goes_on = true;
        self.visit(statements::SITES_OF_SYMBOL, [symbol.0], |row| {
            let site = site_row(row)?;
            if sites.len() <= MOST_SITES {
                sites.push(site.clone());
            }
            goes_on = visit(site);
            Ok(goes_on)
        })?;
        if goes_on {
            kept.keep(state, symbol, sites);
        }
        Ok(())
    }

    /// The ambiguous sites that have a symbol among their candidates, by file and place.
    pub fn sites_possibly_to(&self, symbol: SymbolKey) -> Result<Vec<SiteRow>, StoreError> {
        self.all(statements::SITES_OF_CANDIDATE, [symbol.0], site_row)
    }

    /// The unresolved sites at which a name is written, by file and place.
    pub fn unresolved_named(&self, name: NameKey) -> Result<Vec<SiteRow>, StoreError> {
        self.all(statements::UNRESOLVED_OF_NAME, [name.0], site_row)
    }

    /// The symbols of a set of candidates.
    pub fn candidates(&self, set: u32) -> Result<Vec<SymbolKey>, StoreError> {
        self.all(statements::CANDIDATES, [set], |row| row.get(0).map(SymbolKey))
    }

    /// The file that a site leads to as a whole, if it does.
    pub fn site_file(&self, site: SiteKey) -> Result<Option<FileKey>, StoreError> {
        self.one(statements::SITE_FILE, [site.0], |row| row.get(0).map(FileKey))
    }

    /// The relations that start at a symbol.
    pub fn relations_from(&self, symbol: SymbolKey) -> Result<Vec<RelationRow>, StoreError> {
        self.all(statements::RELATIONS_FROM, [symbol.0], relation_row)
    }

    /// The relations that end at a symbol.
    pub fn relations_to(&self, symbol: SymbolKey) -> Result<Vec<RelationRow>, StoreError> {
        self.all(statements::RELATIONS_TO, [symbol.0], relation_row)
    }

    /// Runs one statement of a stranger over the documented views. The error is a sentence for
    /// whoever wrote it.
    pub fn run_sql(
        &self,
        statement: &str,
        rows: usize,
        bytes: usize,
        time: Duration,
    ) -> Result<SqlOutcome, String> {
        self.timed(|| sandbox::run(self, statement, SqlBounds { rows, bytes, time }))
    }

    pub(in crate::store) fn all<P: Params, T>(
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

    pub(in crate::store) fn one<P: Params, T>(
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

    pub(in crate::store) fn visit<P: Params>(
        &self,
        statement: Statement,
        params: P,
        mut visit: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<(), StoreError> {
        let run = || -> rusqlite::Result<()> {
            let mut prepared = self.connection().prepare_cached(statement.text())?;
            let mut rows = prepared.query(params)?;
            while let Some(row) = rows.next()? {
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
