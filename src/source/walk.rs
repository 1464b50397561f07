//! Walk over the files of a repository. Reads ignore files and directory entries, no other
//! contents.
//!
//! Excluded are only:
//! - entries matched by `.gitignore` (nested, also without git), `.ignore`, `.cographignore`,
//!   `.git/info/exclude` and the user's global excludes; rules of the enclosing repository apply as
//!   well, those of other directories above it do not;
//! - directories of version control, and other check-outs of a repository inside this one (linked
//!   work trees);
//! - hidden files that no language claims by name, and hidden directories that declare themselves
//!   the state of a tool (`CACHEDIR.TAG`, `pyvenv.cfg`).

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use super::filter::Filter;
use super::{RULES, Rules, SourceError, names, stamp};
use crate::grammar;
use crate::model::cancel::CancelToken;
use crate::model::graph::FileStamp;
use crate::model::{RepoPath, SkipReason};

/// Timeout of a walk, because other requests may wait for it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(300);

/// Files of a repository at one moment.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Files, sorted by path.
    pub files: Vec<WalkedFile>,
    /// Visited directories below the root, sorted; with files or without.
    pub directories: Vec<RepoPath>,
    /// Ignore files of the tree, sorted.
    pub ignore_files: Vec<WalkedFile>,
    /// Other ignore rules. Of a partial walk: those of the repositories visited.
    pub rules: Rules,
}

/// File found by the walk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WalkedFile {
    /// Path.
    pub path: RepoPath,
    /// Stamp without a hash.
    pub stamp: FileStamp,
    /// Reason to skip it, of those that its directory entry gives; none for a regular file. A
    /// directory that could not be listed is unreadable.
    pub skipped: Option<SkipReason>,
}

/// Walks the repository at `root` with this number of threads.
pub fn walk(root: &Path, threads: usize, cancel: &CancelToken) -> Result<Walk, SourceError> {
    // Before the walk reads them: a change during the walk is then detected afterwards.
    let mut rules = Rules::around(root);
    let mut walk = walk_where(root, threads, cancel, TIMEOUT, |_| true)?;
    rules.extend(walk.rules);
    walk.rules = rules;
    Ok(walk)
}

/// Walks only some files and directories of the repository at `root`, with the same rules.
pub fn walk_below(
    root: &Path,
    paths: &BTreeSet<RepoPath>,
    cancel: &CancelToken,
) -> Result<Walk, SourceError> {
    let (paths, top) = (paths.clone(), root.to_path_buf());
    // Parent directories are visited on the way, and must belong to the repository themselves.
    let is_wanted = move |path: &Path| {
        let path = path.strip_prefix(&top).ok().and_then(names::from_os);
        path.is_none_or(|path| leads_to(&path, &paths))
    };
    walk_where(root, 1, cancel, TIMEOUT, is_wanted)
}

/// True if the path is one of these, above one of them or below one.
fn leads_to(path: &RepoPath, paths: &BTreeSet<RepoPath>) -> bool {
    let mut above = Some(path.clone());
    while let Some(candidate) = above {
        if paths.contains(&candidate) {
            return true;
        }
        above = RepoPath::new(candidate.directory());
    }
    let inside = RepoPath::new(&format!("{path}/\u{1}"));
    inside.is_some_and(|inside| {
        paths.range(inside..).next().is_some_and(|next| next.starts_with(path))
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "source is the one walker; this looks whether the root can be listed at all"
)]
fn walk_where(
    root: &Path,
    threads: usize,
    cancel: &CancelToken,
    longest: Duration,
    is_wanted: impl Fn(&Path) -> bool + Send + Sync + 'static,
) -> Result<Walk, SourceError> {
    let failed = |source| SourceError::Root { root: root.to_path_buf(), source };
    fs::read_dir(root).map_err(failed)?;
    let (filter, is_wanted) = (Arc::new(Filter::new(root)), Arc::new(is_wanted));
    let admits = {
        let (filter, is_wanted) = (Arc::clone(&filter), Arc::clone(&is_wanted));
        move |entry: &DirEntry| {
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let path = entry.path();
            let is_in = entry.depth() == 0
                || is_wanted(path)
                    && !filter.excludes(path, is_directory)
                    && is_part_of_the_repository(entry);
            if is_in && is_directory && entry.depth() > 0 {
                filter.enter(path);
            }
            is_in
        }
    };
    let mut builder = WalkBuilder::new(root);
    // `Filter` applies the ignore rules: the builder would follow links at the paths of ignore
    // files.
    builder.standard_filters(false).follow_links(false).threads(threads).filter_entry(admits);
    let (found, until) = (Mutex::new(Walk::default()), Instant::now() + longest);
    builder.build_parallel().visit(&mut Collectors { root, cancel, until, found: &found });
    if cancel.is_cancelled() {
        return Err(SourceError::Cancelled { root: root.to_path_buf() });
    }
    if Instant::now() > until {
        return Err(SourceError::TooSlow { root: root.to_path_buf() });
    }
    let mut walk = found.into_inner();
    add_unread(&mut walk, root, filter.unread().into_iter().filter(|path| is_wanted(path)));
    walk.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk.files.dedup_by(|a, b| a.path == b.path);
    walk.directories.sort_unstable();
    walk.ignore_files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(walk)
}

/// Adds ignore files that were not read, as files without facts.
fn add_unread(walk: &mut Walk, root: &Path, unread: impl Iterator<Item = PathBuf>) {
    for path in unread {
        let Some(relative) = path.strip_prefix(root).ok().and_then(names::from_os) else {
            tracing::warn!(path = %path.display(), "ignore rules were not read: no regular file of \
                at most 1 MB");
            continue;
        };
        let stamp =
            stamp::taken(|| path.symlink_metadata()).map(|(_, stamp)| stamp).unwrap_or_default();
        walk.files.retain(|file| file.path != relative);
        walk.files.push(WalkedFile {
            path: relative,
            stamp,
            skipped: Some(SkipReason::UnreadRules),
        });
    }
}

/// True if a directory belongs to the repository. Files are checked later.
fn is_part_of_the_repository(entry: &DirEntry) -> bool {
    let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    if entry.depth() == 0 || !is_directory {
        return entry.depth() == 0 || entry.file_name() != ".git";
    }
    let name = entry.file_name().as_encoded_bytes();
    if matches!(name, b".git" | b".hg" | b".svn" | b".jj" | b".bzr" | b".pijul") {
        return false;
    }
    let is_there = |name: &str| entry.path().join(name).symlink_metadata().is_ok();
    if name.starts_with(b".") && (is_there("CACHEDIR.TAG") || is_there("pyvenv.cfg")) {
        return false;
    }
    !is_linked_work_tree(entry.path())
}

/// True if the directory is another check-out of a repository (`git worktree add`). A submodule is
/// not.
#[expect(
    clippy::disallowed_methods,
    reason = "source is the one reader of repository files; the size is checked first"
)]
fn is_linked_work_tree(directory: &Path) -> bool {
    let file = directory.join(".git");
    let is_file =
        file.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() < 4096);
    is_file
        && fs::read_to_string(&file)
            .is_ok_and(|text| text.starts_with("gitdir:") && text.contains("/worktrees/"))
}

/// Factory of collectors, one for each thread; each merges its results at its end.
struct Collectors<'a> {
    root: &'a Path,
    cancel: &'a CancelToken,
    until: Instant,
    found: &'a Mutex<Walk>,
}

struct Collector<'a> {
    root: &'a Path,
    cancel: &'a CancelToken,
    until: Instant,
    found: &'a Mutex<Walk>,
    own: Walk,
}

impl<'s, 'a: 's> ParallelVisitorBuilder<'s> for Collectors<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        let &mut Self { root, cancel, until, found } = self;
        Box::new(Collector { root, cancel, until, found, own: Walk::default() })
    }
}

impl ParallelVisitor for Collector<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.cancel.is_cancelled() || Instant::now() > self.until {
            return WalkState::Quit;
        }
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {
                self.directory(&entry)
            }
            Ok(entry) if RULES.iter().any(|name| entry.file_name() == *name) => {
                self.ignore_file(&entry)
            }
            Ok(entry) => self.own.files.extend(self.file(&entry)),
            Err(error) => self.own.files.extend(self.failure(&error)),
        }
        WalkState::Continue
    }
}

impl Collector<'_> {
    /// Returns the relative path; `None` for the root.
    fn path(&self, entry: &DirEntry) -> Option<RepoPath> {
        names::from_os(entry.path().strip_prefix(self.root).ok()?)
    }

    fn directory(&mut self, entry: &DirEntry) {
        let Some(path) = self.path(entry) else { return };
        if entry.path().join(".git").symlink_metadata().is_ok() {
            self.own.rules.add_repository(entry.path());
        }
        self.own.directories.push(path);
    }

    /// Records an ignore file. A language may claim it by name as well.
    fn ignore_file(&mut self, entry: &DirEntry) {
        if let (Some(path), Ok((_, stamp))) = (self.path(entry), stamp::taken(|| entry.metadata()))
        {
            self.own.ignore_files.push(WalkedFile { path, stamp, skipped: None });
        }
        self.own.files.extend(self.file(entry));
    }

    fn file(&self, entry: &DirEntry) -> Option<WalkedFile> {
        let file_type = entry.file_type()?;
        let path = self.path(entry)?;
        if is_hidden(&path) && grammar::detect(&path, &[], &[]).is_none() {
            return None;
        }
        let skipped = if file_type.is_file() {
            None
        } else if file_type.is_symlink() {
            Some(SkipReason::Symlink)
        } else {
            Some(SkipReason::Special)
        };
        match stamp::taken(|| entry.metadata()) {
            Ok((_, stamp)) => Some(WalkedFile { path, stamp, skipped }),
            Err(error) if is_not_found(&error) => None,
            Err(_) => Some(unreadable(path)),
        }
    }

    /// Returns an entry for a failed access, unless the file was removed meanwhile.
    fn failure(&self, error: &ignore::Error) -> Option<WalkedFile> {
        if is_not_found(error) {
            return None;
        }
        let path =
            path_of(error).and_then(|path| names::from_os(path.strip_prefix(self.root).ok()?));
        if path.is_none() {
            tracing::warn!(%error, "an entry of the repository could not be looked at");
        }
        path.map(unreadable)
    }
}

fn unreadable(path: RepoPath) -> WalkedFile {
    WalkedFile { path, stamp: FileStamp::default(), skipped: Some(SkipReason::Unreadable) }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        let mut found = self.found.lock();
        found.files.append(&mut self.own.files);
        found.directories.append(&mut self.own.directories);
        found.ignore_files.append(&mut self.own.ignore_files);
        found.rules.extend(std::mem::take(&mut self.own.rules));
    }
}

fn is_hidden(path: &RepoPath) -> bool {
    path.as_str().starts_with('.') || path.as_str().contains("/.")
}

fn is_not_found(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_that_takes_too_long_is_given_up() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let walked = walk_where(place.path(), 2, &CancelToken::new(), Duration::ZERO, |_| true);
        let error = walked.expect_err("there was no time");
        assert!(matches!(error, SourceError::TooSlow { .. }), "{error}");
    }
}
