//! Calls: overload resolution, results of calls, and types of closures from the calls that they are
//! passed to.

pub(super) mod arguments;
pub(super) mod call;
mod closure_arity;
pub(super) mod closures;
pub(super) mod extensions;
mod functional;
pub(super) mod overload;
mod passing;
pub(super) mod predicates;
pub(super) mod receivers;
pub(super) mod untyped;
