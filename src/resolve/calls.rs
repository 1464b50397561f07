//! Calls: which overload is meant, what a call gives, and what closures get from the call they are
//! passed to.

pub(super) mod call;
pub(super) mod closures;
pub(super) mod overload;
