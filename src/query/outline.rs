//! `outline`: the symbols of a file as a tree, or the files and directories of a directory.

use super::{QueryError, SymbolInfo};
use crate::model::cancel::CancelToken;
use crate::model::{Problem, RepoPath, SkipReason};
use crate::store::Snapshot;

/// What to outline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineParams {
    /// A file or directory; empty for the root.
    pub path: String,
    /// Levels of directories to open (1: the entries of `path` itself).
    pub depth: u32,
    /// Symbols named for each file of a directory.
    pub symbols_per_file: usize,
}

impl Default for OutlineParams {
    fn default() -> Self {
        Self { path: String::new(), depth: 1, symbols_per_file: 3 }
    }
}

/// A file with its figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileInfo {
    /// Where it is.
    pub path: RepoPath,
    /// Its language, if it has one.
    pub language: Option<String>,
    /// Lines.
    pub lines: u32,
    /// Bytes.
    pub size: u64,
    /// Symbols it defines.
    pub symbols: u32,
    /// Why it was not indexed, if it was not.
    pub skipped: Option<SkipReason>,
    /// Whether it says that it is generated.
    pub generated: bool,
    /// Whether it is test code as a whole.
    pub test: bool,
}

/// A symbol with the symbols inside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineNode {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// The symbols written inside it, in order.
    pub children: Vec<OutlineNode>,
}

/// One import of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportInfo {
    /// The module as written, with leading dots for a relative one.
    pub module: String,
    /// The item taken from it, if one is named.
    pub item: Option<String>,
    /// The line.
    pub line: u32,
    /// The file it leads to, if that is in the repository.
    pub target: Option<RepoPath>,
}

/// The outline of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileOutline {
    /// The file.
    pub file: FileInfo,
    /// Its symbols, in order.
    pub symbols: Vec<OutlineNode>,
    /// Its imports, in order.
    pub imports: Vec<ImportInfo>,
    /// Regions that are incomplete.
    pub problems: Vec<Problem>,
}

/// A directory with sums over everything below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectoryInfo {
    /// Where it is; empty for the root.
    pub path: String,
    /// Files below it.
    pub files: u64,
    /// Lines below it.
    pub lines: u64,
    /// Symbols below it.
    pub symbols: u64,
}

/// An entry of a directory's outline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DirectoryEntry {
    /// A directory, opened if the depth allows.
    Directory {
        /// Its figures.
        info: DirectoryInfo,
        /// Its entries; empty if it was not opened.
        entries: Vec<DirectoryEntry>,
    },
    /// A file.
    File {
        /// Its figures.
        info: FileInfo,
        /// Its most referenced symbols.
        top: Vec<SymbolInfo>,
    },
}

/// The answer of `outline`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OutlineResult {
    /// `path` is a file.
    File(Box<FileOutline>),
    /// `path` is a directory.
    Directory {
        /// Its figures.
        info: DirectoryInfo,
        /// Its entries: directories first, then files, each by path.
        entries: Vec<DirectoryEntry>,
    },
}

/// Outlines a file or directory.
pub fn outline(snapshot: &Snapshot, params: &OutlineParams, cancel: &CancelToken) -> Result<OutlineResult, QueryError> {
    super::pending(snapshot, params, cancel)
}
