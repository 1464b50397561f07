//! Calls: overload resolution, results of calls, and types of closures from the calls that they are
//! passed to.

pub(super) mod arguments;
pub(crate) mod call;
mod closure_arity;
pub(super) mod closures;
pub(crate) mod extensions;
mod function_types;
mod functional;
mod library_types;
pub(crate) mod overload;
mod passing;
pub(crate) mod predicates;
pub(crate) mod receivers;
mod returned;
pub(super) mod untyped;
