//! What is known of the repositories in use, let go when a repository has not been used for a while: by a thread that is there
//! as long as something is kept.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::resident::Resident;
use crate::store::{Identity, Location, Snapshot};

/// How long what is known of a repository is kept after its last use.
const KEPT: Duration = Duration::from_secs(60);

/// Those of a process. What is in use by one run is not there for another.
#[derive(Debug)]
pub struct Residents {
    shared: Arc<Shared>,
    kept: Duration,
    sweeper: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    kept: Vec<(Location, Instant, Resident)>,
    /// Whether there is a thread that sweeps.
    is_swept: bool,
    ended: bool,
}

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

    /// The same with another time of life.
    pub fn kept_for(kept: Duration) -> Self {
        Self { shared: Arc::default(), kept, sweeper: Mutex::default() }
    }

    /// The repositories of which something is kept.
    pub fn locations(&self) -> Vec<Location> {
        self.shared.lock().kept.iter().map(|(location, _, _)| location.clone()).collect()
    }

    /// Whether what is known of a repository is this state of its store.
    pub(super) fn knows(&self, location: &Location, store: Identity) -> bool {
        let state = self.shared.lock();
        state.kept.iter().any(|(known, _, resident)| known == location && resident.identity() == Some(store))
    }

    /// Says that a repository is in use.
    pub fn touch(&self, location: &Location) {
        if let Some((_, used, _)) = self.shared.lock().kept.iter_mut().find(|(known, _, _)| known == location) {
            *used = Instant::now();
        }
    }

    /// What is known of a repository, if that is what its store holds.
    pub(super) fn take(&self, snapshot: &Snapshot, location: &Location) -> Option<Resident> {
        let (_, _, resident) = {
            let mut state = self.shared.lock();
            let place = state.kept.iter().position(|(known, _, _)| known == location)?;
            state.kept.swap_remove(place)
        };
        (resident.identity() == Some(snapshot.identity())).then_some(resident)
    }

    pub(super) fn put(&self, location: &Location, resident: Resident) {
        let before = {
            let mut state = self.shared.lock();
            let place = state.kept.iter().position(|(known, _, _)| known == location);
            let before = place.map(|place| state.kept.swap_remove(place));
            state.kept.push((location.clone(), Instant::now(), resident));
            before
        };
        // Outside of the lock: this can be a lot of memory.
        drop(before);
        self.begin_to_sweep();
    }

    fn begin_to_sweep(&self) {
        let mut sweeper = self.sweeper.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut self.shared.lock().is_swept, true) {
            return;
        }
        if let Some(ended) = sweeper.take() {
            // It has said that it sweeps no more: there is nothing left that could fail.
            let _ = ended.join();
        }
        let (shared, kept) = (Arc::clone(&self.shared), self.kept);
        match Builder::new().name("index-idle".to_owned()).spawn(move || shared.sweep(kept)) {
            Ok(thread) => *sweeper = Some(thread),
            Err(error) => {
                tracing::warn!(%error, "nothing is kept between runs: it could not be let go again");
                let mut state = self.shared.lock();
                state.is_swept = false;
                state.kept.clear();
            }
        }
    }
}

impl Drop for Residents {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.sweeper.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It only lets go of memory.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of the thread: until nothing is kept.
    fn sweep(&self, kept: Duration) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let (left, idle): (Vec<_>, Vec<_>) =
                std::mem::take(&mut state.kept).into_iter().partition(|(_, used, _)| now.duration_since(*used) < kept);
            state.kept = left;
            if !idle.is_empty() {
                drop(state);
                // Outside of the lock: this can be a lot of memory.
                drop(idle);
                state = self.lock();
                continue;
            }
            let next = state.kept.iter().map(|(_, used, _)| *used + kept).min();
            let Some(next) = next.filter(|_| !state.ended) else {
                state.is_swept = false;
                return;
            };
            let wait = next.saturating_duration_since(now);
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
