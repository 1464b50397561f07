//! `grep`: text or a regular expression over the files of the store as they are now, with the symbol around each hit.

use super::{QueryError, ReadFile, SymbolInfo, Total};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::store::Snapshot;

/// What to look for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepParams {
    /// The text or regular expression.
    pub pattern: String,
    /// Whether `pattern` is a regular expression.
    pub regex: bool,
    /// Whether case is ignored.
    pub ignore_case: bool,
    /// Whether only whole words count.
    pub word: bool,
    /// Only files below this path, or that match this glob.
    pub path: Option<String>,
    /// Only files of this language.
    pub language: Option<String>,
    /// So many lines more before and after each hit.
    pub context: u32,
    /// So many matching lines are skipped.
    pub offset: usize,
    /// At most so many matching lines are returned; all are counted.
    pub limit: usize,
}

impl Default for GrepParams {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            regex: false,
            ignore_case: false,
            word: false,
            path: None,
            language: None,
            context: 0,
            offset: 0,
            limit: 200,
        }
    }
}

/// A line that matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepHit {
    /// Its number.
    pub line: u32,
    /// Where the first match begins, in bytes from 0.
    pub column: u32,
    /// The line without its end.
    pub text: String,
    /// Lines before it.
    pub before: Vec<String>,
    /// Lines after it.
    pub after: Vec<String>,
    /// The innermost symbol around it, if the file was indexed and has not changed since.
    pub enclosing: Option<SymbolInfo>,
}

/// The hits of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepFile {
    /// The file.
    pub path: RepoPath,
    /// Matching lines in order; those within `offset` and `limit`.
    pub hits: Vec<GrepHit>,
    /// Matching lines in this file.
    pub total: u64,
    /// Whether the file differs from what was indexed.
    pub stale: bool,
}

/// The answer of `grep`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepResult {
    /// Files with hits that are returned, by path.
    pub files: Vec<GrepFile>,
    /// Matching lines in all files.
    pub total: Total,
    /// Files with matches.
    pub file_total: Total,
    /// Files that were searched.
    pub searched: u64,
    /// Files that pass the filters and were not searched because they are binary or too large.
    pub not_text: u64,
    /// Files that could not be read, with the reason.
    pub unreadable: Vec<(RepoPath, String)>,
}

/// Searches the files of the store.
pub fn grep(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &GrepParams,
    cancel: &CancelToken,
) -> Result<GrepResult, QueryError> {
    let _ = files;
    super::pending(snapshot, params, cancel)
}
