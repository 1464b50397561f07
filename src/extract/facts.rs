//! Facts of one file: builder, final pass, bodies, and coverage.

pub(super) mod bodies;
pub(super) mod builder;
pub(super) mod coverage;
pub(super) mod explain;
pub(super) mod exports;
pub(super) mod finish;
pub(super) mod text;
