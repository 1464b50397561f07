//! Lifecycle of stores in the cache: disk quota, taking over a store of another place, such as that
//! of another checkout (seeding) or machine (transfer), and files next to a store.

pub(super) mod adopt;
pub(super) mod quota;
pub(super) mod seed;
pub(super) mod side_files;
pub(super) mod transfer;
