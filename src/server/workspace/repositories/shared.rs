//! Process-wide state of all sessions: open stores, index runs and watches, one of each per
//! repository. Sessions are known only as subscribers to new generations.

use super::job_interest::JobInterest;
use super::root_selection::RootSelection;
use super::watches::Watches;
use crate::workspace::repositories::unavailable::{Unavailable, unavailable};
use cograph_config::{Config, ConfigError};
use cograph_exchange::KeptManifests;
use cograph_index::{Job, Jobs, Outcome, Verified};
use cograph_store::{
    Identity, Location, MonotonicClock, Opener, Pool, PoolSettings, Store, StoreError, StoreOpener,
    Version,
};
use cograph_system::allocator;
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Maximum number of repositories whose manifests are kept.
pub(crate) const MAX_WITH_MANIFESTS: usize = 64;

/// See the module.
pub(crate) struct Shared {
    pub(super) config: Result<Config, Unavailable>,
    stores: PoolSettings,
    pub(super) pool: OnceLock<Result<Pool, StoreError>>,
    pub(super) jobs: Jobs,
    pub(super) verified: Verified,
    pub(super) watches: Watches,
    /// Manifests that were read, by the root of their repository.
    manifests: Mutex<FxHashMap<PathBuf, Arc<KeptManifests>>>,
    /// Interest of calls and sessions in index runs.
    pub(super) wanted: JobInterest,
    sessions: Arc<Sessions>,
}

/// Opener that purges the allocator after a store is closed: pages and memos of stores are most of
/// a server's memory.
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

/// Subscribers to new generations.
#[derive(Default)]
struct Sessions {
    open: Mutex<Vec<Weak<RootSelection>>>,
    next: AtomicU64,
}

impl Shared {
    /// Opens nothing before the first call.
    pub(crate) fn new(config: Result<Config, ConfigError>, stores: PoolSettings) -> Arc<Self> {
        let config = config.map_err(|error| unavailable(&error.to_string(), error.hint()));
        let known = config.as_ref().ok();
        let limits = known.map(|config| config.limits).unwrap_or_default();
        let worker = known.and_then(|config| config.worker.clone());
        let sessions = Arc::new(Sessions::default());
        let watches = Watches::new();
        let (subscribers, watched) = (Arc::clone(&sessions), watches.clone());
        let published = move |job: &Job, outcome: &Outcome| {
            // Recorded before the next query, whether or not a call waits for the run.
            watched.run_finished(job.location(), outcome, job.begun());
            subscribers.publish(job.location(), outcome.identity());
        };
        Arc::new(Self {
            config,
            stores,
            pool: OnceLock::new(),
            jobs: Jobs::with_callback(limits, worker, published),
            verified: Verified::new(),
            watches,
            manifests: Mutex::default(),
            wanted: JobInterest::default(),
            sessions,
        })
    }

    /// Registers a session and returns its id.
    pub(super) fn enter(&self, session: &Arc<RootSelection>) -> u64 {
        let mut open = self.sessions.lock();
        open.retain(|known| known.strong_count() > 0);
        open.push(Arc::downgrade(session));
        self.sessions.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Manifests of the repository at a root that were read.
    pub(super) fn manifests(&self, root: &Path) -> Arc<KeptManifests> {
        let mut known = self.manifests.lock();
        if known.len() >= MAX_WITH_MANIFESTS && !known.contains_key(root) {
            known.clear();
        }
        Arc::clone(known.entry(root.to_path_buf()).or_default())
    }

    /// Open stores.
    pub(super) fn pool(&self) -> Result<&Pool, &StoreError> {
        let open = || {
            let opener = Arc::new(ReturningOpener(StoreOpener));
            Pool::with(self.stores, opener, Arc::new(MonotonicClock::default()))
        };
        self.pool.get_or_init(open).as_ref()
    }
}

impl Sessions {
    /// Publishes a new generation to every session, without holding the lock.
    fn publish(&self, location: &Location, identity: Identity) {
        let open: Vec<Arc<RootSelection>> = self.lock().iter().filter_map(Weak::upgrade).collect();
        for session in open {
            session.published(location.root(), identity);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<RootSelection>>> {
        self.open.lock()
    }
}
