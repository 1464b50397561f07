//! The MCP server on standard input and output, and what it shares with the command line: tools, their answers as text and
//! JSON. Owns the protocol, the clock of requests and the escaping of everything that is not ours.
//!
//! ```text
//! thread stdin   descriptor -> reader -> splitter -> bounded channel
//! dispatcher     message -> protocol -> answered at once, or requests (table) -> admission -> a thread
//! thread a call  arguments -> tools -> repositories -> query -> render -> dispatcher
//! thread stdout  writer: whole messages to the descriptor
//! ```
//!
//! - One owner and one buffer for the input; nothing tests a descriptor for readiness below a buffer (`reader`, `stdio`).
//! - Every request is in one table until it is answered or cancelled, and only the table makes answers (`requests`).
//! - The dispatcher waits for nothing but its channels and its clock; no lock is held across a wait (`dispatch`).
//! - `initialize`, `ping`, `server/discover` and all lists are answered from constants (`protocol`, `registry`, `resources`).
//! - A resource is a question to a tool, asked by its address: admission, deadline and rendering are those of the tool.
//! - Text of the repository enters a reply through `escape` only.

mod admission;
mod arguments;
mod budget;
mod completion;
mod dispatch;
mod escape;
#[cfg(feature = "faults")]
mod fixtures;
mod limits;
mod log;
mod message;
mod observe;
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
mod shutdown;
mod splitter;
mod stdio;
mod subscriptions;
mod tools;
mod uri;
mod writer;

pub use admission::{Class, LaneState};
pub use arguments::Arguments;
#[cfg(feature = "faults")]
pub use fixtures::{FixtureError, Fixtures, run_fixtures};
pub use limits::Limits;
pub use log::LogSink;
pub use observe::{CallState, ServerState};
pub use registry::{DEFAULT_BUDGET, INSTRUCTIONS, MOST_BUDGET, Parameter, Shape, TOOLS, Tool, tool};
pub use repositories::{Patience, Repositories};
pub use tools::{Form, Host, Outcome, ProgressReport, Reply, call};

use crate::config::{Config, ConfigError};
use dispatch::{Channels, Dispatcher, Event};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Messages from signals and tools that may wait for the dispatcher. A sender waits when it is full; the dispatcher never does.
const EVENTS: usize = 1024;

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
    let (patience, stores) = (Patience::of(&limits), limits.stores);
    run(limits, |events| {
        let changes = events.clone();
        // A dispatcher that is gone has nobody to tell.
        let on_change = move || drop(changes.blocking_send(Event::Published));
        Arc::new(tools::Toolbox::new(Repositories::telling(config, root, patience, stores, on_change), delay))
    })
}

fn run(limits: Limits, tools: impl FnOnce(&Sender<Event>) -> Arc<dyn tools::Tools>) -> io::Result<()> {
    let stdio = stdio::take()?;
    log::take_panics();
    let (event_sender, events) = tokio::sync::mpsc::channel(EVENTS);
    shutdown::on_signal(event_sender.clone(), limits.signal_grace)?;
    let output = writer::start(stdio.output, limits.output_bytes)?;
    let input = reader::start(stdio.input, limits.line_bytes)?;
    let tools = tools(&event_sender);
    let owned = Arc::clone(&tools);
    let grace = limits.signal_grace;
    let dispatcher = Dispatcher::new(limits, tools, Channels { input, events, event_sender, output });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(dispatcher.run());
    // With the last owner of the tools, index runs are told to stop and waited for; no longer than this.
    shutdown::watchdog(grace);
    drop(owned);
    Ok(())
}
