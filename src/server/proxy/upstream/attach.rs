//! An upstream over its connections: the one that is up, the attempt to make one, the pause after
//! one that failed. Attempts are made on a thread of their own, one at a time, for whoever waits.

use super::connection::{Connection, NoResult, quoted};
use super::listing::{self, BOUNDS, Listing};
use super::wire::NoWire;
use super::{
    Caller, Expected, FAREWELL, HANDSHAKE, Owner, PATIENCE, Target, UpstreamError,
    UpstreamQuestion, handshake,
};
use crate::faults::{Fault, planted};
use crate::model::cancel::CancelToken;
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The pause after the first attempt that failed; it doubles from one to the next.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long a wait may overlook that nobody wants the answer any more.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What is done before an attempt: it may start what is to be reached.
type Prepare = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

/// One peer.
pub(in crate::server) struct Upstream(Arc<Inner>);

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
    /// When it was last there, or first asked for, until it is there again.
    missed: Option<Instant>,
    failures: u32,
    /// How many attempts have ended.
    attempts: u64,
    why: NoWire,
}

enum Link {
    Down {
        not_before: Instant,
    },
    Attaching,
    Up(Arc<Connection>),
    /// For good.
    Closed,
}

impl Upstream {
    /// An upstream to which nothing is connected yet. `prepare` is run before every attempt, on the
    /// attempt's thread.
    pub(in crate::server) fn new(
        target: Target,
        expected: Expected,
        owner: Arc<dyn Owner>,
        prepare: Prepare,
    ) -> Self {
        let state = AttachState {
            link: Link::Down { not_before: Instant::now() },
            missed: None,
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

    /// Asks the peer.
    pub(in crate::server) fn call(
        &self,
        question: &UpstreamQuestion,
        caller: &dyn Caller,
    ) -> Result<Value, UpstreamError> {
        let target = || self.0.target.to_string();
        // The caller's token has the deadline; this bounds a call that nobody cancels.
        let until = Instant::now() + Duration::from_secs(3600);
        let mut sent_before = false;
        loop {
            let connection = self.attach(caller.cancel())?;
            match connection.request(question, Some(caller), until) {
                Ok(result) => return Ok(result),
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

    /// The peer's tools, page by page, with what stood in the way of more.
    pub(in crate::server) fn list_tools(
        &self,
        cancel: &CancelToken,
    ) -> Result<Listing, UpstreamError> {
        let connection = self.attach(cancel)?;
        listing::list(BOUNDS, |question, until| connection.request(question, None, until)).map_err(
            |why| match why {
                NoResult::Lost { why, .. } => {
                    UpstreamError::Lost { target: self.0.target.to_string(), why }
                }
                NoResult::Answered { code, message } => UpstreamError::Answered {
                    target: self.0.target.to_string(),
                    code,
                    message: quoted(&message).to_string(),
                },
                NoResult::Cancelled | NoResult::TimedOut => UpstreamError::Cancelled,
            },
        )
    }

    /// Whether a peer answers now, after one attempt.
    pub(in crate::server) fn answers(&self, cancel: &CancelToken) -> Result<(), UpstreamError> {
        self.attach_for(cancel, Duration::ZERO).map(drop)
    }

    /// Tells the peer something, if it is connected.
    pub(in crate::server) fn notify(&self, method: &str, params: Value) {
        let connection = match &self.0.lock().link {
            Link::Up(connection) => Some(Arc::clone(connection)),
            Link::Down { .. } | Link::Attaching | Link::Closed => None,
        };
        if let Some(connection) = connection {
            connection.notify(method, params);
        }
    }

    /// Ends the connection, and lets the peer know. Calls in flight hear of it; a second time does
    /// nothing.
    pub(in crate::server) fn close(&self) {
        let before = std::mem::replace(&mut self.0.lock().link, Link::Closed);
        self.0.changed.notify_all();
        if let Link::Up(connection) = before {
            connection.close();
            connection.await_end(2 * FAREWELL);
        }
    }

    /// What the peer calls itself; nothing while it is not connected.
    pub(in crate::server) fn peer_name(&self) -> Option<String> {
        match &self.0.lock().link {
            Link::Up(connection) => connection.peer_name(),
            Link::Down { .. } | Link::Attaching | Link::Closed => None,
        }
    }

    /// The connection, once there is one.
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
            let missed = *state.missed.get_or_insert(now);
            if state.attempts > attempts
                && (missed.elapsed() >= patience || matches!(state.why, NoWire::Refused(_)))
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
                Link::Down { not_before } => not_before.duration_since(now).min(LOOK_AGAIN),
                Link::Attaching | Link::Up(_) => LOOK_AGAIN,
            };
            state =
                self.0.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, why: &NoWire) -> UpstreamError {
        let target = self.target.to_string();
        match why {
            NoWire::Unreachable(why) => UpstreamError::Unreachable { target, why: why.clone() },
            NoWire::Refused(why) => UpstreamError::Refused { target, why: why.clone() },
        }
    }

    /// Makes an attempt on a thread of its own.
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

    /// All of the input and output of an attempt, without the lock. What was opened and is of no
    /// use is closed.
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
                (state.link, state.missed, state.failures) = (Link::Up(connection), None, 0);
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

/// How long to wait after so many failures in a row: longer each time, and never the same for those
/// who failed together.
fn pause(failures: u32) -> Duration {
    let longest =
        FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(LONGEST_PAUSE);
    let share = RandomState::new().hash_one(failures) % 500;
    longest.mul_f64((500 + share) as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::super::Nobody;
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
            Arc::new(Nobody),
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
        assert!(longest(1) <= FIRST_PAUSE && longest(1) > FIRST_PAUSE / 2);
        assert!(longest(3) > longest(1) && longest(40) <= LONGEST_PAUSE);
        assert!((0..200).any(|_| pause(5) != pause(5)));
    }
}
