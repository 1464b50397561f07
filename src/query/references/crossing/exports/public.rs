//! Symbols of one repository that others may name, memoized for one question.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names::keys_of;
use crate::references::crossing::headers;
use crate::references::crossing::renames::Renamed;
use cograph_model::Visibility;
use cograph_model::cancel::CancelToken;
use cograph_model::package::OfferedPackage;
use cograph_store::{FileKey, Snapshot, SymbolHead, SymbolKey};

/// Part of a qualified name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part<'n> {
    pub(super) name: &'n str,
    /// True for the result of calling it.
    pub(super) is_called: bool,
}

/// What a repository offers to others.
pub struct Exports<'q> {
    pub(super) lookup: Lookup<'q>,
    pub(super) packages: &'q [OfferedPackage],
    pub(super) renamed: &'q [Renamed],
    /// True if all uses are calls.
    pub(super) has_calls_only: bool,
    heads: RefCell<FxHashMap<String, Rc<[SymbolHead]>>>,
    headers: RefCell<FxHashMap<String, Rc<FxHashSet<FileKey>>>>,
}

impl<'q> Exports<'q> {
    /// Symbols of these packages, also by other names, for uses of any kind or for calls alone.
    pub fn new(
        snapshot: &'q Snapshot,
        packages: &'q [OfferedPackage],
        renamed: &'q [Renamed],
        has_calls_only: bool,
        cancel: &'q CancelToken,
    ) -> Result<Self, QueryError> {
        let lookup = Lookup::new(snapshot, cancel)?;
        let (heads, headers) = (RefCell::default(), RefCell::default());
        Ok(Self { lookup, packages, renamed, has_calls_only, heads, headers })
    }

    /// Files of a header by the path of an include, with those that they include. Memoized.
    pub(super) fn header(&self, path: &str) -> Result<Rc<FxHashSet<FileKey>>, QueryError> {
        if let Some(known) = self.headers.borrow().get(path) {
            return Ok(Rc::clone(known));
        }
        let files: FxHashSet<FileKey> = headers::at_path(&self.lookup, path)?.into_iter().collect();
        let files = Rc::new(files);
        self.headers.borrow_mut().insert(path.to_owned(), Rc::clone(&files));
        Ok(files)
    }

    /// Symbols with a name, anywhere. Memoized: many names of one question have the same end.
    pub(super) fn heads(&self, name: &str) -> Result<Rc<[SymbolHead]>, QueryError> {
        if let Some(known) = self.heads.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let mut heads = Vec::new();
        for key in keys_of(&self.lookup, name)? {
            heads.extend(self.lookup.snapshot.symbol_heads(key)?);
        }
        let heads: Rc<[SymbolHead]> = heads.into();
        self.heads.borrow_mut().insert(name.to_owned(), Rc::clone(&heads));
        Ok(heads)
    }

    /// True if code elsewhere may use a symbol.
    pub(super) fn is_public(&self, key: SymbolKey) -> Result<bool, QueryError> {
        Ok(self.lookup.symbol(key)?.visibility != Visibility::Private)
    }
}
