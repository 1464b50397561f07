//! Uses of a symbol that is visible in fewer places than before.

use super::breaks::Breaks;
use crate::graph::calls::edge::certainty;
use crate::graph::error::QueryError;
use crate::impact::breaks::kind::BreakKind;
use cograph_grammar as grammar;
use cograph_model::Visibility;
use cograph_model::change::SymbolSide;
use cograph_store::{SiteRow, SymbolKey, SymbolRow};

/// Maximum nesting of symbols.
const MAX_NESTING: usize = 50;

/// Where a symbol may be named.
enum VisibleIn {
    /// In its file, and the files of the modules in it.
    Module,
    /// In the outermost type around it.
    Type,
    /// In its file.
    File,
    /// In its directory.
    Directory,
}

impl Breaks<'_, '_, '_> {
    /// Adds the uses that may not name a symbol any more.
    pub(super) fn hidden(
        &mut self,
        old: &SymbolSide,
        new: &SymbolSide,
        own: &SymbolRow,
    ) -> Result<(), QueryError> {
        let Some(reach) = self.reach(old, new, own)? else { return Ok(()) };
        let mut sites = Vec::new();
        for key in self.lookup.same_entity(own.key)? {
            sites.extend(self.lookup.snapshot.sites_to(key)?);
        }
        for site in &self.limited(sites) {
            if !self.sees(site, own, &reach)? {
                let reason = match old.visibility == new.visibility {
                    true => "not exported any more".to_owned(),
                    false => format!("{} now", new.visibility.word()),
                };
                let name = new.qualified_name();
                self.push(site, BreakKind::Hidden, &name, &reason, certainty(site))?;
            }
        }
        Ok(())
    }

    /// Where the symbol may be named now, if that is less than before and known.
    fn reach(
        &self,
        old: &SymbolSide,
        new: &SymbolSide,
        own: &SymbolRow,
    ) -> Result<Option<VisibleIn>, QueryError> {
        let language = self.lookup.language(self.lookup.place(own.file)?.language);
        let Some(language) = grammar::by_name(language) else { return Ok(None) };
        let manifest = &language.manifest;
        let is_member = !new.container.is_empty();
        if new.visibility <= old.visibility {
            // Without a mark a symbol is for its file only.
            let is_less = old.is_exported && !new.is_exported && !is_member;
            return Ok(is_less.then_some(VisibleIn::File));
        }
        // A language where all is private to its module by default, and one where what has no mark
        // is for the package, which is a directory.
        let default = manifest.visibility.default.as_deref();
        Ok(match new.visibility {
            Visibility::Private if default == Some("private") => Some(VisibleIn::Module),
            Visibility::Private if is_member => Some(VisibleIn::Type),
            Visibility::Private => Some(VisibleIn::File),
            Visibility::Internal
                if default == Some("internal") && manifest.modules.shared_folder =>
            {
                Some(VisibleIn::Directory)
            }
            _ => None,
        })
    }

    fn sees(&self, site: &SiteRow, own: &SymbolRow, reach: &VisibleIn) -> Result<bool, QueryError> {
        let (home, place) = (self.lookup.place(own.file)?, self.lookup.place(site.file)?);
        let is_same_file = site.file == own.file;
        Ok(match reach {
            VisibleIn::File => is_same_file,
            VisibleIn::Directory => home.path.directory() == place.path.directory(),
            VisibleIn::Module => {
                let below = home.path.as_str();
                let below = below.rsplit_once('.').map_or(below, |(stem, _)| stem);
                let is_inner = |parent: &str| {
                    let rest = place.path.as_str().strip_prefix(parent);
                    rest.is_some_and(|rest| parent.is_empty() || rest.starts_with('/'))
                };
                // The file of a directory has no name of its own.
                let is_root = grammar::by_name(self.lookup.language(home.language))
                    .is_some_and(|language| is_directory_file(language, below));
                is_same_file || is_inner(below) || is_root && is_inner(home.path.directory())
            }
            VisibleIn::Type => {
                let outermost = self.outermost(own.container)?;
                let around = self.outermost(site.enclosing)?;
                let name = |key: SymbolKey| self.lookup.symbol(key).map(|row| row.name);
                match (outermost, around) {
                    (Some(one), Some(other)) if one == other => true,
                    // A method that is defined outside of its type is inside of another symbol of
                    // the same name.
                    (Some(one), Some(other)) => name(one)? == name(other)?,
                    _ => false,
                }
            }
        })
    }

    /// The outermost symbol around one, itself if there is none.
    fn outermost(&self, symbol: Option<SymbolKey>) -> Result<Option<SymbolKey>, QueryError> {
        let mut found = symbol;
        for _ in 0..MAX_NESTING {
            let Some(key) = found else { break };
            match self.lookup.symbol(key)?.container {
                Some(container) => found = Some(container),
                None => break,
            }
        }
        Ok(found)
    }
}

/// True if a path without its ending is that of the file that represents its directory.
fn is_directory_file(language: &grammar::Language, path: &str) -> bool {
    let modules = &language.manifest.modules;
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = |file: &str| {
        let file = file.rsplit('/').next().unwrap_or(file);
        file.split('.').next() == Some(name)
    };
    modules
        .index
        .iter()
        .map(String::as_str)
        .chain(modules.roots.keys().map(String::as_str))
        .any(stem)
}
