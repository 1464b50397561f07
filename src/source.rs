//! The repository on disk: the one walk, names of files, and reading with limits. Knows no syntax,
//! no store and no threads of the index.
//!
//! Whatever is met is accounted for: a file either yields text or a `SkipReason`. Nothing here
//! follows a symbolic link, so loops cannot happen and no path leads out of the root.

mod filter;
mod mounts;
mod names;
mod root;
mod rules;
mod stamp;
mod sweep;
mod text;
mod walk;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

pub use filter::RULES;
pub use mounts::{Mounts, remote_kind};
pub use root::{DirectoryId, Root};
pub use rules::Rules;
pub use sweep::Sweep;
pub use text::Text;
pub use walk::{Walk, WalkedFile, WalkedKind, walk, walk_below};

use crate::config::Limits;
use crate::model::graph::FileStamp;
use crate::model::{RepoPath, SkipReason};

/// What reading a file gave.
#[derive(Debug)]
pub struct ReadFile {
    /// Identity of what was read. The time is that from before reading, so a change during the read
    /// shows later.
    pub stamp: FileStamp,
    /// The text, or why there is none.
    pub text: Result<Text, SkipReason>,
}

/// Why the repository as a whole could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The root could not be listed.
    #[error("cannot list the directory {}: {source}", root.display())]
    Root {
        /// The root.
        root: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A path leads nowhere, through a symbolic link, or to something that is no regular file.
    #[error("cannot open {path} in {}: {source}", root.display())]
    Open {
        /// The root.
        root: PathBuf,
        /// The path below it.
        path: RepoPath,
        /// What the system said.
        source: io::Error,
    },
    /// The walk took too long.
    #[error("listing {} took longer than {} s", root.display(), walk::LONGEST.as_secs())]
    TooSlow {
        /// The root.
        root: PathBuf,
    },
    /// The walk was told to stop.
    #[error("stopped while listing {}", root.display())]
    Cancelled {
        /// The root.
        root: PathBuf,
    },
}

/// Reads a whole file as text, with the limits. Never fails: what cannot be read has a reason.
pub fn read(root: &Root, path: &RepoPath, limits: &Limits) -> ReadFile {
    let mut stamp = FileStamp::default();
    let (file, metadata) = match root.open_with_metadata(path) {
        Ok(opened) => opened,
        Err(reason) => return ReadFile { stamp, text: Err(reason) },
    };
    stamp = metadata;
    if stamp.size > limits.file_bytes {
        return ReadFile { stamp, text: Err(SkipReason::TooLarge) };
    }
    let Ok(bytes) = root::read_all(&file, stamp.size, limits.file_bytes) else {
        return ReadFile { stamp, text: Err(SkipReason::Unreadable) };
    };
    // The file may have grown since its size was taken: the stamp describes the bytes that were
    // read.
    stamp.size = bytes.len() as u64;
    if stamp.size > limits.file_bytes {
        return ReadFile { stamp, text: Err(SkipReason::TooLarge) };
    }
    stamp.hash = xxh3_128(&bytes);
    ReadFile { stamp, text: text::decode(bytes, limits.line_bytes) }
}

/// The first bytes of a file, at most `length`, without a byte order mark: enough to tell its
/// language.
pub fn read_head(root: &Root, path: &RepoPath, length: usize) -> Result<Vec<u8>, SkipReason> {
    let (file, _) = root.open_with_metadata(path)?;
    let mut head = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut head).map_err(|_| SkipReason::Unreadable)?;
    if head.starts_with(text::UTF8_MARK) {
        head.drain(..text::UTF8_MARK.len());
    }
    Ok(head)
}

/// The path of a file on disk. Only for showing it and for comparing: reading goes through
/// [`read`], which guards the root.
pub fn on_disk(root: &Path, path: &RepoPath) -> PathBuf {
    root.join(names::to_os(path))
}

/// The repository path of a file on disk; `None` if it does not lie below the root (both absolute).
pub fn repo_path(root: &Path, file: &Path) -> Option<RepoPath> {
    names::from_os(file.strip_prefix(root).ok()?)
}
