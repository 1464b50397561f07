//! What is wrong with a list that the user keeps: of upstreams, of members of a workspace.

use std::path::PathBuf;

use crate::user_file::FileError;

/// Error of a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Path.
        path: PathBuf,
        /// Cause.
        source: FileError,
    },
    /// The file, or a list, has contents that cannot be used.
    #[error("cannot use {}: {why}", path.display())]
    Wrong {
        /// Path of the file, or the list.
        path: PathBuf,
        /// Description.
        why: String,
    },
}
