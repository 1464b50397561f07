//! Facts of one file: builder, final pass, and bodies.

pub(super) mod bodies;
pub(super) mod builder;
pub(super) mod exports;
pub(super) mod finish;
pub(super) mod import_marks;
pub(super) mod text;
