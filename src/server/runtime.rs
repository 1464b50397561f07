//! Runtime (daemon): one process that serves many clients. Each client has a session with its own
//! threads, ids, roots and queues; stores, index runs, watches and permits are shared. This file
//! has the accept loop and the shutdown.

mod error;
pub(super) mod http;
pub(super) mod sessions;
pub(super) mod socket_lock;
pub(super) mod spawn;

use crate::base::options::Options;
use crate::session::dispatch::event::Event;
use crate::session::dispatch::until;
use crate::session::shutdown;
use crate::transport::local::LocalAcceptor;
use crate::workspace::repositories::shared::Shared;
use cograph_system::sockets::LocalStream;
use cograph_system::{allocator, sockets};
pub use error::ServeError;
use http::Http;
pub use http::{BearerToken, HttpListening};
use sessions::Sessions;
use socket_lock::SocketPlace;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::MissedTickBehavior;

/// Drain timeout of the sessions after a signal; longer than the drain timeout of one session.
const DRAIN: Duration = Duration::from_secs(4);
/// Time for HTTP tasks to flush the last messages.
const FLUSH: Duration = Duration::from_millis(100);
/// Backoff after `accept` fails for lack of descriptors or threads.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Listeners of a runtime and its idle timeout.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Path of the Unix socket, if there is one. Its directory must be private to the user.
    pub socket: Option<PathBuf>,
    /// HTTP listener.
    pub http: Option<HttpListening>,
    /// Exit after this time without a client.
    pub idle_exit: Option<Duration>,
}

/// Bound HTTP listener.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Web {
    /// Address.
    pub address: SocketAddr,
    /// File of the generated token; none if a token was given.
    pub token_file: Option<PathBuf>,
}

/// Serves until a signal or the idle timeout. `on_ready` is called when the listeners accept
/// connections, with what HTTP clients need.
pub fn serve(
    options: Options,
    listening: &Listening,
    on_ready: impl FnOnce(Option<Web>),
) -> Result<(), ServeError> {
    if !sockets::ARE_THERE && listening.http.is_none() {
        return Err(ServeError::NoSockets);
    }
    let (place, listener) = listening.socket.as_deref().map(SocketPlace::take).transpose()?.unzip();
    let web = listening.http.as_ref().map(|web| listen(web, place.as_ref())).transpose()?;
    let within: Arc<[PathBuf]> =
        listening.http.as_ref().map(|web| web.within.clone()).unwrap_or_default().into();
    allocator::give_back_in_time();
    let (event_sender, events) = channel(1);
    shutdown::on_signal(
        event_sender,
        || Event::Terminate,
        DRAIN + FLUSH + options.limits.signal_grace,
    )?;
    let (grace, longest) = (options.limits.signal_grace, options.limits.line_bytes);
    let shared = Shared::new(options.config, options.limits.stores);
    let sessions =
        Sessions::new(Arc::clone(&shared), options.root, within, options.limits, options.delay);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = listener.map(LocalAcceptor::new).transpose()?;
        let (web, ready) = match web {
            Some(HttpEndpoint { listener, guard, token_file }) => {
                let listener = TcpListener::from_std(listener)?;
                let ready = Web { address: listener.local_addr()?, token_file };
                (Some((listener, Http::new(sessions.clone(), guard, longest))), Some(ready))
            }
            None => (None, None),
        };
        on_ready(ready);
        accept_clients(&sessions, listener.as_ref(), web.as_ref(), events, listening.idle_exit)
            .await;
        drop(listener);
        drain(&sessions, web.is_some()).await;
        Ok::<_, io::Error>(())
    })?;
    drop(runtime);
    // Released before the index runs end: the next runtime need not wait for them.
    drop(place);
    shutdown::watchdog(grace);
    drop((sessions, shared));
    Ok(())
}

/// Bound listener and endpoint of HTTP clients.
struct HttpEndpoint {
    listener: std::net::TcpListener,
    guard: http::Guard,
    token_file: Option<PathBuf>,
}

/// Binds the HTTP address. A bearer token is always required.
fn listen(web: &HttpListening, place: Option<&SocketPlace>) -> Result<HttpEndpoint, ServeError> {
    let (token, token_file) = match (&web.token, place) {
        (Some(token), _) => (token.clone(), None),
        (None, Some(place)) if web.address.ip().is_loopback() => {
            let (token, path) = place.token()?;
            (token, Some(path))
        }
        (None, _) => return Err(ServeError::Open { address: web.address }),
    };
    let failed = |source| ServeError::Http { address: web.address, source };
    let listener = std::net::TcpListener::bind(web.address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(HttpEndpoint { listener, guard: http::Guard::new(web.address, token), token_file })
}

/// Accept loop.
async fn accept_clients(
    sessions: &Sessions,
    listener: Option<&LocalAcceptor>,
    web: Option<&(TcpListener, Arc<Http>)>,
    mut events: Receiver<Event>,
    idle_exit: Option<Duration>,
) {
    let mut alone_since = Instant::now();
    let mut sweeping = tokio::time::interval(http::SWEEP);
    sweeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let leave_at = idle_exit.filter(|_| sessions.count() == 0).map(|idle| alone_since + idle);
        let taken = tokio::select! {
            biased;
            event = events.recv() => {
                if matches!(event, None | Some(Event::Terminate)) {
                    return;
                }
                Ok(())
            }
            () = sessions.changed() => {
                alone_since = Instant::now();
                Ok(())
            }
            _ = sweeping.tick(), if web.is_some() => {
                web.iter().for_each(|(_, http)| http.sweep());
                Ok(())
            }
            () = until(leave_at), if leave_at.is_some() => return,
            accepted = accept_local(listener) => {
                accepted.and_then(|(stream, user)| sessions.begin(stream, user))
            }
            accepted = accept(web) => accepted,
        };
        if let Err(error) = taken {
            tracing::warn!(%error, "a client could not be admitted");
            until(Some(Instant::now() + ACCEPT_BACKOFF)).await;
        }
    }
}

async fn accept_local(listener: Option<&LocalAcceptor>) -> io::Result<(LocalStream, u32)> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

async fn accept(web: Option<&(TcpListener, Arc<Http>)>) -> io::Result<()> {
    match web {
        Some((listener, http)) => http.accept(listener).await,
        None => std::future::pending().await,
    }
}

/// Drains the sessions and flushes their output.
async fn drain(sessions: &Sessions, has_web: bool) {
    let end_by = Instant::now() + DRAIN;
    sessions.drain();
    while sessions.count() > 0 && Instant::now() < end_by {
        tokio::select! {
            () = sessions.changed() => {}
            () = until(Some(end_by)) => {}
        }
    }
    if has_web {
        // The output passes through other tasks of this executor.
        until(Some(Instant::now() + FLUSH)).await;
    }
}
