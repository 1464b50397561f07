//! Pool of open stores: bounded, with idle eviction by a timer, never while leased.
//!
//! One rule for every change: decide under the lock, do I/O outside of it, publish under the lock.
//! Opening is single-flight: concurrent requests share one attempt and its result. Evicted stores
//! are closed after the lock is released.

mod flight;
mod state;

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use self::flight::{EntryId, Flight};
use self::state::{Plan, PoolState};
use super::connection::{Snapshot, Store};
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{Location, Version};
use crate::format::rows::{Identity, Meta};
use cograph_faults::{self as faults, Fault, planted};
use cograph_model::cancel::CancelToken;
pub use state::PoolCounts;

/// Maximum number of retries if a store is superseded between its lease and the first read.
const MAX_ATTEMPTS: usize = 5;

/// Limits of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolSettings {
    /// Maximum number of open stores without a lease, at least 1.
    pub capacity: usize,
    /// Idle timeout of a store.
    pub idle: Duration,
    /// Interval of the sweep for idle stores and unneeded connections.
    pub sweep: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self { capacity: 16, idle: Duration::from_secs(60), sweep: Duration::from_secs(5) }
    }
}

/// Opens and closes stores for a pool.
pub trait Opener: Send + Sync {
    /// Identity of the newest file of a repository; none if there is no file. Called for every
    /// lease: must be cheap.
    fn newest(&self, location: &Location) -> Result<Option<Version>, StoreError>;

    /// Opens the newest readable generation.
    fn open(&self, location: &Location) -> Result<Store, StoreError>;

    /// Closes an unused store.
    fn close(&self, store: Store);
}

/// Opens stores from the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreOpener;

impl Opener for StoreOpener {
    fn newest(&self, location: &Location) -> Result<Option<Version>, StoreError> {
        let mut attempt = 1;
        loop {
            let mut removed = None;
            for generation in location.generations()? {
                match location.version(generation) {
                    // Superseded and removed since the directory was listed: a newer one exists.
                    Err(error) if error.kind == StoreErrorKind::Missing => removed = Some(error),
                    found => return found.map(Some),
                }
            }
            match removed {
                Some(error) if attempt == MAX_ATTEMPTS => return Err(error),
                Some(_) => attempt += 1,
                None => return Ok(None),
            }
        }
    }

    fn open(&self, location: &Location) -> Result<Store, StoreError> {
        faults::store_opens(location.root());
        location.record_use();
        Store::open_newest(location)
    }

    fn close(&self, store: Store) {
        faults::store_closes(&store.meta().root);
        drop(store);
    }
}

/// Monotonic clock of a pool: time since an arbitrary start.
pub trait Clock: Send + Sync {
    /// Current time.
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

/// Pool of open stores.
pub struct Pool {
    shared: Arc<SharedPool>,
    timer: Option<JoinHandle<()>>,
}

struct SharedPool {
    settings: PoolSettings,
    opener: Arc<dyn Opener>,
    clock: Arc<dyn Clock>,
    state: Mutex<PoolState>,
    /// Wakes the timer: a store was opened, or the pool ends.
    wake: Condvar,
}

impl Pool {
    /// Pool over the file system.
    pub fn new(settings: PoolSettings) -> Result<Self, StoreError> {
        Self::with(settings, Arc::new(StoreOpener), Arc::new(MonotonicClock::default()))
    }

    /// Pool with another opener and clock.
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

    /// Snapshot of the newest generation, for one query. The store stays open until the snapshot is
    /// dropped.
    pub fn snapshot(
        &self,
        location: &Location,
        cancel: &CancelToken,
    ) -> Result<Snapshot, StoreError> {
        let mut attempt = 1;
        loop {
            let lease = self.lease(location, cancel)?;
            match lease.snapshot(cancel) {
                // Superseded and removed in between, or a different file with the same generation:
                // the current one is opened.
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

    /// Leases the newest generation of a repository. `cancel` ends the wait for another thread's
    /// attempt to open it.
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
                let pilot =
                    OpenLeader { shared: &self.shared, location, flight, newest, landed: false };
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
                pilot.open_and_publish()?
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

    /// Closes a repository's store, at once or with its last lease.
    pub fn forget(&self, location: &Location) {
        let victims = self.shared.lock().forget(location);
        self.shared.close(victims);
    }

    /// Current state.
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
            // A panic of the timer needs no handling.
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
        // State changes are assignments that cannot panic, so a poisoned lock is consistent.
        self.state.lock()
    }

    /// Must be called without the lock: closing is I/O.
    fn close(&self, victims: Vec<Arc<Store>>) {
        let _guard = planted(Fault::CloseUnderLock).then(|| self.lock());
        for victim in victims {
            // A store with another reference is closed when that is dropped.
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
            if state.is_empty() {
                // No store to close: sleep without a timeout.
                self.wake.wait(&mut state);
            } else {
                self.wake.wait_for(&mut state, self.settings.sweep);
            }
            let victims = state.take_idle(self.clock.now(), self.settings.idle);
            let spare = state.take_spare();
            drop(state);
            // Closes connections, without the lock.
            drop(spare);
            closers.retain(|closer| !closer.is_finished());
            closers.extend(self.close_in_background(victims));
            state = self.lock();
        }
        drop(state);
        for closer in closers {
            // A panic of the closer needs no handling.
            let _ = closer.join();
        }
    }

    /// Closes on a thread of its own: a slow close does not delay the others.
    fn close_in_background(self: &Arc<Self>, victims: Vec<Arc<Store>>) -> Option<JoinHandle<()>> {
        if victims.is_empty() {
            return None;
        }
        let shared = Arc::clone(self);
        // If there is no thread, the closure is dropped, which closes them here.
        Builder::new().name("store-closer".to_owned()).spawn(move || shared.close(victims)).ok()
    }
}

/// Leader of a single-flight open. Publishes a result in every case.
struct OpenLeader<'p> {
    shared: &'p SharedPool,
    location: &'p Location,
    flight: Arc<Flight>,
    newest: Version,
    landed: bool,
}

impl OpenLeader<'_> {
    fn open_and_publish(mut self) -> Result<(EntryId, Arc<Store>), StoreError> {
        let guard = planted(Fault::GuardAcrossIo).then(|| self.shared.lock());
        let result = self.shared.opener.open(self.location);
        drop(guard);
        self.publish_result(result)
    }

    fn publish_result(
        &mut self,
        result: Result<Store, StoreError>,
    ) -> Result<(EntryId, Arc<Store>), StoreError> {
        self.landed = true;
        let now = self.shared.clock.now();
        let (landing, victims) = self.shared.lock().publish_result(
            self.location,
            &self.flight,
            self.newest,
            result,
            now,
        );
        self.shared.wake.notify_all();
        self.shared.close(victims);
        landing
    }
}

impl Drop for OpenLeader<'_> {
    fn drop(&mut self) {
        if !self.landed {
            let detail = "opening it failed unexpectedly";
            let error = StoreError::new(
                StoreErrorKind::Other,
                "opening store",
                self.location.directory(),
                detail,
            );
            // During unwinding the result is irrelevant; the waiting threads have it.
            let _ = self.publish_result(Err(error));
        }
    }
}

/// Lease of a store: keeps it open. Cheap to clone; the store may be closed after all clones and
/// their snapshots are dropped.
#[derive(Clone, Debug)]
pub struct Lease {
    guard: Arc<LeaseGuard>,
}

/// Ends a lease on drop.
pub(super) struct LeaseGuard {
    shared: Arc<SharedPool>,
    location: Location,
    entry: EntryId,
    // None only during drop.
    store: Option<Arc<Store>>,
}

impl Lease {
    /// Snapshot for one query, which holds the lease.
    pub(crate) fn snapshot(&self, cancel: &CancelToken) -> Result<Snapshot, StoreError> {
        Ok(self.store().snapshot(cancel)?.keeping(self.guard.clone()))
    }

    /// Store and generation.
    pub fn identity(&self) -> Identity {
        self.store().identity()
    }

    /// Metadata.
    pub fn meta(&self) -> &Meta {
        self.store().meta()
    }

    fn store(&self) -> &Arc<Store> {
        self.guard.store.as_ref().expect("a lease has its store until it is dropped")
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        // First, so that the pool's reference is the last when it decides to close the store.
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
