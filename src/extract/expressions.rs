//! Expressions: references, and the values of names, paths, constructions and arguments.

pub(super) mod calls;
pub(super) mod construct;
pub(super) mod dispatch;
pub(super) mod exports;
pub(super) mod literals;
pub(super) mod paths;
pub(super) mod values;
