//! Errors of an import of coverage.

use std::path::PathBuf;

/// Why a file of coverage cannot be imported.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct CoverageError {
    /// File.
    pub path: PathBuf,
    /// What is wrong with it, and what is wanted.
    pub reason: String,
}
