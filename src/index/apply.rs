//! Brings the store of a repository up to date, in a worker or in this process. `process` is the
//! worker's side: it carries out orders by the same functions.

pub(crate) mod process;

use crate::build;
use crate::build::context::RunContext;
use crate::fingerprint::fingerprint;
use crate::outcome::{IndexError, Outcome};
use crate::progress::{Phase, Progress};
use crate::quarantine::Isolation;
use crate::state::change::{Verified, freshness, is_most_of, still_missing};
use crate::state::change_set::ChangeSet;
use crate::state::resident::Resident;
use crate::state::residents::Residents;
use crate::worker::WorkerPool;
use cograph_config::Limits;
use cograph_extract::Exhausted;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::FileFacts;
use cograph_model::{LanguageId, RepoPath};
use cograph_store::{
    Dropped, Location, Published, Snapshot, Store, StoreErrorKind, Unindexed, WriterLock,
};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use {cograph_extract as extract, cograph_source as source, cograph_store as store};

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
    pub caution: Option<&'a Isolation>,
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
        self.context().check(root)
    }

    /// The part that the steps of a run get.
    fn context(&self) -> RunContext<'a> {
        let Self { limits, cancel, progress, extract, caution, .. } = *self;
        RunContext { limits, cancel, progress, extract, caution }
    }
}

/// Updates the store of a repository: compares, and applies the changes. Waits for the writer lock
/// at most `patience`.
pub fn refresh(location: &Location, patience: Duration, run: &Run) -> Result<Outcome, IndexError> {
    let known = match if_readable(newest(location, run))?.flatten() {
        None if seed(location, patience, run)? => newest(location, run)?,
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

/// Seeds a repository without a store from that of another checkout or of its previous location.
pub(crate) fn seed(location: &Location, patience: Duration, run: &Run) -> Result<bool, IndexError> {
    let lock = lock(location, patience, run)?;
    // Another process may have built one during the wait for the lock.
    if newest(location, run)?.is_some() {
        return Ok(true);
    }
    let root = source::Root::new(location.root());
    let git = source::git_directory(location.root());
    let known: RefCell<FxHashMap<RepoPath, Option<u64>>> = RefCell::default();
    let repository = Unindexed {
        fingerprint: fingerprint(&run.limits, location.directory()),
        is_related: &|other| git.is_some() && source::git_directory(other) == git,
        has: &|path, size| {
            let stat = || root.stat(path).map(|stamp| stamp.size);
            *known.borrow_mut().entry(path.clone()).or_insert_with(stat) == Some(size)
        },
    };
    Ok(store::seed(&lock, &repository).unwrap_or_else(|error| {
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
            tracing::warn!(%error, "the size of the cache could not be measured");
            Vec::new()
        }
    }
}

/// Applies `changes` to the store of a repository. The only function that changes a store.
///
/// One process writes at a time; the writer lock is awaited for at most `patience`, and under it
/// one comparison decides what the store lacks: changes that another process has published by then
/// write nothing. If a resident state matches the store, the update is incremental: it reads,
/// resolves and writes what the changes affect. Otherwise, and after any error that concerns the
/// present store alone, it is a full build, which needs nothing of that store.
pub fn apply(
    location: &Location,
    changes: &ChangeSet,
    patience: Duration,
    run: &Run,
) -> Result<Outcome, IndexError> {
    if let Some(workers) = run.workers {
        return workers.apply(location, changes, patience, &run.context());
    }
    let started = Instant::now();
    let lock = lock(location, patience, run)?;
    run.check(location.root())?;
    if let Some(outcome) = if_readable(update_in_place(&lock, changes, run))?.flatten() {
        return Ok(outcome);
    }
    // The state of the store that is replaced takes memory that the build may need.
    if let Some(residents) = run.residents {
        residents.forget(location);
    }
    let (published, timings) = build::full_build::build(&lock, started, &run.context())?;
    Ok(Outcome::Published { published, timings })
}

/// Applies changes incrementally, if the store lacks any; none if all files are concerned, there is
/// no matching state, the store cannot be changed in place, or a full build is cheaper.
fn update_in_place(
    lock: &WriterLock,
    changes: &ChangeSet,
    run: &Run,
) -> Result<Option<Outcome>, IndexError> {
    let location = lock.location();
    if matches!(changes, ChangeSet::Everything { forced: true }) {
        return Ok(None);
    }
    let Some(snapshot) = newest(location, run)? else { return Ok(None) };
    let missing = still_missing(changes, &snapshot, &run.limits, run.cancel)?;
    if missing.is_empty() {
        return Ok(Some(Outcome::Unchanged { identity: snapshot.identity() }));
    }
    let ChangeSet::Some { touched, gone, .. } = missing else { return Ok(None) };
    if is_most_of(&touched, &snapshot)? {
        return Ok(None);
    }
    (run.progress)(Progress { phase: Phase::Walk, done: 0, total: 0 });
    let kept = run.residents.and_then(|residents| residents.take(&snapshot, location));
    let resident =
        kept.map_or_else(|| Resident::load(&snapshot, &run.context()), |kept| Ok(Some(kept)))?;
    let Some(resident) = resident else { return Ok(None) };
    run.check(location.root())?;
    let path = snapshot.store().path().to_path_buf();
    drop(snapshot);
    let (resident, timings) = resident.apply(lock, &path, touched, &gone, &run.context())?;
    let identity = resident.identity();
    if let Some(residents) = run.residents.filter(|_| !resident.needs_reload()) {
        residents.put(location, resident);
    }
    Ok(Some(Outcome::Published { published: Published::in_place(identity, path)?, timings }))
}

/// Prepares for the next change of an up-to-date store: loads its state, unless it is in memory.
pub(crate) fn prepare(
    location: &Location,
    residents: &Residents,
    run: &Run,
) -> Result<(), IndexError> {
    if let Some(snapshot) = newest(location, run)?
        .filter(|store| store.meta().fingerprint == fingerprint(&run.limits, location.directory()))
        && !residents.knows(location, snapshot.identity())
        && let Some(resident) = Resident::load(&snapshot, &run.context())?
    {
        residents.put(location, resident);
    }
    Ok(())
}

/// Acquires the writer lock, unless the run is cancelled or `patience` expires.
pub(crate) fn lock(
    location: &Location,
    patience: Duration,
    run: &Run,
) -> Result<WriterLock, IndexError> {
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
pub(crate) fn if_readable<T>(looked: Result<T, IndexError>) -> Result<Option<T>, IndexError> {
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
pub(crate) fn newest(location: &Location, run: &Run) -> Result<Option<Snapshot>, IndexError> {
    match Store::open_newest(location).and_then(|store| Arc::new(store).snapshot(run.cancel)) {
        Ok(snapshot) => Ok(Some(snapshot)),
        Err(error) if error.calls_for_build() => {
            tracing::info!(%error, "there is no store to start from");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
