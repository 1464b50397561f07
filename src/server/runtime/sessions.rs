//! The sessions of a runtime: how one begins, how many there may be, how all of them end. Each runs
//! on a thread of its own and leaves the table by itself.

use crate::faults;
use crate::server::base::allocator;
use crate::server::jsonrpc::admission::Permits;
use crate::server::jsonrpc::message::{INTERNAL_ERROR, RpcError};
use crate::server::jsonrpc::requests;
use crate::server::session::dispatch::{Event, Process};
use crate::server::session::shutdown::Parent;
use crate::server::tools::Toolbox;
use crate::server::workspace::repositories::{Patience, Reach, Repositories, Shared};
use crate::server::{Limits, telling};
use crate::server::{session::Session, transport::Stream};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;

/// Sessions that may be open at once.
pub(in crate::server) const MOST_SESSIONS: usize = 256;
/// Those of them that clients over HTTP may have: the rest is for the socket, whose clients say
/// when they leave.
pub(in crate::server) const MOST_OVER_HTTP: usize = 192;

/// See the module. Clones are the same sessions.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    root: Option<PathBuf>,
    /// Below these directories is what clients over HTTP may ask about.
    within: Arc<[PathBuf]>,
    limits: Limits,
    delay: Option<Duration>,
    permits: Permits,
    open: Mutex<Open>,
    changed: Notify,
    /// Wakes those over HTTP who wait for one to end.
    left: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    sessions: BTreeMap<u64, (Sender<Event>, Over)>,
}

/// How a client has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Over {
    /// Over the socket: it is the user, who may ask about everything that they can read.
    Socket,
    /// Over HTTP.
    Http,
}

impl Sessions {
    /// None yet.
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

    /// Takes a client in that has come to the socket, or tells it why not.
    pub(super) fn begin(&self, stream: tokio::net::UnixStream) -> io::Result<()> {
        let (user, own) =
            (faults::peer_uid(stream.peer_cred()?.uid()), rustix::process::geteuid().as_raw());
        let stream = stream.into_std()?;
        if user != own {
            refuse(&stream, &format!("this runtime serves user {own}, not user {user}"));
            return Ok(());
        }
        if self.count() >= MOST_SESSIONS {
            refuse(
                &stream,
                &format!("busy: {MOST_SESSIONS} clients are connected; end one of them first"),
            );
            return Ok(());
        }
        stream.set_nonblocking(false)?;
        self.start(stream, Over::Socket)
    }

    /// Takes a client in whose messages come over HTTP, through this process.
    pub(super) fn begin_http(&self, stream: UnixStream) -> io::Result<()> {
        if !self.has_room_over_http() {
            return Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                format!("{MOST_OVER_HTTP} clients are connected over HTTP"),
            ));
        }
        self.start(stream, Over::Http)
    }

    fn has_room_over_http(&self) -> bool {
        let open = self.open();
        let over_http = open.sessions.values().filter(|(_, over)| *over == Over::Http).count();
        over_http < MOST_OVER_HTTP && open.sessions.len() < MOST_SESSIONS
    }

    /// Waits until there is room for one more client over HTTP, no longer than this. If there is
    /// none, `make_room` is called once to end a session.
    pub(super) async fn room_over_http(&self, at_most: Duration, make_room: impl FnOnce()) {
        let mut make_room = Some(make_room);
        let until = tokio::time::Instant::now() + at_most;
        loop {
            let mut left = std::pin::pin!(self.0.left.notified());
            // From here on no end is missed.
            left.as_mut().enable();
            if self.has_room_over_http() {
                return;
            }
            if let Some(make_room) = make_room.take() {
                make_room();
            }
            if tokio::time::timeout_at(until, left).await.is_err() {
                return;
            }
        }
    }

    /// Starts a session over a stream.
    fn start(&self, stream: UnixStream, over: Over) -> io::Result<()> {
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
                // The threads that read and write end with the stream; one that is shut down
                // already has ended.
                let _ = stream.shutdown(Shutdown::Both);
                own.leave(number);
            });
        spawned.map(drop).inspect_err(|_| self.leave(number))
    }

    fn run(&self, session: Session, stream: Stream, over: Over) {
        let inner = &self.0;
        let patience = Patience::of(&inner.limits);
        let within = (over == Over::Http).then(|| Arc::clone(&inner.within));
        let reach = Reach { root: inner.root.clone(), within };
        let repositories =
            Repositories::of(&inner.shared, reach, patience, telling(&session.events));
        let tools = Arc::new(Toolbox::new(repositories, inner.delay));
        let process = Process { permits: inner.permits.clone(), parent: Parent::nobody() };
        if let Err(error) = session.run(stream, inner.limits.clone(), tools, process) {
            tracing::warn!(%error, "a session could not begin");
        }
    }

    fn leave(&self, number: u64) {
        self.open().sessions.remove(&number);
        self.0.changed.notify_one();
        self.0.left.notify_waiters();
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open().sessions.len()
    }

    /// Resolves after a session has ended.
    pub(super) async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Has every session end as if its client had left.
    pub(super) fn drain(&self) {
        for (events, _) in self.open().sessions.values() {
            // One that is too busy to hear of it ends with the process.
            let _ = events.try_send(Event::Drain);
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One line that says why, and the end. A client that does not read it misses it.
fn refuse(mut stream: &UnixStream, why: &str) {
    let line = requests::refusal_line(RpcError::new(INTERNAL_ERROR, why));
    let _ = stream.write_all(&line);
}
