//! Lifecycle of stores in the cache: disk quota, seeding from the store of another checkout, and
//! files next to a store.

pub(super) mod quota;
pub(super) mod seed;
pub(super) mod side_files;
