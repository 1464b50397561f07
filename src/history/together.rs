//! Files that changed in the same commits: read from the log, without merges and without commits
//! that change many files at once.

use std::collections::BTreeMap;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::git::{Git, GitError};
use cograph_model::RepoPath;
use cograph_model::change::Together;

/// Maximum number of commits read, from the newest.
const MAX_COMMITS: &str = "3000";
/// Maximum time of reading them.
const TIME: Duration = Duration::from_millis(1_500);
/// Number of files above which a commit is a reformat, a move or a release: no evidence.
const MAX_FILES: usize = 30;
/// Least number of commits in common that is evidence.
const MIN_COMMITS: u32 = 2;
/// Maximum number of bytes of one line.
const MAX_LINE: usize = 8 << 10;

/// Reads the log from a commit, and counts the commits of the changed files.
pub(super) fn together(
    git: &Git<'_>,
    from: &str,
    changed: &FxHashSet<RepoPath>,
) -> Result<Together, GitError> {
    let mut log = Log::new(changed);
    let arguments = [
        "log",
        "--no-merges",
        "--no-renames",
        "--name-only",
        "--relative",
        "--format=%x01",
        "-n",
        MAX_COMMITS,
        "--end-of-options",
        from,
        "--",
    ];
    let is_whole = git.stream(&arguments, b"", TIME, &mut |bytes| {
        log.take(bytes);
        true
    })?;
    log.end_commit();
    let is_shallow = git.line(&["rev-parse", "--is-shallow-repository"])? == "true";
    let limit = match () {
        () if is_shallow => "the clone is shallow",
        () if !is_whole => "reading it took too long",
        () if log.commits.to_string() == MAX_COMMITS => "older commits are not read",
        () => "",
    };
    Ok(Together { shares: log.shares(), commits: log.commits, limit })
}

struct Log<'c> {
    changed: &'c FxHashSet<RepoPath>,
    line: Vec<u8>,
    /// Files of the current commit.
    files: Vec<RepoPath>,
    commits: u64,
    /// Number of commits by changed file.
    own: FxHashMap<RepoPath, u32>,
    /// Number of commits by changed file and other file.
    both: FxHashMap<(RepoPath, RepoPath), u32>,
}

impl<'c> Log<'c> {
    fn new(changed: &'c FxHashSet<RepoPath>) -> Self {
        let (line, files, own, both) = Default::default();
        Self { changed, line, files, commits: 0, own, both }
    }

    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte != b'\n' {
                if self.line.len() < MAX_LINE {
                    self.line.push(byte);
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if line.first() == Some(&1) {
                self.end_commit();
                self.commits += 1;
            } else if let Some(path) = std::str::from_utf8(&line).ok().and_then(RepoPath::new)
                && self.files.len() <= MAX_FILES
            {
                self.files.push(path);
            }
        }
    }

    fn end_commit(&mut self) {
        let files = std::mem::take(&mut self.files);
        if files.len() > MAX_FILES {
            return;
        }
        for file in files.iter().filter(|file| self.changed.contains(*file)) {
            *self.own.entry(file.clone()).or_default() += 1;
            for other in files.iter().filter(|other| *other != file) {
                *self.both.entry((file.clone(), other.clone())).or_default() += 1;
            }
        }
    }

    fn shares(&self) -> BTreeMap<RepoPath, u32> {
        let mut shares: BTreeMap<RepoPath, u32> = BTreeMap::new();
        let mut all: Vec<_> = self.both.iter().collect();
        all.sort_unstable();
        for ((file, other), count) in all {
            if *count < MIN_COMMITS {
                continue;
            }
            let own = self.own.get(file).copied().unwrap_or(1).max(1);
            // One more commit, so that few prove little.
            let share = count * 1000 / (own + 1);
            let known = shares.entry(other.clone()).or_default();
            *known = (*known).max(share);
        }
        shares
    }
}
