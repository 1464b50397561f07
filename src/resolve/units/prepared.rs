//! What is worked out about a file alone before others are known: its table of names, its spaces,
//! its head.

use super::spaces::{Nesting, Spaces};
use super::unit::{Unit, UnitTable};
use crate::grammar::{self, Language};
use crate::model::LanguageId;
use crate::model::facts::FileFacts;
use crate::resolve::Name;
use crate::resolve::units::interner::Names;
use std::sync::Arc;

/// What is known of a file with facts without looking at these.
#[derive(Clone, Debug)]
pub struct Head {
    pub(in crate::resolve) language: &'static Language,
    /// Stands for everything in it that the resolution of others may look at.
    pub(in crate::resolve) interface: u64,
    pub(in crate::resolve) package: Option<Box<str>>,
    /// Whether it says something about types that are not its own; see `says_anything`.
    pub(in crate::resolve) speaks: bool,
    pub(in crate::resolve) nesting: Option<Arc<Nesting>>,
}

/// What others may look at in a file.
#[derive(Debug)]
pub(in crate::resolve) struct Content {
    pub(in crate::resolve) facts: Arc<FileFacts>,
    language: &'static Language,
    pub(in crate::resolve) table: UnitTable,
    pub(in crate::resolve) spaces: Spaces,
}

impl Content {
    pub(in crate::resolve) fn unit<'t>(&'t self, texts: &'t Names) -> Unit<'t> {
        Unit {
            facts: &self.facts,
            language: self.language,
            table: &self.table,
            spaces: &self.spaces,
            texts,
        }
    }
}

/// What is worked out about a file alone before others are known.
#[derive(Debug)]
pub struct Prepared {
    table: UnitTable,
    spaces: Spaces,
    head: Head,
}

impl Prepared {
    /// Prepares a file of which all facts are there. `names` are those of the file, in the order of
    /// its facts.
    pub fn of(facts: &FileFacts, language: LanguageId, names: Vec<Name>) -> Self {
        Self::with(facts, language, |_| UnitTable::of(facts, names.into(), None))
    }

    /// Prepares a file whose facts still have their names.
    pub(in crate::resolve) fn with(
        facts: &FileFacts,
        language: LanguageId,
        table: impl FnOnce(&FileFacts) -> UnitTable,
    ) -> Self {
        let language = grammar::language(language);
        let (spaces, table) = (Spaces::of(facts, language), table(facts));
        let head = Head {
            language,
            interface: table.interface,
            package: facts.package.clone(),
            speaks: says_anything(facts, language),
            nesting: Nesting::of(facts, language, &spaces).map(Arc::new),
        };
        Self { table, spaces, head }
    }

    /// What is left of a file whose facts are at hand.
    pub(in crate::resolve) fn into_parts(self, facts: Arc<FileFacts>) -> (Head, Content) {
        let Self { table, spaces, head } = self;
        let language = head.language;
        (head, Content { facts, language, table, spaces })
    }
}

/// Whether a file says anything here: only such files are read.
fn says_anything(facts: &crate::model::facts::FileFacts, language: &Language) -> bool {
    let is_interface = |kind| {
        kind == crate::model::SymbolKind::Interface && language.manifest.resolution.structural
    };
    facts.symbols.iter().any(|symbol| symbol.owner.is_some() || is_interface(symbol.kind))
}
