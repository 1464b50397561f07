//! The repository on disk: the one walk, names of files, and reading with limits. Knows no syntax, no store and no threads of the index.
//!
//! Whatever is met is accounted for: a file either yields text or a `SkipReason`. Nothing here follows a symbolic link,
//! so loops cannot happen and no path leads out of the root.

mod names;
mod text;
mod walk;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use xxhash_rust::xxh3::xxh3_128;

pub use text::Text;
pub use walk::{Walk, WalkedFile, WalkedKind, walk, walk_below};

use crate::config::Limits;
use crate::model::graph::FileStamp;
use crate::model::{RepoPath, SkipReason};

/// What reading a file gave.
#[derive(Debug)]
pub struct ReadFile {
    /// Identity of what was read. The time is that from before reading, so a change during the read shows later.
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
    /// The walk was told to stop.
    #[error("stopped while listing {}", root.display())]
    Cancelled {
        /// The root.
        root: PathBuf,
    },
}

/// Reads a whole file as text, with the limits. Never fails: what cannot be read has a reason.
pub fn read(root: &Path, path: &RepoPath, limits: &Limits) -> ReadFile {
    let mut stamp = FileStamp { size: 0, modified_ns: 0, hash: 0 };
    let (file, metadata) = match open_with_metadata(root, path) {
        Ok(opened) => opened,
        Err(reason) => return ReadFile { stamp, text: Err(reason) },
    };
    stamp = metadata;
    if stamp.size > limits.file_bytes {
        return ReadFile { stamp, text: Err(SkipReason::TooLarge) };
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0) + 1);
    if file.take(limits.file_bytes + 1).read_to_end(&mut bytes).is_err() {
        return ReadFile { stamp, text: Err(SkipReason::Unreadable) };
    }
    // The file may have grown since its size was taken: the stamp describes the bytes that were read.
    stamp.size = bytes.len() as u64;
    if stamp.size > limits.file_bytes {
        return ReadFile { stamp, text: Err(SkipReason::TooLarge) };
    }
    stamp.hash = xxh3_128(&bytes);
    stamp.modified_ns = trusted_time(stamp.modified_ns, now_ns());
    ReadFile { stamp, text: text::decode(bytes, limits.line_bytes) }
}

/// The first bytes of a file, at most `length`, without a byte order mark: enough to tell its language.
pub fn read_head(root: &Path, path: &RepoPath, length: usize) -> Result<Vec<u8>, SkipReason> {
    let (file, _) = open_with_metadata(root, path)?;
    let mut head = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut head).map_err(|_| SkipReason::Unreadable)?;
    if head.starts_with(text::UTF8_MARK) {
        head.drain(..text::UTF8_MARK.len());
    }
    Ok(head)
}

/// What can be shown of a file, and searched: its text, with lines of any length, or its bytes if it is binary. At most so many.
pub fn read_named(root: &Path, path: &RepoPath, at_most: u64) -> Result<Result<Vec<u8>, SkipReason>, SourceError> {
    let failed = |source| SourceError::Open { root: root.to_path_buf(), path: path.clone(), source };
    let file = open(root, path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Ok(Err(SkipReason::Special));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(at_most)).unwrap_or(0) + 1);
    if file.take(at_most.saturating_add(1)).read_to_end(&mut bytes).is_err() {
        return Ok(Err(SkipReason::Unreadable));
    }
    Ok(if bytes.len() as u64 > at_most { Err(SkipReason::TooLarge) } else { text::decode_for_showing(bytes) })
}

/// Size and time of a file as they are now; `None` if there is no regular file at the path.
pub fn stat(root: &Path, path: &RepoPath) -> Option<FileStamp> {
    open_with_metadata(root, path).ok().map(|(_, stamp)| stamp)
}

/// The path of a file on disk. Only for showing it and for comparing: reading goes through [`read`], which guards the root.
pub fn on_disk(root: &Path, path: &RepoPath) -> PathBuf {
    root.join(names::to_os(path))
}

/// The repository path of a file on disk; `None` if it does not lie below the root (both absolute).
pub fn repo_path(root: &Path, file: &Path) -> Option<RepoPath> {
    names::from_os(file.strip_prefix(root).ok()?)
}

/// Opens a regular file below the root component by component without following any link: neither `..` nor a link that is put
/// in place during the run can lead out of the root. Does not block on pipes and devices.
fn open(root: &Path, path: &RepoPath) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let relative = names::to_os(path);
    let mut directory = rustix::fs::open(root, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty())?;
    #[cfg(target_os = "linux")]
    {
        // The same in one step, where the system has it. If it fails, the way through the directories tells why.
        let file_flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        if let Ok(file) = rustix::fs::openat2(&directory, &*relative, file_flags, Mode::empty(), resolve) {
            return Ok(File::from(file));
        }
    }
    let mut components = relative.components().peekable();
    while let Some(component) = components.next() {
        let name = component.as_os_str();
        if components.peek().is_none() {
            let file = rustix::fs::openat(&directory, name, flags | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())?;
            return Ok(File::from(file));
        }
        directory = rustix::fs::openat(&directory, name, flags | OFlags::DIRECTORY, Mode::empty())?;
    }
    Err(io::Error::from(io::ErrorKind::InvalidInput))
}

fn open_with_metadata(root: &Path, path: &RepoPath) -> Result<(File, FileStamp), SkipReason> {
    let file = open(root, path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SkipReason::Vanished,
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => SkipReason::Symlink,
        _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => SkipReason::Special,
        _ => SkipReason::Unreadable,
    })?;
    let metadata = file.metadata().map_err(|_| SkipReason::Unreadable)?;
    if !metadata.is_file() {
        return Err(SkipReason::Special);
    }
    Ok((file, stamp_of(&metadata)))
}

fn stamp_of(metadata: &std::fs::Metadata) -> FileStamp {
    FileStamp { size: metadata.len(), modified_ns: metadata.modified().map_or(0, nanoseconds), hash: 0 }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let (duration, sign) = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (after, 1),
        Err(before) => (before.duration(), -1),
    };
    i64::try_from(duration.as_nanos()).map_or(i64::MAX, |nanoseconds| sign * nanoseconds)
}

/// The time now, as stamps have it.
pub fn now_ns() -> i64 {
    nanoseconds(SystemTime::now())
}

/// The time to remember for a file that was read at `now`. A file system's clock moves in steps, so a file that was written
/// in the same step as it was read may be written again without its time changing. Such a time is remembered as
/// [`UNTRUSTED_TIME`], which equals no file's: the next look reads the file again and lets the hash decide.
pub fn trusted_time(modified_ns: i64, now: i64) -> i64 {
    const FINE_STEP: i64 = 20_000_000;
    const COARSE_STEP: i64 = 2_000_000_000;
    let step = if modified_ns % 1_000_000_000 == 0 { COARSE_STEP } else { FINE_STEP };
    if modified_ns > now.saturating_sub(step) { UNTRUSTED_TIME } else { modified_ns }
}

/// A time of modification that says nothing; see [`read`].
pub const UNTRUSTED_TIME: i64 = i64::MIN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_close_to_the_read_are_not_trusted() {
        let second = 1_000_000_000;
        assert_eq!(trusted_time(5 * second + 1, 9 * second), 5 * second + 1);
        assert_eq!(trusted_time(9 * second - 1, 9 * second), UNTRUSTED_TIME);
        assert_eq!(trusted_time(8 * second, 9 * second), UNTRUSTED_TIME, "a clock with whole seconds");
        assert_eq!(trusted_time(10 * second + 1, 9 * second), UNTRUSTED_TIME, "from the future");
    }

    #[test]
    fn nothing_outside_the_root_can_be_opened() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("created");
        std::fs::write(directory.path().join("secret"), "x").expect("written");
        std::os::unix::fs::symlink("..", root.join("up")).expect("linked");
        std::os::unix::fs::symlink("../secret", root.join("leak")).expect("linked");
        std::fs::write(root.join("sub/ok"), "fine").expect("written");
        let open = |path: &str| open(&root, &RepoPath::new(path).expect("well formed"));
        assert!(open("sub/ok").is_ok());
        for path in ["up/secret", "up/root/sub/ok", "leak", "sub", "none"] {
            assert!(open(path).is_err() || path == "sub", "{path} must not open");
        }
        let reason =
            |path: &str| read(&root, &RepoPath::new(path).expect("well formed"), &Limits::default()).text.expect_err("no text");
        assert_eq!(reason("leak"), SkipReason::Symlink);
        assert_eq!(reason("sub"), SkipReason::Special);
        assert_eq!(reason("none"), SkipReason::Vanished);
    }
}
