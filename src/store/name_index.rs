//! The name index: front-coded blocks of names with trigram posting lists, and cursors over them.

pub(super) mod cursor;
pub(super) mod filter;
pub(super) mod names;
