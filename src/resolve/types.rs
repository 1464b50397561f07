//! Type inference: the types of expressions, type parameters, return types, and what builtin types
//! give.

pub(super) mod assignments;
pub(super) mod builtin_types;
pub(super) mod generics;
pub(super) mod infer;
pub(super) mod memo;
pub(super) mod operators;
pub(super) mod return_types;
pub(super) mod ty;
