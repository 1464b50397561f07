//! Root directory of a repository, kept open while files are opened relative to it. No path leads
//! outside.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use super::{names, stamp, text};
use crate::error::SourceError;
use crate::text::Shown;
use cograph_model::graph::FileStamp;
use cograph_model::{RepoPath, SkipReason};
use cograph_system::files::{self, FileStat, OpenDirectory};

/// Root directory. It is opened for the first of its files, and stays open for the lifetime of this
/// value.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    directory: OnceLock<OpenDirectory>,
}

/// Identity of a directory, independent of its name: a directory created in place of another one
/// has another identity. An inode number may be reused; its creation time is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirectoryId {
    device: u64,
    inode: u64,
    made: Option<SystemTime>,
}

impl DirectoryId {
    /// Returns the identity of the directory at a path; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
        let FileStat { device, inode, .. } = FileStat::from(&found);
        Some(Self { device, inode, made: found.created().ok() })
    }
}

impl Root {
    /// Creates a root without opening it.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), directory: OnceLock::new() }
    }

    /// Path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads at most this number of bytes of a file for display and search: its text, with lines of
    /// any length, or its bytes if it is binary.
    pub fn read_named(
        &self,
        path: &RepoPath,
        at_most: u64,
    ) -> Result<Result<Shown, SkipReason>, SourceError> {
        let failed =
            |source| SourceError::Open { root: self.path.clone(), path: path.clone(), source };
        let file = self.open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Ok(Err(SkipReason::Special));
        }
        // Without reading it: a search asks for every file of a repository.
        if metadata.len() > at_most {
            return Ok(Err(SkipReason::TooLarge));
        }
        let Ok(bytes) = read_all(&file, metadata.len(), at_most) else {
            return Ok(Err(SkipReason::Unreadable));
        };
        Ok(if bytes.len() as u64 > at_most {
            Err(SkipReason::TooLarge)
        } else {
            text::decode_for_showing(bytes)
        })
    }

    /// Returns where a link leads, as it is written; `None` if there is none at the path, or it is
    /// no text.
    pub fn link(&self, path: &RepoPath) -> Option<String> {
        self.directory().ok()?.read_link(&names::to_os(path)).ok()?
    }

    /// Returns the current stamp of a file; `None` if there is no regular file at the path.
    pub fn stat(&self, path: &RepoPath) -> Option<FileStamp> {
        self.open_with_metadata(path).ok().map(|(_, stamp)| stamp)
    }

    /// Files and links of one directory, without those below it: at most this number.
    #[expect(
        clippy::disallowed_methods,
        reason = "source is the one reader of repository files; what is listed is opened by path"
    )]
    pub fn files_in(&self, directory: &str, at_most: usize) -> Vec<RepoPath> {
        let place = match directory {
            "" => self.path.clone(),
            directory => match RepoPath::new(directory) {
                Some(directory) => self.path.join(names::to_os(&directory)),
                None => return Vec::new(),
            },
        };
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
        let paths =
            files.filter_map(|file| names::from_os(file.path().strip_prefix(&self.path).ok()?));
        paths.take(at_most).collect()
    }

    pub(super) fn open_with_metadata(
        &self,
        path: &RepoPath,
    ) -> Result<(File, FileStamp), SkipReason> {
        let file = self.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SkipReason::Vanished,
            _ if files::is_followed_link(&error) => SkipReason::Symlink,
            _ if files::is_without_reader(&error) => SkipReason::Special,
            _ => SkipReason::Unreadable,
        })?;
        let (metadata, stamp) =
            stamp::taken(|| file.metadata()).map_err(|_| SkipReason::Unreadable)?;
        if !metadata.is_file() {
            return Err(SkipReason::Special);
        }
        Ok((file, stamp))
    }

    /// Opens a file component by component without following any link: neither `..` nor a link
    /// created meanwhile can lead outside the root. Does not block on pipes and devices.
    fn open(&self, path: &RepoPath) -> io::Result<File> {
        self.directory()?.open_file(&names::to_os(path))
    }

    fn directory(&self) -> io::Result<&OpenDirectory> {
        if let Some(directory) = self.directory.get() {
            return Ok(directory);
        }
        let opened = OpenDirectory::open(&self.path)?;
        Ok(self.directory.get_or_init(|| opened))
    }
}

/// Reads a file of about `length` bytes: all of it, or one byte more than `at_most`.
pub(super) fn read_all(file: &File, length: u64, at_most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(at_most)).unwrap_or(0) + 1);
    file.take(at_most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_config::Limits;

    #[test]
    fn nothing_outside_can_be_opened() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("created");
        std::fs::write(directory.path().join("secret"), "x").expect("written");
        std::os::unix::fs::symlink("..", root.join("up")).expect("linked");
        std::os::unix::fs::symlink("../secret", root.join("leak")).expect("linked");
        std::fs::write(root.join("sub/ok"), "fine").expect("written");
        let root = Root::new(&root);
        let open = |path: &str| root.open(&RepoPath::new(path).expect("well formed"));
        assert!(open("sub/ok").is_ok());
        for path in ["up/secret", "up/root/sub/ok", "leak", "sub", "none"] {
            assert!(open(path).is_err() || path == "sub", "{path} must not open");
        }
        let read = |path: &str| {
            crate::read(&root, &RepoPath::new(path).expect("well formed"), &Limits::default())
        };
        let reason = |path: &str| read(path).text.expect_err("no text");
        assert_eq!(reason("leak"), SkipReason::Symlink);
        assert_eq!(reason("sub"), SkipReason::Special);
        assert_eq!(reason("none"), SkipReason::Vanished);
    }

    #[test]
    fn a_root_that_is_not_there_is_tried_again() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = Root::new(&directory.path().join("later"));
        let path = RepoPath::new("file").expect("well formed");
        let error = root.read_named(&path, 10).expect_err("it is not there").to_string();
        assert!(
            error.starts_with("cannot open file in ") && error.contains("later: No such file"),
            "{error}"
        );
        std::fs::create_dir(root.path()).expect("created");
        std::fs::write(root.path().join("file"), "text").expect("written");
        let read = root.read_named(&path, 10).expect("it exists");
        assert_eq!(read.map(|shown| shown.bytes), Ok(b"text".to_vec()));
        assert_eq!(root.read_named(&path, 3).expect("it exists"), Err(SkipReason::TooLarge));
    }
}
