//! Symbols of one repository that others may name, memoized for one question.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names::keys_of;
use cograph_model::Visibility;
use cograph_model::cancel::CancelToken;
use cograph_model::package::OfferedPackage;
use cograph_store::{Snapshot, SymbolHead, SymbolKey};

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
    /// True if all uses are calls.
    pub(super) has_calls_only: bool,
    heads: RefCell<FxHashMap<String, Rc<[SymbolHead]>>>,
}

impl<'q> Exports<'q> {
    /// Symbols of these packages, for uses of any kind or for calls alone.
    pub fn new(
        snapshot: &'q Snapshot,
        packages: &'q [OfferedPackage],
        has_calls_only: bool,
        cancel: &'q CancelToken,
    ) -> Result<Self, QueryError> {
        let lookup = Lookup::new(snapshot, cancel)?;
        Ok(Self { lookup, packages, has_calls_only, heads: RefCell::default() })
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
