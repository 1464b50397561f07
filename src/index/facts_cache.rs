//! Facts kept on disk for incremental updates: the segment, and the delta over it.

pub(super) mod archive;
pub(super) mod segment_block;
