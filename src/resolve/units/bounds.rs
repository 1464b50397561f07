//! Bounds of the resolution of one file. What a file says can have exponentially many ways through
//! it, types that double with every line, and chains without an end; every one of them ends at a
//! number that is the same in every run, so that a change and a whole build cut at the same place.

use std::cell::Cell;
use std::rc::Rc;

use crate::model::facts::FileFacts;

/// Steps that the resolution of a file may take, whatever its size, and for each fact of it. The
/// files of Django take one for a fact at most, and no file of the Linux kernel reaches the end.
const STEPS: u64 = 500_000;
const STEPS_A_FACT: u64 = 20;

/// A type and the nearest of its bases, of all that it has; those behind are not known.
pub(in crate::resolve) const BASES: usize = 200;

/// Bytes of the longest qualified name of what is outside. Calls on what calls give make longer
/// ones: all of them end with `MORE`.
const LONGEST_NAME: usize = 256;
const MORE: &str = "…";

/// The steps that are left for the file that is resolved.
#[derive(Debug, Default)]
pub(in crate::resolve) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    /// Begins with a file that has these facts.
    pub(in crate::resolve) fn begin(&self, facts: &FileFacts) {
        let count =
            facts.exprs.len() + facts.symbols.len() + facts.sites.len() + facts.imports.len();
        self.left.set(STEPS + STEPS_A_FACT * count as u64);
    }

    /// Takes steps. False if there are none left: whatever is found then is not known.
    pub(in crate::resolve) fn take(&self, steps: usize) -> bool {
        let left = self.left.get().saturating_sub(steps as u64);
        self.left.set(left);
        left > 0
    }

    /// Whether no steps are left.
    pub(in crate::resolve) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

/// The qualified name of what is outside and of more of it, with what stands between the two.
pub(in crate::resolve) fn qualified(outer: &Rc<str>, between: &str, more: &str) -> Rc<str> {
    match outer.len() + between.len() + more.len() {
        0..=LONGEST_NAME if !outer.ends_with(MORE) => Rc::from([outer, between, more].concat()),
        _ if outer.ends_with(MORE) => Rc::clone(outer),
        _ => Rc::from([outer, MORE].concat()),
    }
}
