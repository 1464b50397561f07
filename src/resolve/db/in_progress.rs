//! Computations in progress: one that leads back to itself ends there, for types, aliases and names
//! may be defined by themselves.

use crate::units::bounds::MAX_DEPTH;
use crate::units::interner::Name;
use cograph_faults::{Fault, planted};
use cograph_model::facts::ExprId;
use cograph_model::graph::{FileId, SymbolRef};
use std::cell::RefCell;

/// A computation with its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Computation {
    /// The type that a type expression names.
    Naming(FileId, ExprId),
    /// What a name leads to through the value or the target of an alias.
    Following(FileId, ExprId, Name),
    /// What an operation gives for a value of a type, whose members or alias say it.
    Operating(SymbolRef, Operation),
}

/// Operation on a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Iteration,
    Subscript,
    Call,
    Dereference,
    Member,
}

/// Maximum number of nested computations: type expressions alone nest half as deep.
const MAX_IN_PROGRESS: usize = 2 * MAX_DEPTH as usize;

/// Stack of the computations in progress.
#[derive(Debug, Default)]
pub(crate) struct InProgress {
    stack: RefCell<Vec<Computation>>,
    /// Computations that the outermost of `each_once` has come to.
    reached: RefCell<Vec<Computation>>,
}

impl InProgress {
    pub(crate) fn contains(&self, computation: Computation) -> bool {
        self.stack.borrow().contains(&computation)
    }

    /// Computes something; `None` if that is in progress already.
    pub(crate) fn once<T>(
        &self,
        computation: Computation,
        compute: impl FnOnce() -> T,
    ) -> Option<T> {
        let is_endless = {
            let started = self.stack.borrow();
            started.contains(&computation) || started.len() >= MAX_IN_PROGRESS
        };
        if is_endless && !planted(Fault::FollowedCircles) {
            return None;
        }
        self.stack.borrow_mut().push(computation);
        let computed = compute();
        self.stack.borrow_mut().pop();
        Some(computed)
    }

    /// Computes something once within the outermost computation of this sort; `None` from then on:
    /// several that lead to each other would be computed along every path.
    pub(crate) fn each_once<T>(
        &self,
        computation: Computation,
        compute: impl FnOnce() -> T,
    ) -> Option<T> {
        let is_outermost = self.reached.borrow().is_empty();
        if self.reached.borrow().contains(&computation) {
            return None;
        }
        self.reached.borrow_mut().push(computation);
        let computed = compute();
        if is_outermost {
            self.reached.borrow_mut().clear();
        }
        Some(computed)
    }
}
