//! State of a repository between runs: change detection and incremental updates.

pub(super) mod change;
pub(super) mod change_set;
pub(super) mod resident;
pub(super) mod residents;
