//! Expressions: references, and the values of names, paths, constructions and arguments; what is
//! exported by assignment, and packages.

pub(super) mod calls;
pub(super) mod construct;
pub(super) mod dispatch;
pub(super) mod exports;
pub(super) mod literals;
pub(super) mod packages;
pub(super) mod paths;
pub(super) mod values;
