//! References: the verdict of each reference, the heuristic, and relations between symbols.

mod by_interface;
mod constructed;
pub(super) mod exhaustiveness;
pub(super) mod file;
pub(super) mod heuristic;
mod implied;
mod imports;
mod outcome;
mod proof;
pub(super) mod relations;
pub(super) mod site;
pub(super) mod tiered;
pub(super) mod variants;
mod written;
