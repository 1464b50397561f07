//! The state of a repository between runs: what has changed, and what a change costs.

pub(super) mod change;
pub(super) mod resident;
pub(super) mod residents;
