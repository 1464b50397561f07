//! Who wants which index run. A run goes on while anybody does, and after that if somebody will: it is stopped when the last
//! call that wanted it is cancelled, unless it is of the session's own repository or somebody was told that it goes on.

use crate::index::Job;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// The runs that calls wait for.
#[derive(Default)]
pub(super) struct Wanted(Mutex<Vec<Waited>>);

struct Waited {
    run: Weak<Job>,
    /// When the first call began to wait.
    begun: Instant,
    /// Calls that wait now.
    waiting: usize,
    /// Whether it goes on without anybody who waits.
    goes_on: bool,
}

impl Wanted {
    /// A call begins to wait for a run. Gives when the first one did.
    pub(super) fn enter(&self, job: &Arc<Job>, of_session: bool) -> Instant {
        let mut waited = self.lock();
        // Runs that are over are known to nobody else.
        waited.retain(|entry| Weak::strong_count(&entry.run) > 0);
        let known = waited.iter().position(|entry| entry.is(job)).unwrap_or_else(|| {
            waited.push(Waited { run: Arc::downgrade(job), begun: Instant::now(), waiting: 0, goes_on: false });
            waited.len() - 1
        });
        waited[known].waiting += 1;
        waited[known].goes_on |= of_session;
        waited[known].begun
    }

    /// A call waits no more for a run; `is_answered` says that it was not cancelled. Stops a run that nobody wants.
    pub(super) fn leave(&self, job: &Arc<Job>, is_answered: bool) {
        let mut waited = self.lock();
        let is_unwanted = waited.iter_mut().find(|entry| entry.is(job)).is_some_and(|entry| {
            entry.waiting -= 1;
            entry.goes_on |= is_answered;
            entry.waiting == 0 && !entry.goes_on
        });
        drop(waited);
        if is_unwanted {
            job.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waited>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waited {
    fn is(&self, job: &Arc<Job>) -> bool {
        Weak::as_ptr(&self.run) == Arc::as_ptr(job)
    }
}
