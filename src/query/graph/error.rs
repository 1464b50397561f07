//! Errors of queries: what does not exist, is ambiguous or invalid, or failed.

use crate::graph::answer::SymbolInfo;
use cograph_model::RepoPath;
use cograph_store::StoreError;

/// Why a query failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum QueryError {
    /// No symbol has the name. `near` holds symbols whose names resemble it, best first.
    #[error("no symbol is named `{name}`")]
    NoSuchSymbol {
        /// The given name.
        name: String,
        /// Symbols with similar names.
        near: Vec<SymbolInfo>,
    },
    /// Several symbols have the name.
    #[error("`{name}` names {total} symbols; say which")]
    AmbiguousSymbol {
        /// The given name.
        name: String,
        /// Symbols, best first, up to a limit.
        choices: Vec<SymbolInfo>,
        /// Number of symbols.
        total: u64,
    },
    /// No file or directory in the store has the path. `near` has similar paths, best first.
    #[error("no indexed file or directory is named `{path}`")]
    NoSuchPath {
        /// The given path.
        path: String,
        /// Similar paths.
        near: Vec<String>,
    },
    /// Several files match the path as a suffix.
    #[error("`{path}` names {total} files; say which")]
    AmbiguousPath {
        /// The given path.
        path: String,
        /// Files, up to a limit.
        choices: Vec<String>,
        /// Number of files.
        total: u64,
    },
    /// Invalid value of a parameter.
    #[error("parameter `{parameter}`: {reason}")]
    InvalidParameter {
        /// Parameter.
        parameter: &'static str,
        /// Error, with a correction.
        reason: String,
    },
    /// The statement given to `sql` was denied or failed.
    #[error("SQL: {reason}")]
    Sql {
        /// Message of SQLite or of the sandbox.
        reason: String,
    },
    /// A change cannot be read.
    #[error("{reason}")]
    Change {
        /// Cause.
        reason: String,
    },
    /// Reading a file failed.
    #[error("reading {path}: {reason}")]
    Read {
        /// File.
        path: RepoPath,
        /// Cause.
        reason: String,
    },
    /// The query was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> Self {
        if error.is_cancelled() { Self::Cancelled } else { Self::Store(error) }
    }
}
