//! What becomes of a store's graph, as plain data: the files that changed, and those that were
//! resolved again.

use crate::model::graph::{FileId, FileResolution, Graph};

/// Rows of the table `known`: by key what to put there; none to remove what is there.
pub type KnownRows = Vec<(u32, Option<Vec<u8>>)>;

/// What becomes of a store's graph.
#[derive(Debug)]
pub struct Amendment<'a> {
    /// The graph as it is now: every file, and of those that are named below the facts and results.
    /// Others are not looked at.
    pub graph: &'a Graph,
    /// Where each file was before, by its position now; none for a new one.
    pub origins: &'a [Option<usize>],
    /// Files with other facts or of which other things are known than their facts, by their
    /// position now.
    pub changed: &'a [FileId],
    /// What was found before for files that are gone or changed, in terms of the positions now.
    pub replaced: &'a [FileResolution],
    /// Files with the same facts that were resolved again, with what was found before, in terms of
    /// the positions now.
    pub resolved: &'a [(FileId, FileResolution)],
    /// Files that start other relations than before.
    pub related: &'a [FileId],
}
