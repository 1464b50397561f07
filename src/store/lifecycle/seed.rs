//! Seeding: a new root may be another checkout of an indexed repository, or a moved one. It starts
//! from a copy of the store that differs least, and the differences are an ordinary change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags, backup::Backup};

use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{Location, WriterLock};
use crate::format::segment::segment_of;
use crate::format::statements;
use crate::lifecycle::adopt::{Adoption, adopt};
use crate::lifecycle::quota;
use crate::read::connection::{Snapshot, Store};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_system::owner::private_options;

/// Number of files to compare, and minimum number to match: fewer are no evidence, and indexed
/// quickly anyway.
const SAMPLED_FILES: u32 = 512;
const LEAST: usize = 10;
/// Required matches out of ten; of another checkout of the same repository, a change of half of the
/// files is cheaper than a build.
const MIN_MATCHES_OF_TEN: usize = 8;
const MIN_MATCHES_OF_RELATED: usize = 5;
/// Number of stores whose files are sampled, most recently used first, and of those of which all
/// files are compared.
const MAX_SAMPLED: usize = 64;
const MAX_COMPARED: usize = 4;

/// A repository without a store.
pub struct Unindexed<'u> {
    /// Fingerprint that its store will have.
    pub fingerprint: u64,
    /// Whether the repository at a root is another checkout of this one.
    pub is_related: &'u dyn Fn(&Path) -> bool,
    /// Whether the repository has a file of this size.
    pub has: &'u dyn Fn(&RepoPath, u64) -> bool,
}

/// Copies the best matching store to a repository without one, if any matches. The store of a root
/// that no longer exists is moved. Returns true if there is a store now.
pub fn seed(lock: &WriterLock, repository: &Unindexed<'_>) -> Result<bool, StoreError> {
    let location = lock.location();
    let Some(cache) = location.directory().parent() else { return Ok(false) };
    let mut others: Vec<(SystemTime, Location)> = quota::locations(cache)?
        .into_iter()
        .filter(|other| other.directory() != location.directory())
        .map(|other| (other.last_use(), other))
        .collect();
    others.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
    // An unreadable store is no candidate.
    let mut candidates: Vec<Candidate> = others
        .into_iter()
        .take(MAX_SAMPLED)
        .filter_map(|(_, other)| Candidate::sampled(other, repository).ok().flatten())
        .collect();
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank));
    candidates.truncate(MAX_COMPARED);
    if candidates.len() > 1 {
        for candidate in &mut candidates {
            candidate.rank.0 = candidate.matches(repository).unwrap_or(0);
        }
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank));
    }
    let Some(best) = candidates.into_iter().next() else { return Ok(false) };
    let root = best.root.clone();
    best.copy_to(lock, repository.fingerprint)?;
    tracing::info!(from = %root.display(), to = %location.root().display(), "a repository \
        starts from the store of another");
    Ok(true)
}

/// Store to copy from.
struct Candidate {
    place: Location,
    root: PathBuf,
    snapshot: Snapshot,
    /// Matching files out of a thousand, and whether it is of the same repository.
    rank: (usize, bool),
}

impl Candidate {
    /// The store at a place; none if it is built by other rules or too few of its files match.
    fn sampled(place: Location, repository: &Unindexed<'_>) -> Result<Option<Self>, StoreError> {
        let snapshot = Arc::new(Store::open_newest(&place)?).snapshot(&CancelToken::new())?;
        let meta = snapshot.meta();
        if meta.fingerprint != repository.fingerprint {
            return Ok(None);
        }
        let (root, last) = (meta.root.clone(), meta.last_file);
        let step = last.div_ceil(SAMPLED_FILES).max(1);
        let mut sample = Vec::new();
        for key in (1..=last).step_by(step as usize) {
            sample.extend(snapshot.file_size(key)?);
        }
        let is_related = (repository.is_related)(&root);
        let matches = of_thousand(&sample, repository);
        let needed = if is_related { MIN_MATCHES_OF_RELATED } else { MIN_MATCHES_OF_TEN };
        if sample.len() < LEAST || matches < needed * 100 {
            return Ok(None);
        }
        Ok(Some(Self { place, root, snapshot, rank: (matches, is_related) }))
    }

    fn matches(&self, repository: &Unindexed<'_>) -> Result<usize, StoreError> {
        Ok(of_thousand(&self.snapshot.file_sizes()?, repository))
    }

    /// Copies the store, in the state of its last change that is complete.
    fn copy_to(self, lock: &WriterLock, fingerprint: u64) -> Result<(), StoreError> {
        let Self { place, root, snapshot, .. } = self;
        let store = snapshot.store().path().to_path_buf();
        // A read transaction would keep the log of changes from being carried over.
        drop(snapshot);
        // A store that is being changed is read like by any question.
        let theirs = place.lock(Duration::ZERO).ok();
        let is_moved = root.symlink_metadata().is_err();
        let segment = segment_of(&store);
        let adoption = Adoption { fingerprint, segment: Some(&segment), trusts_stamps: is_moved };
        adopt(lock, adoption, |temporary| copy_store(&store, theirs.is_some(), temporary))?;
        if let Some(theirs) = theirs.filter(|_| is_moved) {
            theirs.remove_all();
        }
        Ok(())
    }
}

fn of_thousand(files: &[(RepoPath, u64)], repository: &Unindexed<'_>) -> usize {
    let found = files.iter().filter(|(path, size)| (repository.has)(path, *size)).count();
    found * 1000 / files.len().max(1)
}

/// Copies a store to a path, in the state of its last change that is complete; `is_locked` if no
/// other process can change it meanwhile.
pub(super) fn copy_store(
    store: &Path,
    is_locked: bool,
    temporary: &Path,
) -> Result<(), StoreError> {
    let is_settled = is_locked && full_checkpoint(store).is_ok();
    if is_settled { copy_file(store, temporary) } else { copy_pages(store, temporary) }
}

/// Checkpoints the whole WAL of a store, whose writer lock is held.
fn full_checkpoint(store: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite("copying store", store, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(store, flags).map_err(failed)?;
    // A question is not waited for.
    connection.busy_timeout(Duration::ZERO).map_err(failed)?;
    let is_busy: bool =
        connection.query_row(statements::FULL_CHECKPOINT, [], |row| row.get(0)).map_err(failed)?;
    if is_busy {
        let detail = "it is being read in an earlier state";
        return Err(StoreError::new(StoreErrorKind::Locked, "copying store", store, detail));
    }
    Ok(())
}

/// Copies the file of a store that nothing changes meanwhile. Shares extents if the file system
/// supports it.
fn copy_file(store: &Path, temporary: &Path) -> Result<(), StoreError> {
    let copied = fs::copy(store, temporary).map(drop);
    copied.map_err(|error| StoreError::from_io("copying store", temporary, &error))
}

/// Copies the pages of one generation of a store, which may be changed meanwhile.
fn copy_pages(store: &Path, temporary: &Path) -> Result<(), StoreError> {
    let io = |error| StoreError::from_io("copying store", temporary, &error);
    private_options().create(true).truncate(true).write(true).open(temporary).map_err(io)?;
    let copy = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let from = Connection::open_with_flags(store, flags)?;
        let mut to = Connection::open(temporary)?;
        to.execute_batch(statements::WRITER_SETTINGS)?;
        // All in one step: what is read is of one transaction.
        Backup::new(&from, &mut to)?.step(-1)?;
        to.close().map_err(|(_, error)| error)
    };
    copy().map_err(|error| StoreError::from_sqlite("copying store", store, &error))
}
