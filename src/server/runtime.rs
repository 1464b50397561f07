//! One process that serves many clients: each has a session of its own, with its own threads, ids, roots and queues; stores,
//! index runs, watches and permits they share. This file waits for clients and for reasons to end.

mod place;
mod sessions;

use super::dispatch::Event;
use super::log;
use super::shutdown;
use super::{Options, Shared};
use place::Place;
use sessions::Sessions;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::channel;

/// How long sessions have to end after a signal: longer than one of them takes.
const DRAIN: Duration = Duration::from_secs(4);
/// The pause after a client could not be taken in for want of descriptors or threads.
const BREATH: Duration = Duration::from_millis(100);

/// Where a runtime waits for clients, and how long.
#[derive(Clone, Debug)]
pub struct Listening {
    /// The path of its socket. The directory of it must be the user's alone.
    pub socket: PathBuf,
    /// End when there was no client for so long.
    pub idle_exit: Option<Duration>,
}

/// Why a runtime does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is one already.
    #[error("a runtime{} serves {} already", process.map_or_else(String::new, |process| format!(" (process {process})")), socket.display())]
    AlreadyServed {
        /// The socket.
        socket: PathBuf,
        /// The process that serves it, if it says so.
        process: Option<u32>,
    },
    /// The directory of the socket cannot be used.
    #[error("cannot put a socket into {}: {why}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The socket cannot be made.
    #[error("cannot listen on {}: {source}", socket.display())]
    Socket {
        /// The socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Threads or signals cannot be had.
    #[error("cannot start the runtime: {0}")]
    System(#[from] io::Error),
}

impl ServeError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::AlreadyServed { .. } => "use that one, or name another socket with --socket",
            Self::Directory { .. } => "name a socket in a directory that is yours alone (mode 700) with --socket",
            Self::Socket { .. } => "name a shorter path, or another directory, with --socket",
            Self::System(_) => "check the limits of processes and open files",
        }
    }
}

/// Serves until a signal comes, or nobody has come for too long. `on_ready` is called when clients can come.
pub fn serve(options: Options, listening: &Listening, on_ready: impl FnOnce()) -> Result<(), ServeError> {
    let (place, listener) = Place::take(&listening.socket)?;
    log::take_panics();
    let (event_sender, mut events) = channel(1);
    shutdown::on_signal(event_sender, DRAIN + options.limits.signal_grace)?;
    let grace = options.limits.signal_grace;
    let shared = Shared::new(options.config, options.limits.stores);
    let sessions = Sessions::new(Arc::clone(&shared), options.root, options.limits, options.delay);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::from_std(listener)?;
        on_ready();
        let mut alone_since = Instant::now();
        loop {
            let leave_at = listening.idle_exit.filter(|_| sessions.count() == 0).map(|idle| alone_since + idle);
            tokio::select! {
                biased;
                event = events.recv() => {
                    if matches!(event, None | Some(Event::Terminate)) {
                        break;
                    }
                }
                () = sessions.changed() => alone_since = Instant::now(),
                () = super::dispatch::until(leave_at), if leave_at.is_some() => break,
                accepted = listener.accept() => {
                    let begun = match accepted {
                        Ok((stream, _)) => sessions.begin(stream),
                        Err(error) => Err(error),
                    };
                    if let Err(error) = begun {
                        tracing::warn!(%error, "a client could not be taken in");
                        super::dispatch::until(Some(Instant::now() + BREATH)).await;
                    }
                }
            }
        }
        Ok::<_, io::Error>(())
    })?;
    drop(runtime);
    sessions.drain(DRAIN);
    // The socket goes before the index runs end: the next runtime need not wait for them.
    drop(place);
    shutdown::watchdog(grace);
    drop((sessions, shared));
    Ok(())
}
