//! Targets of imports: modules of the repository and external names. Plain data.

use crate::units::interner::Name;
use cograph_grammar::Language;
use cograph_model::graph::FileId;
use rustc_hash::FxHashMap;

/// Module: a file, or a package without a file of its own or with several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Module {
    File(FileId),
    /// Position in the table of packages.
    Package(u32),
    /// The files that an import may mean: the importing file, and the number of the import.
    OneOf(FileId, u32),
}

/// Target of an import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ImportTarget {
    /// External: the name of the module.
    External(Box<str>),
    /// Module, and a path of names within it. `others`: files of which a build may take one in
    /// place of the module. `stated`: the file that declares what the module has.
    Path { module: Module, path: Box<[Name]>, others: Box<[FileId]>, stated: Option<FileId> },
}

/// Imports that a file sees as one of a project.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    /// Modules whose members are visible.
    pub(crate) wildcards: Vec<ImportTarget>,
    /// Modules by other names.
    pub(crate) aliases: FxHashMap<Name, ImportTarget>,
    /// The same as written, in order.
    pub(crate) written: Vec<SharedImport>,
}

/// Import that all files of a project see: of the members of a module, or of a module by a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SharedImport {
    pub(crate) module: Box<str>,
    /// Name of the module; empty for its members.
    pub(crate) alias: Box<str>,
}

impl ImportTarget {
    pub(crate) fn module(module: Module) -> Self {
        ImportTarget::in_module(module, Box::default())
    }

    /// Creates the target at a path of names within a module.
    pub(crate) fn in_module(module: Module, path: Box<[Name]>) -> Self {
        ImportTarget::Path { module, path, others: Box::default(), stated: None }
    }

    /// Returns the file that the target is, or that its path starts in.
    pub(crate) fn file(&self) -> Option<FileId> {
        self.files().next()
    }

    /// Returns the files that the target may be, or that its path may start in.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.sources().chain(self.stated())
    }

    /// Returns the file that declares what the target has.
    pub(crate) fn stated(&self) -> Option<FileId> {
        let ImportTarget::Path { stated, .. } = self else { return None };
        *stated
    }

    /// Returns the files that the target may be, without the one that declares what it has.
    pub(crate) fn sources(&self) -> impl Iterator<Item = FileId> + '_ {
        let (first, others): (_, &[FileId]) = match self {
            ImportTarget::Path { module: Module::File(file), others, .. } => (Some(*file), others),
            _ => (None, &[]),
        };
        first.into_iter().chain(others.iter().copied())
    }

    /// Returns the module that the import with this number in a file means.
    pub(crate) fn meant(&self, file: FileId, import: usize) -> Option<Module> {
        let ImportTarget::Path { module, others, stated, .. } = self else { return None };
        let are_several = !others.is_empty() || stated.is_some();
        let number = u32::try_from(import).ok().filter(|_| are_several);
        Some(number.map_or(*module, |import| Module::OneOf(file, import)))
    }
}

/// Returns the language family: its languages resolve each other's modules.
pub(crate) fn family(language: &Language) -> &str {
    language.manifest.family.as_deref().unwrap_or(language.name)
}
