//! Name lookup: lexical scopes, packages, wildcard imports and namespaces; declarations and their
//! definitions.

pub(super) mod assignments;
pub(super) mod bindings;
pub(super) mod conditions;
pub(super) mod definition;
pub(super) mod linkage;
pub(super) mod module_members;
pub(super) mod namespaces;
pub(super) mod outside;
pub(super) mod paths;
pub(super) mod placement;
pub(super) mod scopes;
pub(super) mod variants;
pub(super) mod visited;
pub(super) mod wildcard;
