//! Symbols and files of the store that a change is about.

pub(crate) mod question;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::graph::answer::SymbolInfo;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use cograph_model::change::{ChangeKind, ChangedFile, ChangedSymbol, SymbolSide};
use cograph_model::words::{Term, terms_of};
use cograph_store::{FileKey, FileRow, SymbolKey, SymbolRow};

/// Where the traversal starts, and the words by which tests are compared with the change.
#[derive(Default)]
pub(super) struct Seeds {
    /// Symbols, each once.
    pub(super) symbols: Vec<SymbolKey>,
    /// Files in the store that changed or contain a changed symbol.
    pub(super) files: Vec<FileKey>,
    /// Files with changes outside of symbols.
    pub(super) outside: Vec<FileKey>,
    /// Paths of removed and renamed files.
    pub(super) gone: Vec<String>,
    /// Terms of the changed lines; of the whole symbols if only those are known.
    pub(super) lines: FxHashSet<Term>,
    /// Terms of the names of the symbols and of what contains them.
    pub(super) names: FxHashSet<Term>,
}

impl Seeds {
    /// Terms of the changed lines and of the names.
    pub(super) fn words(&self) -> FxHashSet<Term> {
        self.lines.union(&self.names).copied().collect()
    }

    pub(super) fn add_symbol(&mut self, symbol: SymbolKey) {
        if !self.symbols.contains(&symbol) {
            self.symbols.push(symbol);
        }
    }

    fn add_file(&mut self, file: FileKey) {
        if !self.files.contains(&file) {
            self.files.push(file);
        }
    }

    /// Adds the symbols that a name means.
    pub(super) fn add_named(
        &mut self,
        lookup: &Lookup<'_>,
        name: &str,
    ) -> Result<Vec<SymbolInfo>, QueryError> {
        let meanings = names::meanings(lookup, name)?;
        let mut found = Vec::new();
        for meaning in meanings {
            for key in meaning.keys() {
                self.add_symbol(key);
            }
            self.add_file(meaning.symbol.file);
            let info = lookup.info(&meaning.symbol)?;
            self.names.extend(terms_of(info.qualified_name().as_bytes()));
            self.lines.extend(terms_of(info.signature.as_bytes()));
            found.push(info);
        }
        Ok(found)
    }

    /// Adds a changed file, and returns the symbols of the store in the order of its changed ones.
    pub(super) fn add_changed(
        &mut self,
        lookup: &Lookup<'_>,
        file: &ChangedFile,
    ) -> Result<Vec<Option<Rc<SymbolRow>>>, QueryError> {
        self.lines.extend(&file.terms);
        if let Some(old) = file.old.as_ref().filter(|old| file.new.as_ref() != Some(*old)) {
            self.gone.push(old.as_str().to_owned());
        }
        let row = match &file.new {
            Some(path) => lookup.snapshot.file_at(path.as_str())?,
            None => None,
        };
        if let Some(row) = &row {
            self.add_file(row.key);
            if file.outside.is_some() {
                self.outside.push(row.key);
            }
        }
        let symbols = match &row {
            Some(row) => lookup.snapshot.symbols_of(row)?,
            None => Vec::new(),
        };
        let mut found = Vec::new();
        for changed in &file.symbols {
            for side in [&changed.old, &changed.new].into_iter().flatten() {
                self.names.extend(terms_of(side.qualified_name().as_bytes()));
            }
            let own = match &changed.new {
                Some(side) => one_of(lookup, &symbols, side)?,
                None => None,
            };
            if let Some(own) = &own {
                self.add_symbol(own.key);
            } else if let Some(around) = around(lookup, &row, &symbols, changed)? {
                // What contained it is changed.
                self.add_symbol(around.key);
            }
            found.push(own);
        }
        Ok(found)
    }
}

/// The symbol of the store that a side of a change is.
fn one_of(
    lookup: &Lookup<'_>,
    symbols: &[SymbolRow],
    side: &SymbolSide,
) -> Result<Option<Rc<SymbolRow>>, QueryError> {
    let alike = |symbol: &&SymbolRow| *symbol.name_text == *side.name;
    let same_place = |symbol: &&SymbolRow| symbol.name_at == side.name_at;
    let mut best = symbols.iter().filter(alike).find(same_place);
    if best.is_none() {
        for symbol in symbols.iter().filter(alike) {
            if *lookup.qualifier(symbol.container)? == *side.container {
                best = Some(symbol);
                break;
            }
        }
    }
    Ok(best.map(|symbol| lookup.remember(symbol.clone())))
}

/// The symbol that contained a removed one, if the file is still there.
fn around(
    lookup: &Lookup<'_>,
    file: &Option<FileRow>,
    symbols: &[SymbolRow],
    changed: &ChangedSymbol,
) -> Result<Option<Rc<SymbolRow>>, QueryError> {
    let (Some(old), Some(_)) = (&changed.old, file) else { return Ok(None) };
    if changed.kind != ChangeKind::Removed || old.container.is_empty() {
        return Ok(None);
    }
    for symbol in symbols {
        let own = symbol.name_text.to_string();
        let qualifier = lookup.qualifier(symbol.container)?;
        let name = if qualifier.is_empty() { own } else { format!("{qualifier}.{own}") };
        if name == old.container {
            return Ok(Some(lookup.remember(symbol.clone())));
        }
    }
    Ok(None)
}
