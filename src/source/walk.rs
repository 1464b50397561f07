//! Walk over the files of a repository. Reads ignore files and directory entries, no other
//! contents.
//!
//! Excluded are only:
//! - entries, apart from build files, matched by `.gitignore` (nested, also without git),
//!   `.ignore`, `.cographignore`, `.git/info/exclude` and the user's global excludes; rules of the
//!   enclosing repository apply as well, those of other directories above it do not;
//! - directories of version control, and other check-outs of a repository inside this one (linked
//!   work trees);
//! - hidden files that no language claims by name and no build writes for them, and hidden
//!   directories that declare themselves the state of a tool (`CACHEDIR.TAG`, `pyvenv.cfg`).

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fs::{self, DirEntry, FileType};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::filter::Filter;
use super::traversal::traverse;
use super::{names, stamp};
use crate::error::SourceError;
pub(super) use crate::error::TIMEOUT;
use crate::filter::RULES;
use crate::rules::Rules;
use cograph_grammar as grammar;
use cograph_model::cancel::CancelToken;
use cograph_model::graph::FileStamp;
use cograph_model::{RepoPath, SkipReason};

/// Directories for the products of builds, which are searched for build files although ignore rules
/// exclude them.
const BUILD_DIRECTORIES: [&str; 2] = ["build", "builddir"];

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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    // Parent directories are visited on the way, and must belong to the repository themselves.
    let is_wanted = |path: &Path| {
        let path = path.strip_prefix(root).ok().and_then(names::from_os);
        path.is_none_or(|path| leads_to(&path, paths))
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
    is_wanted: impl Fn(&Path) -> bool + Sync,
) -> Result<Walk, SourceError> {
    let failed = |source| SourceError::Root { root: root.to_path_buf(), source };
    fs::read_dir(root).map_err(failed)?;
    let filter = Filter::new(root);
    let (found, until) = (Mutex::new(Walk::default()), Instant::now() + longest);
    let lister =
        Lister { root, cancel, until, filter: &filter, is_wanted: &is_wanted, found: &found };
    traverse(root.to_path_buf(), threads, &|directory| lister.list(directory));
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

/// True if an entry belongs to the repository. Files are checked later.
fn is_part_of_the_repository(path: &Path, is_directory: bool) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    if !is_directory {
        return name != b".git";
    }
    if matches!(name, b".git" | b".hg" | b".svn" | b".jj" | b".bzr" | b".pijul") {
        return false;
    }
    let exists = |name: &str| path.join(name).symlink_metadata().is_ok();
    if name.starts_with(b".") && (exists("CACHEDIR.TAG") || exists("pyvenv.cfg")) {
        return false;
    }
    !is_linked_work_tree(path)
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

/// Lists directories, on several threads.
struct Lister<'a, W> {
    root: &'a Path,
    cancel: &'a CancelToken,
    until: Instant,
    filter: &'a Filter,
    is_wanted: &'a W,
    found: &'a Mutex<Walk>,
}

impl<W: Fn(&Path) -> bool> Lister<'_, W> {
    /// Records the contents of a directory, and returns the directories in it.
    fn list(&self, directory: &Path) -> Vec<PathBuf> {
        let (mut own, mut below) = (Walk::default(), Vec::new());
        if let Err(error) = self.read(directory, &mut own, &mut below) {
            own.files.extend(self.failure(directory, &error));
        }
        let mut found = self.found.lock();
        found.files.append(&mut own.files);
        found.directories.append(&mut own.directories);
        found.ignore_files.append(&mut own.ignore_files);
        found.rules.extend(own.rules);
        below
    }

    #[expect(clippy::disallowed_methods, reason = "source is the one walker")]
    fn read(
        &self,
        directory: &Path,
        own: &mut Walk,
        below: &mut Vec<PathBuf>,
    ) -> std::io::Result<()> {
        if let Some(path) = self.relative(directory) {
            if directory.join(".git").symlink_metadata().is_ok() {
                own.rules.add_repository(directory);
            }
            own.directories.push(path);
        }
        for entry in fs::read_dir(directory)? {
            if self.cancel.is_cancelled() || Instant::now() > self.until {
                below.clear();
                break;
            }
            let entry = entry?;
            let path = entry.path();
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    own.files.extend(self.failure(&path, &error));
                    continue;
                }
            };
            let is_in = (self.is_wanted)(&path) && is_part_of_the_repository(&path, kind.is_dir());
            if !is_in {
                continue;
            }
            if self.filter.excludes(&path, kind.is_dir()) {
                self.add_excluded(&entry, kind, own);
                continue;
            }
            if kind.is_dir() {
                self.filter.enter(&path);
                below.push(path);
                continue;
            }
            if RULES.iter().any(|name| entry.file_name() == *name)
                && let (Some(path), Ok((_, stamp))) =
                    (self.relative(&path), stamp::taken(|| entry.metadata()))
            {
                // A language may claim it by name as well.
                own.ignore_files.push(WalkedFile { path, stamp, skipped: None });
            }
            own.files.extend(self.file(&entry, kind));
        }
        Ok(())
    }

    /// Records the build files of an excluded entry: itself, or those in it if it is a directory
    /// with the usual name of one for the products of a build.
    fn add_excluded(&self, entry: &DirEntry, kind: FileType, own: &mut Walk) {
        let (path, name) = (entry.path(), entry.file_name());
        if kind.is_file() && grammar::build_files().any(|file| name == *file) {
            own.files.extend(self.file(entry, kind));
        }
        if !kind.is_dir() || !BUILD_DIRECTORIES.iter().any(|directory| name == *directory) {
            return;
        }
        // It is watched even without one: a build may write it.
        own.directories.extend(self.relative(&path));
        for file in grammar::build_files().map(|file| path.join(file)) {
            let Some(relative) = self.relative(&file).filter(|_| (self.is_wanted)(&file)) else {
                continue;
            };
            if let Ok((metadata, stamp)) = stamp::taken(|| file.symlink_metadata())
                && metadata.is_file()
            {
                own.files.push(WalkedFile { path: relative, stamp, skipped: None });
            }
        }
    }

    /// Returns the relative path; `None` for the root.
    fn relative(&self, path: &Path) -> Option<RepoPath> {
        names::from_os(path.strip_prefix(self.root).ok()?)
    }

    fn file(&self, entry: &DirEntry, kind: FileType) -> Option<WalkedFile> {
        let path = self.relative(&entry.path())?;
        let is_read = || {
            grammar::detect(&path, &[], &[]).is_some()
                || grammar::build_files().any(|file| path.file_name() == file)
        };
        if is_hidden(&path) && !is_read() {
            return None;
        }
        let skipped = if kind.is_file() {
            None
        } else if kind.is_symlink() {
            Some(SkipReason::Symlink)
        } else {
            Some(SkipReason::Special)
        };
        match stamp::taken(|| entry.metadata()) {
            Ok((_, stamp)) => Some(WalkedFile { path, stamp, skipped }),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(_) => Some(unreadable(path)),
        }
    }

    /// Returns an entry for a failed access, unless the file was removed meanwhile.
    fn failure(&self, path: &Path, error: &std::io::Error) -> Option<WalkedFile> {
        if error.kind() == ErrorKind::NotFound {
            return None;
        }
        let relative = self.relative(path);
        if relative.is_none() {
            tracing::warn!(path = %path.display(), %error, "an entry of the repository could not \
                be read");
        }
        relative.map(unreadable)
    }
}

fn unreadable(path: RepoPath) -> WalkedFile {
    WalkedFile { path, stamp: FileStamp::default(), skipped: Some(SkipReason::Unreadable) }
}

fn is_hidden(path: &RepoPath) -> bool {
    path.as_str().starts_with('.') || path.as_str().contains("/.")
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
