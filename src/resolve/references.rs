//! References: the verdict of each reference, the heuristic, and relations between symbols.

mod by_interface;
pub(super) mod exhaustiveness;
pub(super) mod file;
pub(super) mod heuristic;
mod imports;
mod instead;
mod outcome;
pub(super) mod relations;
pub(super) mod site;
pub(super) mod tiered;
pub(super) mod variants;
