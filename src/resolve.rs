//! Facts of a whole repository to targets: scopes, imports, types, members. Pure, and without the name of any language.

use crate::model::RepoPath;
use crate::model::graph::{FileId, FileRecord, FileResolution};

/// A file of a module system that is not source (`package.json`, `go.mod`, …): its path and text.
#[derive(Clone, Debug)]
pub struct ProjectFile {
    /// Where it is.
    pub path: RepoPath,
    /// Its text.
    pub text: String,
}

/// Every file's facts with the tables that resolution looks things up in. Immutable; shared by all threads.
#[derive(Debug)]
pub struct Program<'a> {
    files: &'a [FileRecord],
}

impl<'a> Program<'a> {
    /// Prepares resolution. `files` are sorted by path.
    pub fn new(files: &'a [FileRecord], _project_files: &[ProjectFile]) -> Self {
        Self { files }
    }

    /// Resolves the sites, imports and relations of one file. The result depends on the program alone, not on the order of calls.
    pub fn resolve_file(&self, file: FileId) -> FileResolution {
        let _ = &self.files[file.0 as usize];
        FileResolution::default()
    }
}
