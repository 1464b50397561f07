//! Which files a question has to look at: all of them, or those that a watch has reported since all were looked at. Repositories
//! are watched while they are in use; whatever stands in the way of that, every question looks at everything.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::config;
use crate::index::{self, ChangeSet, IndexError, Verified};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::store::{Identity, Location, Snapshot};
use crate::watch::{Hints, Watch};

/// A repository that nobody has asked about for so long is no longer watched.
const IDLE: Duration = Duration::from_secs(60);
/// Time between two looks for those.
const SWEEP: Duration = Duration::from_secs(5);
/// All files are looked at once in so long even so: there are ways to change a file that no system reports, such as memory
/// that is mapped to it.
const TRUSTED: Duration = Duration::from_secs(60);

/// The watches of a process.
pub(super) struct Watches {
    shared: Arc<Shared>,
    timer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Wakes the timer: something is watched, or it all ends.
    wake: Condvar,
}

#[derive(Default)]
struct State {
    repositories: Vec<Repository>,
    ended: bool,
}

struct Repository {
    location: Location,
    used: Instant,
    watch: Slot,
    /// A state of the store of which it is known that it reflects every file outside of `reported`, and when all were looked
    /// at last. None while a question looks at what was reported.
    known: Option<(Identity, Instant)>,
    reported: Hints,
    /// When reports were taken by a question last: it compares them with the store of its time.
    taken: Option<Instant>,
}

/// A watch on its way through the threads.
enum Slot {
    /// It is being made, or somebody reads it: others look at everything meanwhile.
    Away,
    Here(Box<Watch>),
    /// It cannot be; why.
    None(String),
}

/// What a question knows before it looks at files.
enum Known {
    /// Nothing: look at everything. Whether what is found then can be remembered.
    Nothing { watched: bool },
    /// Only these can have changed since then.
    Reported(BTreeSet<RepoPath>, Instant),
}

impl Watches {
    pub(super) fn new() -> Self {
        Self { shared: Arc::default(), timer: Mutex::default() }
    }

    /// Compares a store with its repository; see [`index::freshness`].
    pub(super) fn freshness(
        &self,
        location: &Location,
        snapshot: &Snapshot,
        limits: &config::Limits,
        verified: &Verified,
        cancel: &CancelToken,
    ) -> Result<ChangeSet, IndexError> {
        let store = snapshot.identity();
        let now = Instant::now();
        let (found, looked, asked) = match self.known(location, store, limits, cancel) {
            Known::Nothing { watched } => {
                let found = index::freshness(snapshot, limits, verified, cancel)?;
                if !watched {
                    return Ok(found);
                }
                (found, now, BTreeSet::new())
            }
            Known::Reported(paths, _) if paths.is_empty() => {
                return Ok(ChangeSet::Some { touched: Vec::new(), gone: Vec::new() });
            }
            Known::Reported(paths, looked) => (index::freshness_of(&paths, snapshot, limits, verified, cancel)?, looked, paths),
        };
        if let Some(repository) = self.shared.lock().find(location) {
            repository.known = repository.known.or(Some((store, looked)));
            // They are looked at again until a store reflects them.
            match found.len() {
                Some(0) => {}
                Some(_) => repository.reported.paths.extend(found.paths().cloned().chain(asked)),
                None => repository.reported.everything = true,
            }
        }
        Ok(found)
    }

    /// A run that began after `looked` has made this state of the store: it reflects all but what was reported since.
    pub(super) fn taken_in(&self, location: &Location, store: Identity, looked: Instant) {
        if let Some(repository) = self.shared.lock().find(location)
            && repository.taken.is_none_or(|taken| taken < looked)
            && let Some((_, before)) = repository.known.filter(|(_, before)| *before <= looked)
        {
            repository.known = Some((store, before));
        }
    }

    /// Begins to watch a repository that is going to be asked about.
    pub(super) fn attend(&self, location: &Location, threads: usize) {
        {
            let mut state = self.shared.lock();
            if let Some(repository) = state.find(location) {
                repository.used = Instant::now();
                return;
            }
            state.repositories.push(Repository::new(location));
        }
        self.begin(location, threads);
    }

    /// The repositories that are in use: the location, and how many directories are watched, or why none is.
    pub(super) fn all(&self) -> Vec<(Location, Result<usize, String>)> {
        let state = self.shared.lock();
        let all = state.repositories.iter().filter_map(|repository| {
            let watched = match &repository.watch {
                Slot::Away => return None,
                Slot::Here(watch) => Ok(watch.directories()),
                Slot::None(reason) => Err(reason.clone()),
            };
            Some((repository.location.clone(), watched))
        });
        all.collect()
    }

    /// What is known now, with everything that was reported up to now.
    fn known(&self, location: &Location, store: Identity, limits: &config::Limits, cancel: &CancelToken) -> Known {
        self.attend(location, limits.threads);
        let mut watch = {
            let mut state = self.shared.lock();
            let Some(repository) = state.find(location) else { return Known::Nothing { watched: false } };
            match std::mem::replace(&mut repository.watch, Slot::Away) {
                Slot::Here(watch) => watch,
                other => {
                    repository.watch = other;
                    return Known::Nothing { watched: false };
                }
            }
        };
        let drained = watch.drain(cancel);
        let mut state = self.shared.lock();
        let Some(repository) = state.find(location) else { return Known::Nothing { watched: false } };
        match drained {
            Ok(hints) => {
                repository.watch = Slot::Here(watch);
                repository.reported.extend(hints);
            }
            Err(error) => {
                tracing::warn!(%error, "a repository is no longer watched");
                repository.watch = Slot::None(error.to_string());
                repository.known = None;
                return Known::Nothing { watched: false };
            }
        }
        repository.taken = Some(Instant::now());
        match repository.known {
            Some((known, looked)) if known == store && looked.elapsed() < TRUSTED && !repository.reported.everything => {
                let reported = std::mem::take(&mut repository.reported);
                if !reported.is_empty() {
                    // Others look at everything while this one finds out what the reports mean.
                    repository.known = None;
                }
                Known::Reported(reported.paths, looked)
            }
            _ => {
                (repository.known, repository.reported) = (None, Hints::default());
                Known::Nothing { watched: true }
            }
        }
    }

    /// Makes a watch, on a thread of its own: the question that wants it looks at everything meanwhile.
    fn begin(&self, location: &Location, threads: usize) {
        let (shared, own) = (Arc::clone(&self.shared), location.clone());
        let make = move || {
            let made = Watch::start(own.root(), threads, &CancelToken::new());
            if let Err(error) = &made {
                tracing::warn!(%error, "a repository is not watched");
            }
            if let Some(repository) = shared.lock().find(&own) {
                repository.watch = made.map_or_else(|error| Slot::None(error.to_string()), |watch| Slot::Here(Box::new(watch)));
            }
        };
        if let Err(error) = Builder::new().name("watch-start".to_owned()).spawn(make)
            && let Some(repository) = self.shared.lock().find(location)
        {
            repository.watch = Slot::None(error.to_string());
        }
        let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        if timer.is_none() {
            let shared = Arc::clone(&self.shared);
            // Without it repositories stay watched until the process ends.
            *timer = Builder::new().name("watch-timer".to_owned()).spawn(move || shared.run_timer()).ok();
        }
        drop(timer);
        self.shared.wake.notify_all();
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.wake.notify_all();
        if let Some(timer) = self.timer.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // A timer that panicked has nothing left to end.
            let _ = timer.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is a few assignments that cannot panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_timer(&self) {
        let mut state = self.lock();
        while !state.ended {
            state = if state.repositories.is_empty() {
                self.wake.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.wake.wait_timeout(state, SWEEP).unwrap_or_else(PoisonError::into_inner).0
            };
            let (idle, used) = state.repositories.drain(..).partition::<Vec<_>, _>(|entry| entry.used.elapsed() >= IDLE);
            state.repositories = used;
            // To end a watch is to close its queue.
            drop(state);
            drop(idle);
            state = self.lock();
        }
    }
}

impl State {
    fn find(&mut self, location: &Location) -> Option<&mut Repository> {
        self.repositories.iter_mut().find(|repository| repository.location == *location)
    }
}

impl Repository {
    fn new(location: &Location) -> Self {
        let (location, reported) = (location.clone(), Hints::default());
        Self { location, used: Instant::now(), watch: Slot::Away, known: None, reported, taken: None }
    }
}
