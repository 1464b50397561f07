//! Notifications of the system through the `notify` crate, which reads inotify, FSEvents or
//! ReadDirectoryChangesW on a thread of its own. Collects paths; knows nothing of repositories.
//!
//! The thread reads ahead of the questions, so a question has to know that it has read far enough.
//! It touches a file that the same queue watches, the *cookie*, and waits until that is reported:
//! inotify reports all watches in one order, so everything before the question has been reported as
//! well. Other systems promise no order across directories: there every question is incomplete.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use cograph_model::cancel::CancelToken;
use notify::event::{CreateKind, EventKind, ModifyKind, RemoveKind, RenameMode};
use notify::{
    Config, ErrorKind, EventHandler, EventKindMask, PathOp, RecommendedWatcher, RecursiveMode,
    UpdatePathsError, WatchPathConfig, Watcher,
};
use parking_lot::{Condvar, Mutex};

/// How long a question waits for its cookie, unless another time is given.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);
/// Number of paths between two questions above which checking everything is faster.
const MAX_PATHS: usize = 10_000;
/// A burst of changes ends after this time without a notification ...
const QUIET: Duration = Duration::from_millis(10);
/// ... or after this time.
const MAX_BURST: Duration = Duration::from_secs(3);

/// True where the system has one queue for watches of single directories. Elsewhere a watch of the
/// root covers the whole tree.
pub(super) const IS_ORDERED: bool = cfg!(target_os = "linux");

/// Watches of a repository, and what was reported since the last question.
#[derive(Debug)]
pub(super) struct Queue {
    watcher: RecommendedWatcher,
    ahead: Arc<Ahead>,
    /// A file without a name: no other process can change it.
    cookie: Option<File>,
}

/// Reports since the last question.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Received {
    /// Paths, each with the greatest of its changes.
    pub(super) paths: BTreeMap<PathBuf, Change>,
    /// True if these are all changes before the question, unless some were lost.
    pub(super) is_complete: bool,
    /// True if notifications were lost, of directories that came and went too: only a new queue
    /// watches them all.
    pub(super) is_lost: bool,
}

/// What was reported of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Change {
    /// Something about a file for certain.
    File,
    /// Attributes of a file or a directory.
    Attributes,
    /// A file or a directory came.
    Came,
    /// A file or a directory went, and another one may have come.
    Gone,
}

/// Why a directory is not watched.
#[derive(Debug)]
pub(super) enum QueueError {
    /// The system's limit of watches is reached.
    Limit,
    /// Another reason.
    System(io::Error),
}

/// What the thread of the crate has read ahead.
#[derive(Debug, Default)]
struct Ahead {
    reports: Mutex<Reports>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Reports {
    paths: BTreeMap<PathBuf, Change>,
    /// Number of notifications so far.
    count: u64,
    /// True while the cookie was touched and not reported.
    is_cookie_due: bool,
    is_lost: bool,
    /// True if the thread has ended.
    has_ended: bool,
}

/// The thread's side.
struct Listener {
    ahead: Arc<Ahead>,
    cookie: Option<PathBuf>,
}

impl Queue {
    /// Creates a queue with a watch of this directory; where `IS_ORDERED` is false, of the tree.
    pub(super) fn open(root: &Path) -> Result<Self, QueueError> {
        let ahead = Arc::<Ahead>::default();
        // A directory of its own: in one that is watched as well, each touch is reported twice.
        let place = IS_ORDERED.then(tempfile::tempdir).transpose().map_err(QueueError::System)?;
        let path = place.as_ref().map(|place| place.path().join("cookie"));
        let cookie = path.as_ref().map(File::create_new).transpose().map_err(QueueError::System)?;
        let listener = Listener { ahead: Arc::clone(&ahead), cookie: path.clone() };
        // Reads are left out: the index reads files itself, often enough to overflow the queue.
        let config = Config::default().with_event_kinds(EventKindMask::CORE);
        let mut watcher = RecommendedWatcher::new(listener, config)?;
        if let Some(path) = &path {
            watcher.watch(path, RecursiveMode::NonRecursive)?;
        }
        // Removes the names; the file stays while it is open.
        drop(place);
        if IS_ORDERED {
            watcher.watch_with(root, of_directory())?;
        } else {
            watcher.watch(root, RecursiveMode::Recursive)?;
        }
        Ok(Self { watcher, ahead, cookie })
    }

    /// Watches directories below the root, those above others first: what replaces one of them
    /// later is reported. One that is watched already stays so. Those that cannot be watched,
    /// because they are gone for example, are given to `failed`.
    pub(super) fn watch(
        &mut self,
        directories: Vec<PathBuf>,
        mut failed: impl FnMut(&Path),
    ) -> Result<(), QueueError> {
        let watched = |path| PathOp::Watch(path, of_directory());
        let mut left: Vec<PathOp> = directories.into_iter().map(watched).collect();
        while IS_ORDERED && !left.is_empty() {
            let Err(error) = self.watcher.update_paths(left) else { break };
            let UpdatePathsError { source, origin, remaining } = error;
            match (QueueError::from(source), origin) {
                (QueueError::System(_), Some(operation)) => failed(operation.as_path()),
                (error, _) => return Err(error),
            }
            left = remaining;
        }
        Ok(())
    }

    /// Takes what was reported. Blocks for at most `patience`. Fails if nothing will be reported
    /// any more.
    pub(super) fn receive(&self, patience: Duration) -> io::Result<Received> {
        let until = Instant::now() + patience;
        let is_complete = match &self.cookie {
            // A cookie of before, which came too late for its question, may still be due.
            Some(cookie) if self.is_reported(until) => {
                self.ahead.reports.lock().is_cookie_due = true;
                cookie.set_modified(SystemTime::UNIX_EPOCH)?;
                self.is_reported(until)
            }
            _ => false,
        };
        let mut reports = self.ahead.reports.lock();
        if reports.has_ended {
            return Err(io::Error::other("the thread that reads notifications has ended"));
        }
        let (paths, is_lost) =
            (std::mem::take(&mut reports.paths), std::mem::take(&mut reports.is_lost));
        Ok(Received { paths, is_complete, is_lost })
    }

    /// Waits until a change was reported and its burst has ended; not if `cancel` was raised first.
    pub(super) fn wait(&self, cancel: &CancelToken) {
        let ahead = Arc::clone(&self.ahead);
        let _hook = cancel.on_cancel(move || {
            // Under the lock, so that it does not fall between a look and the wait.
            let _reports = ahead.reports.lock();
            ahead.changed.notify_all();
        });
        let mut reports = self.ahead.reports.lock();
        while reports.is_quiet() && !cancel.is_cancelled() {
            self.ahead.changed.wait(&mut reports);
        }
        let until = Instant::now() + MAX_BURST;
        let mut before = reports.count;
        drop(reports);
        while Instant::now() < until && !cancel.wait(QUIET) {
            let now = self.ahead.reports.lock().count;
            if now == before {
                break;
            }
            before = now;
        }
    }

    /// Waits until the cookie is not due. A queue that ran over may have lost it.
    fn is_reported(&self, until: Instant) -> bool {
        let mut reports = self.ahead.reports.lock();
        let is_due =
            |reports: &mut Reports| reports.is_cookie_due && !reports.is_lost && !reports.has_ended;
        !self.ahead.changed.wait_while_until(&mut reports, is_due, until).timed_out()
    }
}

impl Reports {
    fn is_quiet(&self) -> bool {
        self.paths.is_empty() && !self.is_lost && !self.has_ended
    }

    fn lose(&mut self) {
        self.paths.clear();
        self.is_lost = true;
    }
}

impl EventHandler for Listener {
    fn handle_event(&mut self, event: notify::Result<notify::Event>) {
        let mut reports = self.ahead.reports.lock();
        reports.count += 1;
        match event {
            Ok(event) if !event.need_rescan() => {
                for path in event.paths {
                    if Some(&path) == self.cookie.as_ref() {
                        // To set its time counts as a change of its content; that it lost its name
                        // does not.
                        reports.is_cookie_due &=
                            !matches!(event.kind, EventKind::Modify(ModifyKind::Data(_)));
                    } else if !reports.is_lost {
                        let change = change(event.kind);
                        let known = reports.paths.entry(path).or_insert(change);
                        *known = change.max(*known);
                    }
                }
                if reports.paths.len() > MAX_PATHS {
                    reports.lose();
                }
            }
            Ok(_) | Err(_) => reports.lose(),
        }
        drop(reports);
        self.ahead.changed.notify_all();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.ahead.reports.lock().has_ended = true;
        self.ahead.changed.notify_all();
    }
}

impl From<notify::Error> for QueueError {
    fn from(error: notify::Error) -> Self {
        match error.kind {
            ErrorKind::MaxFilesWatch => Self::Limit,
            ErrorKind::Io(source) => Self::System(source),
            ErrorKind::PathNotFound => Self::System(io::ErrorKind::NotFound.into()),
            _ => Self::System(io::Error::other(error)),
        }
    }
}

/// How one directory is watched, unless another thing has taken its place.
fn of_directory() -> WatchPathConfig {
    WatchPathConfig::new(RecursiveMode::NonRecursive).with_dereference_symlinks(false)
}

fn change(kind: EventKind) -> Change {
    match kind {
        EventKind::Create(CreateKind::File)
        | EventKind::Modify(ModifyKind::Data(_))
        | EventKind::Remove(RemoveKind::File) => Change::File,
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(RenameMode::To)) => Change::Came,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) => Change::Gone,
        _ => Change::Attributes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// For a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    fn watched() -> (tempfile::TempDir, Queue) {
        let place = tempfile::tempdir().expect("a temporary directory");
        let queue = Queue::open(place.path()).expect("it can be watched");
        (place, queue)
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads a limit of the system, no repository")]
    fn a_queue_that_is_not_read_in_time_reports_that_it_has_lost_something() {
        let (place, queue) = watched();
        // While the thread cannot hand over, the queue of the system runs full.
        let reports = queue.ahead.reports.lock();
        let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
        let limit: usize = limit.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let files = ["a", "b"].map(|name| File::create(place.path().join(name)).expect("created"));
        for number in 0..limit + 1_000 {
            // Equal notifications in a row are one, and the thread has read some.
            files[number % 2].set_modified(SystemTime::now()).expect("ours");
        }
        drop(reports);
        assert!(queue.receive(LONG).expect("the thread runs").is_lost || !IS_ORDERED);
    }

    #[test]
    fn a_late_cookie_is_not_taken_for_the_next_one() {
        let (place, queue) = watched();
        if !IS_ORDERED {
            return;
        }
        assert!(queue.receive(LONG).expect("the thread runs").is_complete);
        // As if the cookie of an earlier question had not come.
        queue.ahead.reports.lock().is_cookie_due = true;
        let path = place.path().join("a");
        fs::write(&path, "x").expect("written");
        let reports = queue.receive(PATIENCE).expect("the thread runs");
        assert!(!reports.is_complete, "{reports:?}");
        queue.cookie.as_ref().expect("it has one").set_modified(SystemTime::now()).expect("ours");
        assert!(queue.receive(LONG).expect("the thread runs").is_complete);
    }

    #[test]
    fn without_its_thread_a_queue_fails() {
        let (_place, queue) = watched();
        drop(Listener { ahead: Arc::clone(&queue.ahead), cookie: None });
        assert!(queue.receive(LONG).is_err());
        queue.wait(&CancelToken::new());
    }
}
