//! The stores that are open: at most so many, closed by a timer when nobody has asked for a while,
//! never while leased.
//!
//! One rule for every change: decide under the lock, do I/O outside it, publish under the lock. A
//! store is opened once however many ask for it at the same time; they share the outcome. Stores
//! that go are closed after the lock is released.

mod flight;
mod state;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use self::flight::EntryId;
use self::flight::Flight;
use self::state::{Plan, PoolState};
use super::connection::{Snapshot, Store};
use crate::faults::{self, Fault, planted};
use crate::model::cancel::CancelToken;
use crate::store::format::error::{StoreError, StoreErrorKind};
use crate::store::format::location::{Location, Version};
use crate::store::format::rows::{Identity, Meta};

/// How often a store may be superseded between the moment it is leased and the moment it is read,
/// before that is an error.
const MAX_ATTEMPTS: usize = 5;

/// Bounds of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolSettings {
    /// Stores that may be open without being leased, at least 1.
    pub capacity: usize,
    /// A store that nobody has leased for so long is closed.
    pub idle: Duration,
    /// Time between two looks for idle stores, and for connections that were not needed between
    /// them.
    pub sweep: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self { capacity: 16, idle: Duration::from_secs(60), sweep: Duration::from_secs(5) }
    }
}

/// Opens and closes stores for a pool.
pub trait Opener: Send + Sync {
    /// What the newest file of a repository is, or none if there is no file. Called for every
    /// lease: it must be cheap.
    fn newest(&self, location: &Location) -> Result<Option<Version>, StoreError>;

    /// Opens the newest generation that can be read.
    fn open(&self, location: &Location) -> Result<Store, StoreError>;

    /// Closes a store that nobody uses any more.
    fn close(&self, store: Store);
}

/// Opens stores from the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreOpener;

impl Opener for StoreOpener {
    fn newest(&self, location: &Location) -> Result<Option<Version>, StoreError> {
        match location.generations()?.first() {
            Some(&generation) => location.version(generation).map(Some),
            None => Ok(None),
        }
    }

    fn open(&self, location: &Location) -> Result<Store, StoreError> {
        faults::store_opens(location.root());
        location.note_use();
        Store::open_newest(location)
    }

    fn close(&self, store: Store) {
        faults::store_closes(&store.meta().root);
        drop(store);
    }
}

/// Tells a pool the time: a duration since some moment, that never goes back and knows nothing of
/// the wall clock.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Duration;
}

/// The system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock(Instant);

impl Default for MonotonicClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Duration {
        if planted(Fault::WallClock) { faults::wall_clock() } else { self.0.elapsed() }
    }
}

/// What a pool holds at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolCounts {
    /// Stores that are open, leased or not, current or superseded.
    pub open: usize,
    /// Leases that are out.
    pub leases: usize,
    /// Stores that are being opened.
    pub opening: usize,
}

/// Keeps stores open between questions.
pub struct Pool {
    shared: Arc<SharedPool>,
    timer: Option<JoinHandle<()>>,
}

struct SharedPool {
    settings: PoolSettings,
    opener: Arc<dyn Opener>,
    clock: Arc<dyn Clock>,
    state: Mutex<PoolState>,
    /// Wakes the timer: something was opened, or the pool ends.
    wake: Condvar,
}

impl Pool {
    /// A pool over the file system.
    pub fn new(settings: PoolSettings) -> Result<Self, StoreError> {
        Self::with(settings, Arc::new(StoreOpener), Arc::new(MonotonicClock::default()))
    }

    /// A pool that opens with `opener` and goes by `clock`.
    pub fn with(
        settings: PoolSettings,
        opener: Arc<dyn Opener>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let state = Mutex::new(PoolState::new(settings.capacity.max(1)));
        let shared = Arc::new(SharedPool { settings, opener, clock, state, wake: Condvar::new() });
        let seen = Arc::clone(&shared);
        let timer = Builder::new()
            .name("store-timer".to_owned())
            .spawn(move || seen.run_timer())
            .map_err(|error| {
            StoreError::from_io("starting the timer of", Path::new("open stores"), &error)
        })?;
        Ok(Self { shared, timer: Some(timer) })
    }

    /// The newest state of a repository's store, for one question. The store stays open until the
    /// snapshot is dropped.
    pub fn snapshot(
        &self,
        location: &Location,
        cancel: &CancelToken,
    ) -> Result<Snapshot, StoreError> {
        let mut attempt = 1;
        loop {
            let lease = self.lease(location, cancel)?;
            match lease.snapshot(cancel) {
                // A new generation came in between and the old file is gone, or the file is another
                // one although it has the number of the old: what is there now is opened.
                Err(error) if error.kind == StoreErrorKind::Missing && attempt < MAX_ATTEMPTS => {
                    attempt += 1;
                    if !planted(Fault::HandlePinned) {
                        self.forget(location);
                    }
                }
                result => return result,
            }
        }
    }

    /// Keeps the newest state of a repository's store open until the lease is dropped. `cancel`
    /// ends a wait for somebody else's opening.
    pub fn lease(&self, location: &Location, cancel: &CancelToken) -> Result<Lease, StoreError> {
        if planted(Fault::EvictInLoop) {
            let victims =
                self.shared.lock().take_idle(self.shared.clock.now(), self.shared.settings.idle);
            self.shared.close(victims);
        }
        let newest = self.shared.opener.newest(location);
        let plan = self.shared.lock().plan(location, newest, self.shared.clock.now());
        let (entry, store) = match plan {
            Plan::Take(entry, store) => (entry, store),
            Plan::Wait(flight) => flight.wait(location, cancel)?,
            Plan::Open { flight, newest, victims } => {
                self.shared.close(victims);
                let pilot = Pilot { shared: &self.shared, location, flight, newest, landed: false };
                if planted(Fault::FirstCallerOpens) {
                    faults::store_opens(location.root());
                }
                if planted(Fault::FirstCallerOpens) && cancel.is_cancelled() {
                    let detail = "cancelled while it was being opened";
                    return Err(StoreError::new(
                        StoreErrorKind::Cancelled,
                        "opening store",
                        location.directory(),
                        detail,
                    ));
                }
                pilot.fly()?
            }
            Plan::Fail { error, victims } => {
                self.shared.close(victims);
                return Err(error);
            }
        };
        let shared = Arc::clone(&self.shared);
        Ok(Lease {
            guard: Arc::new(LeaseGuard {
                shared,
                location: location.clone(),
                entry,
                store: Some(store),
            }),
        })
    }

    /// Closes a repository's store, at once or when its last lease ends.
    pub fn forget(&self, location: &Location) {
        let victims = self.shared.lock().forget(location);
        self.shared.close(victims);
    }

    /// What the pool holds now.
    pub fn counts(&self) -> PoolCounts {
        self.shared.lock().counts()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let victims = self.shared.lock().end();
        self.shared.wake.notify_all();
        self.shared.close(victims);
        if let Some(timer) = self.timer.take() {
            // A timer that panicked has nothing left to end.
            let _ = timer.join();
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("settings", &self.shared.settings)
            .field("counts", &self.counts())
            .finish()
    }
}

impl SharedPool {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // Every change of the state is a few assignments that cannot panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Never called with the lock held: closing is I/O.
    fn close(&self, victims: Vec<Arc<Store>>) {
        let _guard = planted(Fault::CloseUnderLock).then(|| self.lock());
        for victim in victims {
            // Where somebody still holds the store without a lease, it is closed when they let go.
            if let Some(store) = Arc::into_inner(victim) {
                self.opener.close(store);
            }
        }
    }

    fn run_timer(self: &Arc<Self>) {
        let mut closers: Vec<JoinHandle<()>> = Vec::new();
        if planted(Fault::EvictInLoop) {
            return;
        }
        let mut state = self.lock();
        while !state.has_ended() {
            state = if state.is_empty() {
                // Nothing to close: no reason to wake up.
                self.wake.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.wake
                    .wait_timeout(state, self.settings.sweep)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            };
            let victims = state.take_idle(self.clock.now(), self.settings.idle);
            let spare = state.take_spare();
            drop(state);
            // Closes connections: not with the lock held.
            drop(spare);
            closers.retain(|closer| !closer.is_finished());
            closers.extend(self.close_aside(victims));
            state = self.lock();
        }
        drop(state);
        for closer in closers {
            // A closer that panicked has nothing left to close.
            let _ = closer.join();
        }
    }

    /// Closes on a thread of its own: a store that closes slowly does not keep the others open.
    fn close_aside(self: &Arc<Self>, victims: Vec<Arc<Store>>) -> Option<JoinHandle<()>> {
        if victims.is_empty() {
            return None;
        }
        let shared = Arc::clone(self);
        // Without a thread they are closed here and now, with the closure that has them.
        Builder::new().name("store-closer".to_owned()).spawn(move || shared.close(victims)).ok()
    }
}

/// The one who opens a store for all who wait for it. Whatever happens to it, they are told.
struct Pilot<'p> {
    shared: &'p SharedPool,
    location: &'p Location,
    flight: Arc<Flight>,
    newest: Version,
    landed: bool,
}

impl Pilot<'_> {
    fn fly(mut self) -> Result<(EntryId, Arc<Store>), StoreError> {
        let guard = planted(Fault::GuardAcrossIo).then(|| self.shared.lock());
        let result = self.shared.opener.open(self.location);
        drop(guard);
        self.land(result)
    }

    fn land(
        &mut self,
        result: Result<Store, StoreError>,
    ) -> Result<(EntryId, Arc<Store>), StoreError> {
        self.landed = true;
        let now = self.shared.clock.now();
        let (landing, victims) =
            self.shared.lock().land(self.location, &self.flight, self.newest, result, now);
        self.shared.wake.notify_all();
        self.shared.close(victims);
        landing
    }
}

impl Drop for Pilot<'_> {
    fn drop(&mut self) {
        if !self.landed {
            let detail = "opening it failed unexpectedly";
            let error = StoreError::new(
                StoreErrorKind::Other,
                "opening store",
                self.location.directory(),
                detail,
            );
            // The one who is unwinding has no use for the outcome; the others have been told.
            let _ = self.land(Err(error));
        }
    }
}

/// Keeps a store open. Cheap to copy; the store may be closed when all copies and all snapshots
/// made from them are gone.
#[derive(Clone, Debug)]
pub struct Lease {
    guard: Arc<LeaseGuard>,
}

/// Gives a lease back when it is dropped.
pub(super) struct LeaseGuard {
    shared: Arc<SharedPool>,
    location: Location,
    entry: EntryId,
    // Empty only while it is being dropped.
    store: Option<Arc<Store>>,
}

impl Lease {
    /// A view of the store for one question, which keeps the lease.
    pub fn snapshot(&self, cancel: &CancelToken) -> Result<Snapshot, StoreError> {
        Ok(self.store().snapshot(cancel)?.keeping(self.guard.clone()))
    }

    /// Which store and state it is.
    pub fn identity(&self) -> Identity {
        self.store().identity()
    }

    /// What the store says about itself.
    pub fn meta(&self) -> &Meta {
        self.store().meta()
    }

    fn store(&self) -> &Arc<Store> {
        self.guard.store.as_ref().expect("a lease has its store until it is dropped")
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        // First, so that the pool's own hold is the last one when it decides to close the store.
        self.store = None;
        let now = self.shared.clock.now();
        let victims = self.shared.lock().give_back(&self.location, self.entry, now);
        self.shared.close(victims);
    }
}

impl fmt::Debug for LeaseGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseGuard").field("location", &self.location).finish_non_exhaustive()
    }
}
