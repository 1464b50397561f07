//! MCP server over stdio, or for many clients as a runtime (daemon); the proxy that forwards calls
//! to a runtime; and what they share with the command line: tools and their responses as text and
//! JSON. Owns the protocol, request deadlines, and the escaping of untrusted text.
//!
//! ```text
//! reader thread    descriptor -> reader -> framing -> bounded channel
//! dispatcher       message -> protocol -> immediate response, or
//!                  table of requests -> admission -> thread of the call
//! thread per call  arguments -> tools -> workspace -> query -> answers -> dispatcher
//!                  or, in a proxy: tools -> proxy -> upstream -> the same in another process
//! writer thread    queue -> writer -> descriptor
//! ```
//!
//! - The input has one owner and one buffer; no descriptor is polled below a buffer that may hold
//!   data (`transport`).
//! - A session is all of the above over any stream (`session`); the sessions of a runtime share
//!   stores, index runs, watches and permits and nothing else (`runtime`, `workspace`,
//!   `jsonrpc::admission`).
//! - Every request is in one table until it is answered or cancelled, and only the table builds
//!   responses (`jsonrpc::requests`).
//! - The dispatcher blocks on its channels and timers only; no lock is held across a wait
//!   (`session::dispatch`).
//! - `initialize`, `ping`, `server/discover` and all lists are answered from constants (`protocol`,
//!   `tools::table`).
//! - Reading a resource is a tool call, with the same admission, deadline and rendering.
//! - Repository text enters a response through `base::escape` only.

mod answers;
mod base;
#[cfg(feature = "federation")]
#[cfg(test)]
mod bounds;
mod hooks;
mod jsonrpc;
mod language_server;
/// What the page asks.
mod page;
mod peers;
mod protocol;
mod proxy;
mod runtime;
mod session;
mod tools;
mod transport;
mod workspace;

pub use answers::rows::{Row, Site, may_have_rows, rows};
pub use base::escape::{for_terminal, one_line};
pub use base::limits::Limits;
pub use base::log::{LogSink, log_panics};
pub use base::options::Options;
pub use base::uri::file_address;
pub use cograph_system::allocator::give_back_in_time;
pub use hooks::{HookClient, HookEvent, MAX_INPUT, run_hook};
pub use jsonrpc::admission::{Class, LaneState};
pub use language_server::run_language_server;
pub use page::written::{WrittenPage, written_page};
pub use peers::{Probe, ProbeError, probe};
#[cfg(feature = "faults")]
pub use protocol::fixtures::{FixtureError, Fixtures};
#[cfg(feature = "federation")]
pub use proxy::federation::{Name, RegistryError, Upstreams};
pub use proxy::upstream::{Examined, Listing, Target, TargetError, examine};
pub use runtime::spawn::ALREADY_SERVED;
pub use runtime::{BearerToken, HttpListening, Listening, ServeError, Web, serve};
#[cfg(feature = "faults")]
pub use session::fixtures::run_fixtures;
pub use tools::arguments::Arguments;
pub use tools::arguments::paths::from_directory;
pub use tools::impact::report::{ReportForm, Verdict, relative_reference, report, verdict};
pub use tools::table::{TOOLS, instructions, tool};
pub use tools::tool::{DEFAULT_BUDGET, MAX_BUDGET, Parameter, Shape, Tool};
pub use tools::{Outcome, Reply, call};
pub use workspace::host::{Form, Host};
pub use workspace::metrics::{CallState, ProgressReport, ServerState};
pub use workspace::repositories::{AllowedRoots, Patience, Repositories, Unavailable};

use cograph_config::{Config, WorkerCommand};
use cograph_faults::{Fault, planted};
use session::dispatch::event::publish_events;
use session::stdio::run;
use std::io;
use std::sync::Arc;
use workspace::repositories::Shared;

/// Serves one client over stdio until end of input, a signal or a disconnect. Takes over standard
/// input and output for good: afterwards the process should exit.
pub fn run_stdio(options: Options) -> io::Result<()> {
    let Options { config, root, limits, delay } = options;
    let shared = Shared::new(config, limits.stores);
    run(limits.clone(), |events| {
        let repositories = Repositories::of(
            &shared,
            AllowedRoots::from(root),
            Patience::of(&limits),
            publish_events(events),
        );
        Arc::new(tools::Toolbox::new(repositories, delay))
    })
}

/// Upstream of a proxy.
pub struct Passing {
    /// Address.
    pub target: Target,
    /// True if calls are served in this process while the upstream is unreachable.
    pub embeds: bool,
    /// Command that starts the upstream on demand: `cograph serve` with its socket.
    pub starter: Option<WorkerCommand>,
}

/// Factor on the permits of a proxy, whose calls only wait for the upstream.
const WAITING_CALLS: usize = 8;

/// Serves one client over stdio like `run_stdio`, as a proxy to one upstream.
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
            let repositories = Repositories::of(
                &shared,
                AllowedRoots::from(root.clone()),
                patience,
                publish_events(events),
            );
            Arc::new(tools::Toolbox::new(repositories, delay)) as Arc<dyn tools::Tools>
        });
        let Passing { target, starter, .. } = passing;
        let expected = target.expected();
        let socket = target.clone();
        let prepare = move || match (&socket, &starter) {
            (Target::Socket(socket), Some(command)) => runtime::spawn::ensure(socket, command),
            _ => Ok(()),
        };
        let place = proxy::runtime_proxy::ClientRoots::new(root, started_in, events.clone());
        let thin =
            proxy::runtime_proxy::RuntimeProxy::new(target, expected, place, prepare, embedded);
        if planted(Fault::AttachFirst) {
            thin.attach();
        }
        Arc::new(thin)
    })
}

/// Serves one client over stdio like `run_stdio`, from several upstreams.
#[cfg(feature = "federation")]
pub fn run_federated(options: Options, upstreams: Upstreams) -> io::Result<()> {
    let Options { config, mut limits, .. } = options;
    let started_in = config.as_ref().ok().and_then(Config::started_in);
    for permits in
        [&mut limits.control_permits, &mut limits.query_permits, &mut limits.heavy_permits]
    {
        *permits *= WAITING_CALLS;
    }
    // In addition to federated queries there may be calls of every upstream's external tools.
    limits.heavy_permits += proxy::federation::MAX_CALLS;
    run(limits, |events| {
        let place = proxy::runtime_proxy::ClientRoots::new(None, started_in, events.clone());
        Arc::new(proxy::federation::Federation::new(upstreams, place, events.clone()))
    })
}
