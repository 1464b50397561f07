//! Wakes the thread that keeps a connection.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Instant;

/// Wakes the connection thread of an upstream.
#[derive(Default)]
pub(crate) struct Wakeup {
    pending: Mutex<PendingEvents>,
    changed: Condvar,
}

/// Pending events, by connection number: events of earlier connections are ignored.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingEvents {
    pub(crate) tools_changed: Option<u64>,
    pub(crate) lost: Option<u64>,
    pub(crate) stop: bool,
}

/// Event sink of one connection, for its connection thread.
#[derive(Clone)]
pub(crate) struct EventSink {
    pub(crate) wakeup: Arc<Wakeup>,
    pub(crate) number: u64,
}

impl EventSink {
    /// The upstream sent `tools/list_changed`.
    pub(crate) fn tools_changed(&self) {
        self.wakeup
            .notify(|pending| pending.tools_changed = pending.tools_changed.max(Some(self.number)));
    }

    /// The connection was lost.
    pub(crate) fn lost(&self) {
        self.wakeup.notify(|pending| pending.lost = pending.lost.max(Some(self.number)));
    }
}

impl Wakeup {
    pub(crate) fn notify(&self, change: impl FnOnce(&mut PendingEvents)) {
        change(&mut self.pending.lock());
        self.changed.notify_all();
    }

    /// Waits for an event of the current connection or the deadline. Consumes the event, except for
    /// the order to stop.
    pub(crate) fn wait(
        &self,
        until: Option<Instant>,
        of_interest: impl Fn(&PendingEvents) -> bool,
    ) -> PendingEvents {
        let mut pending = self.pending.lock();
        while !pending.stop && !of_interest(&pending) {
            match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(&mut pending),
                Some(left) if left.is_zero() => break,
                Some(left) => drop(self.changed.wait_for(&mut pending, left)),
            }
        }
        if of_interest(&pending) {
            let stop = pending.stop;
            return std::mem::replace(
                &mut *pending,
                PendingEvents { stop, ..PendingEvents::default() },
            );
        }
        pending.clone()
    }
}
