//! Calls: overload resolution, results of calls, and types of closures from the calls that they are
//! passed to.

pub(super) mod arguments;
pub(super) mod call;
pub(super) mod closures;
pub(super) mod conversions;
pub(super) mod overload;
pub(super) mod receivers;
