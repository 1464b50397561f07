//! Resource bounds of the resolution of one file. A source can have exponentially many lookup
//! paths, types that double with every line, and unbounded chains; each bound is a constant, so
//! that an incremental update and a full build stop at the same point.

use cograph_model::facts::FileFacts;
use std::cell::Cell;
use std::rc::Rc;

/// Maximum number of candidates of an ambiguous reference; with more the reference stays
/// unresolved.
pub(crate) const MAX_CANDIDATES: usize = 12;

/// Maximum depth of nested expressions; the type of a deeper one is unknown.
pub(crate) const MAX_DEPTH: u32 = 80;

/// Steps of the resolution of a file: a base, and a number for each fact. The files of Django take
/// one step for a fact at most, and no file of the Linux kernel exceeds the limit.
const BASE_STEPS: u64 = 500_000;
const STEPS_PER_FACT: u64 = 20;

/// Maximum number of a type and its bases, nearest first; further ones are ignored.
pub(crate) const MAX_BASES: usize = 200;

/// Maximum length of an external qualified name in bytes. Calls on results of calls would grow it;
/// longer names end with `ELLIPSIS`.
const MAX_NAME_BYTES: usize = 256;
const ELLIPSIS: &str = "…";

/// Step budget of the file being resolved.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    /// Resets the budget for a file with these facts.
    pub(crate) fn begin(&self, facts: &FileFacts) {
        let count =
            facts.exprs.len() + facts.symbols.len() + facts.sites.len() + facts.imports.len();
        self.left.set(BASE_STEPS + STEPS_PER_FACT * count as u64);
    }

    /// Takes steps. False if none are left: the result of the caller is then unknown.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = self.left.get().saturating_sub(steps as u64);
        self.left.set(left);
        left > 0
    }

    /// True if no steps are left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

/// Appends to an external qualified name, with a separator.
pub(crate) fn qualified(outer: &Rc<str>, between: &str, more: &str) -> Rc<str> {
    match outer.len() + between.len() + more.len() {
        0..=MAX_NAME_BYTES if !outer.ends_with(ELLIPSIS) => {
            Rc::from([outer, between, more].concat())
        }
        _ if outer.ends_with(ELLIPSIS) => Rc::clone(outer),
        _ => Rc::from([outer, ELLIPSIS].concat()),
    }
}
