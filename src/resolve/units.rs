//! One file before others are known: its facts with the names of the repository, what others may
//! look at in it, and its interface hash.

pub(super) mod archive;
pub(super) mod bounds;
pub(super) mod contexts;
pub(super) mod footprint;
pub(super) mod import_target;
pub(super) mod interface_hash;
pub(super) mod interner;
pub(super) mod partition;
pub(super) mod prepared;
pub(super) mod scope_bindings;
pub(super) mod space;
pub(super) mod spaces;
pub(super) mod unit;
