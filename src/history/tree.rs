//! Files of a revision, written into a directory: for states that are not checked out, and for bare
//! clones. Contents are those of the object store; no filter and no conversion is run. Other
//! repositories are left out. Symbolic links are made last, so that nothing is written through one.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::git::{Git, GitError};
use cograph_model::cancel::CancelToken;
use cograph_system::files;
use cograph_system::names::from_bytes;

/// Maximum time of writing the files.
const TIME: Duration = Duration::from_secs(600);
/// Number of files that one child writes: their names fit the buffer of its input.
const PART: usize = 1_000;
/// Maximum size of the list of files.
const MAX_LIST: usize = 512 << 20;
/// Maximum length of the target of a link.
const MAX_LINK: usize = 4096;
/// Maximum size of all files together.
const MAX_BYTES: u64 = 32 << 30;

/// Why the files of a revision are not there.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// Git gave no answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Writing failed.
    #[error("cannot write {0}: {1}")]
    Write(String, io::Error),
    /// The objects are not all there.
    #[error("{0} of the revision's files are not in the object store")]
    Missing(u64),
    /// The files are too large together.
    #[error("the files of the revision are larger than {} GiB", MAX_BYTES >> 30)]
    TooMuch,
}

/// Name of the commit of a revision.
pub fn commit_of(root: &Path, revision: &str, cancel: &CancelToken) -> Result<String, GitError> {
    Git::open(root, cancel)?.commit(revision)
}

/// The two commits of a range, or of a commit and the present one.
pub fn ends(root: &Path, text: &str, cancel: &CancelToken) -> Result<(String, String), GitError> {
    let git = Git::open(root, cancel)?;
    let or_head = |end: &str| if end.is_empty() { "HEAD".to_owned() } else { end.to_owned() };
    let (from, to, is_fork) = match (text.split_once("..."), text.split_once("..")) {
        (Some((from, to)), _) => (or_head(from), or_head(to), true),
        (None, Some((from, to))) => (or_head(from), or_head(to), false),
        (None, None) => (text.to_owned(), "HEAD".to_owned(), false),
    };
    let (mut from, to) = (git.commit(&from)?, git.commit(&to)?);
    if is_fork {
        from = git.line(&["merge-base", &from, &to])?;
    }
    Ok((from, to))
}

/// Writes the files of a commit below a directory, and returns their number.
pub fn write_tree(
    root: &Path,
    commit: &str,
    into: &Path,
    cancel: &CancelToken,
) -> Result<u64, TreeError> {
    let git = Git::open(root, cancel)?;
    let listed = git.read(&["ls-tree", "-r", "-z", "--full-tree", commit], b"", MAX_LIST)?;
    let files: Vec<TreeEntry> = listed.split(|&byte| byte == 0).filter_map(TreeEntry::of).collect();
    let mut writer = Writer::new(into, &files);
    for part in files.chunks(PART) {
        let asked: String = part.iter().flat_map(|file| [file.object.as_str(), "\n"]).collect();
        let arguments = ["cat-file", "--batch"];
        git.stream(&arguments, asked.as_bytes(), TIME, &mut |bytes| writer.take(bytes))?;
    }
    writer.finish()
}

/// File or link of a tree.
struct TreeEntry {
    /// Path below the directory.
    path: PathBuf,
    object: String,
    is_link: bool,
}

impl TreeEntry {
    /// Reads `<mode> <type> <object>`, a tab, and the path; none for other repositories.
    fn of(line: &[u8]) -> Option<Self> {
        let tab = memchr::memchr(b'\t', line)?;
        let mut head = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
        let (mode, object) = (head.next()?, head.nth(1)?.to_owned());
        let path = PathBuf::from(from_bytes(line[tab + 1..].to_vec()));
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        let is_link = mode == "120000";
        // `100644` and `100755` are files.
        (is_below && (is_link || mode.starts_with("100"))).then_some(Self { path, object, is_link })
    }
}

/// What is being read of an entry.
enum TreeContent {
    File(fs::File),
    /// Target of a link.
    Link(Vec<u8>),
}

/// Writer of the output of `cat-file --batch`: a line `<name> <type> <size>`, the content, and a
/// newline, in the order of the files.
struct Writer<'w> {
    into: &'w Path,
    files: &'w [TreeEntry],
    next: usize,
    head: Vec<u8>,
    /// What is being read, and the bytes that are missing with the newline.
    current: Option<(TreeContent, usize)>,
    /// Links to make, with their targets.
    links: Vec<(PathBuf, Vec<u8>)>,
    written: u64,
    bytes: u64,
    missing: u64,
    failed: Option<TreeError>,
}

impl<'w> Writer<'w> {
    fn new(into: &'w Path, files: &'w [TreeEntry]) -> Self {
        Self {
            into,
            files,
            next: 0,
            head: Vec::new(),
            current: None,
            links: Vec::new(),
            written: 0,
            bytes: 0,
            missing: 0,
            failed: None,
        }
    }

    /// Takes a piece of the output; false after a failure.
    fn take(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() && self.failed.is_none() {
            match self.current.take() {
                Some((mut reading, missing)) => {
                    let (now, rest) = bytes.split_at(missing.min(bytes.len()));
                    bytes = rest;
                    let left = missing - now.len();
                    // The newline behind the content is no part of it.
                    let content = if left == 0 { &now[..now.len() - 1] } else { now };
                    let taken = match &mut reading {
                        TreeContent::File(file) => file.write_all(content),
                        TreeContent::Link(target) => {
                            target.extend_from_slice(content);
                            Ok(())
                        }
                    };
                    if let Err(error) = taken {
                        self.fail(error);
                    } else if left > 0 {
                        self.current = Some((reading, left));
                    } else {
                        if let TreeContent::Link(target) = reading {
                            self.links.push((self.files[self.next].path.clone(), target));
                        }
                        self.written += 1;
                        self.next += 1;
                    }
                }
                None => {
                    let end = memchr::memchr(b'\n', bytes);
                    self.head.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
                    bytes = end.map_or(&[], |end| &bytes[end + 1..]);
                    if end.is_some() {
                        let head = std::mem::take(&mut self.head);
                        self.begin(&String::from_utf8_lossy(&head));
                    }
                }
            }
        }
        self.failed.is_none()
    }

    fn begin(&mut self, head: &str) {
        let size = head.split(' ').nth(2).and_then(|size| size.parse::<usize>().ok());
        let Some(size) = size else {
            self.missing += 1;
            self.next += 1;
            return;
        };
        self.bytes += size as u64;
        if self.bytes > MAX_BYTES {
            self.failed = Some(TreeError::TooMuch);
            return;
        }
        let Some(entry) = self.files.get(self.next) else { return };
        if entry.is_link && size <= MAX_LINK {
            self.current = Some((TreeContent::Link(Vec::with_capacity(size)), size + 1));
            return;
        }
        let path = self.into.join(&entry.path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        match made.and_then(|()| fs::File::create_new(&path)) {
            Ok(file) => self.current = Some((TreeContent::File(file), size + 1)),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: io::Error) {
        let path = self.files.get(self.next).map(|entry| entry.path.display().to_string());
        self.failed = Some(TreeError::Write(path.unwrap_or_default(), error));
    }

    /// Makes the links. Their directories are directories of the tree: where a tree has a file
    /// below a link, which no checkout has, the link is left out.
    fn make_links(&mut self) {
        for (path, target) in std::mem::take(&mut self.links) {
            let above: Vec<&Path> = path.ancestors().skip(1).collect();
            let is_inside = above.iter().all(|above| {
                let found = self.into.join(above).symlink_metadata();
                found.map_or_else(|error| files::is_absent(&error), |found| found.is_dir())
            });
            let place = self.into.join(&path);
            if !is_inside || place.symlink_metadata().is_ok() {
                continue;
            }
            let made = place.parent().map_or(Ok(()), fs::create_dir_all);
            if let Err(error) = made.and_then(|()| files::make_link(&place, target)) {
                self.failed = Some(TreeError::Write(path.display().to_string(), error));
                return;
            }
        }
    }

    fn finish(mut self) -> Result<u64, TreeError> {
        if self.failed.is_none() {
            self.make_links();
        }
        match self.failed {
            Some(error) => Err(error),
            None if self.missing > 0 => Err(TreeError::Missing(self.missing)),
            None if self.written < self.files.len() as u64 => {
                Err(TreeError::Missing(self.files.len() as u64 - self.written))
            }
            None => Ok(self.written),
        }
    }
}
