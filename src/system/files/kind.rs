//! What a file is, and what the system says about it.

use std::fs::Metadata;

/// Kind of an entry of a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// Regular file.
    Regular,
    /// Directory.
    Directory,
    /// Anything else.
    Other,
}

/// Metadata of a file. A file that was written or replaced has others, as far as the
/// system's clock and the file system go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileStat {
    /// Kind.
    pub kind: FileKind,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last write, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Time of the last change of anything, which no program can set. On Windows that of the last
    /// write: a program that sets it back hides its write.
    pub changed_ns: i64,
    /// Number of the file system. On Windows 0.
    pub device: u64,
    /// Number of the file in it. On Windows the time at which it was made.
    pub inode: u64,
}

impl FileKind {
    pub(crate) fn of(found: &Metadata) -> Self {
        match found {
            _ if found.is_file() => Self::Regular,
            _ if found.is_dir() => Self::Directory,
            _ => Self::Other,
        }
    }
}
