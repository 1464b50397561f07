//! Incremental update: rewrites the rows of changed files in one transaction.

pub(super) mod amendment;
pub(super) mod delta;
pub(super) mod existing_keys;
mod last_keys;
pub(super) mod ref_counts;
pub(super) mod restamp;
