//! Files by descriptors of directories: no path is resolved twice.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::files::kind::{FileKind, FileStat};

/// A directory, independent of its name.
#[derive(Debug)]
pub struct OpenDirectory(OwnedFd);

/// Flags for a file: an open does not wait for the other end of a pipe.
const QUICK: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Flags for a directory on the way to a file.
const ON_THE_WAY: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::DIRECTORY);

/// Flags for a directory that is not listed: reading it needs no permission.
#[cfg(target_os = "linux")]
const FOR_LOOKING: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOR_LOOKING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl OpenDirectory {
    /// Opens a directory by its path.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a directory for the metadata of its entries.
    pub fn open_for_looking(path: &Path, follows_links: bool) -> io::Result<Self> {
        let mut flags = FOR_LOOKING;
        flags.set(OFlags::NOFOLLOW, !follows_links);
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a file component by component without following any link. Does not wait for the other
    /// end of a pipe.
    pub fn open_file(&self, relative: &Path) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            // The same with one system call, if available. If it fails, the component-wise open
            // yields the reason.
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            let flags = QUICK | OFlags::NOFOLLOW;
            if let Ok(file) = openat2(&self.0, relative, flags, Mode::empty(), resolve) {
                return Ok(File::from(file));
            }
        }
        let (below, name) = self.parent(relative)?;
        let directory = below.as_ref().unwrap_or(&self.0);
        let flags = QUICK | OFlags::NOFOLLOW;
        Ok(File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?))
    }

    /// Opens an entry without blocking. Other parts of the path than the last may be
    /// links.
    pub fn open_entry(&self, path: &Path, follows_links: bool) -> io::Result<File> {
        open_at(&self.0, path, follows_links)
    }

    /// Metadata of an entry; of a link that of the link itself.
    pub fn stat(&self, path: &Path) -> io::Result<FileStat> {
        look_at(&self.0, path, false)
    }

    /// The same of the target of a link.
    pub fn look_through(&self, path: &Path) -> io::Result<FileStat> {
        look_at(&self.0, path, true)
    }

    /// Where a link leads, as it is written; `None` if that is no text.
    pub fn read_link(&self, relative: &Path) -> io::Result<Option<String>> {
        let (below, name) = self.parent(relative)?;
        let directory = below.as_ref().unwrap_or(&self.0);
        Ok(rustix::fs::readlinkat(directory, name, Vec::new())?.into_string().ok())
    }

    /// Opens the directories above a path; none for a name alone.
    fn parent<'p>(&self, relative: &'p Path) -> io::Result<(Option<OwnedFd>, &'p Path)> {
        let mut components =
            relative.components().map(|part| Path::new(part.as_os_str())).peekable();
        let mut below: Option<OwnedFd> = None;
        while let Some(name) = components.next() {
            if name == Path::new("..") {
                break;
            }
            if components.peek().is_none() {
                return Ok((below, name));
            }
            let directory = below.as_ref().unwrap_or(&self.0);
            below = Some(rustix::fs::openat(directory, name, ON_THE_WAY, Mode::empty())?);
        }
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }
}

/// Opens a file without blocking. A link is followed at the end of the path on request.
pub fn open(path: &Path, follows_links: bool) -> io::Result<File> {
    open_at(CWD, path, follows_links)
}

/// Metadata of a file.
pub fn find(path: &Path, follows_links: bool) -> io::Result<FileStat> {
    look_at(CWD, path, follows_links)
}

/// The error for a file that does not exist.
pub fn absent() -> io::Error {
    Errno::NOENT.into()
}

/// True if an open failed because of a link that it may not follow.
pub fn is_followed_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// True if an open failed because the other end of a pipe is closed.
pub fn is_without_reader(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}

/// True for a pipe, a socket or a device: it may have no end, or need another process.
pub fn is_special(found: &Metadata) -> bool {
    let kind = found.file_type();
    kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
}

/// True for a named pipe.
pub fn is_pipe(found: &Metadata) -> bool {
    found.file_type().is_fifo()
}

/// Opens a file to append to it, and makes a missing one. Does not wait for the reader of a pipe.
pub fn append_to(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))?;
    let set = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, set.difference(OFlags::NONBLOCK))?;
    Ok(File::from(file))
}

/// Makes the names in a directory durable.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The path without links, `.` and `..`.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

fn open_at(directory: impl AsFd, path: &Path, follows_links: bool) -> io::Result<File> {
    let mut flags = QUICK;
    flags.set(OFlags::NOFOLLOW, !follows_links);
    Ok(File::from(rustix::fs::openat(directory, path, flags, Mode::empty())?))
}

#[allow(clippy::useless_conversion, reason = "the types of the fields differ between systems")]
fn look_at(directory: impl AsFd, path: &Path, follows_links: bool) -> io::Result<FileStat> {
    let flags = if follows_links { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
    let found = rustix::fs::statat(directory, path, flags)?;
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => FileKind::Regular,
        FileType::Directory => FileKind::Directory,
        _ => FileKind::Other,
    };
    let time = |seconds, rest| nanoseconds(seconds, i64::try_from(rest).unwrap_or_default());
    Ok(FileStat {
        kind,
        size: u64::try_from(found.st_size).unwrap_or_default(),
        modified_ns: time(found.st_mtime, found.st_mtime_nsec),
        changed_ns: time(found.st_ctime, found.st_ctime_nsec),
        device: u64::try_from(found.st_dev).unwrap_or_default(),
        inode: found.st_ino,
    })
}

impl From<&Metadata> for FileStat {
    fn from(found: &Metadata) -> Self {
        Self {
            kind: FileKind::of(found),
            size: found.len(),
            modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
            changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
            device: found.dev(),
            inode: found.ino(),
        }
    }
}

/// Times out of range are all equal.
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .checked_mul(1_000_000_000)
        .and_then(|whole| whole.checked_add(nanoseconds))
        .unwrap_or(i64::MAX)
}

/// Makes a symbolic link at a path, where there must be nothing, to what these bytes name.
pub fn make_link(path: &Path, target: Vec<u8>) -> io::Result<()> {
    std::os::unix::fs::symlink(OsString::from_vec(target), path)
}
