//! `show`: the source of symbols and of lines, several at once.

use super::{QueryError, ReadFile, SymbolInfo};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::store::Snapshot;

/// What to show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShowParams {
    /// Symbols (`path::Container.name` or a suffix), lines (`path:from-to`, `path:line`) or whole files (`path`).
    pub targets: Vec<String>,
    /// So many lines more before and after each.
    pub context: u32,
}

/// One of the things asked for.
#[derive(Clone, Debug)]
pub struct ShownItem {
    /// As it was asked for.
    pub target: String,
    /// Its source, or why there is none. The failure of one does not touch the others.
    pub outcome: Result<Excerpt, QueryError>,
}

/// A run of lines of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The file.
    pub path: RepoPath,
    /// The symbol, if one was named.
    pub symbol: Option<SymbolInfo>,
    /// Number of the first line.
    pub first_line: u32,
    /// The lines, without their ends.
    pub lines: Vec<String>,
    /// Number of lines of the whole file.
    pub file_lines: u32,
    /// Whether the file differs from what was indexed, so that lines may have moved.
    pub stale: bool,
    /// Whether bytes that are no UTF-8 were replaced.
    pub lossy: bool,
}

/// The answer of `show`.
#[derive(Clone, Debug)]
pub struct ShowResult {
    /// One entry a target, in the order asked.
    pub items: Vec<ShownItem>,
}

/// Reads the source of what `targets` name.
pub fn show(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &ShowParams,
    cancel: &CancelToken,
) -> Result<ShowResult, QueryError> {
    let _ = files;
    super::pending(snapshot, params, cancel)
}
