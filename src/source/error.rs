//! Errors of reading a repository.

use cograph_model::RepoPath;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why the repository as a whole could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Listing the root failed.
    #[error("cannot list the directory {}: {source}", root.display())]
    Root {
        /// Root.
        root: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A path does not exist, is a symbolic link, or is no regular file.
    #[error("cannot open {path} in {}: {source}", root.display())]
    Open {
        /// Root.
        root: PathBuf,
        /// Path relative to the root.
        path: RepoPath,
        /// Cause.
        source: io::Error,
    },
    /// The walk exceeded its timeout.
    #[error("listing {} took longer than {} s", root.display(), TIMEOUT.as_secs())]
    TooSlow {
        /// Root.
        root: PathBuf,
    },
    /// The walk was cancelled.
    #[error("stopped while listing {}", root.display())]
    Cancelled {
        /// Root.
        root: PathBuf,
    },
}

/// Timeout of a walk, because other requests may wait for it.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);
