//! The graph in the formats of other programs: out, and in.

pub(crate) mod export;
pub(crate) mod import;
