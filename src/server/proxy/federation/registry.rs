//! Registry of upstreams by name. Each upstream has a connection thread that connects, lists its
//! tools, and repeats this when the tools change or the connection is lost; a slow upstream blocks
//! no other.
//!
//! A connection is admitted (name still registered, limits kept, tool names unique) and inserted
//! under one lock; connecting, listing and closing happen outside of it. The generation changes
//! with every change of the published tools; a `View` of one generation is cached and immutable.

mod table;

use super::tools;
use crate::base::escape::SafeLine;
use crate::proxy::upstream::Target;
use cograph_model::cancel::CancelToken;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::time::{Duration, Instant};
use table::{Registration, Table};
pub(crate) use view::MAX_UPSTREAMS;
pub use view::{Name, RegistryError};
pub(super) use view::{Peer, SeenUpstream, Serving, View};
pub(super) use wakeup::EventSink;

/// Initial reconnect delay; doubles with every failure up to the maximum.
const MIN_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Minimum interval between two listings of one upstream: rate limit for `tools/list_changed`.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);

/// Creates an unconnected peer. Its events are sent to the given subscription.
pub(super) type Connector = dyn Fn(&Target, EventSink) -> Arc<dyn Peer> + Send + Sync;

/// Registry of upstreams. See the module.
pub(super) struct Registry(Arc<Inner>);

struct Inner {
    table: Mutex<Table>,
    /// Signalled when a first connection attempt has ended.
    attempted: Condvar,
    connector: Box<Connector>,
    /// Called after the list of tools has changed.
    on_change: Box<dyn Fn() + Send + Sync>,
    stop: CancelToken,
}

impl Registry {
    /// Creates an empty registry.
    pub(super) fn new(connector: Box<Connector>, on_change: Box<dyn Fn() + Send + Sync>) -> Self {
        let (table, attempted, stop) = (Mutex::default(), Condvar::new(), CancelToken::new());
        Self(Arc::new(Inner { table, attempted, connector, on_change, stop }))
    }

    /// Registers an upstream and starts its connection thread.
    pub(super) fn add(&self, name: &Name, target: Target) -> Result<(), RegistryError> {
        let epoch = self.0.enter(name, target)?;
        let (inner, named) = (Arc::clone(&self.0), name.clone());
        let thread = std::thread::Builder::new()
            .name(format!("keeper-{name}"))
            .spawn(move || inner.keep(&named, epoch));
        match thread {
            Ok(thread) => {
                if let Some(registration) = self.0.lock().registrations.get_mut(name) {
                    registration.thread = Some(thread);
                }
                Ok(())
            }
            Err(_) => {
                self.0.lock().registrations.remove(name);
                Err(RegistryError::NoThread(name.clone()))
            }
        }
    }

    /// Current view.
    pub(super) fn view(&self) -> Arc<View> {
        Arc::clone(&self.0.lock().view)
    }

    /// Waits until every upstream has had one connection attempt, at most this long.
    pub(super) fn wait_for_attempts(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let mut table = self.0.lock();
        while table.registrations.values().any(|registration| !registration.attempted) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.0.attempted.wait_for(&mut table, left);
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.0.stop.cancel();
        let registrations = std::mem::take(&mut self.0.lock().registrations);
        for registration in registrations.values() {
            registration.wakeup.notify(|pending| pending.stop = true);
        }
        for registration in registrations.values() {
            let serving = registration.serving.as_ref().map(|serving| &serving.peer);
            for peer in serving.into_iter().chain(&registration.connecting) {
                peer.close();
            }
        }
        for thread in registrations.into_values().filter_map(|registration| registration.thread) {
            // `join` fails for a panicked thread, which has ended too.
            let _ = thread.join();
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    fn enter(&self, name: &Name, target: Target) -> Result<u64, RegistryError> {
        let mut table = self.lock();
        if table.registrations.contains_key(name) {
            return Err(RegistryError::Known(name.clone()));
        }
        if table.registrations.len() >= MAX_UPSTREAMS {
            return Err(RegistryError::Full);
        }
        table.next_epoch += 1;
        let epoch = table.next_epoch;
        let (serving, connecting, trouble, thread, wakeup) =
            (None, None, None, None, Arc::default());
        let registration = Registration {
            target,
            epoch,
            serving,
            connecting,
            trouble,
            attempted: false,
            wakeup,
            thread,
        };
        table.registrations.insert(name.clone(), registration);
        table.publish();
        Ok(epoch)
    }

    /// Main loop of a connection thread.
    fn keep(&self, name: &Name, epoch: u64) {
        let Some(wakeup) = self
            .lock()
            .registrations
            .get(name)
            .filter(|registration| registration.epoch == epoch)
            .map(|registration| Arc::clone(&registration.wakeup))
        else {
            return;
        };
        let (mut failures, mut number) = (0, 0);
        loop {
            let begun = Instant::now();
            number += 1;
            let sink = EventSink { wakeup: Arc::clone(&wakeup), number };
            let of_this = |at: Option<u64>| at >= Some(number);
            let mut pending = match self.connect(name, epoch, sink) {
                Ok(()) => {
                    failures = 0;
                    wakeup.wait(None, |pending| {
                        of_this(pending.tools_changed) || of_this(pending.lost)
                    })
                }
                Err(RegistryError::Gone(_)) => return,
                Err(error) => {
                    failures += 1;
                    tracing::info!(%name, %error, "an upstream is not there");
                    wakeup.wait(Some(Instant::now() + pause(failures)), |_| false)
                }
            };
            let mut looked = begun;
            while !pending.stop && !of_this(pending.lost) && of_this(pending.tools_changed) {
                wakeup.wait(Some(looked + MIN_LIST_INTERVAL), |_| false);
                looked = Instant::now();
                if let Err(error) = self.look_again(name, epoch) {
                    tracing::info!(%name, %error, "the tools of an upstream stay as they were \
                        known");
                }
                pending = wakeup
                    .wait(None, |pending| of_this(pending.tools_changed) || of_this(pending.lost));
            }
            wakeup.wait(Some(begun + MIN_LIST_INTERVAL), |_| false);
            if pending.stop || self.stop.is_cancelled() {
                return;
            }
        }
    }

    /// One connection attempt: connects, lists and admits. A failed attempt is closed and leaves
    /// the admitted state unchanged.
    fn connect(&self, name: &Name, epoch: u64, sink: EventSink) -> Result<(), RegistryError> {
        let target = self.target(name, epoch)?;
        let peer = (self.connector)(&target, sink);
        // From here on the shutdown of the registry closes this connection.
        self.registration(name, epoch, |registration| {
            registration.connecting = Some(Arc::clone(&peer))
        })?;
        let result = self.admit(name, epoch, &peer);
        match &result {
            Ok(Some(old)) => old.peer.close(),
            Ok(None) => {}
            Err(_) => peer.close(),
        }
        self.note(name, epoch, result.as_ref().err());
        result.map(drop)
    }

    /// Lists the tools of an admitted upstream again. A failure leaves them unchanged.
    fn look_again(&self, name: &Name, epoch: u64) -> Result<(), RegistryError> {
        let serving = self
            .lock()
            .registrations
            .get(name)
            .and_then(|registration| registration.serving.clone());
        let peer = &serving.ok_or_else(|| RegistryError::Gone(name.clone()))?.peer;
        let result = self.admit(name, epoch, peer);
        self.note(name, epoch, result.as_ref().err());
        result.map(drop)
    }

    fn target(&self, name: &Name, epoch: u64) -> Result<Target, RegistryError> {
        self.registration(name, epoch, |registration| registration.target.clone())
    }

    /// Reads or changes an entry, if it still belongs to this registration.
    fn registration<T>(
        &self,
        name: &Name,
        epoch: u64,
        look: impl FnOnce(&mut Registration) -> T,
    ) -> Result<T, RegistryError> {
        let mut table = self.lock();
        let registration =
            table.registrations.get_mut(name).filter(|registration| registration.epoch == epoch);
        registration.map(look).ok_or_else(|| RegistryError::Gone(name.clone()))
    }

    /// Lists and admits. Returns the replaced connection, which the caller closes.
    fn admit(
        &self,
        name: &Name,
        epoch: u64,
        peer: &Arc<dyn Peer>,
    ) -> Result<Option<Arc<Serving>>, RegistryError> {
        let listing =
            peer.list(&self.stop).map_err(|error| RegistryError::Upstream(error.to_string()))?;
        let is_own_kind = peer.title().as_deref() == Some(cograph_version::NAME);
        // Tools of another cograph are not listed: they are called through the tools of this one.
        let checked = if is_own_kind {
            tools::Checked::default()
        } else {
            tools::check(name.as_str(), &listing)
        };
        let serving =
            Arc::new(Serving { peer: Arc::clone(peer), tools: checked.tools, is_own_kind });
        let (old, is_other) = self.lock().admit(name, epoch, &serving, checked.missing)?;
        if is_other {
            (self.on_change)();
        }
        Ok(old.filter(|old| !Arc::ptr_eq(&old.peer, peer)))
    }

    fn note(&self, name: &Name, epoch: u64, error: Option<&RegistryError>) {
        let mut table = self.lock();
        if let Some(registration) =
            table.registrations.get_mut(name).filter(|registration| registration.epoch == epoch)
        {
            (registration.attempted, registration.connecting) = (true, None);
            let trouble = error.map(|error| SafeLine::new(&error.to_string(), 400).to_string());
            if trouble.is_some() && trouble != registration.trouble {
                registration.trouble = trouble;
                table.publish();
            }
        }
        drop(table);
        self.attempted.notify_all();
    }
}

fn pause(failures: u32) -> Duration {
    MIN_BACKOFF.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(MAX_BACKOFF)
}

#[cfg(test)]
mod tests;
pub(crate) mod view;
pub(crate) mod wakeup;
