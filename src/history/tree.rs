//! Files of a revision, written into a directory: for states that are not checked out, and for bare
//! clones. Contents are those of the object store; no filter and no conversion is run. Symbolic
//! links and other repositories are left out.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::git::{Git, GitError};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;

/// Maximum time of writing the files.
const TIME: Duration = Duration::from_secs(600);
/// Number of files that one child writes: their names fit the buffer of its input.
const PART: usize = 1_000;
/// Maximum size of the list of files.
const MAX_LIST: usize = 512 << 20;
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
    let mut files = Vec::new();
    for entry in listed.split(|&byte| byte == 0) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        let Some((head, path)) = entry.split_once('\t') else { continue };
        let mut head = head.split(' ');
        let (mode, object) = (head.next().unwrap_or_default(), head.nth(1).unwrap_or_default());
        // `100644` and `100755`: neither a link nor another repository.
        let Some(path) = RepoPath::new(path).filter(|_| mode.starts_with("100")) else { continue };
        files.push((path, object.to_owned()));
    }
    let mut writer = Writer::new(into, &files);
    for part in files.chunks(PART) {
        let asked: String = part.iter().flat_map(|(_, object)| [object.as_str(), "\n"]).collect();
        let arguments = ["cat-file", "--batch"];
        git.stream(&arguments, asked.as_bytes(), TIME, &mut |bytes| writer.take(bytes))?;
    }
    writer.finish()
}

/// Writer of the output of `cat-file --batch`: a line `<name> <type> <size>`, the content, and a
/// newline, in the order of the files.
struct Writer<'w> {
    into: &'w Path,
    files: &'w [(RepoPath, String)],
    next: usize,
    head: Vec<u8>,
    /// The file that is written, and the bytes that are missing with the newline.
    current: Option<(fs::File, usize)>,
    written: u64,
    bytes: u64,
    missing: u64,
    failed: Option<TreeError>,
}

impl<'w> Writer<'w> {
    fn new(into: &'w Path, files: &'w [(RepoPath, String)]) -> Self {
        Self {
            into,
            files,
            next: 0,
            head: Vec::new(),
            current: None,
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
                Some((mut file, missing)) => {
                    let (now, rest) = bytes.split_at(missing.min(bytes.len()));
                    bytes = rest;
                    let left = missing - now.len();
                    // The newline behind the content is no part of it.
                    let content = if left == 0 { &now[..now.len() - 1] } else { now };
                    if let Err(error) = file.write_all(content) {
                        self.fail(error);
                    } else if left > 0 {
                        self.current = Some((file, left));
                    } else {
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
        let Some((path, _)) = self.files.get(self.next) else { return };
        let path = self.into.join(path.as_str());
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        match made.and_then(|()| fs::File::create_new(&path)) {
            Ok(file) => self.current = Some((file, size + 1)),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: io::Error) {
        let path = self.files.get(self.next).map_or("", |(path, _)| path.as_str());
        self.failed = Some(TreeError::Write(path.to_owned(), error));
    }

    fn finish(self) -> Result<u64, TreeError> {
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
