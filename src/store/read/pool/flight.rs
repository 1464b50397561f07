//! `Flight`: one opening of a store that several wait for.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::model::cancel::CancelToken;
use crate::store::format::error::{StoreError, StoreErrorKind};
use crate::store::format::location::Location;
use crate::store::read::connection::Store;

/// Tells one opening of a store from every other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct EntryId(pub(super) u64);

/// The outcome: an open store on which everybody who waits has a lease already, or why there is
/// none.
pub(super) type Landing = Result<(EntryId, Arc<Store>), StoreError>;

/// An opening under way. Lock order: the pool's lock before this one's.
#[derive(Debug, Default)]
pub(super) struct Flight {
    progress: Mutex<Progress>,
    landed: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    waiting: usize,
    landing: Option<Landing>,
}

impl Flight {
    /// Counts one more who will wait. Called under the pool's lock, so that nobody joins after the
    /// landing.
    pub(super) fn join(&self) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).waiting += 1;
    }

    /// Tells everybody, and gives the number of those who were told. Called under the pool's lock.
    pub(super) fn land(&self, landing: Landing) -> usize {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.landing = Some(landing);
        self.landed.notify_all();
        progress.waiting
    }

    /// Waits for the outcome, or until `cancel`. Consumes the hold on the flight, and with it one
    /// on the store.
    pub(super) fn wait(self: Arc<Self>, location: &Location, cancel: &CancelToken) -> Landing {
        let woken = Arc::clone(&self);
        let hook = cancel.on_cancel(move || {
            // With the lock, so that the waiter is either waiting or about to look at the token.
            let _progress = woken.progress.lock().unwrap_or_else(PoisonError::into_inner);
            woken.landed.notify_all();
        });
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
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
            progress = self.landed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        };
        // Before the hook: the token's lock is taken while the hook runs, and the hook takes this
        // one.
        drop(progress);
        drop(hook);
        outcome
    }
}
