//! Lifecycle of stores in the cache: disk quota, and seeding from the store of another checkout.

pub(super) mod quota;
pub(super) mod seed;
