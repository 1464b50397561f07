//! Memos of searches along wildcard imports: the places that a search checks for a name.

use super::memo::Memo;
use crate::db::ty::Entity;
use crate::units::import_target::Module;
use cograph_model::facts::ScopeId;
use cograph_model::graph::{FileId, SymbolRef};
use std::cell::Cell;
use std::rc::Rc;

/// Place of a lookup in progress.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ScopePlace {
    Module(Module),
    /// The value that a module exports as a whole.
    Whole(Module),
    /// Inline module.
    Inline(SymbolRef),
}

/// Start of a search: the scope whose wildcard imports it follows, the enclosing module if it was
/// searched, and whether values are skipped.
type Start = (FileId, ScopeId, Option<ScopePlace>, bool);

/// Memos of one resolver.
#[derive(Default, Debug)]
pub(crate) struct Wildcards {
    /// Memo of searches; `None` for a scope where each name needs a search of its own.
    pub(crate) stops: Memo<Start, Option<Rc<[Stop]>>>,
    /// True during a search: a nested one would not terminate.
    pub(crate) is_searching: Cell<bool>,
    /// External wildcard import that may have an undeclared callable, or other name, of a file;
    /// `None` inside if there are several.
    pub(crate) outside: Memo<(FileId, bool), Option<Option<usize>>>,
    /// Words of the paths of headers outside of the repository that a file includes.
    pub(crate) libraries: Memo<FileId, Rc<[Box<str>]>>,
}

/// Place that a search checks for a name.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// Top level of a file.
    File {
        file: FileId,
        /// True if an export list restricts the import that reached it.
        is_listed: bool,
        /// True if the search ends there.
        is_leaf: bool,
        marks: u64,
    },
    Package(u32),
    /// Inline module.
    Inline(SymbolRef),
    /// Directory of a module: after the names that the module makes visible.
    Folder(Module),
    /// Anything but one module.
    Other(Box<Entity>),
}

impl Wildcards {
    /// Clears the memo for another file: results are independent of earlier files.
    pub(crate) fn begin(&self) {
        self.stops.clear();
    }
}
