//! The symbol table: the files of a repository, their names and scopes, where imports lead, and the tables that lookups need.

pub(super) mod archive;
pub(super) mod bounds;
pub(super) mod derived;
pub(super) mod footprint;
pub(super) mod import_closure;
pub(super) mod interner;
pub(super) mod linkage;
pub(super) mod packed;
pub(super) mod postings;
pub(super) mod program;
pub(super) mod scope_bindings;
pub(super) mod tables;
pub(super) mod unit;
