//! Imports and exports, in the forms of module systems.

pub(super) mod export;
pub(super) mod import;
pub(super) mod in_comments;
pub(super) mod record;
