//! From a repository on disk to its graph: plan, parallel read and extraction, resolution, writing.
//! The only module that uses several cores, and the only one that changes a store. Knows no
//! protocol and prints nothing.
//!
//! - `build` makes a whole index; `state` is what is known of a repository between runs, and
//!   applies changes to it.
//! - `facts_cache` is the form in which facts are kept on disk for a later change.
//! - `worker` runs both in a process of their own; `quarantine` names the files that must not be
//!   parsed.
//! - `job` runs them in the background.

mod build;
mod facts_cache;
mod fingerprint;
mod job;
mod kept;
mod meant;
mod progress;
mod quarantine;
mod report;
mod state;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use fingerprint::fingerprint;
pub use job::{Job, JobState, Jobs};
pub use kept::Kept;
pub use meant::meant;
pub use progress::{Phase, Progress, Timing};
pub use quarantine::Caution;
pub use report::{LanguageReport, Report};
pub use state::change::{ChangeSet, Comparison, Verified, compare, compare_some, freshness};
pub use state::residents::{MOST_AT_HAND, Residents};
pub use worker::{WorkerPool, serve_worker};

use crate::config::Limits;
use crate::extract;
use crate::grammar;
use crate::model::LanguageId;
use crate::model::cancel::CancelToken;
use crate::model::facts::FileFacts;
use crate::source::{self, SourceError};
use crate::store::{
    self, Dropped, Identity, Location, Published, Snapshot, Store, StoreError, StoreErrorKind,
    WriterLock,
};
use state::resident::Resident;

/// What one run of the index needs to know besides the files.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// What bounds the work.
    pub limits: Limits,
    /// Ends the run early.
    pub cancel: &'a CancelToken,
    /// Told how far the run is, from any thread: at the start of every phase, and then often, but
    /// not for every file.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Where what is known of repositories in use is kept between runs, if it is.
    pub residents: Option<&'a Residents>,
    /// Makes facts of one file; [`extract::extract`] outside tests.
    pub extract: fn(LanguageId, &str, &[u8], extract::Limits) -> FileFacts,
    /// The processes that do the work; without them it is done in this process, which a grammar can
    /// then end.
    pub workers: Option<&'a WorkerPool>,
    /// What is known of files that may end the process, in a process that can be ended.
    pub caution: Option<&'a Caution>,
}

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The repository could not be read as a whole.
    #[error(transparent)]
    Source(SourceError),
    /// The store could not be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// The threads could not be started.
    #[error("cannot start {threads} threads to index {}: {reason}", root.display())]
    Threads {
        /// How many.
        threads: usize,
        /// The repository.
        root: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Work that concerns all files failed in a way that it never should: a defect of the program.
    #[error("indexing {} failed: {reason}", root.display())]
    Defect {
        /// The repository.
        root: PathBuf,
        /// The message of the panic.
        reason: String,
    },
    /// The process for a whole build could not be started.
    #[error("cannot start {} to index {}: {reason}", program.display(), root.display())]
    NoWorker {
        /// The program.
        program: PathBuf,
        /// The repository.
        root: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The process for a whole build has died, and no file can be found that it died of.
    #[error("the process that indexes {} has died ({how}){}", root.display(), last_words(said))]
    Worker {
        /// The repository.
        root: PathBuf,
        /// What it died of.
        how: String,
        /// The last that it said.
        said: String,
    },
    /// The process for a whole build says that it failed.
    #[error("{message}")]
    Told {
        /// What it says.
        message: String,
        /// What the user can do about it.
        hint: String,
    },
    /// A phase that is about no single file took longer than it may.
    #[error("indexing {} did not get on: `{phase}` takes too long", root.display())]
    Stalled {
        /// The repository.
        root: PathBuf,
        /// The phase.
        phase: &'static str,
    },
    /// The run was told to stop.
    #[error("stopped while indexing {}", root.display())]
    Cancelled {
        /// The repository.
        root: PathBuf,
    },
}

impl IndexError {
    /// What the user can do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Source(_) => "check that the directory exists and may be read",
            Self::Store(error) => match error.kind {
                StoreErrorKind::Locked => "wait for the other process to end, or stop it",
                StoreErrorKind::Full => {
                    "make room, or set COGRAPH_CACHE_DIR to a place that has more"
                }
                StoreErrorKind::Permission => {
                    "check the permissions of the cache, or set COGRAPH_CACHE_DIR to another place"
                }
                _ => {
                    "if it stays, remove the repository's directory from the cache: it is built \
                     again"
                }
            },
            Self::Threads { .. } => "lower COGRAPH_THREADS, or raise the limit on processes",
            Self::Defect { .. } => {
                "report it as a defect of this program, with the repository if it is public"
            }
            Self::NoWorker { .. } => {
                "check that the program is still there and that more processes may be started"
            }
            Self::Worker { .. } => {
                "if it was killed for lack of memory, lower COGRAPH_THREADS or \
                 COGRAPH_MEMORY_LIMIT; else report it"
            }
            Self::Stalled { .. } => {
                "raise COGRAPH_FILE_SECONDS if the machine is slow, else report it"
            }
            Self::Told { hint, .. } => hint,
            Self::Cancelled { .. } => "start it again",
        }
    }
}

fn last_words(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; the last that it said: {said}") }
}

impl<'a> Run<'a> {
    /// A run with these limits that reports to nobody.
    pub fn quiet(limits: Limits, cancel: &'a CancelToken) -> Self {
        Self {
            limits,
            cancel,
            progress: &|_| {},
            residents: None,
            extract: extract::extract,
            workers: None,
            caution: None,
        }
    }

    fn check(&self, root: &Path) -> Result<(), IndexError> {
        if self.cancel.is_cancelled() {
            Err(IndexError::Cancelled { root: root.to_path_buf() })
        } else {
            Ok(())
        }
    }
}

impl From<SourceError> for IndexError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Cancelled { root } => Self::Cancelled { root },
            error => Self::Source(error),
        }
    }
}

impl From<StoreError> for IndexError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What a run did.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The store reflects the repository as it is; nothing was written.
    Unchanged {
        /// Which store and state.
        identity: Identity,
    },
    /// There is a new generation.
    Published {
        /// Which, and where.
        published: Published,
        /// How long each phase took.
        timings: Vec<Timing>,
    },
}

impl Outcome {
    /// The state of the store that reflects the repository.
    pub fn identity(&self) -> Identity {
        match self {
            Self::Unchanged { identity } => *identity,
            Self::Published { published, .. } => published.identity,
        }
    }
}

/// Brings the store of a repository up to date: compares, and applies what has changed. Waits for
/// another writer at most `patience`.
pub fn refresh(location: &Location, patience: Duration, run: &Run) -> Result<Outcome, IndexError> {
    let known = match newest(location, run)? {
        None if adopt(location, patience, run)? => newest(location, run)?,
        known => known,
    };
    let changes = match known {
        Some(snapshot) => {
            let changes = freshness(&snapshot, &run.limits, &Verified::new(), run.cancel)?;
            if changes.is_empty() {
                return Ok(Outcome::Unchanged { identity: snapshot.identity() });
            }
            changes
        }
        None => ChangeSet::Everything { forced: false },
    };
    apply(location, &changes, patience, run)
}

/// Finds the store of a repository that was moved, or one of another check-out, for one that has
/// none.
fn adopt(location: &Location, patience: Duration, run: &Run) -> Result<bool, IndexError> {
    let lock = lock(location, patience, run)?;
    // Another process may have built one while this one waited.
    if newest(location, run)?.is_some() {
        return Ok(true);
    }
    let root = source::Root::new(location.root());
    let adopted = store::adopt(&lock, |file| {
        root.stat(&file.path).is_some_and(|stamp| stamp.size == file.size)
    });
    Ok(adopted.unwrap_or_else(|error| {
        tracing::info!(%error, "the store is built from nothing: another cannot be copied");
        false
    }))
}

/// Keeps all stores together within the room that they may take: removes those of repositories that
/// were used longest ago, and says which.
pub fn make_room(location: &Location, limits: &Limits) -> Vec<Dropped> {
    let Some(cache) = location.directory().parent() else { return Vec::new() };
    match store::make_room(cache, limits.cache_bytes, location) {
        Ok(dropped) => {
            for Dropped { root, bytes } in &dropped {
                tracing::warn!(root = %root.display(), bytes, "the index of a repository was \
                    removed to make room");
            }
            dropped
        }
        Err(error) => {
            tracing::warn!(%error, "the room that indexes take could not be looked at");
            Vec::new()
        }
    }
}

/// Makes the store of a repository reflect `changes`. The only function that changes a store.
///
/// One process writes at a time; another one is waited for, at most `patience`. What it has
/// published by then counts: changes that are in the store already write nothing. Where a resident
/// has the state that the store is in, only what the changes concern is read, resolved and written;
/// else everything is.
pub fn apply(
    location: &Location,
    changes: &ChangeSet,
    patience: Duration,
    run: &Run,
) -> Result<Outcome, IndexError> {
    if let Some(workers) = run.workers {
        return workers.apply(location, changes, patience, run);
    }
    if let Some(outcome) = take_in_place(location, changes, patience, run)? {
        return Ok(outcome);
    }
    let started = Instant::now();
    let lock = lock(location, patience, run)?;
    run.check(location.root())?;
    if !matches!(changes, ChangeSet::Everything { forced: true })
        && let Some(snapshot) = newest(location, run)?
        && freshness(&snapshot, &run.limits, &Verified::new(), run.cancel)?.is_empty()
    {
        return Ok(Outcome::Unchanged { identity: snapshot.identity() });
    }
    let (published, timings) = build::full_build::build(&lock, started, run)?;
    Ok(Outcome::Published { published, timings })
}

/// Takes changes in through what is kept of the repository; none if nothing is that fits the store,
/// if the store cannot be changed in place, or if to build it anew is less work.
fn take_in_place(
    location: &Location,
    changes: &ChangeSet,
    patience: Duration,
    run: &Run,
) -> Result<Option<Outcome>, IndexError> {
    let ChangeSet::Some { touched, gone } = changes else { return Ok(None) };
    let lock = lock(location, patience, run)?;
    run.check(location.root())?;
    let Some(snapshot) =
        newest(location, run)?.filter(|store| store.meta().fingerprint == fingerprint(&run.limits))
    else {
        return Ok(None);
    };
    let (touched, gone) = state::change::still_missing((touched, gone), &snapshot, &run.limits)?;
    if touched.is_empty() && gone.is_empty() {
        return Ok(Some(Outcome::Unchanged { identity: snapshot.identity() }));
    }
    if state::change::is_most_of(&touched, &snapshot)? {
        return Ok(None);
    }
    (run.progress)(Progress { phase: Phase::Walk, done: 0, total: 0 });
    let kept = run.residents.and_then(|residents| residents.take(&snapshot, location));
    let resident = kept.map_or_else(|| Resident::load(&snapshot, run), |kept| Ok(Some(kept)))?;
    let Some(resident) = resident else { return Ok(None) };
    run.check(location.root())?;
    let path = snapshot.store().path().to_path_buf();
    drop(snapshot);
    let (resident, timings) = match resident.apply((&lock, &path), (touched, &gone), run) {
        Ok(done) => done,
        Err(IndexError::Store(error)) => {
            tracing::info!(%error, "the store is built anew: it could not be changed in place");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let identity = resident.identity();
    if let Some(residents) = run.residents.filter(|_| !resident.is_worn()) {
        residents.put(location, resident);
    }
    Ok(Some(Outcome::Published { published: Published::in_place(identity, path)?, timings }))
}

/// Makes ready for the next changes of a repository whose store is right: reads what is known of
/// it, unless that is kept already.
fn prepare(location: &Location, residents: &Residents, run: &Run) -> Result<(), IndexError> {
    if let Some(snapshot) =
        newest(location, run)?.filter(|store| store.meta().fingerprint == fingerprint(&run.limits))
        && !residents.knows(location, snapshot.identity())
        && let Some(resident) = Resident::load(&snapshot, run)?
    {
        residents.put(location, resident);
    }
    Ok(())
}

/// Becomes the writer, unless the run is cancelled or `patience` is over first.
fn lock(location: &Location, patience: Duration, run: &Run) -> Result<WriterLock, IndexError> {
    const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
    let deadline = Instant::now() + patience;
    loop {
        run.check(location.root())?;
        let left = deadline.saturating_duration_since(Instant::now());
        match location.lock(left.min(BETWEEN_LOOKS)) {
            Err(error) if error.kind == StoreErrorKind::Locked && left > BETWEEN_LOOKS => {}
            ended => return Ok(ended?),
        }
    }
}

/// The newest state of the store; none if there is none that can be read, so that one must be
/// built.
fn newest(location: &Location, run: &Run) -> Result<Option<Snapshot>, IndexError> {
    match Store::open_newest(location).and_then(|store| Arc::new(store).snapshot(run.cancel)) {
        Ok(snapshot) => Ok(Some(snapshot)),
        Err(error) if error.calls_for_build() => {
            tracing::info!(%error, "there is no store to start from");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
