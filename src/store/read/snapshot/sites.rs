//! Reference sites of a snapshot: by file, by name, by enclosing symbol and by target.

use crate::format::error::StoreError;
use crate::format::rows::{
    FileKey, FileRow, NameKey, SiteKey, SiteRow, SiteTarget, SymbolKey, SymbolRow,
};
use crate::format::statements;
use crate::read::connection::Snapshot;
use crate::read::row_decoder::{name_place, site_row};
use crate::read::site_cache::MAX_SITES;
use cograph_model::{Position, Verdict};

impl Snapshot {
    /// Sites of a file, by position.
    pub fn sites_of(&self, file: &FileRow) -> Result<Vec<SiteRow>, StoreError> {
        self.all(
            statements::SITES_BETWEEN,
            [file.first_site, file.first_site + file.sites],
            site_row,
        )
    }

    /// Site; none if there is none.
    pub fn site(&self, key: SiteKey) -> Result<Option<SiteRow>, StoreError> {
        self.one(statements::SITE_BY_KEY, [key.0], site_row)
    }

    /// Sites of a name in a file, by position.
    pub fn sites_named(&self, file: &FileRow, name: NameKey) -> Result<Vec<SiteRow>, StoreError> {
        let range = (file.first_site, file.first_site + file.sites, name.0);
        self.all(statements::SITES_NAMED_BETWEEN, range, site_row)
    }

    /// Sites in a file whose target is outside of the repository, with its name, by position.
    pub fn targets_outside(&self, file: &FileRow) -> Result<Vec<(SiteKey, NameKey)>, StoreError> {
        let range = [file.first_site, file.first_site + file.sites];
        self.all(statements::TARGETS_OUTSIDE_BETWEEN, range, |row| {
            Ok((SiteKey(row.get(0)?), NameKey(row.get(1)?)))
        })
    }

    /// Sites of a name in a file whose target is outside of the repository, by position.
    pub fn sites_outside_named(
        &self,
        file: &FileRow,
        name: NameKey,
    ) -> Result<Vec<SiteRow>, StoreError> {
        let range = (file.first_site, file.first_site + file.sites, name.0);
        self.all(statements::SITES_OUTSIDE_NAMED_BETWEEN, range, site_row)
    }

    /// Passes the names and positions of the sites of all other names in a file to `visit`, by
    /// position.
    pub fn visit_other_names(
        &self,
        file: &FileRow,
        name: NameKey,
        mut visit: impl FnMut(NameKey, Position),
    ) -> Result<(), StoreError> {
        let range = (file.first_site, file.first_site + file.sites, name.0);
        self.visit(statements::NAMES_BETWEEN, range, |row| {
            let (name, at) = name_place(row)?;
            visit(name, at);
            Ok(true)
        })
    }

    /// Sites at most `distance` sites away from a site in its file, by position.
    pub fn sites_around(&self, site: &SiteRow, distance: u32) -> Result<Vec<SiteRow>, StoreError> {
        let range = [site.key.0.saturating_sub(distance), site.key.0.saturating_add(distance + 1)];
        let mut sites = self.all(statements::SITES_BETWEEN, range, site_row)?;
        sites.retain(|other| other.file == site.file);
        Ok(sites)
    }

    /// Sites whose innermost enclosing symbol is this one, by position.
    pub fn sites_in(&self, symbol: &SymbolRow) -> Result<Vec<SiteRow>, StoreError> {
        let range = [symbol.first_site, symbol.first_site + symbol.site_span];
        let mut sites = self.all(statements::SITES_BETWEEN, range, site_row)?;
        sites.retain(|site| site.enclosing == Some(symbol.key));
        Ok(sites)
    }

    /// Resolved and likely sites of a symbol, by file and position.
    pub fn sites_to(&self, symbol: SymbolKey) -> Result<Vec<SiteRow>, StoreError> {
        self.all(statements::SITES_OF_SYMBOL, [symbol.0], site_row)
    }

    /// Passes resolved and likely sites of a symbol to `visit`, by file and position, until it
    /// returns false.
    pub fn visit_sites_to(
        &self,
        symbol: SymbolKey,
        mut visit: impl FnMut(SiteRow) -> bool,
    ) -> Result<(), StoreError> {
        let (state, kept) = (self.identity(), self.store().site_cache());
        if let Some(sites) = kept.get(state, symbol) {
            sites.iter().cloned().all(visit);
            return Ok(());
        }
        let mut sites = Vec::new();
        let mut goes_on = true;
        self.visit(statements::SITES_OF_SYMBOL, [symbol.0], |row| {
            let site = site_row(row)?;
            if sites.len() <= MAX_SITES {
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

    /// Ambiguous and possible sites with a symbol among their candidates, by file and position.
    pub fn sites_possibly_to(&self, symbol: SymbolKey) -> Result<Vec<SiteRow>, StoreError> {
        self.all(statements::SITES_OF_CANDIDATE, [symbol.0], site_row)
    }

    /// Unresolved sites of a name, by file and position.
    pub fn unresolved_named(&self, name: NameKey) -> Result<Vec<SiteRow>, StoreError> {
        self.all(statements::UNRESOLVED_OF_NAME, [name.0], site_row)
    }

    /// Symbols of a candidate set.
    pub fn candidates(&self, set: u32) -> Result<Vec<SymbolKey>, StoreError> {
        self.all(statements::CANDIDATES, [set], |row| row.get(0).map(SymbolKey))
    }

    /// Symbols that a resolved or likely site leads to: its target, or every variant of it.
    pub fn targets(&self, site: &SiteRow) -> Result<Vec<SymbolKey>, StoreError> {
        match site.target {
            SiteTarget::Symbol(symbol) => Ok(vec![symbol]),
            SiteTarget::Candidates(set) if site.verdict == Verdict::Resolved => {
                self.candidates(set)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// File that a site as a whole refers to, if it does.
    pub fn site_file(&self, site: SiteKey) -> Result<Option<FileKey>, StoreError> {
        self.one(statements::SITE_FILE, [site.0], |row| row.get(0).map(FileKey))
    }

    /// Sites of a file that refer to a file as a whole, each with that file.
    pub fn site_files_of(&self, file: &FileRow) -> Result<Vec<(SiteKey, FileKey)>, StoreError> {
        let range = [file.first_site, file.first_site + file.sites];
        self.all(statements::SITE_FILES_BETWEEN, range, |row| {
            Ok((SiteKey(row.get(0)?), FileKey(row.get(1)?)))
        })
    }
}
