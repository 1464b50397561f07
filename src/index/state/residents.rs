//! What is known of the repositories in use, let go when a repository has not been used for a
//! while.

use std::time::Duration;

pub use super::resident::MOST_AT_HAND;
use super::resident::Resident;
use crate::index::kept::Kept;
use crate::store::{Identity, Location, Snapshot};

/// How long what is known of a repository is kept after its last use.
const KEPT: Duration = Duration::from_secs(60);

/// Those of a process. What is in use by one run is not there for another.
#[derive(Debug)]
pub struct Residents(Kept<Location, Resident>);

impl Default for Residents {
    fn default() -> Self {
        Self::new()
    }
}

impl Residents {
    /// None yet.
    pub fn new() -> Self {
        Self::kept_for(KEPT)
    }

    /// The same for a process that is itself let go when it is idle.
    pub(in crate::index) fn kept_always() -> Self {
        Self::kept_for(Duration::from_secs(3600 * 24))
    }

    /// The same with another time of life.
    pub fn kept_for(kept: Duration) -> Self {
        Self(Kept::new("index-idle", kept))
    }

    /// The repositories of which something is kept.
    pub fn locations(&self) -> Vec<Location> {
        self.0.keys()
    }

    /// Of how many files of a repository facts are in memory; at most [`MOST_AT_HAND`] between two
    /// changes. None if nothing is kept of it.
    pub fn files_at_hand(&self, location: &Location) -> Option<usize> {
        self.0.with(location, |resident| resident.files_at_hand())
    }

    /// Whether what is known of a repository is this state of its store.
    pub(in crate::index) fn knows(&self, location: &Location, store: Identity) -> bool {
        self.0.with(location, |resident| resident.identity() == store).unwrap_or(false)
    }

    /// Says that a repository is in use.
    pub fn touch(&self, location: &Location) {
        self.0.touch(location);
    }

    /// What is known of a repository, if that is what its store holds.
    pub(in crate::index) fn take(
        &self,
        snapshot: &Snapshot,
        location: &Location,
    ) -> Option<Resident> {
        self.0.take(location).filter(|resident| resident.identity() == snapshot.identity())
    }

    pub(in crate::index) fn put(&self, location: &Location, resident: Resident) {
        self.0.put(location, resident);
    }
}
