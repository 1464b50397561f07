//! Definitions: symbols, declarators, types, callables, parameters, decorators, and types in
//! documentation.

pub(super) mod callable_scope;
pub(super) mod callables;
pub(super) mod component;
pub(super) mod constructions;
pub(super) mod declarator_chain;
pub(super) mod declarators;
pub(super) mod decorators;
pub(crate) mod doc_types;
pub(super) mod generated;
pub(super) mod items;
pub(super) mod parameters;
pub(super) mod shadowing;
pub(super) mod symbols;
pub(super) mod types;
