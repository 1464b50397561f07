//! Repository on disk: directory walk, file names, and bounded reads. Knows no syntax, no store and
//! no threads of the index.
//!
//! ```text
//! root ──> walk ── rules, filter, mounts ──> WalkedFile: path, stamp
//!                               │
//! path ──> read ── limits ──────┴──> Text, or the SkipReason
//! root ──> Sweep: stamps again ──> paths that may have changed
//! ```
//!
//! Every file is accounted for: it yields text or a `SkipReason`. Symbolic links are never
//! followed, so there are no loops and no path leads out of the root.

mod error;
mod filter;
mod mounts;
mod names;
mod root;
mod rules;
mod stamp;
mod sweep;
mod text;
mod traversal;
mod walk;

use std::io::Read;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

pub use filter::{RULES, git_directory};
pub use mounts::{Mounts, remote_kind};
pub use root::{DirectoryId, Root};
pub use rules::Rules;
pub use sweep::Sweep;
pub use text::{Shown, Text};
pub use walk::{Walk, WalkedFile, walk, walk_below};

use cograph_config::Limits;
use cograph_model::graph::FileStamp;
use cograph_model::{RepoPath, SkipReason};
pub use error::SourceError;

/// Result of reading a file.
#[derive(Debug)]
pub struct ReadFile {
    /// Stamp of the contents. Its times are from before the read, so a change during the read is
    /// detected later.
    pub stamp: FileStamp,
    /// Text, or the reason why there is none.
    pub text: Result<Text, SkipReason>,
}

/// Reads a whole file as text, within the limits. Never fails: errors become a reason.
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
    // The file may have grown since `stat`: the stamp describes the bytes that were read.
    stamp.size = bytes.len() as u64;
    if stamp.size > limits.file_bytes {
        return ReadFile { stamp, text: Err(SkipReason::TooLarge) };
    }
    stamp.hash = hash(&bytes);
    ReadFile { stamp, text: text::decode(bytes, limits.line_bytes) }
}

/// Hash of the bytes of a file, as its stamp has it.
pub fn hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// Prefix of a file, at most `length` bytes, without a byte order mark: enough to detect its
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

/// Path of a file on disk, for display and comparison only: reads go through [`read`], which
/// confines them to the root.
pub fn on_disk(root: &Path, path: &RepoPath) -> PathBuf {
    root.join(names::to_os(path))
}

/// Repository path of a file on disk; `None` if it is not below the root (both absolute).
pub fn repo_path(root: &Path, file: &Path) -> Option<RepoPath> {
    names::from_os(file.strip_prefix(root).ok()?)
}

/// Path of a file on disk without links in its directory, which must exist.
pub fn canonical_place(file: &Path) -> Option<PathBuf> {
    Some(std::fs::canonicalize(file.parent()?).ok()?.join(file.file_name()?))
}
