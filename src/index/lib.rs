//! Indexing: plan, parallel ingestion, resolution, writing. The only module that uses several
//! cores, and the only one that changes a store. Knows no protocol and prints nothing.
//!
//! ```text
//! ChangeSet ──> job ──> worker process ──┬── build:  plan ──> extract ──> resolve ──> write
//!                         quarantine     └── state:  compare ──> apply ──> update
//!                                               └── facts_cache: facts between runs
//! ```
//!
//! - `build` is the full build; `state` has the in-memory state between runs and applies changes.
//! - `facts_cache` is the on-disk form of facts for later changes.
//! - `worker` runs both in a process of their own; `quarantine` excludes files that must not be
//!   parsed.
//! - `job` runs them in the background; `slow_files` are tried after others.

mod build;
mod facts_cache;
mod fingerprint;
mod idle_cache;
mod job;
mod progress;
mod quarantine;
mod report;
mod root_check;
mod slow_files;
mod state;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use cograph_extract::{Allowance, Limits as FileLimits};
pub use fingerprint::fingerprint;
pub use idle_cache::IdleCache;
pub use job::{FIRST_PAUSE, Failure, GREATEST_PAUSE, Job, JobState, Jobs};
pub use progress::{Phase, Progress, Timing};
pub use quarantine::Caution;
pub use report::{LanguageReport, Report};
pub use root_check::{check_implicit_root, repositories_in};
pub use slow_files::FILES_PER_RUN;
pub use state::change::{ChangeSet, Comparison, Verified, compare, compare_some, freshness};
pub use state::residents::{MAX_LOADED_FILES, Residents};
pub use worker::{
    FILE_MEMORY, FILE_MEMORY_PER_BYTE, MEMORY_INTERVAL, UNWATCHED_MEMORY, WorkerPool, serve_worker,
};

use cograph_config::Limits;
use cograph_extract::{self as extract, Exhausted};
use cograph_grammar as grammar;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::FileFacts;
use cograph_model::{LanguageId, SkipReason};
use cograph_source::{self as source, SourceError};
use cograph_store::{
    self as store, Dropped, Identity, Location, Published, Snapshot, Store, StoreError,
    StoreErrorKind, WriterLock,
};
use state::resident::Resident;

/// Context of an index run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Limits.
    pub limits: Limits,
    /// Cancellation.
    pub cancel: &'a CancelToken,
    /// Progress callback, on any thread: at the start of every phase, and then at intervals.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// In-memory states between runs, if they are kept.
    pub residents: Option<&'a Residents>,
    /// Extraction of one file; [`extract::extract`] outside tests.
    pub extract: fn(LanguageId, &str, &[u8], extract::Limits) -> Result<FileFacts, Exhausted>,
    /// Worker processes; none to work in this process, which a grammar can then crash.
    pub workers: Option<&'a WorkerPool>,
    /// Quarantine and suspects, in a worker process.
    pub caution: Option<&'a Caution>,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Reading the repository failed.
    #[error(transparent)]
    Source(SourceError),
    /// Reading or writing the store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Thread creation failed.
    #[error("cannot start {threads} threads to index {}: {reason}", root.display())]
    Threads {
        /// Number of threads.
        threads: usize,
        /// Repository.
        root: PathBuf,
        /// Cause.
        reason: String,
    },
    /// Internal error in work that concerns all files: a bug.
    #[error("indexing {} failed: {reason}", root.display())]
    Defect {
        /// Repository.
        root: PathBuf,
        /// Panic message.
        reason: String,
    },
    /// Starting the worker process failed.
    #[error("cannot start {} to index {}: {reason}", program.display(), root.display())]
    NoWorker {
        /// Executable.
        program: PathBuf,
        /// Repository.
        root: PathBuf,
        /// Cause.
        reason: String,
    },
    /// The worker process crashed, and no file is the cause.
    #[error("the process that indexes {} has died ({how}){}", root.display(), last_words(said))]
    Worker {
        /// Repository.
        root: PathBuf,
        /// Exit status.
        how: String,
        /// End of its standard error output.
        said: String,
    },
    /// The worker process needs more memory than it may have, and no file is the cause.
    #[error("indexing {} needs more than {} MiB of memory", root.display(), limit >> 20)]
    Memory {
        /// Repository.
        root: PathBuf,
        /// Limit in bytes.
        limit: u64,
    },
    /// The worker process reported an error.
    #[error("{message}")]
    Reported {
        /// Error.
        message: String,
        /// Suggested fix.
        hint: String,
    },
    /// A phase exceeded the time limit.
    #[error("indexing {} failed: the phase `{phase}` takes too long", root.display())]
    Stalled {
        /// Repository.
        root: PathBuf,
        /// Phase.
        phase: &'static str,
    },
    /// The run was cancelled.
    #[error("stopped while indexing {}", root.display())]
    Cancelled {
        /// Repository.
        root: PathBuf,
    },
}

impl IndexError {
    /// Suggested fix.
    pub fn hint(&self) -> &str {
        match self {
            Self::Source(_) => "check that the directory exists and may be read",
            Self::Store(error) => match error.kind {
                StoreErrorKind::Locked => "wait for the other process to end, or stop it",
                StoreErrorKind::Full => {
                    "make room, or set COGRAPH_CACHE_DIR to a place that has more"
                }
                StoreErrorKind::FileSize => {
                    "raise the file size limit of the process (`ulimit -f`); the index that stood \
                     before is as it was"
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
                "if the system ended it for lack of memory, lower COGRAPH_THREADS or \
                 COGRAPH_MEMORY_LIMIT; if it was refused memory, raise COGRAPH_MEMORY_LIMIT; else \
                 report it"
            }
            Self::Memory { .. } => {
                "raise COGRAPH_MEMORY_LIMIT, or leave directories out by .cographignore"
            }
            Self::Stalled { .. } => {
                "raise COGRAPH_FILE_SECONDS if the machine is slow, else report it"
            }
            Self::Reported { hint, .. } => hint,
            Self::Cancelled { .. } => "start it again",
        }
    }
}

fn last_words(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; the last that it said: {said}") }
}

impl<'a> Run<'a> {
    /// A run with these limits, without a progress callback.
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

/// Result of a run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The store was up to date; nothing was written.
    Unchanged {
        /// Store and generation.
        identity: Identity,
    },
    /// A new generation was published.
    Published {
        /// Generation and file.
        published: Published,
        /// Timings of the phases.
        timings: Vec<Timing>,
    },
}

impl Outcome {
    /// Generation that reflects the repository.
    pub fn identity(&self) -> Identity {
        match self {
            Self::Unchanged { identity } => *identity,
            Self::Published { published, .. } => published.identity,
        }
    }

    /// True if the run built the store from all files.
    pub fn is_whole(&self, location: &Location) -> bool {
        matches!(self, Self::Published { published, .. } if published.is_whole(location))
    }

    /// True if the generation differs from `base` by the changes of the run alone. Otherwise
    /// another process has published a generation in between, which may be older than `base` in
    /// what it reflects: its files may have been read before.
    pub fn continues(&self, base: Identity) -> bool {
        match self {
            Self::Unchanged { identity } => *identity == base,
            Self::Published { published, .. } => {
                published.identity.generation == base.generation + 1
            }
        }
    }
}

/// Updates the store of a repository: compares, and applies the changes. Waits for the writer lock
/// at most `patience`.
pub fn refresh(location: &Location, patience: Duration, run: &Run) -> Result<Outcome, IndexError> {
    let known = match if_readable(newest(location, run))?.flatten() {
        None if adopt(location, patience, run)? => newest(location, run)?,
        known => known,
    };
    let changes = match known {
        Some(snapshot) => {
            let looked = freshness(&snapshot, &run.limits, &Verified::new(), run.cancel);
            let changes = if_readable(looked)?.unwrap_or(ChangeSet::Everything { forced: true });
            if changes.is_empty() {
                return Ok(Outcome::Unchanged { identity: snapshot.identity() });
            }
            changes
        }
        None => ChangeSet::Everything { forced: false },
    };
    apply(location, &changes, patience, run)
}

/// Indexes the files of an up-to-date store that were left out because they are slow; none if there
/// are none.
pub fn retry_slow(
    location: &Location,
    patience: Duration,
    run: &Run,
) -> Result<Option<Outcome>, IndexError> {
    let Some(snapshot) = newest(location, run)? else { return Ok(None) };
    let reasons = [SkipReason::Deferred, SkipReason::TooSlow];
    let touched = slow_files::left_out(&snapshot, &reasons)?;
    drop(snapshot);
    if touched.is_empty() {
        return Ok(None);
    }
    apply(location, &ChangeSet::Some { touched, gone: Vec::new() }, patience, run).map(Some)
}

/// Seeds a repository without a store from that of another checkout or of its previous location.
fn adopt(location: &Location, patience: Duration, run: &Run) -> Result<bool, IndexError> {
    let lock = lock(location, patience, run)?;
    // Another process may have built one during the wait for the lock.
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

/// Enforces the disk quota: removes the least recently used stores, and returns which.
pub fn enforce_quota(location: &Location, limits: &Limits) -> Vec<Dropped> {
    let Some(cache) = location.directory().parent() else { return Vec::new() };
    match store::enforce_quota(cache, limits.cache_bytes, location) {
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

/// Applies `changes` to the store of a repository. The only function that changes a store.
///
/// One process writes at a time; the writer lock is awaited for at most `patience`. Changes that
/// another process has published by then write nothing. If a resident state matches the store, the
/// update is incremental: it reads, resolves and writes what the changes affect. Otherwise, and
/// after any error that concerns the present store alone, it is a full build, which needs nothing
/// of that store.
pub fn apply(
    location: &Location,
    changes: &ChangeSet,
    patience: Duration,
    run: &Run,
) -> Result<Outcome, IndexError> {
    if let Some(workers) = run.workers {
        return workers.apply(location, changes, patience, run);
    }
    if let Some(outcome) = if_readable(update_in_place(location, changes, patience, run))?.flatten()
    {
        return Ok(outcome);
    }
    let started = Instant::now();
    let lock = lock(location, patience, run)?;
    run.check(location.root())?;
    if !matches!(changes, ChangeSet::Everything { forced: true })
        && let Some(snapshot) = if_readable(newest(location, run))?.flatten()
        && if_readable(freshness(&snapshot, &run.limits, &Verified::new(), run.cancel))?
            .is_some_and(|changes| changes.is_empty())
    {
        return Ok(Outcome::Unchanged { identity: snapshot.identity() });
    }
    // The state of the store that is replaced takes memory that the build may need.
    if let Some(residents) = run.residents {
        residents.forget(location);
    }
    let (published, timings) = build::full_build::build(&lock, started, run)?;
    Ok(Outcome::Published { published, timings })
}

/// Applies changes incrementally; none if there is no matching state, the store cannot be changed
/// in place, or a full build is cheaper.
fn update_in_place(
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
    let (touched, gone) =
        state::change::still_missing(touched, gone, &snapshot, &run.limits, run.cancel)?;
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
    let (resident, timings) = resident.apply(&lock, &path, touched, &gone, run)?;
    let identity = resident.identity();
    if let Some(residents) = run.residents.filter(|_| !resident.needs_reload()) {
        residents.put(location, resident);
    }
    Ok(Some(Outcome::Published { published: Published::in_place(identity, path)?, timings }))
}

/// Prepares for the next change of an up-to-date store: loads its state, unless it is in memory.
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

/// Acquires the writer lock, unless the run is cancelled or `patience` expires.
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

/// Result of reading or changing the present store; none if that failed for a reason that a full
/// build does not meet: it starts from nothing.
fn if_readable<T>(looked: Result<T, IndexError>) -> Result<Option<T>, IndexError> {
    match looked {
        Ok(found) => Ok(Some(found)),
        Err(IndexError::Store(error)) if !error.stops_builds() => {
            tracing::warn!(%error, "the store is built anew: it can be neither read nor changed");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Newest generation; none if none is readable, so that one must be built.
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
