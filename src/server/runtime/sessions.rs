//! The sessions of a runtime: how one begins, how many there may be, how all of them end. Each runs on a thread of its own and
//! leaves the table by itself.

use crate::faults;
use crate::server::admission::Permits;
use crate::server::allocator;
use crate::server::dispatch::{Event, Process};
use crate::server::message::{INTERNAL_ERROR, RpcError};
use crate::server::repositories::{Patience, Repositories, Shared};
use crate::server::requests;
use crate::server::session::{Session, Stream};
use crate::server::shutdown::Parent;
use crate::server::tools::Toolbox;
use crate::server::{Limits, telling};
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
const MOST_SESSIONS: usize = 256;

/// See the module. Clones are the same sessions.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    root: Option<PathBuf>,
    limits: Limits,
    delay: Option<Duration>,
    permits: Permits,
    open: Mutex<Open>,
    changed: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    sessions: BTreeMap<u64, Sender<Event>>,
}

impl Sessions {
    /// None yet.
    pub(super) fn new(shared: Arc<Shared>, root: Option<PathBuf>, limits: Limits, delay: Option<Duration>) -> Self {
        let permits = Permits::of_many(&limits);
        let (open, changed) = (Mutex::default(), Notify::new());
        Self(Arc::new(Inner { shared, root, limits, delay, permits, open, changed }))
    }

    /// Takes a client in that has come to the socket, or tells it why not.
    pub(super) fn begin(&self, stream: tokio::net::UnixStream) -> io::Result<()> {
        let (user, own) = (faults::peer_uid(stream.peer_cred()?.uid()), rustix::process::geteuid().as_raw());
        let stream = stream.into_std()?;
        if user != own {
            refuse(&stream, &format!("this runtime serves user {own}, not user {user}"));
            return Ok(());
        }
        if self.count() >= MOST_SESSIONS {
            refuse(&stream, &format!("busy: {MOST_SESSIONS} clients are connected; end one of them first"));
            return Ok(());
        }
        stream.set_nonblocking(false)?;
        self.start(stream)
    }

    /// Takes a client in whose messages come through this process.
    pub(super) fn begin_inner(&self, stream: UnixStream) -> io::Result<()> {
        if self.count() >= MOST_SESSIONS {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, format!("{MOST_SESSIONS} clients are connected")));
        }
        self.start(stream)
    }

    /// Starts a session over a stream.
    fn start(&self, stream: UnixStream) -> io::Result<()> {
        let (input, output) = (stream.try_clone()?.into(), stream.try_clone()?.into());
        let session = Session::new();
        let number = {
            let mut open = self.open();
            open.next += 1;
            let number = open.next;
            open.sessions.insert(number, session.events.clone());
            number
        };
        let own = self.clone();
        let spawned = std::thread::Builder::new().name(format!("session-{number}")).spawn(move || {
            allocator::share_arena();
            own.run(session, Stream { input, output });
            // The threads that read and write end with the stream; one that is shut down already has ended.
            let _ = stream.shutdown(Shutdown::Both);
            own.leave(number);
        });
        spawned.map(drop).inspect_err(|_| self.leave(number))
    }

    fn run(&self, session: Session, stream: Stream) {
        let inner = &self.0;
        let patience = Patience::of(&inner.limits);
        let repositories = Repositories::of(&inner.shared, inner.root.clone(), patience, telling(&session.events));
        let tools = Arc::new(Toolbox::new(repositories, inner.delay));
        let process = Process { permits: inner.permits.clone(), parent: Parent::nobody() };
        if let Err(error) = session.run(stream, inner.limits.clone(), tools, process) {
            tracing::warn!(%error, "a session could not begin");
        }
    }

    fn leave(&self, number: u64) {
        self.open().sessions.remove(&number);
        self.0.changed.notify_one();
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
        for events in self.open().sessions.values() {
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
