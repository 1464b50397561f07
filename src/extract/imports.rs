//! Imports and exports, in the forms that module systems have.

pub(super) mod export;
pub(super) mod import;
