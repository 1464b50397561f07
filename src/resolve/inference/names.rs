//! Name lookup: lexical scopes, packages, wildcard imports and namespaces; declarations and their
//! definitions.

pub(super) mod assignments;
pub(super) mod bindings;
pub(crate) mod conditions;
pub(crate) mod definition;
pub(crate) mod linkage;
pub(super) mod module_members;
pub(crate) mod namespaces;
pub(crate) mod outside;
pub(super) mod paths;
pub(crate) mod placement;
pub(crate) mod scopes;
pub(crate) mod variants;
pub(crate) mod visited;
pub(crate) mod wildcard;
