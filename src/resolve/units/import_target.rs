//! Targets of imports: modules of the repository and external names. Plain data.

use crate::grammar::Language;
use crate::model::graph::FileId;
use crate::resolve::Name;
use rustc_hash::FxHashMap;

/// Module: a file, or a package without a file of its own or with several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::resolve) enum Module {
    File(FileId),
    /// Position in the table of packages.
    Package(u32),
}

/// Target of an import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::resolve) enum ImportTarget {
    /// External: the name of the module.
    External(Box<str>),
    /// Module, and a path of names within it.
    Path { module: Module, path: Box<[Name]> },
}

/// Imports that a file sees as one of a project.
#[derive(Debug, Default)]
pub(in crate::resolve) struct Seen {
    /// Modules whose members are visible.
    pub(in crate::resolve) wildcards: Vec<ImportTarget>,
    /// Modules by other names.
    pub(in crate::resolve) aliases: FxHashMap<Name, ImportTarget>,
    /// The same as written, in order.
    pub(in crate::resolve) written: Vec<SharedImport>,
}

/// Import that all files of a project see: of the members of a module, or of a module by a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::resolve) struct SharedImport {
    pub(in crate::resolve) module: Box<str>,
    /// Name of the module; empty for its members.
    pub(in crate::resolve) alias: Box<str>,
}

impl ImportTarget {
    pub(in crate::resolve) fn module(module: Module) -> Self {
        ImportTarget::Path { module, path: Box::default() }
    }

    /// Returns the file that the target is, or that its path starts in.
    pub(in crate::resolve) fn file(&self) -> Option<FileId> {
        match self {
            ImportTarget::Path { module: Module::File(file), .. } => Some(*file),
            _ => None,
        }
    }
}

/// Returns the language family: its languages resolve each other's modules.
pub(in crate::resolve) fn family(language: &Language) -> &str {
    language.manifest.family.as_deref().unwrap_or(language.name)
}
