//! The graph in the formats of other programs: out, and in; whole indexes to other machines, and
//! from there.

pub(crate) mod export;
pub(crate) mod import;
#[cfg(feature = "publish")]
pub(crate) mod publish;
