//! Change of a store's graph as plain data: files that changed, and files that were resolved again.

use cograph_model::graph::{FileId, FileResolution, Graph};

/// Rows for table `known`: key and new value; none to delete the row.
pub type KnownRows = Vec<(u32, Option<Vec<u8>>)>;

/// Change of a store's graph.
#[derive(Debug)]
pub struct Amendment<'a> {
    /// New graph: every file, with facts and results of the files named below. Other files are not
    /// read.
    pub graph: &'a Graph,
    /// Previous position of each file, by its current one; none for a new one.
    pub origins: &'a [Option<usize>],
    /// Files with changed facts or metadata, by current position.
    pub changed: &'a [FileId],
    /// Previous results of deleted and changed files, in terms of current positions.
    pub replaced: &'a [FileResolution],
    /// Files with unchanged facts that were resolved again, with their previous results, in terms
    /// of current positions.
    pub resolved: &'a [(FileId, FileResolution)],
    /// Files whose outgoing relations changed.
    pub related: &'a [FileId],
}
