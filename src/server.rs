//! The MCP server on standard input and output or for many clients at once, the client that passes calls on to it, and what they
//! share with the command line: tools, their answers as text and JSON. Owns the protocol, the clock of requests and the escaping
//! of everything that is not ours.
//!
//! ```text
//! thread reader  descriptor -> reader -> splitter -> bounded channel
//! dispatcher     message -> protocol -> answered at once, or requests (table) -> admission -> a thread
//! thread a call  arguments -> tools -> repositories -> query -> render -> dispatcher
//!                or, where a runtime serves: tools -> thin -> upstream -> the same of another process
//! thread writer  writer: whole messages to the descriptor
//! ```
//!
//! - One owner and one buffer for the input; nothing tests a descriptor for readiness below a buffer (`reader`, `stdio`).
//! - A session is all of the above over any stream (`session`); a runtime has many, which share stores, index runs, watches and
//!   permits and nothing else (`runtime`, `repositories::shared`, `admission`).
//! - Every request is in one table until it is answered or cancelled, and only the table makes answers (`requests`).
//! - The dispatcher waits for nothing but its channels and its clock; no lock is held across a wait (`dispatch`).
//! - `initialize`, `ping`, `server/discover` and all lists are answered from constants (`protocol`, `registry`, `resources`).
//! - A resource is a question to a tool, asked by its address: admission, deadline and rendering are those of the tool.
//! - Text of the repository enters a reply through `escape` only.

mod admission;
mod allocator;
mod arguments;
#[cfg(test)]
mod bounds;
mod budget;
mod completion;
mod dispatch;
mod escape;
mod federation;
#[cfg(feature = "faults")]
mod fixtures;
mod foreign;
mod limits;
mod log;
mod message;
mod observe;
mod peers;
mod prompts;
mod protocol;
mod reader;
mod registry;
mod render;
mod reply;
mod repositories;
mod requests;
mod resources;
mod roots;
mod runtime;
mod session;
mod shutdown;
mod splitter;
mod starter;
mod stdio;
mod subscriptions;
mod thin;
mod tools;
mod upstream;
mod uri;
mod writer;

pub use admission::{Class, LaneState};
pub use allocator::give_back_in_time;
pub use arguments::Arguments;
pub use escape::{for_terminal, one_line};
pub use federation::{Name, RegistryError, Upstreams};
#[cfg(feature = "faults")]
pub use fixtures::{FixtureError, Fixtures, run_fixtures};
pub use limits::Limits;
pub use log::LogSink;
pub use observe::{CallState, ServerState};
pub use peers::{ChildProcess, EndPatience, Ended, Probe, ProbeError, Ran, Started, probe, run_command};
pub use registry::{DEFAULT_BUDGET, INSTRUCTIONS, MOST_BUDGET, Parameter, Shape, TOOLS, Tool, tool};
pub use repositories::{Patience, Reach, Repositories, Unavailable};
pub use runtime::{BearerToken, HttpListening, Listening, ServeError, Web, serve};
pub use tools::{Form, Host, Outcome, ProgressReport, Reply, call};
pub use upstream::{Examined, Listing, Target, TargetError, examine};

use crate::config::{Config, ConfigError, WorkerCommand};
use crate::faults::{Fault, planted};
use admission::Permits;
use dispatch::{Event, Process};
use repositories::Shared;
use session::Session;
use shutdown::Parent;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;

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

/// Serves one client on standard input and output until the input ends, a signal comes or the client is gone. From here on
/// nothing else can use the two; after it returns the process should end.
pub fn run_stdio(options: Options) -> io::Result<()> {
    let Options { config, root, limits, delay } = options;
    let shared = Shared::new(config, limits.stores);
    run(limits.clone(), |events| {
        let repositories = Repositories::of(&shared, Reach::from(root), Patience::of(&limits), telling(events));
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
    let (patience, started_in) = (Patience::of(&limits), config.as_ref().ok().and_then(Config::started_in));
    let root = root.map(std::path::absolute).transpose()?;
    let shared = passing.embeds.then(|| Shared::new(config, limits.stores));
    for permits in [&mut limits.control_permits, &mut limits.query_permits, &mut limits.heavy_permits] {
        *permits *= WAITING_CALLS;
    }
    run(limits, |events| {
        let embedded = shared.map(|shared| {
            let repositories = Repositories::of(&shared, Reach::from(root.clone()), patience, telling(events));
            Arc::new(tools::Toolbox::new(repositories, delay)) as Arc<dyn tools::Tools>
        });
        let Passing { target, starter, .. } = passing;
        let expected = target.expected();
        let socket = target.clone();
        let prepare = move || match (&socket, &starter) {
            (Target::Socket(socket), Some(command)) => starter::ensure(socket, command),
            _ => Ok(()),
        };
        let place = thin::Place::new(root, started_in, events.clone());
        let thin = thin::Thin::new(target, expected, place, prepare, embedded);
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
    for permits in [&mut limits.control_permits, &mut limits.query_permits, &mut limits.heavy_permits] {
        *permits *= WAITING_CALLS;
    }
    // Beside the questions to all there may be calls of every upstream's own tools.
    limits.heavy_permits += federation::MOST_CALLS;
    run(limits, |events| {
        let place = thin::Place::new(None, started_in, events.clone());
        Arc::new(federation::Federation::new(upstreams, place, events.clone()))
    })
}

/// Leaves the session and the directory of the process that started this one.
pub fn detach() {
    shutdown::detach();
}

/// Tells a session of a new generation of its repository.
fn telling(events: &Sender<Event>) -> impl Fn() + Send + Sync + 'static {
    let events = events.clone();
    // A dispatcher that is gone has nobody to tell.
    move || drop(events.blocking_send(Event::Published))
}

fn run(limits: Limits, tools: impl FnOnce(&Sender<Event>) -> Arc<dyn tools::Tools>) -> io::Result<()> {
    let stream = stdio::take()?;
    log::take_panics();
    let session = Session::new();
    shutdown::on_signal(session.events.clone(), limits.signal_grace)?;
    let tools = tools(&session.events);
    let owned = Arc::clone(&tools);
    let grace = limits.signal_grace;
    let process = Process { permits: Permits::of_one(&limits), parent: Parent::now() };
    session.run(stream, limits, tools, process)?;
    // With the last owner of the tools, index runs are told to stop and waited for; no longer than this.
    shutdown::watchdog(grace);
    owned.close();
    drop(owned);
    Ok(())
}
