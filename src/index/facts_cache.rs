//! The facts that a build keeps on disk for later changes: blocks of a segment, and the delta over
//! it.

pub(super) mod archive;
pub(super) mod segment_block;
