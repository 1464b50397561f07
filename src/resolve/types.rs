//! Type inference: types of expressions, generic parameters, return types, and the rules of builtin
//! types.

pub(super) mod builtin_types;
pub(super) mod callee;
pub(super) mod generics;
pub(super) mod infer;
pub(super) mod lists;
pub(super) mod operators;
pub(super) mod return_types;
pub(super) mod symbol_types;
