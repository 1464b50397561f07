//! Session table of a runtime: start, limits and shutdown of sessions. Each session runs on a
//! thread of its own and removes itself.

use crate::base::limits::Limits;
use crate::jsonrpc::admission::Permits;
use crate::jsonrpc::message::{INTERNAL_ERROR, RpcError};
use crate::jsonrpc::requests;
use crate::session::dispatch::Process;
use crate::session::dispatch::event::{Event, publish_events};
use crate::session::shutdown::Parent;
use crate::tools::Toolbox;
use crate::workspace::repositories::{AllowedRoots, Patience, Repositories, Shared};
use crate::{session::Session, transport::Stream};
use cograph_faults as faults;
use cograph_system::sockets::LocalStream;
use cograph_system::{allocator, owner};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;

/// Maximum number of open sessions.
pub(crate) const MAX_SESSIONS: usize = 256;
/// Maximum number of HTTP sessions. The rest is reserved for the socket, where a disconnect is
/// visible.
pub(crate) const MAX_HTTP_SESSIONS: usize = 192;

/// Session table. Clones share it.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    root: Option<PathBuf>,
    /// Allowed workspace roots of HTTP clients.
    within: Arc<[PathBuf]>,
    limits: Limits,
    delay: Option<Duration>,
    permits: Permits,
    open: Mutex<Open>,
    changed: Notify,
    /// Signals the end of a session to waiting HTTP clients.
    left: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    sessions: BTreeMap<u64, (Sender<Event>, SessionTransport)>,
}

/// Transport of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SessionTransport {
    /// Unix socket: the local user, without a restriction of roots.
    Socket,
    /// HTTP.
    Http,
}

impl Sessions {
    /// Creates an empty table.
    pub(super) fn new(
        shared: Arc<Shared>,
        root: Option<PathBuf>,
        within: Arc<[PathBuf]>,
        limits: Limits,
        delay: Option<Duration>,
    ) -> Self {
        let permits = Permits::of_many(&limits);
        let (open, changed, left) = (Mutex::default(), Notify::new(), Notify::new());
        Self(Arc::new(Inner { shared, root, within, limits, delay, permits, open, changed, left }))
    }

    /// Begins a session for a socket connection of a user, or sends the client an error.
    pub(super) fn begin(&self, stream: LocalStream, user: u32) -> io::Result<()> {
        let (user, own) = (faults::peer_uid(user), owner::effective_user());
        if user != own {
            refuse(&stream, &format!("this runtime serves user {own}, not user {user}"));
            return Ok(());
        }
        if self.count() >= MAX_SESSIONS {
            refuse(
                &stream,
                &format!("busy: {MAX_SESSIONS} clients are connected; end one of them first"),
            );
            return Ok(());
        }
        stream.set_nonblocking(false)?;
        self.start(stream, SessionTransport::Socket)
    }

    /// Begins a session whose messages arrive over HTTP, through this process.
    pub(super) fn begin_http(&self, stream: LocalStream) -> io::Result<()> {
        if !self.has_room_over_http() {
            return Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                format!("{MAX_HTTP_SESSIONS} clients are connected over HTTP"),
            ));
        }
        self.start(stream, SessionTransport::Http)
    }

    fn has_room_over_http(&self) -> bool {
        let open = self.open();
        let over_http =
            open.sessions.values().filter(|(_, over)| *over == SessionTransport::Http).count();
        over_http < MAX_HTTP_SESSIONS && open.sessions.len() < MAX_SESSIONS
    }

    /// Waits for a free HTTP session, with a timeout. If there is none, `evict_idle` is called once
    /// to evict a session.
    pub(super) async fn room_over_http(&self, at_most: Duration, evict_idle: impl FnOnce()) {
        let mut evict_idle = Some(evict_idle);
        let until = tokio::time::Instant::now() + at_most;
        loop {
            let mut left = std::pin::pin!(self.0.left.notified());
            // Registered before the check, so that no end of a session is missed.
            left.as_mut().enable();
            if self.has_room_over_http() {
                return;
            }
            if let Some(evict_idle) = evict_idle.take() {
                evict_idle();
            }
            if tokio::time::timeout_at(until, left).await.is_err() {
                return;
            }
        }
    }

    /// Starts a session over a stream.
    fn start(&self, stream: LocalStream, over: SessionTransport) -> io::Result<()> {
        let (input, output) = (stream.try_clone()?.into(), stream.try_clone()?.into());
        let session = Session::new();
        let number = {
            let mut open = self.open();
            open.next += 1;
            let number = open.next;
            open.sessions.insert(number, (session.events.clone(), over));
            number
        };
        let own = self.clone();
        let spawned =
            std::thread::Builder::new().name(format!("session-{number}")).spawn(move || {
                allocator::share_arena();
                own.run(session, Stream { input, output }, over);
                // Ends the reader and writer threads; `shutdown` fails if the stream is already
                // shut down.
                let _ = stream.shutdown(Shutdown::Both);
                own.end(number);
            });
        spawned.map(drop).inspect_err(|_| self.end(number))
    }

    fn run(&self, session: Session, stream: Stream, over: SessionTransport) {
        let inner = &self.0;
        let patience = Patience::of(&inner.limits);
        let within = (over == SessionTransport::Http).then(|| Arc::clone(&inner.within));
        let reach = AllowedRoots { root: inner.root.clone(), within };
        let repositories =
            Repositories::of(&inner.shared, reach, patience, publish_events(&session.events));
        let tools = Arc::new(Toolbox::new(repositories, inner.delay));
        let process = Process { permits: inner.permits.clone(), parent: Parent::none_watched() };
        if let Err(error) = session.run(stream, inner.limits.clone(), tools, process) {
            tracing::warn!(%error, "a session could not begin");
        }
    }

    fn end(&self, number: u64) {
        self.open().sessions.remove(&number);
        self.0.changed.notify_one();
        self.0.left.notify_waiters();
    }

    /// Number of open sessions.
    pub(super) fn count(&self) -> usize {
        self.open().sessions.len()
    }

    /// Resolves after a session has ended.
    pub(super) async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Ends every session as after end of input.
    pub(super) fn drain(&self) {
        for (events, _) in self.open().sessions.values() {
            // A session with a full event queue ends with the process.
            let _ = events.try_send(Event::Drain);
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock()
    }
}

/// Sends an error line and closes the stream. A client that does not read misses it.
fn refuse(mut stream: &LocalStream, why: &str) {
    let line = requests::refusal_line(RpcError::new(INTERNAL_ERROR, why));
    let _ = stream.write_all(&line);
}
