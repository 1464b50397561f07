//! Where imports lead: modules of the repository and names outside. Plain data.

use crate::grammar::Language;
use crate::model::graph::FileId;
use crate::resolve::Name;

/// A module: a file, or a package that has no file of its own or several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::resolve) enum Module {
    File(FileId),
    /// Position in the table of packages.
    Package(u32),
}

/// Where an import leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::resolve) enum ImportTarget {
    /// Out of the repository: the module's name.
    External(Box<str>),
    /// To a module, and from there along names.
    Path { module: Module, path: Box<[Name]> },
}

impl ImportTarget {
    pub(in crate::resolve) fn module(module: Module) -> Self {
        ImportTarget::Path { module, path: Box::default() }
    }

    /// The file it leads to or through.
    pub(in crate::resolve) fn file(&self) -> Option<FileId> {
        match self {
            ImportTarget::Path { module: Module::File(file), .. } => Some(*file),
            _ => None,
        }
    }
}

/// Languages of one family understand each other's modules.
pub(in crate::resolve) fn family(language: &Language) -> &str {
    language.manifest.family.as_deref().unwrap_or(language.name)
}
