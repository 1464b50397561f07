//! Per-file data that is independent of other files: facts with interned names, the exported part,
//! and the interface hash.

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
pub(super) mod stack;
pub(super) mod symbols;
pub(super) mod unit;
