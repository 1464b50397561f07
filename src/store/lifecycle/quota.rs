//! Disk quota of all stores in the cache, with eviction of the least recently used repository.

use std::fs::{self};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::format::error::StoreError;
use crate::format::location::Location;
use crate::format::ownership;
use crate::read::connection::Store;

/// Directory of the cache with the files of revisions, each in a directory of its own.
pub const REVISIONS: &str = "revisions";

/// Evicted repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// Root; or the directory of its stores, if they were unreadable.
    pub root: PathBuf,
    /// Freed bytes.
    pub bytes: u64,
}

/// Repository that occupies disk space.
struct CacheUser {
    location: Location,
    bytes: u64,
    used: SystemTime,
}

/// Evicts the least recently used repositories until the cache takes at most `bytes`; never those
/// in `keep`, and never one with an active writer. Open readers keep reading.
pub fn enforce_quota(
    cache: &Path,
    bytes: u64,
    keep: &Location,
) -> Result<Vec<Dropped>, StoreError> {
    let mut cache_users = cache_users(cache)?;
    let mut taken: u64 = cache_users.iter().map(|user| user.bytes).sum();
    let mut dropped = Vec::new();
    cache_users.sort_by_key(|user| user.used);
    for user in cache_users {
        if taken <= bytes {
            break;
        }
        let is_kept = user.location.directory() == keep.directory() || user.bytes == 0;
        // The lock file stays: a second one would allow two writers.
        let Some(lock) = (!is_kept).then(|| user.location.lock(Duration::ZERO).ok()).flatten()
        else {
            continue;
        };
        let root =
            recorded_root(&user.location).unwrap_or_else(|| user.location.root().to_path_buf());
        lock.remove_all();
        remove_revision(cache, &root);
        taken -= user.bytes;
        dropped.push(Dropped { root, bytes: user.bytes });
    }
    Ok(dropped)
}

/// Removes the files of a revision that were written into the cache for its index. Readers of them
/// are those of the index.
fn remove_revision(cache: &Path, root: &Path) {
    let own = root.parent().zip(fs::canonicalize(cache.join(REVISIONS)).ok());
    if own.is_some_and(|(parent, revisions)| parent == revisions) {
        // Best effort: they only occupy disk space.
        let _ = fs::remove_dir_all(root);
    }
}

/// Fails if the cache belongs to another user: it is neither read nor written then.
pub fn check_owner(cache: &Path) -> Result<(), StoreError> {
    ownership::check(cache)
}

/// Disk usage of all stores in a cache, in bytes.
pub fn bytes_taken(cache: &Path) -> Result<u64, StoreError> {
    Ok(cache_users(cache)?.iter().map(|user| user.bytes).sum())
}

/// Root recorded in the newest store of a location.
pub(super) fn recorded_root(place: &Location) -> Option<PathBuf> {
    Store::open_newest(place).ok().map(|store| store.meta().root.clone())
}

/// Locations in the cache with current or former stores; the root of each is its directory, because
/// only a store knows the real one.
pub(super) fn locations(cache: &Path) -> Result<Vec<Location>, StoreError> {
    ownership::check(cache)?;
    let failed = |error: &io::Error| StoreError::from_io("listing the cache", cache, error);
    #[expect(clippy::disallowed_methods, reason = "lists the cache directory, not a repository")]
    let entries = match fs::read_dir(cache) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let directory = entry.map_err(|error| failed(&error))?.path();
        let place = Location::at(directory.clone(), directory);
        if place.lock_path().symlink_metadata().is_ok() {
            found.push(place);
        }
    }
    Ok(found)
}

fn cache_users(cache: &Path) -> Result<Vec<CacheUser>, StoreError> {
    let measured = locations(cache)?.into_iter().map(|location| CacheUser {
        bytes: location.bytes(),
        used: location.last_use(),
        location,
    });
    Ok(measured.collect())
}
