//! Tables of a file that are computed from it alone: names, namespaces, head.

use super::spaces::{Nesting, Spaces};
use super::unit::{Unit, UnitTable};
use crate::units::import_target::SharedImport;
use crate::units::interner::Name;
use crate::units::interner::Names;
use cograph_grammar::{self as grammar, Language};
use cograph_model::facts::{FileFacts, NameId};
use cograph_model::{LanguageId, SymbolKind};
use std::sync::Arc;

/// Summary of a file that is known without reading its facts.
#[derive(Clone, Debug)]
pub struct FileSummary {
    pub(crate) language: &'static Language,
    /// Interface hash.
    pub(crate) interface: u64,
    pub(crate) package: Option<Box<str>>,
    /// Further packages that it declares.
    pub(crate) further: Arc<[Box<str>]>,
    /// True if the file extends types of other files, see `has_extensions`.
    pub(crate) extends_types: bool,
    pub(crate) nesting: Option<Arc<Nesting>>,
    /// Imports for all files of the project.
    pub(crate) everywhere: Arc<[SharedImport]>,
}

/// Exported part of a file.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) facts: Arc<FileFacts>,
    language: &'static Language,
    pub(crate) table: UnitTable,
    pub(crate) spaces: Spaces,
}

impl Content {
    pub(crate) fn unit<'t>(&'t self, texts: &'t Names) -> Unit<'t> {
        Unit {
            facts: &self.facts,
            language: self.language,
            table: &self.table,
            spaces: &self.spaces,
            texts,
        }
    }
}

/// Tables computed from a file alone.
#[derive(Debug)]
pub struct Prepared {
    table: UnitTable,
    spaces: Spaces,
    head: FileSummary,
}

impl Prepared {
    /// Prepares a file with all its facts. `names` are its interned names in the order of the
    /// facts.
    pub(crate) fn of(facts: &FileFacts, language: LanguageId, names: Vec<Name>) -> Self {
        Self::with(facts, language, |_| UnitTable::of(facts, names.into(), None))
    }

    /// Prepares a file whose names are not interned.
    pub(crate) fn with(
        facts: &FileFacts,
        language: LanguageId,
        table: impl FnOnce(&FileFacts) -> UnitTable,
    ) -> Self {
        let language = grammar::language(language);
        let (spaces, table) = (Spaces::of(facts, language), table(facts));
        let head = FileSummary {
            language,
            interface: table.interface,
            package: facts.package.clone(),
            further: spaces.packages.iter().map(|(_, name)| name.clone()).collect(),
            extends_types: has_extensions(facts, language),
            nesting: Nesting::of(facts, language, &spaces).map(Arc::new),
            everywhere: everywhere(facts, language).into(),
        };
        Self { table, spaces, head }
    }

    /// Splits into the head and the content with these facts.
    pub(crate) fn into_parts(self, facts: Arc<FileFacts>) -> (FileSummary, Content) {
        let Self { table, spaces, head } = self;
        let language = head.language;
        (head, Content { facts, language, table, spaces })
    }
}

fn everywhere(facts: &FileFacts, language: &Language) -> Vec<SharedImport> {
    if !language.manifest.modules.share_imports() {
        return Vec::new();
    }
    let shared = facts.imports.iter().filter(|import| import.reexport);
    let text = |name: NameId| name.get().map_or("", |position| &facts.names[position]).into();
    shared
        .map(|import| SharedImport { module: import.module.clone(), alias: text(import.alias) })
        .collect()
}

/// True if the file contributes to the derived tables: only such files are read for them.
fn has_extensions(facts: &FileFacts, language: &Language) -> bool {
    let is_structural =
        |kind| kind == SymbolKind::Interface && language.has_structural_interfaces();
    // A file that has the name of a library type may derive from it.
    let marks = &language.manifest.resolution.structural;
    let mut marks = marks.iter().filter_map(|mark| mark.rsplit_once('.'));
    facts
        .symbols
        .iter()
        .any(|symbol| facts.clauses_of(symbol).owner.is_some() || is_structural(symbol.kind))
        || marks.any(|(_, mark)| facts.names.iter().any(|name| **name == *mark))
}
