//! The MCP server on standard input and output or for many clients at once, the client that passes
//! calls on to it, and what they share with the command line: tools, their answers as text and
//! JSON. Owns the protocol, the clock of requests and the escaping of everything that is not ours.
//!
//! ```text
//! thread reader  descriptor -> reader -> framing -> bounded channel
//! dispatcher     message -> protocol -> answered at once, or
//!                requests (table) -> admission -> a thread
//! thread a call  arguments -> tools -> workspace -> query -> answers -> dispatcher
//!                or, where a runtime serves:
//!                tools -> proxy -> upstream -> the same of another process
//! thread writer  writer: whole messages to the descriptor
//! ```
//!
//! - One owner and one buffer for the input; nothing tests a descriptor for readiness below a
//!   buffer (`transport`).
//! - A session is all of the above over any stream (`session`); a runtime has many, which share
//!   stores, index runs, watches and permits and nothing else (`runtime`, `workspace`,
//!   `jsonrpc::admission`).
//! - Every request is in one table until it is answered or cancelled, and only the table makes
//!   answers (`jsonrpc::requests`).
//! - The dispatcher waits for nothing but its channels and its clock; no lock is held across a wait
//!   (`session::dispatch`).
//! - `initialize`, `ping`, `server/discover` and all lists are answered from constants (`protocol`,
//!   `tools::table`).
//! - A resource is a question to a tool, asked by its address: admission, deadline and rendering
//!   are those of the tool.
//! - Text of the repository enters a reply through `base::escape` only.

mod answers;
mod base;
#[cfg(test)]
mod bounds;
mod jsonrpc;
mod peers;
mod protocol;
mod proxy;
mod runtime;
mod session;
mod tools;
mod transport;
mod workspace;

pub use base::allocator::give_back_in_time;
pub use base::escape::{for_terminal, one_line};
pub use base::limits::Limits;
pub use base::log::LogSink;
pub use jsonrpc::admission::{Class, LaneState};
pub use peers::{
    ChildProcess, EndPatience, Ended, Probe, ProbeError, Ran, Started, probe, run_command,
};
#[cfg(feature = "faults")]
pub use protocol::fixtures::{FixtureError, Fixtures, run_fixtures};
pub use proxy::federation::{Name, RegistryError, Upstreams};
pub use proxy::upstream::{Examined, Listing, Target, TargetError, examine};
pub use runtime::{BearerToken, HttpListening, Listening, ServeError, Web, serve};
pub use tools::arguments::Arguments;
pub use tools::table::{INSTRUCTIONS, TOOLS, tool};
pub use tools::tool::{DEFAULT_BUDGET, MOST_BUDGET, Parameter, Shape, Tool};
pub use tools::{Form, Outcome, Reply, call};
pub use workspace::host::Host;
pub use workspace::metrics::{CallState, ProgressReport, ServerState};
pub use workspace::repositories::{Patience, Reach, Repositories, Unavailable};

use crate::config::{Config, ConfigError, WorkerCommand};
use crate::faults::{Fault, planted};
use jsonrpc::admission::Permits;
use session::Session;
use session::dispatch::{Event, Process};
use session::shutdown::Parent;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use workspace::repositories::Shared;

/// How a server is to run.
pub struct Options {
    /// Settings from outside, or why they cannot be used: then every tool says so.
    pub config: Result<Config, ConfigError>,
    /// The repository of calls that name none; else it is found from the working directory.
    pub root: Option<PathBuf>,
    /// What bounds the server.
    pub limits: Limits,
    /// Holds every tool call up for so long: for tests of clients.
    pub delay: Option<Duration>,
}

/// Serves one client on standard input and output until the input ends, a signal comes or the
/// client is gone. From here on nothing else can use the two; after it returns the process should
/// end.
pub fn run_stdio(options: Options) -> io::Result<()> {
    let Options { config, root, limits, delay } = options;
    let shared = Shared::new(config, limits.stores);
    run(limits.clone(), |events| {
        let repositories =
            Repositories::of(&shared, Reach::from(root), Patience::of(&limits), telling(events));
        Arc::new(tools::Toolbox::new(repositories, delay))
    })
}

/// To whom calls are passed on.
pub struct Passing {
    /// Where it is.
    pub target: Target,
    /// Whether calls are served here while it is not there.
    pub embeds: bool,
    /// Starts it when it is not there: `cograph serve` with its socket.
    pub starter: Option<WorkerCommand>,
}

/// The exit code of a runtime that finds another one in its place.
pub const ALREADY_SERVED: u8 = 4;

/// How many times as many calls may be under way when they only wait for somebody else.
const WAITING_CALLS: usize = 8;

/// Serves one client on standard input and output as `run_stdio` does, and passes its calls on.
pub fn run_passing(options: Options, passing: Passing) -> io::Result<()> {
    let Options { config, root, mut limits, delay } = options;
    let (patience, started_in) =
        (Patience::of(&limits), config.as_ref().ok().and_then(Config::started_in));
    let root = root.map(std::path::absolute).transpose()?;
    let shared = passing.embeds.then(|| Shared::new(config, limits.stores));
    for permits in
        [&mut limits.control_permits, &mut limits.query_permits, &mut limits.heavy_permits]
    {
        *permits *= WAITING_CALLS;
    }
    run(limits, |events| {
        let embedded = shared.map(|shared| {
            let repositories =
                Repositories::of(&shared, Reach::from(root.clone()), patience, telling(events));
            Arc::new(tools::Toolbox::new(repositories, delay)) as Arc<dyn tools::Tools>
        });
        let Passing { target, starter, .. } = passing;
        let expected = target.expected();
        let socket = target.clone();
        let prepare = move || match (&socket, &starter) {
            (Target::Socket(socket), Some(command)) => runtime::spawn::ensure(socket, command),
            _ => Ok(()),
        };
        let place = proxy::thin::ClientRoots::new(root, started_in, events.clone());
        let thin = proxy::thin::Thin::new(target, expected, place, prepare, embedded);
        if planted(Fault::AttachFirst) {
            thin.attach();
        }
        Arc::new(thin)
    })
}

/// Serves one client on standard input and output as `run_stdio` does, from several upstreams.
pub fn run_federated(options: Options, upstreams: Upstreams) -> io::Result<()> {
    let Options { config, mut limits, .. } = options;
    let started_in = config.as_ref().ok().and_then(Config::started_in);
    for permits in
        [&mut limits.control_permits, &mut limits.query_permits, &mut limits.heavy_permits]
    {
        *permits *= WAITING_CALLS;
    }
    // Beside the questions to all there may be calls of every upstream's own tools.
    limits.heavy_permits += proxy::federation::MOST_CALLS;
    run(limits, |events| {
        let place = proxy::thin::ClientRoots::new(None, started_in, events.clone());
        Arc::new(proxy::federation::Federation::new(upstreams, place, events.clone()))
    })
}

/// Leaves the session and the directory of the process that started this one.
pub fn detach() {
    session::shutdown::detach();
}

/// Tells a session of a new generation of its repository.
fn telling(events: &Sender<Event>) -> impl Fn() + Send + Sync + 'static {
    let events = events.clone();
    // A dispatcher that is gone has nobody to tell.
    move || drop(events.blocking_send(Event::Published))
}

fn run(
    limits: Limits,
    tools: impl FnOnce(&Sender<Event>) -> Arc<dyn tools::Tools>,
) -> io::Result<()> {
    let stream = transport::stdio::take()?;
    base::log::take_panics();
    let session = Session::new();
    session::shutdown::on_signal(session.events.clone(), || Event::Terminate, limits.signal_grace)?;
    let tools = tools(&session.events);
    let owned = Arc::clone(&tools);
    let grace = limits.signal_grace;
    let process = Process { permits: Permits::of_one(&limits), parent: Parent::now() };
    session.run(stream, limits, tools, process)?;
    // With the last owner of the tools, index runs are told to stop and waited for; no longer than
    // this.
    session::shutdown::watchdog(grace);
    owned.close();
    drop(owned);
    Ok(())
}
