//! Change of a store's graph as plain data: files that changed, and files that were resolved again.

use std::collections::BTreeMap;

use cograph_model::graph::{FileId, FileRecord, FileResolution, Relation};

/// Rows for table `known`: key and new value; none to delete the row.
pub type KnownRows = Vec<(u32, Option<Vec<u8>>)>;

/// File of the new graph with its facts and results.
#[derive(Debug)]
pub struct WrittenFile {
    /// File, with all facts.
    pub record: FileRecord,
    /// Results.
    pub found: FileResolution,
}

/// Change of a store's graph.
#[derive(Debug)]
pub struct Amendment<'a> {
    /// Changed and resolved files, by current position. All others stay as the store has them.
    pub written: &'a BTreeMap<FileId, WrittenFile>,
    /// Previous position of each file, by its current one; none for a new one.
    pub origins: &'a [Option<usize>],
    /// Files with changed facts or metadata, by current position.
    pub changed: &'a [FileId],
    /// Previous results of deleted and changed files, in terms of current positions.
    pub replaced: &'a [FileResolution],
    /// Files with unchanged facts that were resolved again, with their previous results, in terms
    /// of current positions.
    pub resolved: &'a [(FileId, FileResolution)],
    /// Files whose outgoing relations changed, with these relations.
    pub related: &'a [(FileId, Vec<Relation>)],
}

impl<'a> Amendment<'a> {
    /// The changed or resolved file at a position.
    pub(crate) fn file(&self, file: FileId) -> &'a WrittenFile {
        self.written.get(&file).expect("a changed or resolved file has facts and results")
    }
}
