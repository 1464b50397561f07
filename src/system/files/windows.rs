//! Files by paths, with what the standard library knows of them. Compiled, and not run yet.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::files::kind::{FileKind, FileStat};

/// A directory, by its path.
#[derive(Debug)]
pub struct OpenDirectory(PathBuf);

/// Why a path is not opened.
#[derive(Debug)]
struct FollowsLink;

impl std::fmt::Display for FollowsLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a part of the path is a link")
    }
}

impl std::error::Error for FollowsLink {}

impl OpenDirectory {
    /// Opens a directory by its path.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_for_looking(path, true)
    }

    /// Opens a directory for the metadata of its entries.
    pub fn open_for_looking(path: &Path, follows_links: bool) -> io::Result<Self> {
        match find(path, follows_links)?.kind {
            FileKind::Directory => Ok(Self(path.to_path_buf())),
            FileKind::Regular | FileKind::Other => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens a file without following any link.
    pub fn open_file(&self, relative: &Path) -> io::Result<File> {
        File::open(self.confined(relative)?)
    }

    /// Opens an entry. Other parts of the path than the last may be links.
    pub fn open_entry(&self, path: &Path, follows_links: bool) -> io::Result<File> {
        open(&self.0.join(path), follows_links)
    }

    /// Metadata of an entry; of a link that of the link itself.
    pub fn stat(&self, path: &Path) -> io::Result<FileStat> {
        find(&self.0.join(path), false)
    }

    /// The same of the target of a link.
    pub fn look_through(&self, path: &Path) -> io::Result<FileStat> {
        find(&self.0.join(path), true)
    }

    /// Where a link leads, as it is written; `None` if that is no text.
    pub fn read_link(&self, relative: &Path) -> io::Result<Option<String>> {
        let target = std::fs::read_link(self.0.join(relative))?;
        Ok(target.into_os_string().into_string().ok())
    }

    /// The whole path, if it has plain names and no link.
    fn confined(&self, relative: &Path) -> io::Result<PathBuf> {
        let mut path = self.0.clone();
        for part in relative.components() {
            let Component::Normal(name) = part else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            path.push(name);
            if path.symlink_metadata()?.is_symlink() {
                return Err(io::Error::other(FollowsLink));
            }
        }
        if relative.as_os_str().is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(path)
    }
}

/// Opens a file. A link is followed at the end of the path on request.
pub fn open(path: &Path, follows_links: bool) -> io::Result<File> {
    if !follows_links && path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::other(FollowsLink));
    }
    File::open(path)
}

/// Metadata of a file.
pub fn find(path: &Path, follows_links: bool) -> io::Result<FileStat> {
    let found = if follows_links { path.metadata() } else { path.symlink_metadata() };
    found.map(|found| FileStat::from(&found))
}

/// The error for a file that does not exist.
pub fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// True if an open failed because of a link that it may not follow.
pub fn is_followed_link(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<FollowsLink>())
}

/// False: there are no such files.
pub fn is_without_reader(_: &io::Error) -> bool {
    false
}

/// True for a device: neither a file nor a directory nor a link.
pub fn is_special(found: &Metadata) -> bool {
    !found.is_file() && !found.is_dir() && !found.is_symlink()
}

/// False: pipes have names of their own.
pub fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Opens a file to append to it, and makes a missing one.
pub fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

/// Without effect: the file system keeps the order of its names by itself, and syncs files alone.
pub fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The path without links, `.` and `..`, and without the prefix `\\?\` where it can be left out:
/// many programs do not know it.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

impl From<&Metadata> for FileStat {
    fn from(found: &Metadata) -> Self {
        let modified_ns = nanoseconds(found.last_write_time());
        Self {
            kind: FileKind::of(found),
            size: found.len(),
            modified_ns,
            changed_ns: modified_ns,
            device: 0,
            inode: found.creation_time(),
        }
    }
}

/// From steps of 100 ns since 1601 to nanoseconds since 1970. Times out of range are all equal.
fn nanoseconds(steps: u64) -> i64 {
    const FROM_1601_TO_1970: u64 = 116_444_736_000_000_000;
    let since = steps.checked_sub(FROM_1601_TO_1970).and_then(|steps| steps.checked_mul(100));
    since.and_then(|since| i64::try_from(since).ok()).unwrap_or(i64::MAX)
}

/// Makes a file with the name of the target at a path, where there must be nothing, as git does
/// where links take a privilege.
pub fn make_link(path: &Path, target: Vec<u8>) -> io::Result<()> {
    io::Write::write_all(&mut File::create_new(path)?, &target)
}
