//! The life of stores in the cache: the disk quota, and seeding from the store of another checkout.

pub(super) mod quota;
pub(super) mod seed;
