//! References: the verdict on one site, the heuristic, and the relations between symbols.

pub(super) mod exhaustiveness;
pub(super) mod file;
pub(super) mod heuristic;
mod outcome;
pub(super) mod relations;
pub(super) mod site;
pub(super) mod tiered;
pub(super) mod variants;
