//! What a module system is: a map from imports to files, directories and packages, with what the
//! rest of the resolution asks of it. One implementation for each system, which owns its tables.

use super::layout::Layout;
use crate::files::table::FileTable;
use crate::units::import_target::{ImportTarget, Module};
use crate::units::interner::Name;
use crate::units::unit::Unit;
use cograph_grammar::{Language, Modules as Rules};
use cograph_model::RepoPath;
use cograph_model::facts::Import;
use cograph_model::graph::FileId;

/// A module system. It returns the start of a path (`module`) and the names to follow from there
/// (`path`): `names` follows them.
pub(super) trait ModuleSystem {
    /// Returns the targets of all imports of a file; `None` for those outside of the repository.
    fn targets(&self, of: Importer<'_>) -> Vec<Option<ImportTarget>>;

    /// Returns the child module of this name, in systems where directories nest modules.
    fn child(&self, _in: Surroundings<'_>, _module: Module, _name: &str) -> Option<Module> {
        None
    }

    /// True if `child` can find a module below this one under some name.
    fn has_children(&self, _in: Surroundings<'_>, _module: Module) -> bool {
        false
    }

    /// True if a change may give imports of a file that has not changed other targets.
    fn is_affected(&self, by: ModuleChange) -> bool {
        by.project_files || by.family
    }
}

/// What module systems see of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModuleChange {
    /// Project files differ.
    pub(crate) project_files: bool,
    /// A module tree that files declare may differ.
    pub(crate) trees: bool,
    /// A build may be about other files.
    pub(crate) builds: bool,
    /// Files of the language family were added, removed or moved.
    pub(crate) family: bool,
}

/// What is around a module of a language.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) files: &'a FileTable,
    pub(super) layout: &'a Layout,
    pub(super) language: &'static Language,
}

/// File whose imports are mapped.
#[derive(Clone, Copy)]
pub(super) struct Importer<'a> {
    pub(super) files: &'a FileTable,
    pub(super) layout: &'a Layout,
    pub(super) file: FileId,
    pub(super) unit: Unit<'a>,
}

impl<'a> Importer<'a> {
    pub(super) fn path(&self) -> &'a RepoPath {
        self.files.path(self.file)
    }

    pub(super) fn language(&self) -> &'static Language {
        self.unit.language
    }

    /// Rules of the module system in the language of the file.
    pub(super) fn rules(&self) -> &'static Rules {
        &self.unit.language.manifest.modules
    }

    /// Returns another file with facts: one that contains a known scope.
    pub(super) fn known(&self, file: FileId) -> Unit<'a> {
        self.files.unit(file).expect("ids come from files with facts")
    }

    /// Interns a text.
    pub(super) fn named(&self, text: &str) -> Name {
        self.files.names.number(text)
    }

    /// Returns the item of an import, if it has one.
    pub(super) fn item(&self, import: &Import) -> Option<Name> {
        import.item.is_some().then(|| self.unit.name(import.item))
    }

    /// Maps every import.
    pub(super) fn each(
        &self,
        target: impl Fn(&'a Import) -> Option<ImportTarget>,
    ) -> Vec<Option<ImportTarget>> {
        self.unit.facts.imports.iter().map(target).collect()
    }
}
