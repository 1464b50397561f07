//! In-memory states of the repositories in use, with idle eviction.

use std::time::Duration;

pub use super::resident::MAX_LOADED_FILES;
use super::resident::Resident;
use crate::idle_cache::IdleCache;
use cograph_store::{Identity, Location, Snapshot};

/// Idle timeout of a state.
const KEPT: Duration = Duration::from_secs(60);

/// States of a process. A run takes a state out while it uses it.
#[derive(Debug)]
pub struct Residents(IdleCache<Location, Resident>);

impl Default for Residents {
    fn default() -> Self {
        Self::new()
    }
}

impl Residents {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Self::with_timeout(KEPT)
    }

    /// Without an idle timeout: for a worker process that is itself ended when idle.
    pub(crate) fn without_timeout() -> Self {
        Self::with_timeout(Duration::from_secs(3600 * 24))
    }

    /// With another idle timeout.
    pub fn with_timeout(kept: Duration) -> Self {
        Self(IdleCache::new("index-idle", kept))
    }

    /// Repositories with a cached state.
    pub fn locations(&self) -> Vec<Location> {
        self.0.keys()
    }

    /// Number of files of a repository whose facts are in memory, at most [`MAX_LOADED_FILES`]
    /// between changes. None without a cached state.
    pub fn loaded_files(&self, location: &Location) -> Option<usize> {
        self.0.with(location, |resident| resident.loaded_files())
    }

    /// True if the cached state matches this generation.
    pub(crate) fn knows(&self, location: &Location, store: Identity) -> bool {
        self.0.with(location, |resident| resident.identity() == store).unwrap_or(false)
    }

    /// Records a use of a repository.
    pub(crate) fn touch(&self, location: &Location) {
        self.0.touch(location);
    }

    /// Drops the state of a repository.
    pub(crate) fn forget(&self, location: &Location) {
        drop(self.0.take(location));
    }

    /// Takes the state of a repository, if it matches the store.
    pub(crate) fn take(&self, snapshot: &Snapshot, location: &Location) -> Option<Resident> {
        self.0.take(location).filter(|resident| resident.identity() == snapshot.identity())
    }

    pub(crate) fn put(&self, location: &Location, resident: Resident) {
        self.0.put(location, resident);
    }
}
