//! Registry of upstreams by name. Each upstream has a connection thread that connects, lists its
//! tools, and repeats this when the tools change or the connection is lost; a slow upstream blocks
//! no other.
//!
//! A connection is admitted (name still registered, limits kept, tool names unique) and inserted
//! under one lock; connecting, listing and closing happen outside of it. The generation changes
//! with every change of the published tools; a `View` of one generation is cached and immutable.

mod table;

use super::tools::{self, BETWEEN, ForeignTool};
use crate::base::escape::SafeLine;
use crate::proxy::upstream::{Caller, Listing, Target, UpstreamError, UpstreamQuestion};
use cograph_model::cancel::CancelToken;
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use table::{Registration, Table};

/// Maximum number of upstreams.
pub(crate) const MAX_UPSTREAMS: usize = 16;
/// Maximum number of tools of all upstreams together.
pub(crate) const MAX_TOOLS: usize = 256;
/// Maximum length of an upstream's name.
const NAME: usize = 24;
/// Initial reconnect delay; doubles with every failure up to the maximum.
const MIN_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Minimum interval between two listings of one upstream: rate limit for `tools/list_changed`.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);

/// Name of an upstream: letters, digits, `-` and single `_`; starts with a letter and ends with a
/// letter or digit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(String);

/// Why an upstream was not admitted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegistryError {
    /// The name is syntactically invalid.
    #[error(
        "{given:?} cannot name an upstream: at most {NAME} letters, digits, `-` and single `_`, \
         starting with a letter, ending with a letter or digit"
    )]
    Name {
        /// The given name, truncated.
        given: String,
    },
    /// The name is already registered.
    #[error("two upstreams are named {0}")]
    Known(Name),
    /// The maximum number of upstreams is reached.
    #[error("there are {MAX_UPSTREAMS} upstreams already")]
    Full,
    /// The upstream was removed or replaced while it connected.
    #[error("{0} was removed or replaced while it connected")]
    Gone(Name),
    /// Its tools would exceed the maximum number of tools.
    #[error("{name} has {tools} tools: the total would exceed {MAX_TOOLS}")]
    TooManyTools {
        /// Name of the upstream.
        name: Name,
        /// Number of its tools.
        tools: usize,
    },
    /// A tool name is already in use.
    #[error("{0} has a tool whose name another upstream's tool has")]
    Collision(Name),
    /// Connecting or listing the tools failed.
    #[error("{0}")]
    Upstream(String),
    /// Thread creation failed.
    #[error("no thread for the upstream {0}")]
    NoThread(Name),
}

/// Connection to one upstream, independent of the transport.
pub(super) trait Peer: Send + Sync {
    /// Connects if necessary, and lists the tools.
    fn list(&self, cancel: &CancelToken) -> Result<Listing, UpstreamError>;
    /// Sends a request and waits for its response.
    fn call(
        &self,
        question: &UpstreamQuestion,
        caller: &dyn Caller,
    ) -> Result<Value, UpstreamError>;
    /// Server name from the handshake.
    fn title(&self) -> Option<String>;
    /// Sends a notification, if connected.
    fn send_notification(&self, method: &str);
    /// Closes the connection; requests in flight fail. Idempotent.
    fn close(&self);
}

/// Creates an unconnected peer. Its events are sent to the given subscription.
pub(super) type Connector = dyn Fn(&Target, EventSink) -> Arc<dyn Peer> + Send + Sync;

/// An admitted upstream.
pub(super) struct Serving {
    /// Connection.
    pub(super) peer: Arc<dyn Peer>,
    /// Its tools.
    pub(super) tools: Vec<ForeignTool>,
    /// True if the upstream runs cograph.
    pub(super) is_own_kind: bool,
}

/// Upstream as seen by callers and `status`.
#[derive(Clone)]
pub(super) struct SeenUpstream {
    /// Name.
    pub(super) name: Name,
    /// Admitted connection and tools; none while disconnected.
    pub(super) serving: Option<Arc<Serving>>,
    /// Last error, or what is missing from the tools.
    pub(super) trouble: Option<String>,
}

/// Immutable view of all admitted upstreams.
#[derive(Clone, Default)]
pub(super) struct View {
    /// Changes with every change of the admitted tools.
    pub(super) generation: u64,
    /// Every upstream, by name.
    pub(super) upstreams: Vec<SeenUpstream>,
    /// Upstream of each tool and the tool's index there.
    pub(super) tools: BTreeMap<String, (Arc<Serving>, usize)>,
}

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

/// Wakes the connection thread of an upstream.
#[derive(Default)]
struct Wakeup {
    pending: Mutex<PendingEvents>,
    changed: Condvar,
}

/// Pending events, by connection number: events of earlier connections are ignored.
#[derive(Clone, Debug, Default)]
struct PendingEvents {
    tools_changed: Option<u64>,
    lost: Option<u64>,
    stop: bool,
}

/// Event sink of one connection, for its connection thread.
#[derive(Clone)]
pub(super) struct EventSink {
    wakeup: Arc<Wakeup>,
    number: u64,
}

impl EventSink {
    /// The upstream sent `tools/list_changed`.
    pub(super) fn tools_changed(&self) {
        self.wakeup
            .notify(|pending| pending.tools_changed = pending.tools_changed.max(Some(self.number)));
    }

    /// The connection was lost.
    pub(super) fn lost(&self) {
        self.wakeup.notify(|pending| pending.lost = pending.lost.max(Some(self.number)));
    }
}

impl Name {
    /// Parses a name.
    pub(crate) fn new(given: &str) -> Result<Self, RegistryError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let begins = given.bytes().next().is_some_and(|first| first.is_ascii_alphabetic());
        let ends = given.bytes().last().is_some_and(|last| last.is_ascii_alphanumeric());
        if begins
            && ends
            && given.len() <= NAME
            && given.bytes().all(fits)
            && !given.contains(BETWEEN)
        {
            return Ok(Self(given.to_owned()));
        }
        Err(RegistryError::Name { given: SafeLine::new(given, 80).to_string() })
    }

    /// The name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wakeup {
    fn notify(&self, change: impl FnOnce(&mut PendingEvents)) {
        change(&mut self.pending.lock());
        self.changed.notify_all();
    }

    /// Waits for an event of the current connection or the deadline. Consumes the event, except for
    /// the order to stop.
    fn wait(
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
    pub(super) fn settle(&self, at_most: Duration) {
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
        let result = self.take_in(name, epoch, &peer);
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
        let result = self.take_in(name, epoch, peer);
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
    fn take_in(
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
