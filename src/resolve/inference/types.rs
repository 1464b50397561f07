//! Type inference: types of expressions, generic parameters, return types, and the rules of builtin
//! types.

pub(super) mod builtin_types;
pub(crate) mod callee;
pub(crate) mod generics;
pub(crate) mod infer;
pub(crate) mod lists;
pub(super) mod operators;
pub(crate) mod return_types;
pub(crate) mod symbol_types;
