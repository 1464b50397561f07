//! Signal that a query has returned the watch of a repository.

use parking_lot::{Condvar, Mutex};
use std::time::Instant;

/// See the module.
#[derive(Default)]
pub(super) struct WatchReturns {
    ended: Mutex<u64>,
    changed: Condvar,
}

impl WatchReturns {
    pub(super) fn count(&self) -> u64 {
        *self.ended.lock()
    }

    pub(super) fn end(&self) {
        *self.ended.lock() += 1;
        self.changed.notify_all();
    }

    /// Waits until the counter exceeds `seen`. Returns false if `until` comes first.
    pub(super) fn wait(&self, seen: u64, until: Instant) -> bool {
        let mut ended = self.ended.lock();
        while *ended == seen {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.changed.wait_for(&mut ended, left);
        }
        true
    }
}
