//! Registry of upstreams by name. Each upstream has a connection thread that connects, lists its
//! tools, and repeats this when the tools change or the connection is lost; a slow upstream blocks
//! no other.
//!
//! A connection is admitted (name still registered, limits kept, tool names unique) and inserted
//! under one lock; connecting, listing and closing happen outside of it. The generation changes
//! with every change of the published tools; a `View` of one generation is cached and immutable.

mod table;

use super::tools::{self, BETWEEN, ForeignTool};
use crate::model::cancel::CancelToken;
use crate::server::base::escape::SafeLine;
use crate::server::proxy::upstream::{Caller, Listing, Target, UpstreamError, UpstreamQuestion};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use table::{Seat, Table};

/// Maximum number of upstreams.
pub(in crate::server) const MOST_UPSTREAMS: usize = 16;
/// Maximum number of tools of all upstreams together.
pub(in crate::server) const MOST_TOOLS: usize = 256;
/// Maximum length of an upstream's name.
const NAME: usize = 24;
/// Initial reconnect delay; doubles with every failure up to the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Minimum interval between two listings of one upstream: rate limit for `tools/list_changed`.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

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
         the first a letter, the last none of the signs"
    )]
    Name {
        /// The given name, truncated.
        given: String,
    },
    /// The name is already registered.
    #[error("two upstreams are named {0}")]
    Known(Name),
    /// The maximum number of upstreams is reached.
    #[error("there are {MOST_UPSTREAMS} upstreams already")]
    Full,
    /// The upstream was removed or replaced while it connected.
    #[error("{0} is no longer what it was")]
    Gone(Name),
    /// Its tools would exceed the maximum number of tools.
    #[error("{name} has {tools} tools, with those of the others more than {MOST_TOOLS}")]
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
    fn tell(&self, method: &str);
    /// Closes the connection; requests in flight fail. Idempotent.
    fn close(&self);
}

/// Creates an unconnected peer. Its events are sent to the given subscription.
pub(super) type Dial = dyn Fn(&Target, Ear) -> Arc<dyn Peer> + Send + Sync;

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
    dial: Box<Dial>,
    /// Called after the list of tools has changed.
    on_change: Box<dyn Fn() + Send + Sync>,
    stop: CancelToken,
}

/// Wakes the connection thread of an upstream.
#[derive(Default)]
struct Bell {
    rung: Mutex<Rung>,
    changed: Condvar,
}

/// Pending events, by connection number: events of earlier connections are ignored.
#[derive(Clone, Debug, Default)]
struct Rung {
    tools_changed: Option<u64>,
    lost: Option<u64>,
    stop: bool,
}

/// Event sink of one connection, for its connection thread.
#[derive(Clone)]
pub(super) struct Ear {
    bell: Arc<Bell>,
    number: u64,
}

impl Ear {
    /// The upstream sent `tools/list_changed`.
    pub(super) fn tools_changed(&self) {
        self.bell.ring(|rung| rung.tools_changed = rung.tools_changed.max(Some(self.number)));
    }

    /// The connection was lost.
    pub(super) fn lost(&self) {
        self.bell.ring(|rung| rung.lost = rung.lost.max(Some(self.number)));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks is a single assignment, so a poisoned lock is consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Name {
    /// Parses a name.
    pub fn new(given: &str) -> Result<Self, RegistryError> {
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
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Bell {
    fn ring(&self, change: impl FnOnce(&mut Rung)) {
        change(&mut locked(&self.rung));
        self.changed.notify_all();
    }

    /// Waits for an event of the current connection or the deadline. Consumes the event, except for
    /// the order to stop.
    fn wait(&self, until: Option<Instant>, of_interest: impl Fn(&Rung) -> bool) -> Rung {
        let mut rung = locked(&self.rung);
        while !rung.stop && !of_interest(&rung) {
            rung = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(rung).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => break,
                Some(left) => {
                    self.changed.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        if of_interest(&rung) {
            let stop = rung.stop;
            return std::mem::replace(&mut *rung, Rung { stop, ..Rung::default() });
        }
        rung.clone()
    }
}

impl Registry {
    /// Creates an empty registry.
    pub(super) fn new(dial: Box<Dial>, on_change: Box<dyn Fn() + Send + Sync>) -> Self {
        let (table, attempted, stop) = (Mutex::default(), Condvar::new(), CancelToken::new());
        Self(Arc::new(Inner { table, attempted, dial, on_change, stop }))
    }

    /// Registers an upstream and starts its connection thread.
    pub(super) fn add(&self, name: &Name, target: Target) -> Result<(), RegistryError> {
        let epoch = self.0.enter(name, target)?;
        let (inner, named) = (Arc::clone(&self.0), name.clone());
        let keeper = std::thread::Builder::new()
            .name(format!("keeper-{name}"))
            .spawn(move || inner.keep(&named, epoch));
        match keeper {
            Ok(keeper) => {
                if let Some(seat) = self.0.lock().seats.get_mut(name) {
                    seat.keeper = Some(keeper);
                }
                Ok(())
            }
            Err(_) => {
                self.0.lock().seats.remove(name);
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
        while table.seats.values().any(|seat| !seat.attempted) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            table = self
                .0
                .attempted
                .wait_timeout(table, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.0.stop.cancel();
        let seats = std::mem::take(&mut self.0.lock().seats);
        for seat in seats.values() {
            seat.bell.ring(|rung| rung.stop = true);
        }
        for seat in seats.values() {
            let serving = seat.serving.as_ref().map(|serving| &serving.peer);
            for peer in serving.into_iter().chain(&seat.connecting) {
                peer.close();
            }
        }
        for keeper in seats.into_values().filter_map(|seat| seat.keeper) {
            // `join` fails for a panicked thread, which has ended too.
            let _ = keeper.join();
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Table> {
        locked(&self.table)
    }

    fn enter(&self, name: &Name, target: Target) -> Result<u64, RegistryError> {
        let mut table = self.lock();
        if table.seats.contains_key(name) {
            return Err(RegistryError::Known(name.clone()));
        }
        if table.seats.len() >= MOST_UPSTREAMS {
            return Err(RegistryError::Full);
        }
        table.next_epoch += 1;
        let epoch = table.next_epoch;
        let (serving, connecting, trouble, keeper, bell) = (None, None, None, None, Arc::default());
        let seat =
            Seat { target, epoch, serving, connecting, trouble, attempted: false, bell, keeper };
        table.seats.insert(name.clone(), seat);
        table.publish();
        Ok(epoch)
    }

    /// Main loop of a connection thread.
    fn keep(&self, name: &Name, epoch: u64) {
        let Some(bell) = self
            .lock()
            .seats
            .get(name)
            .filter(|seat| seat.epoch == epoch)
            .map(|seat| Arc::clone(&seat.bell))
        else {
            return;
        };
        let (mut failures, mut number) = (0, 0);
        loop {
            let begun = Instant::now();
            number += 1;
            let ear = Ear { bell: Arc::clone(&bell), number };
            let of_this = |at: Option<u64>| at >= Some(number);
            let mut rung = match self.connect(name, epoch, ear) {
                Ok(()) => {
                    failures = 0;
                    bell.wait(None, |rung| of_this(rung.tools_changed) || of_this(rung.lost))
                }
                Err(RegistryError::Gone(_)) => return,
                Err(error) => {
                    failures += 1;
                    tracing::info!(%name, %error, "an upstream is not there");
                    bell.wait(Some(Instant::now() + pause(failures)), |_| false)
                }
            };
            let mut looked = begun;
            while !rung.stop && !of_this(rung.lost) && of_this(rung.tools_changed) {
                bell.wait(Some(looked + BETWEEN_LOOKS), |_| false);
                looked = Instant::now();
                if let Err(error) = self.look_again(name, epoch) {
                    tracing::info!(%name, %error, "the tools of an upstream stay as they were \
                        known");
                }
                rung = bell.wait(None, |rung| of_this(rung.tools_changed) || of_this(rung.lost));
            }
            bell.wait(Some(begun + BETWEEN_LOOKS), |_| false);
            if rung.stop || self.stop.is_cancelled() {
                return;
            }
        }
    }

    /// One connection attempt: connects, lists and admits. A failed attempt is closed and leaves
    /// the admitted state unchanged.
    fn connect(&self, name: &Name, epoch: u64, ear: Ear) -> Result<(), RegistryError> {
        let target = self.target(name, epoch)?;
        let peer = (self.dial)(&target, ear);
        // From here on the shutdown of the registry closes this connection.
        self.seat(name, epoch, |seat| seat.connecting = Some(Arc::clone(&peer)))?;
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
        let serving = self.lock().seats.get(name).and_then(|seat| seat.serving.clone());
        let peer = &serving.ok_or_else(|| RegistryError::Gone(name.clone()))?.peer;
        let result = self.take_in(name, epoch, peer);
        self.note(name, epoch, result.as_ref().err());
        result.map(drop)
    }

    fn target(&self, name: &Name, epoch: u64) -> Result<Target, RegistryError> {
        self.seat(name, epoch, |seat| seat.target.clone())
    }

    /// Reads or changes an entry, if it still belongs to this registration.
    fn seat<T>(
        &self,
        name: &Name,
        epoch: u64,
        look: impl FnOnce(&mut Seat) -> T,
    ) -> Result<T, RegistryError> {
        let mut table = self.lock();
        let seat = table.seats.get_mut(name).filter(|seat| seat.epoch == epoch);
        seat.map(look).ok_or_else(|| RegistryError::Gone(name.clone()))
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
        let is_own_kind = peer.title().as_deref() == Some(env!("CARGO_PKG_NAME"));
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
        if let Some(seat) = table.seats.get_mut(name).filter(|seat| seat.epoch == epoch) {
            (seat.attempted, seat.connecting) = (true, None);
            let trouble = error.map(|error| SafeLine::new(&error.to_string(), 400).to_string());
            if trouble.is_some() && trouble != seat.trouble {
                seat.trouble = trouble;
                table.publish();
            }
        }
        drop(table);
        self.attempted.notify_all();
    }
}

fn pause(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
