//! `Flight`: single-flight open of a store, shared by all waiting threads.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;

use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::Location;
use crate::read::connection::Store;
use cograph_model::cancel::CancelToken;

/// Id of one attempt to open a store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct EntryId(pub(super) u64);

/// Result of an attempt: an open store with a lease for each waiting thread, or an error.
pub(super) type OpenResult = Result<(EntryId, Arc<Store>), StoreError>;

/// Attempt in progress. Lock order: the pool's lock before this one's.
#[derive(Debug, Default)]
pub(super) struct Flight {
    progress: Mutex<Progress>,
    landed: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    waiting: usize,
    landing: Option<OpenResult>,
}

impl Flight {
    /// Adds a waiting thread. Called under the pool's lock, so that none joins after the result.
    pub(super) fn join(&self) {
        self.progress.lock().waiting += 1;
    }

    /// Publishes the result, and returns the number of waiting threads. Called under the pool's
    /// lock.
    pub(super) fn publish_result(&self, landing: OpenResult) -> usize {
        let mut progress = self.progress.lock();
        progress.landing = Some(landing);
        self.landed.notify_all();
        progress.waiting
    }

    /// Waits for the result, or until `cancel`. Consumes the reference to the flight, and thereby
    /// to its store.
    pub(super) fn wait(self: Arc<Self>, location: &Location, cancel: &CancelToken) -> OpenResult {
        let woken = Arc::clone(&self);
        let hook = cancel.on_cancel(move || {
            // Under the lock, so that the signal cannot fall between the check of the token and the
            // wait.
            let _progress = woken.progress.lock();
            woken.landed.notify_all();
        });
        let mut progress = self.progress.lock();
        let outcome = loop {
            if let Some(landing) = &progress.landing {
                break landing.clone();
            }
            if cancel.is_cancelled() {
                progress.waiting -= 1;
                let detail = "cancelled while it was being opened";
                break Err(StoreError::new(
                    StoreErrorKind::Cancelled,
                    "opening store",
                    location.directory(),
                    detail,
                ));
            }
            self.landed.wait(&mut progress);
        };
        // Released before the hook is removed: the token's lock is held while the hook runs, and
        // the hook takes this lock.
        drop(progress);
        drop(hook);
        outcome
    }
}
