//! What all sessions of a process have in common: open stores, index runs and watches. A repository
//! has each of them once, however many sessions ask about it. Knows no session but as somebody to
//! tell of new generations.

use super::chosen::Chosen;
use super::wanted::WantedRuns;
use super::watches::Watches;
use super::{Unavailable, unavailable};
use crate::config::{Config, ConfigError};
use crate::index::{Job, Jobs, Verified};
use crate::server::base::allocator;
use crate::store::{
    Identity, Location, MonotonicClock, Opener, Pool, PoolSettings, Store, StoreError, StoreOpener,
    Version,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// See the module.
pub(in crate::server) struct Shared {
    pub(super) config: Result<Config, Unavailable>,
    stores: PoolSettings,
    pub(super) pool: OnceLock<Result<Pool, StoreError>>,
    pub(super) jobs: Jobs,
    pub(super) verified: Verified,
    pub(super) watches: Watches,
    /// Runs that calls wait for.
    pub(super) wanted: WantedRuns,
    sessions: Arc<Sessions>,
}

/// Opens stores from the file system. The pages and memos of a store are most of what a server
/// holds: once it is closed they go back to the system.
struct ReturningOpener(StoreOpener);

impl Opener for ReturningOpener {
    fn newest(&self, location: &Location) -> Result<Option<Version>, StoreError> {
        self.0.newest(location)
    }

    fn open(&self, location: &Location) -> Result<Store, StoreError> {
        self.0.open(location)
    }

    fn close(&self, store: Store) {
        self.0.close(store);
        allocator::return_unused_pages();
    }
}

/// Who is told of new generations.
#[derive(Default)]
struct Sessions {
    open: Mutex<Vec<Weak<Chosen>>>,
    next: AtomicU64,
}

impl Shared {
    /// Nothing is opened or looked at before the first call.
    pub(in crate::server) fn new(
        config: Result<Config, ConfigError>,
        stores: PoolSettings,
    ) -> Arc<Self> {
        let config = config.map_err(|error| unavailable(&error.to_string(), error.hint()));
        let known = config.as_ref().ok();
        let limits = known.map(|config| config.limits).unwrap_or_default();
        let worker = known.and_then(|config| config.worker.clone());
        let sessions = Arc::new(Sessions::default());
        let watches = Watches::new();
        let (told, noted) = (Arc::clone(&sessions), watches.clone());
        let published = move |job: &Job, state| {
            // Before anybody asks again, whether or not somebody still waits for the run.
            noted.taken_in(job.location(), state, job.begun());
            told.tell(job.location(), state);
        };
        Arc::new(Self {
            config,
            stores,
            pool: OnceLock::new(),
            jobs: Jobs::telling(limits, worker, published),
            verified: Verified::new(),
            watches,
            wanted: WantedRuns::default(),
            sessions,
        })
    }

    /// A session comes; gives its number.
    pub(super) fn enter(&self, session: &Arc<Chosen>) -> u64 {
        let mut open = self.sessions.lock();
        open.retain(|known| known.strong_count() > 0);
        open.push(Arc::downgrade(session));
        self.sessions.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The open stores.
    pub(super) fn pool(&self) -> Result<&Pool, &StoreError> {
        let open = || {
            let opener = Arc::new(ReturningOpener(StoreOpener));
            Pool::with(self.stores, opener, Arc::new(MonotonicClock::default()))
        };
        self.pool.get_or_init(open).as_ref()
    }
}

impl Sessions {
    /// Tells every session; what that means for it, it finds out without the lock.
    fn tell(&self, location: &Location, identity: Identity) {
        let open: Vec<Arc<Chosen>> = self.lock().iter().filter_map(Weak::upgrade).collect();
        for session in open {
            session.published(location.root(), identity);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Chosen>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
