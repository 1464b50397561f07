//! Who wants which index run. A run goes on while anybody does: a call that waits for it, or a
//! session that it is the own repository of, or whose call was told that it goes on. With the last
//! of them it is stopped.

use crate::faults::{Fault, planted};
use crate::index::Job;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// The runs that calls wait for.
#[derive(Default)]
pub(super) struct WantedRuns(Mutex<Vec<Waited>>);

struct Waited {
    run: Weak<Job>,
    /// When the first call began to wait.
    begun: Instant,
    /// Calls that wait now.
    waiting: usize,
    /// Sessions for which it goes on without anybody who waits.
    sessions: BTreeSet<u64>,
}

impl WantedRuns {
    /// A call begins to wait for a run. Gives when the first one did.
    pub(super) fn enter(&self, job: &Arc<Job>, session: u64, of_session: bool) -> Instant {
        let mut waited = self.lock();
        // Runs that are over are known to nobody else.
        waited.retain(|entry| Weak::strong_count(&entry.run) > 0);
        let known = waited.iter().position(|entry| entry.is(job)).unwrap_or_else(|| {
            waited.push(Waited {
                run: Arc::downgrade(job),
                begun: Instant::now(),
                waiting: 0,
                sessions: BTreeSet::new(),
            });
            waited.len() - 1
        });
        waited[known].waiting += 1;
        if of_session {
            waited[known].sessions.insert(session);
        }
        waited[known].begun
    }

    /// A call waits no more for a run; `is_answered` says that it was not cancelled. Stops a run
    /// that nobody wants.
    pub(super) fn leave(&self, job: &Arc<Job>, session: u64, is_answered: bool) {
        let mut waited = self.lock();
        let is_unwanted = waited.iter_mut().find(|entry| entry.is(job)).is_some_and(|entry| {
            entry.waiting -= 1;
            if is_answered {
                entry.sessions.insert(session);
            }
            entry.is_unwanted()
        });
        drop(waited);
        if is_unwanted {
            job.cancel();
        }
    }

    /// A session has ended. Stops the runs that only it wanted.
    pub(super) fn forget(&self, session: u64) {
        let left = |entry: &mut Waited| {
            entry.sessions.remove(&session)
                && (entry.is_unwanted() || planted(Fault::SessionOwnsIndex))
        };
        let unwanted: Vec<Arc<Job>> = self
            .lock()
            .iter_mut()
            .filter_map(|entry| left(entry).then(|| entry.run.upgrade())?)
            .collect();
        for job in unwanted {
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

    fn is_unwanted(&self) -> bool {
        self.waiting == 0 && self.sessions.is_empty()
    }
}
