//! Parameters and result of `show`.

use crate::graph::answer::SymbolInfo;
use crate::graph::error::QueryError;
use cograph_model::RepoPath;

/// Parameters of `show`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShowParams {
    /// Symbols (`path::Container.name` or a suffix; `path:line` for the one around a line), lines
    /// (`path:from-to`) or whole files (`path`).
    pub targets: Vec<String>,
    /// Number of context lines before and after each; with `around`, around each line with the
    /// name.
    pub context: u32,
    /// True to leave the signature, control flow and lines with calls of the repository only.
    pub calls: bool,
    /// Name around which lines are left.
    pub around: Option<String>,
}

/// Requested item.
#[derive(Clone, Debug)]
pub struct ShownItem {
    /// Target as requested.
    pub target: String,
    /// Source, or the error. An error does not affect other items.
    pub outcome: Result<Excerpt, QueryError>,
}

/// Range of lines of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// File.
    pub path: RepoPath,
    /// Symbol, if one was named.
    pub symbol: Option<SymbolInfo>,
    /// Number of the first line.
    pub first_line: u32,
    /// Lines without line endings.
    pub lines: Vec<String>,
    /// Number of lines of the whole file.
    pub file_lines: u32,
    /// True if the file differs from the indexed version, so that lines may have moved.
    pub stale: bool,
    /// True if invalid UTF-8 was replaced.
    pub lossy: bool,
    /// Lines that are folded, each from its first to its last line.
    pub folds: Vec<(u32, u32)>,
}

/// Result of `show`.
#[derive(Clone, Debug)]
pub struct ShowResult {
    /// One entry for each target, in order.
    pub items: Vec<ShownItem>,
}
