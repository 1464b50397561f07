//! Facts of one file: the builder that collects them, the last look at them, and how complete they
//! are.

pub(super) mod builder;
pub(super) mod coverage;
pub(super) mod explain;
pub(super) mod exports;
pub(super) mod finish;
pub(super) mod text;
