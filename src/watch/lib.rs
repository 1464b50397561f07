//! File watching: what the system has reported about a repository in use, taken at each query.
//! Yields paths to check and nothing more: stamps and hashes decide. Knows no contents, no store
//! and no server.
//!
//! ```text
//! directories of a repository ──> queue of the system ──> thread of `notify`
//!                                                              │ paths so far
//!                        query: touch the cookie, wait for it ─┴─> Hints: paths to look at,
//!                                                                  or everywhere
//! ```
//!
//! Linux queues a notification before the system call that changed the file returns, and reports
//! the cookie after everything before it: a file saved before the query is among the paths. If the
//! cookie is late, and on systems that promise no order, the query looks everywhere (`queue`).
//!
//! A watch is bound to directories, not to paths: if the path of the root leads to another
//! directory, or something is mounted in it, its changes are not reported. So that is checked
//! first, each time. A watch by its path is made once: where notifications were lost or the mounts
//! have changed, a directory may have taken the place of a watched one, and all are watched anew.

mod queue;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_source::{self as source, DirectoryId, Mounts, RULES, SourceError};
use queue::{Change, Queue, QueueError};

/// Watched directories of one repository.
#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    threads: usize,
    queue: Queue,
    patience: Duration,
    /// Directory at the root's path when the watch was created.
    identity: DirectoryId,
    /// Mounts in it, if the system lists them.
    mounts: Option<Mounts>,
    /// Watched directories below the root.
    directories: BTreeSet<RepoPath>,
}

/// Possibly changed paths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hints {
    /// These files, and the contents of these directories.
    pub paths: BTreeSet<RepoPath>,
    /// Everything: not all changes up to now are known by their paths.
    pub everything: bool,
}

/// Why a repository is not watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The user's limit of watches is reached.
    #[
        error(
            "the system's limit of watches does not allow for the directories of {}", root.display()
        )
    ]
    Limit {
        /// Root of the repository.
        root: PathBuf,
    },
    /// The root was deleted, renamed or unmounted.
    #[error("{} is no longer where it was", root.display())]
    Lost {
        /// Root of the repository.
        root: PathBuf,
    },
    /// Network file system: changes from other machines are not reported.
    #[
        error(
            "{} is on {kind}, where files can change without a notification to this machine",
            root.display()
        )
    ]
    Remote {
        /// Root of the repository.
        root: PathBuf,
        /// Kind of the file system.
        kind: String,
    },
    /// Listing the directories failed.
    #[error(transparent)]
    Source(SourceError),
    /// The system does not support watching this file system.
    #[error("cannot watch {}: {source}", root.display())]
    System {
        /// Root of the repository.
        root: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

impl Hints {
    /// True if nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.everything
    }

    /// Merges other hints.
    pub fn extend(&mut self, others: Self) {
        self.paths.extend(others.paths);
        self.everything |= others.everything;
    }
}

impl WatchError {
    fn of(root: &Path, error: QueueError) -> Self {
        let root = root.to_path_buf();
        match error {
            QueueError::Limit => Self::Limit { root },
            QueueError::System(source) => Self::System { root, source },
        }
    }
}

impl Watch {
    /// Watches the directories of the repository at `root`. Later changes are among the hints.
    pub fn start(root: &Path, threads: usize, cancel: &CancelToken) -> Result<Self, WatchError> {
        if let Some(kind) = source::remote_kind(root) {
            return Err(WatchError::Remote { root: root.to_path_buf(), kind });
        }
        let mounts = Mounts::of(root).ok();
        let Some(identity) = DirectoryId::of(root) else {
            return Err(WatchError::Lost { root: root.to_path_buf() });
        };
        let queue = Queue::open(root).map_err(|error| WatchError::of(root, error))?;
        let mut watch = Self {
            root: root.to_path_buf(),
            threads,
            queue,
            patience: queue::PATIENCE,
            identity,
            mounts,
            directories: BTreeSet::new(),
        };
        watch.add_below(None, cancel)?;
        // Ignore rules outside of the work tree. May not exist.
        watch.add(RepoPath::new(".git/info").into_iter().collect())?;
        Ok(watch)
    }

    /// How long a query waits until everything before it was reported: 50 ms unless another time is
    /// given. Then it looks everywhere.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Number of watched directories.
    pub fn directories(&self) -> usize {
        self.directories.len() + 1
    }

    /// Changes since the last call, up to now. Blocks for at most the patience.
    pub fn drain(&mut self, cancel: &CancelToken) -> Result<Hints, WatchError> {
        if DirectoryId::of(&self.root) != Some(self.identity) {
            return Err(WatchError::Lost { root: self.root.clone() });
        }
        let have_mounts_changed = self.check_mounts()?;
        let failed = |source| WatchError::System { root: self.root.clone(), source };
        let reports = self.queue.receive(self.patience).map_err(failed)?;
        if have_mounts_changed || reports.is_lost {
            let anew = Self::start(&self.root, self.threads, cancel)?;
            *self = anew.with_patience(self.patience);
            return Ok(Hints { paths: BTreeSet::new(), everything: true });
        }
        let mut hints = Hints { paths: BTreeSet::new(), everything: !reports.is_complete };
        let mut appeared = BTreeSet::new();
        if reports.paths.get(&self.root) == Some(&Change::Gone) {
            return Err(WatchError::Lost { root: self.root.clone() });
        }
        for (path, change) in reports.paths {
            self.apply(&path, change, &mut hints, &mut appeared);
        }
        if hints.everything {
            hints.paths.clear();
            self.add_below(None, cancel)?;
        } else if !appeared.is_empty() {
            self.add_below(Some(&appeared), cancel)?;
        }
        Ok(hints)
    }

    /// Watches all directories again: changed ignore rules may select others.
    pub fn look_everywhere(&mut self, cancel: &CancelToken) -> Result<(), WatchError> {
        self.add_below(None, cancel)
    }

    /// Waits until a change was reported and its burst has ended. Returns false if `cancel` was
    /// raised first.
    pub fn wait(&self, cancel: &CancelToken) -> bool {
        self.queue.wait(cancel);
        !cancel.is_cancelled()
    }

    /// Handles the report of a path.
    fn apply(
        &mut self,
        on_disk: &Path,
        change: Change,
        hints: &mut Hints,
        appeared: &mut BTreeSet<RepoPath>,
    ) {
        // None of the root itself: its attributes.
        let Some(path) = source::repo_path(&self.root, on_disk) else { return };
        if path.as_str() == ".git/info/exclude" {
            hints.everything = true;
        } else if path.as_str().starts_with(".git/") {
            // The directory is watched for that one file.
        } else if path.file_name() == ".git" {
            // A nested repository with ignore rules of its own was added or removed.
            hints.everything = true;
        } else if RULES.contains(&path.file_name()) {
            match RepoPath::new(path.directory()) {
                Some(directory) => {
                    appeared.insert(directory.clone());
                    hints.paths.insert(directory);
                }
                None => hints.everything = true,
            }
        } else {
            if change == Change::Gone && self.directories.contains(&path) {
                // Those watches have ended.
                self.directories.retain(|watched| !watched.starts_with(&path));
            }
            let is_directory = || on_disk.symlink_metadata().is_ok_and(|found| found.is_dir());
            if change > Change::File && is_directory() {
                appeared.insert(path.clone());
            }
            hints.paths.insert(path);
        }
    }

    /// True if the mounts in the repository have changed. Fails if the file system is remote.
    fn check_mounts(&mut self) -> Result<bool, WatchError> {
        let Some(mounts) = &mut self.mounts else { return Ok(false) };
        let failed = |source| WatchError::System { root: self.root.clone(), source };
        let have_changed = mounts.have_changed().map_err(failed)?;
        match mounts.remote() {
            Some(kind) => {
                Err(WatchError::Remote { root: self.root.clone(), kind: kind.to_owned() })
            }
            None => Ok(have_changed),
        }
    }

    /// Watches directories, sorted by their paths, and returns whether one of them is new. A
    /// missing one is no error.
    fn add(&mut self, mut directories: Vec<RepoPath>) -> Result<bool, WatchError> {
        directories.retain(|directory| !self.directories.contains(directory));
        let on_disk = |directory| source::on_disk(&self.root, directory);
        let paths = directories.iter().map(on_disk).collect();
        let mut missing = BTreeSet::new();
        self.queue
            .watch(paths, |path| missing.extend(source::repo_path(&self.root, path)))
            .map_err(|error| WatchError::of(&self.root, error))?;
        directories.retain(|directory| !missing.contains(directory));
        let is_new = !directories.is_empty();
        self.directories.extend(directories);
        Ok(is_new)
    }

    /// Watches the indexed directories below these, or all. Repeats until there is no new one:
    /// changes in a directory before it is watched are not reported.
    fn add_below(
        &mut self,
        below: Option<&BTreeSet<RepoPath>>,
        cancel: &CancelToken,
    ) -> Result<(), WatchError> {
        // Elsewhere the watch of the root has them all.
        while queue::IS_ORDERED {
            let walk = match below {
                Some(paths) => source::walk_below(&self.root, paths, cancel),
                None => source::walk(&self.root, self.threads, cancel),
            };
            if !self.add(walk.map_err(WatchError::Source)?.directories)? {
                break;
            }
        }
        Ok(())
    }
}
