//! Symbol table: files of a repository, names, scopes, import targets, and lookup tables.

pub(super) mod extensions;
pub(super) mod import_closure;
pub(super) mod packed;
pub(super) mod postings;
pub(super) mod program;
pub(super) mod sorted_postings;
pub(super) mod tables;
