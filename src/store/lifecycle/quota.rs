//! The room that the stores of all repositories take together, and who gives way when it is too
//! much: the repository that was used longest ago.

use std::fs::{self};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::store::format::error::StoreError;
use crate::store::format::location::Location;
use crate::store::format::ownership;
use crate::store::read::connection::Store;

/// A repository whose stores were removed to make room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// Its root; or the directory of its stores, if those could not be read any more.
    pub root: PathBuf,
    /// The room that they took.
    pub bytes: u64,
}

/// What takes room.
struct Tenant {
    location: Location,
    bytes: u64,
    used: SystemTime,
}

/// Removes stores of the repositories that were used longest ago until all in the cache take at
/// most `bytes`; never those of `keep`, and never any that is being written. Whoever has one open
/// keeps reading it.
pub fn make_room(cache: &Path, bytes: u64, keep: &Location) -> Result<Vec<Dropped>, StoreError> {
    let mut tenants = tenants(cache)?;
    let mut taken: u64 = tenants.iter().map(|tenant| tenant.bytes).sum();
    let mut dropped = Vec::new();
    tenants.sort_by_key(|tenant| tenant.used);
    for tenant in tenants {
        if taken <= bytes {
            break;
        }
        let is_kept = tenant.location.directory() == keep.directory() || tenant.bytes == 0;
        // The lock stays where it is: a second one beside it would let two write.
        let Some(lock) = (!is_kept).then(|| tenant.location.lock(Duration::ZERO).ok()).flatten()
        else {
            continue;
        };
        let root =
            known_root(&tenant.location).unwrap_or_else(|| tenant.location.root().to_path_buf());
        lock.remove_all();
        taken -= tenant.bytes;
        dropped.push(Dropped { root, bytes: tenant.bytes });
    }
    Ok(dropped)
}

/// Fails if a cache is not this user's: nothing in it is read, and nothing written.
pub fn check_owner(cache: &Path) -> Result<(), StoreError> {
    ownership::check(cache)
}

/// The room that the stores of all repositories in a cache take.
pub fn bytes_taken(cache: &Path) -> Result<u64, StoreError> {
    Ok(tenants(cache)?.iter().map(|tenant| tenant.bytes).sum())
}

/// The root that the newest store in a place is of.
pub(super) fn known_root(place: &Location) -> Option<PathBuf> {
    Store::open_newest(place).ok().map(|store| store.meta().root.clone())
}

/// Every place in the cache that has, or had, stores; the directory stands for the root, which only
/// a store knows.
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

fn tenants(cache: &Path) -> Result<Vec<Tenant>, StoreError> {
    let measured = locations(cache)?.into_iter().map(|location| {
        let used = location
            .lock_path()
            .metadata()
            .and_then(|lock| lock.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH);
        Tenant { bytes: location.bytes(), used, location }
    });
    Ok(measured.collect())
}
