//! Interest in index runs, by reference counting: waiting calls, sessions whose default repository
//! it is, and sessions whose call was answered with "in progress". A run without any interest is
//! cancelled.

use cograph_faults::{Fault, planted};
use cograph_index::Job;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Index runs with waiting calls or interested sessions.
#[derive(Default)]
pub(super) struct JobInterest(Mutex<Vec<WaitedJob>>);

struct WaitedJob {
    run: Weak<Job>,
    /// When the first call began to wait.
    begun: Instant,
    /// Number of waiting calls.
    waiting: usize,
    /// Sessions that keep the run alive without a waiting call.
    sessions: BTreeSet<u64>,
}

impl JobInterest {
    /// A call begins to wait for a run. Returns when the first one did.
    pub(super) fn enter(&self, job: &Arc<Job>, session: u64, of_session: bool) -> Instant {
        let mut waited = self.lock();
        // An entry whose job was dropped is obsolete.
        waited.retain(|entry| Weak::strong_count(&entry.run) > 0);
        let known = waited.iter().position(|entry| entry.is(job)).unwrap_or_else(|| {
            waited.push(WaitedJob {
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

    /// A call stops waiting; `is_answered` is false if it was cancelled. Cancels a run without
    /// interest.
    pub(super) fn withdraw(&self, job: &Arc<Job>, session: u64, is_answered: bool) {
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

    /// A session ended. Cancels runs that only it was interested in.
    pub(super) fn forget(&self, session: u64) {
        let left = |entry: &mut WaitedJob| {
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

    fn lock(&self) -> MutexGuard<'_, Vec<WaitedJob>> {
        self.0.lock()
    }
}

impl WaitedJob {
    fn is(&self, job: &Arc<Job>) -> bool {
        Weak::as_ptr(&self.run) == Arc::as_ptr(job)
    }

    fn is_unwanted(&self) -> bool {
        self.waiting == 0 && self.sessions.is_empty()
    }
}
