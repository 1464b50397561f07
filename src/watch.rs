//! What changes in a repository while it is in use: the system's queue of notifications, read when
//! somebody asks. Gives paths to look at again and nothing more: sizes, times and hashes decide.
//! Knows no contents, no store and no server.
//!
//! The system puts a notification into the queue before the call that changed the file returns. The
//! queue is read by whoever has a question, on his thread, so that a file that was saved before the
//! question was asked is among the paths, without a wait. For the same reason there is no thread
//! here that reads ahead, and opening and reading files is not asked to be notified: the index does
//! that itself, often enough to flood the queue.
//!
//! A watch is bound to directories, whatever leads to them: when the path of the root leads to
//! another one, or something is mounted in it, nothing is reported of what is there now. So that is
//! looked at first, each time.

mod queue;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::source::{self, DirectoryId, Mounts, RULES, SourceError};
use queue::{Event, Queue, What};

/// Notifications in one go beyond which everything is looked at: that is quicker.
const MOST_EVENTS: usize = 10_000;
/// A burst of changes is over when nothing was reported for so long ...
const QUIET: Duration = Duration::from_millis(10);
/// ... and is not waited for any longer than this.
const LONGEST_BURST: Duration = Duration::from_secs(3);

/// The directories of one repository that the index looks into, watched.
#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    threads: usize,
    queue: Queue,
    /// The directory that the root's path led to when it was watched.
    identity: DirectoryId,
    /// What is mounted in it, where the system tells.
    mounts: Option<Mounts>,
    /// Number of the watch -> directory; none for the root.
    directories: HashMap<i32, Option<RepoPath>>,
    is_lost: bool,
}

/// What may have changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hints {
    /// These files, and what is in these directories.
    pub paths: BTreeSet<RepoPath>,
    /// Anything: more was reported than was kept.
    pub everything: bool,
}

/// Why a repository is not watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system does not let this user watch more directories.
    #[
        error(
            "the system's limit of watches does not allow for the directories of {}", root.display()
        )
    ]
    Limit {
        /// The repository.
        root: PathBuf,
    },
    /// The root was removed, renamed or unmounted.
    #[error("{} is no longer where it was", root.display())]
    Lost {
        /// The repository.
        root: PathBuf,
    },
    /// Others can change its files without this machine being told.
    #[
        error(
            "{} is on {kind}, where files can change without this machine being told",
            root.display()
        )
    ]
    Remote {
        /// The repository.
        root: PathBuf,
        /// The kind of file system.
        kind: String,
    },
    /// The directories could not be listed.
    #[error(transparent)]
    Source(SourceError),
    /// The system refuses, or has no such service for this file system.
    #[error("cannot watch {}: {source}", root.display())]
    System {
        /// The repository.
        root: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Hints {
    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.everything
    }

    /// Adds what others say.
    pub fn extend(&mut self, others: Self) {
        self.paths.extend(others.paths);
        self.everything |= others.everything;
    }
}

impl Watch {
    /// Watches the directories of the repository at `root`. What changes from here on is among the
    /// hints.
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
        // Rules beside those in the tree. It need not exist.
        let _ = watch.add(RepoPath::new(".git/info"));
        Ok(watch)
    }

    /// How many directories are watched.
    pub fn directories(&self) -> usize {
        self.directories.len()
    }

    /// Everything that was reported since the last time. Does not wait.
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
        hints.everything = self.check_mounts()? || events.len() > MOST_EVENTS;
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

    /// Watches the directories that the index looks into now: other rules may let it look into
    /// others.
    pub fn look_everywhere(&mut self, cancel: &CancelToken) -> Result<(), WatchError> {
        self.add_below(None, cancel)
    }

    /// Waits until something was reported and the burst that it belongs to is over. False if
    /// `cancel` was raised first.
    pub fn wait(&self, cancel: &CancelToken) -> Result<bool, WatchError> {
        let failed = |source| WatchError::System { root: self.root.clone(), source };
        let bell = queue::Bell::new().map_err(failed)?;
        let ringer = bell.ringer().map_err(failed)?;
        let _hook = cancel.on_cancel(move || ringer.ring());
        if !self.queue.wait(&bell).map_err(failed)? {
            return Ok(false);
        }
        // The queue is left as it is, so that it grows as long as the burst goes on.
        let until = Instant::now() + LONGEST_BURST;
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

    /// Notes what one notification says.
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
            // A repository with rules of its own has come or gone.
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

    /// Whether something else is mounted in the repository than the last time. Fails where others
    /// can change files unseen.
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

    /// Watches a directory; one that is gone by now is no error.
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

    /// Watches the directories below these, or all, that the index looks into. Looks again until
    /// there is no new one: what is made in a directory before it is watched is not reported.
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

    /// Ends the watches of a directory that was moved or removed, and of what was in it.
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
