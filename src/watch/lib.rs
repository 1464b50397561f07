//! File watching: the inotify queue of a repository in use, read at each query. Yields paths to
//! check and nothing more: stamps and hashes decide. Knows no contents, no store and no server.
//!
//! ```text
//! directories of a repository ──> inotify queue of the kernel
//!                                       │ drain, at the start of a query
//!                            Hints: paths to look at, or everywhere
//! ```
//!
//! The kernel queues a notification before the system call that changed the file returns. Each
//! query drains the queue on its own thread, so that a file saved before the query is among the
//! paths, without a delay. For the same reason no thread reads ahead, and opening and reading files
//! is not watched: the index does that itself, often enough to overflow the queue.
//!
//! A watch is bound to directories, not to paths: if the path of the root leads to another
//! directory, or something is mounted in it, its changes are not reported. So that is checked
//! first, each time.

mod queue;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_source::{self as source, DirectoryId, Mounts, RULES, SourceError};
use queue::{Event, Queue, What};

/// Number of notifications per drain above which checking everything is faster.
const MAX_EVENTS: usize = 10_000;
/// A burst of changes ends after this time without a notification ...
const QUIET: Duration = Duration::from_millis(10);
/// ... or after this time.
const MAX_BURST: Duration = Duration::from_secs(3);

/// Watched directories of one repository.
#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    threads: usize,
    queue: Queue,
    /// Directory at the root's path when the watch was created.
    identity: DirectoryId,
    /// Mounts in it, if the system lists them.
    mounts: Option<Mounts>,
    /// Watch descriptor -> directory; none for the root.
    directories: HashMap<i32, Option<RepoPath>>,
    is_lost: bool,
}

/// Possibly changed paths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hints {
    /// These files, and the contents of these directories.
    pub paths: BTreeSet<RepoPath>,
    /// Everything: the queue overflowed.
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
            "{} is on {kind}, where files can change without this machine being told",
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

impl Watch {
    /// Watches the directories of the repository at `root`. Later changes are among the hints.
    pub fn start(root: &Path, threads: usize, cancel: &CancelToken) -> Result<Self, WatchError> {
        let failed = |source| WatchError::System { root: root.to_path_buf(), source };
        if let Some(kind) = source::remote_kind(root) {
            return Err(WatchError::Remote { root: root.to_path_buf(), kind });
        }
        let queue = Queue::open().map_err(failed)?;
        let mounts = Mounts::of(root).ok();
        let Some(identity) = DirectoryId::of(root) else {
            return Err(WatchError::Lost { root: root.to_path_buf() });
        };
        let (root, directories) = (root.to_path_buf(), HashMap::new());
        let mut watch =
            Self { root, threads, queue, identity, mounts, directories, is_lost: false };
        watch.add(None)?;
        watch.add_below(None, cancel)?;
        // Ignore rules outside of the work tree. May not exist.
        let _ = watch.add(RepoPath::new(".git/info"));
        Ok(watch)
    }

    /// Number of watched directories.
    pub fn directories(&self) -> usize {
        self.directories.len()
    }

    /// Changes reported since the last call. Does not block.
    pub fn drain(&mut self, cancel: &CancelToken) -> Result<Hints, WatchError> {
        if DirectoryId::of(&self.root) != Some(self.identity) {
            return Err(WatchError::Lost { root: self.root.clone() });
        }
        let mut hints = Hints::default();
        let mut appeared = BTreeSet::new();
        let mut events = Vec::new();
        self.queue
            .read(&mut events)
            .map_err(|source| WatchError::System { root: self.root.clone(), source })?;
        hints.everything = self.check_mounts()? || events.len() > MAX_EVENTS;
        for event in events {
            self.take_in(event, &mut hints, &mut appeared);
        }
        if self.is_lost {
            return Err(WatchError::Lost { root: self.root.clone() });
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
    pub fn wait(&self, cancel: &CancelToken) -> Result<bool, WatchError> {
        let failed = |source| WatchError::System { root: self.root.clone(), source };
        let bell = queue::WakeReceiver::new().map_err(failed)?;
        let ringer = bell.sender().map_err(failed)?;
        let _hook = cancel.on_cancel(move || ringer.wake());
        if !self.queue.wait(&bell).map_err(failed)? {
            return Ok(false);
        }
        // The queue is not read, so that its growth shows whether the burst goes on.
        let until = Instant::now() + MAX_BURST;
        let mut size = self.queue.size().map_err(failed)?;
        while Instant::now() < until && !cancel.wait(QUIET) {
            let now = self.queue.size().map_err(failed)?;
            if now == size {
                break;
            }
            size = now;
        }
        Ok(!cancel.is_cancelled())
    }

    /// Handles one notification.
    fn take_in(&mut self, event: Event, hints: &mut Hints, appeared: &mut BTreeSet<RepoPath>) {
        if event.what == What::Overflow {
            hints.everything = true;
            return;
        }
        let Some(directory) = self.directories.get(&event.watch).cloned() else { return };
        let Some(name) = event.name else {
            // About the watched directory itself.
            self.is_lost |=
                directory.is_none() && matches!(event.what, What::Gone | What::Unwatched);
            if event.what == What::Unwatched {
                self.directories.remove(&event.watch);
            }
            return;
        };
        let parent = directory
            .as_ref()
            .map_or_else(|| self.root.clone(), |path| source::on_disk(&self.root, path));
        let Some(path) = source::repo_path(&self.root, &parent.join(&name)) else { return };
        if path.as_str() == ".git/info/exclude" {
            hints.everything = true;
        } else if path.as_str().starts_with(".git/") {
            // The directory is watched for that one file.
        } else if path.file_name() == ".git" {
            // A nested repository with ignore rules of its own was added or removed.
            hints.everything = true;
        } else if RULES.contains(&path.file_name()) {
            match directory {
                Some(directory) => drop(hints.paths.insert(directory)),
                None => hints.everything = true,
            }
            appeared.extend(RepoPath::new(path.directory()));
        } else {
            if event.is_directory && matches!(event.what, What::Gone) {
                self.forget_below(&path);
                appeared.remove(&path);
            } else if event.is_directory {
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

    /// Watches a directory; a missing one is no error.
    fn add(&mut self, directory: Option<RepoPath>) -> Result<bool, WatchError> {
        let path = directory
            .as_ref()
            .map_or_else(|| self.root.clone(), |path| source::on_disk(&self.root, path));
        match self.queue.watch(&path) {
            Ok(number) => Ok(self.directories.insert(number, directory).is_none()),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                Err(WatchError::Limit { root: self.root.clone() })
            }
            Err(_) if directory.is_some() => Ok(false),
            Err(source) => Err(WatchError::System { root: self.root.clone(), source }),
        }
    }

    /// Watches the indexed directories below these, or all. Repeats until there is no new one:
    /// changes in a directory before it is watched are not reported.
    fn add_below(
        &mut self,
        below: Option<&BTreeSet<RepoPath>>,
        cancel: &CancelToken,
    ) -> Result<(), WatchError> {
        loop {
            let walk = match below {
                Some(paths) => source::walk_below(&self.root, paths, cancel),
                None => source::walk(&self.root, self.threads, cancel),
            };
            let mut is_new = false;
            for directory in walk.map_err(WatchError::Source)?.directories {
                is_new |= self.add(Some(directory))?;
            }
            if !is_new {
                return Ok(());
            }
        }
    }

    /// Removes the watches of a moved or deleted directory, recursively.
    fn forget_below(&mut self, directory: &RepoPath) {
        let queue = &self.queue;
        self.directories.retain(|&number, path| {
            let is_in = path.as_ref().is_some_and(|path| path.starts_with(directory));
            if is_in {
                queue.unwatch(number);
            }
            !is_in
        });
    }
}
