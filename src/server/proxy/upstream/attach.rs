//! Connection management of an upstream: the open connection, the connection attempt in progress,
//! and the backoff after a failure. One attempt runs at a time, on a thread of its own, for all
//! waiting callers.

use super::connection::{Connection, NoResult, quoted};
use super::listing::{self, BOUNDS, Listing, NoList};
use super::wire::NoWire;
use super::{handshake, result};
use crate::proxy::upstream::question::{
    CLOSE_TIMEOUT, Caller, Expected, HANDSHAKE, Owner, PATIENCE, UpstreamError, UpstreamQuestion,
};
use crate::proxy::upstream::target::Target;
use cograph_faults::{Fault, planted};
use cograph_model::cancel::CancelToken;
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Initial backoff after a failed attempt; doubles with every failure.
const MIN_BACKOFF: Duration = Duration::from_millis(50);
/// Maximum backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(1);
/// Interval at which a waiting caller checks its cancel token.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Hook that runs before an attempt; it may start the peer.
type Prepare = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Upstream server.
pub(crate) struct Upstream(Arc<Inner>);

struct Inner {
    target: Target,
    expected: Expected,
    owner: Arc<dyn Owner>,
    prepare: Prepare,
    state: Mutex<AttachState>,
    changed: Condvar,
}

struct AttachState {
    link: Link,
    /// Start of the current period without a connection.
    disconnected_since: Option<Instant>,
    failures: u32,
    /// Number of finished attempts.
    attempts: u64,
    why: NoWire,
}

enum Link {
    Down {
        not_before: Instant,
    },
    Attaching,
    Up(Arc<Connection>),
    /// Closed permanently.
    Closed,
}

impl Upstream {
    /// Creates an unconnected upstream. `prepare` runs before every attempt, on the attempt's
    /// thread.
    pub(crate) fn new(
        target: Target,
        expected: Expected,
        owner: Arc<dyn Owner>,
        prepare: Prepare,
    ) -> Self {
        let state = AttachState {
            link: Link::Down { not_before: Instant::now() },
            disconnected_since: None,
            failures: 0,
            attempts: 0,
            why: NoWire::Unreachable("it was not tried yet".to_owned()),
        };
        let inner = Inner {
            target,
            expected,
            owner,
            prepare,
            state: Mutex::new(state),
            changed: Condvar::new(),
        };
        Self(Arc::new(inner))
    }

    /// Sends a call of a tool and waits for its result.
    pub(crate) fn call(
        &self,
        question: &UpstreamQuestion,
        caller: &dyn Caller,
    ) -> Result<Value, UpstreamError> {
        let target = || self.0.target.to_string();
        // The caller's token has the deadline; this bounds a call whose token never fires.
        let until = Instant::now() + Duration::from_secs(3600);
        let mut sent_before = false;
        loop {
            let connection = self.attach(caller.cancel())?;
            match connection.request(question, Some(caller), until) {
                Ok(result) => {
                    return match result::check_call(&result) {
                        Ok(()) => Ok(result),
                        Err(why) => Err(UpstreamError::Malformed {
                            target: target(),
                            method: question.method,
                            why,
                        }),
                    };
                }
                Err(NoResult::Lost { sent: false, .. }) => {}
                Err(NoResult::Lost { why, .. })
                    if !question.only_reads && !planted(Fault::ReplayAll) =>
                {
                    return Err(UpstreamError::OutcomeUnknown { target: target(), why });
                }
                Err(NoResult::Lost { why, .. }) if sent_before => {
                    return Err(UpstreamError::Lost { target: target(), why });
                }
                Err(NoResult::Lost { .. }) => sent_before = true,
                Err(NoResult::Answered { code, message }) => {
                    return Err(UpstreamError::Answered {
                        target: target(),
                        code,
                        message: quoted(&message).to_string(),
                    });
                }
                Err(NoResult::Cancelled | NoResult::TimedOut) => {
                    return Err(UpstreamError::Cancelled);
                }
            }
        }
    }

    /// Lists the peer's tools, page by page, with the reason if the list is incomplete.
    pub(crate) fn list_tools(&self, cancel: &CancelToken) -> Result<Listing, UpstreamError> {
        let connection = self.attach(cancel)?;
        let target = || self.0.target.to_string();
        listing::list(BOUNDS, |question, until| connection.request(question, None, until)).map_err(
            |why| match why {
                NoList::Malformed(why) => {
                    UpstreamError::Malformed { target: target(), method: listing::METHOD, why }
                }
                NoList::NoResult(NoResult::Lost { why, .. }) => {
                    UpstreamError::Lost { target: target(), why }
                }
                NoList::NoResult(NoResult::Answered { code, message }) => UpstreamError::Answered {
                    target: target(),
                    code,
                    message: quoted(&message).to_string(),
                },
                NoList::NoResult(NoResult::Cancelled | NoResult::TimedOut) => {
                    UpstreamError::Cancelled
                }
            },
        )
    }

    /// Checks that the peer answers, with a single connection attempt.
    pub(crate) fn answers(&self, cancel: &CancelToken) -> Result<(), UpstreamError> {
        self.attach_for(cancel, Duration::ZERO).map(drop)
    }

    /// Sends a notification, if connected.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        let connection = match &self.0.lock().link {
            Link::Up(connection) => Some(Arc::clone(connection)),
            Link::Down { .. } | Link::Attaching | Link::Closed => None,
        };
        if let Some(connection) = connection {
            connection.notify(method, params);
        }
    }

    /// Closes the connection gracefully. Requests in flight fail. Idempotent.
    pub(crate) fn close(&self) {
        let before = std::mem::replace(&mut self.0.lock().link, Link::Closed);
        self.0.changed.notify_all();
        if let Link::Up(connection) = before {
            connection.close();
            connection.await_end(2 * CLOSE_TIMEOUT);
        }
    }

    /// Server name from the handshake; none while disconnected.
    #[cfg(feature = "federation")]
    pub(crate) fn peer_name(&self) -> Option<String> {
        match &self.0.lock().link {
            Link::Up(connection) => connection.peer_name(),
            Link::Down { .. } | Link::Attaching | Link::Closed => None,
        }
    }

    /// Returns the open connection, or waits for one.
    fn attach(&self, cancel: &CancelToken) -> Result<Arc<Connection>, UpstreamError> {
        self.attach_for(cancel, PATIENCE)
    }

    fn attach_for(
        &self,
        cancel: &CancelToken,
        patience: Duration,
    ) -> Result<Arc<Connection>, UpstreamError> {
        let mut state = self.0.lock();
        let attempts = state.attempts;
        loop {
            if cancel.is_cancelled() {
                return Err(UpstreamError::Cancelled);
            }
            let now = Instant::now();
            if let Link::Up(connection) = &state.link {
                if connection.is_open() {
                    return Ok(Arc::clone(connection));
                }
                state.link = Link::Down { not_before: now };
            }
            let disconnected_since = *state.disconnected_since.get_or_insert(now);
            if state.attempts > attempts
                && (disconnected_since.elapsed() >= patience
                    || matches!(state.why, NoWire::Refused(_)))
            {
                return Err(self.0.error(&state.why));
            }
            let wait = match state.link {
                Link::Closed => {
                    return Err(self.0.error(&NoWire::Unreachable("it was closed".to_owned())));
                }
                Link::Down { not_before } if not_before <= now => {
                    state.link = Link::Attaching;
                    drop(state);
                    self.0.begin();
                    state = self.0.lock();
                    continue;
                }
                Link::Down { not_before } => {
                    not_before.duration_since(now).min(CANCEL_POLL_INTERVAL)
                }
                Link::Attaching | Link::Up(_) => CANCEL_POLL_INTERVAL,
            };
            self.0.changed.wait_for(&mut state, wait);
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.close();
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, AttachState> {
        self.state.lock()
    }

    fn error(&self, why: &NoWire) -> UpstreamError {
        let target = self.target.to_string();
        match why {
            NoWire::Unreachable(why) => UpstreamError::Unreachable { target, why: why.clone() },
            NoWire::Refused(why) => UpstreamError::Refused { target, why: why.clone() },
        }
    }

    /// Starts an attempt on a thread of its own.
    fn begin(self: &Arc<Self>) {
        let own = Arc::clone(self);
        let started = std::thread::Builder::new().name("attach".to_owned()).spawn(move || {
            let made = own.make();
            own.publish(made);
        });
        if let Err(error) = started {
            self.publish(Err(error.into()));
        }
    }

    /// Does all I/O of an attempt, without the lock. Closes a connection that is not used.
    fn make(&self) -> Result<Arc<Connection>, NoWire> {
        (self.prepare)().map_err(NoWire::Unreachable)?;
        let connection = Connection::start(
            self.target.connect(HANDSHAKE, &*self.owner)?,
            Arc::clone(&self.owner),
        )?;
        match handshake::shake_hands(&connection, self.expected) {
            Ok(()) => Ok(connection),
            Err((why, stays)) => {
                connection.close();
                Err(if stays { NoWire::Refused(why) } else { NoWire::Unreachable(why) })
            }
        }
    }

    fn publish(&self, made: Result<Arc<Connection>, NoWire>) {
        let mut state = self.lock();
        state.attempts += 1;
        match made {
            Ok(connection) if matches!(state.link, Link::Closed) => connection.close(),
            Ok(connection) => {
                (state.link, state.disconnected_since, state.failures) =
                    (Link::Up(connection), None, 0);
            }
            Err(why) => {
                tracing::info!(target = %self.target, ?why, "not attached");
                state.failures += 1;
                state.why = why;
                if !matches!(state.link, Link::Closed) {
                    state.link = Link::Down { not_before: Instant::now() + pause(state.failures) };
                }
            }
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// Exponential backoff with jitter.
fn pause(failures: u32) -> Duration {
    let longest =
        MIN_BACKOFF.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(MAX_BACKOFF);
    let share = RandomState::new().hash_one(failures) % 500;
    longest.mul_f64((500 + share) as f64 / 1000.0)
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::NoOwner;
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn closing_it_twice_is_harmless_and_it_stays_closed() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let path = place.path().join("socket");
        let _listener = UnixListener::bind(&path).expect("the path is free");
        let upstream = Upstream::new(
            Target::Socket(path),
            Expected::Anyone,
            Arc::new(NoOwner),
            Box::new(|| Ok(())),
        );
        upstream.close();
        upstream.close();
        let refused = upstream.answers(&CancelToken::new()).expect_err("it is closed").to_string();
        assert!(refused.contains("it was closed"), "{refused}");
    }

    #[test]
    fn pauses_grow_to_a_bound_and_differ() {
        let longest = |failures| (0..200).map(|_| pause(failures)).max().expect("there are some");
        assert!(longest(1) <= MIN_BACKOFF && longest(1) > MIN_BACKOFF / 2);
        assert!(longest(3) > longest(1) && longest(40) <= MAX_BACKOFF);
        assert!((0..200).any(|_| pause(5) != pause(5)));
    }
}
