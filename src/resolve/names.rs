//! Name lookup: lexical scopes, packages, wildcard imports and namespaces; declarations and their
//! definitions.

pub(super) mod conditions;
pub(super) mod definition;
pub(super) mod linkage;
pub(super) mod namespaces;
pub(super) mod paths;
pub(super) mod scopes;
pub(super) mod wildcard;
