//! Seeding: a new root may be a moved repository or another checkout of an indexed one. It starts
//! from a copy of that store, and the differences are an ordinary change.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{Location, WriterLock};
use crate::format::rows::FileRow;
use crate::format::statements;
use crate::lifecycle::quota;
use crate::read::connection::Store;
use cograph_model::cancel::CancelToken;
use cograph_system::owner;

/// Number of files to compare, and minimum number to match: fewer are no evidence, and indexed
/// quickly anyway.
const SAMPLED_FILES: usize = 64;
const LEAST: usize = 10;
/// Required matches out of ten.
const MIN_MATCHES_OF_TEN: usize = 8;

/// Copies the best matching store to a repository without one, if any matches: `has` tests whether
/// the repository contains a file. The store of a root that no longer exists is moved. Returns true
/// if there is a store now.
pub fn adopt(lock: &WriterLock, has: impl Fn(&FileRow) -> bool) -> Result<bool, StoreError> {
    let location = lock.location();
    let Some(cache) = location.directory().parent() else { return Ok(false) };
    let mut best: Option<Candidate> = None;
    for other in quota::locations(cache)? {
        if other.directory() == location.directory() {
            continue;
        }
        // An unreadable store is no candidate.
        let Ok(candidate) = compare_with(other, &has) else { continue };
        if candidate.of_ten >= MIN_MATCHES_OF_TEN
            && best.as_ref().is_none_or(|best| candidate.of_ten > best.of_ten)
        {
            best = Some(candidate);
        }
    }
    let Some(Candidate { place: other, root, generation, .. }) = best else { return Ok(false) };
    // Its writer may be about to replace it.
    let Ok(theirs) = other.lock(Duration::ZERO) else { return Ok(false) };
    copy_store(&other.generation_path(generation), lock, generation)?;
    if root.symlink_metadata().is_err() {
        theirs.remove_all();
    }
    tracing::info!(from = %root.display(), to = %location.root().display(), "a repository starts \
        from the store of another");
    Ok(true)
}

/// Candidate to copy from.
struct Candidate {
    place: Location,
    root: PathBuf,
    generation: u64,
    /// Matching files out of ten.
    of_ten: usize,
}

fn compare_with(place: Location, has: &impl Fn(&FileRow) -> bool) -> Result<Candidate, StoreError> {
    let store = Arc::new(Store::open_newest(&place)?);
    let root = store.meta().root.clone();
    let generation = store.version().generation;
    let files = store.snapshot(&CancelToken::new())?.files()?;
    let sample: Vec<&FileRow> = files.iter().filter(|file| file.hash != 0).collect();
    let step = sample.len().div_ceil(SAMPLED_FILES).max(1);
    let (mut looked, mut found) = (0, 0);
    for file in sample.into_iter().step_by(step) {
        looked += 1;
        found += usize::from(has(file));
    }
    let of_ten = if looked < LEAST { 0 } else { found * 10 / looked };
    Ok(Candidate { place, root, generation, of_ten })
}

/// Checkpoints the whole WAL of a store, whose writer lock is held.
fn full_checkpoint(store: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite("copying store", store, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(store, flags).map_err(failed)?;
    let is_busy: bool =
        connection.query_row(statements::FULL_CHECKPOINT, [], |row| row.get(0)).map_err(failed)?;
    if is_busy {
        let detail = "it is being read in an earlier state";
        return Err(StoreError::new(StoreErrorKind::Locked, "copying store", store, detail));
    }
    Ok(())
}

/// Copies a store to the location of `lock`.
fn copy_store(store: &Path, lock: &WriterLock, generation: u64) -> Result<(), StoreError> {
    let location = lock.location();
    let temporary = location.temporary_path(generation);
    let failed = |error: std::io::Error| StoreError::from_io("copying store", &temporary, &error);
    full_checkpoint(store)?;
    // Shares extents if the file system supports it.
    fs::copy(store, &temporary).map_err(failed)?;
    // A copy inherits the permissions of its source.
    owner::set_private(&temporary, 0o600).map_err(failed)?;
    let renamed = || -> rusqlite::Result<()> {
        let connection = Connection::open(&temporary)?;
        connection.execute_batch(statements::WRITER_SETTINGS)?;
        connection
            .prepare(statements::SET_ROOT.text())?
            .execute(params![location.root().as_os_str().as_encoded_bytes()])?;
        connection.execute_batch(statements::SHARED_SETTINGS)?;
        connection.close().map_err(|(_, error)| error)
    };
    renamed().map_err(|error| StoreError::from_sqlite("copying store", &temporary, &error))?;
    // Some systems sync only what was opened to write.
    let written = OpenOptions::new().write(true).open(&temporary);
    written.and_then(|file| file.sync_all()).map_err(failed)?;
    let own = location.generation_path(generation);
    crate::build::put_in_place(&temporary, &own, location.directory())?;
    crate::format::segment::share(store, &own);
    Ok(())
}
