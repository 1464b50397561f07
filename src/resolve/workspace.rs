//! The symbol table: the files of a repository, their names and scopes, where imports lead, and the
//! tables that lookups need.

pub(super) mod extensions;
pub(super) mod import_closure;
pub(super) mod packed;
pub(super) mod postings;
pub(super) mod program;
pub(super) mod tables;
