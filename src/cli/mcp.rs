//! `cograph mcp`: serves one client on standard input and output.

use std::time::Duration;

use super::{RootArgument, Stop};
use crate::config::{Config, ConfigError};
use crate::server::{Limits, Options, run_stdio};
use crate::store::PoolSettings;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    root: RootArgument,
    /// Hold every tool call up for so many milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    delay_ms: Option<u64>,
    /// Calls of one class that run at once: for tests of clients
    #[arg(long, value_name = "N", hide = true)]
    permits: Option<usize>,
    /// Calls that may wait: for tests of clients
    #[arg(long, value_name = "N", hide = true)]
    queue: Option<usize>,
    /// When every call is answered at the latest, in milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    deadline_ms: Option<u64>,
    /// How long a call waits for the first index, in milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    index_wait_ms: Option<u64>,
    /// When a store that nobody asks is closed, in milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    idle_ms: Option<u64>,
}

/// Serves until the client is done. Settings that cannot be used are told to whoever calls a tool: a client must be able to
/// connect and to list the tools in any case.
pub(super) fn run(config: Result<Config, ConfigError>, arguments: &Arguments) -> Result<(), Stop> {
    let mut limits = Limits::default();
    if let Some(permits) = arguments.permits {
        (limits.query_permits, limits.heavy_permits) = (permits, permits);
    }
    limits.queued_calls = arguments.queue.unwrap_or(limits.queued_calls);
    limits.deadline = arguments.deadline_ms.map(Duration::from_millis);
    limits.index_wait = arguments.index_wait_ms.map_or(limits.index_wait, Duration::from_millis);
    if let Some(idle) = arguments.idle_ms.map(Duration::from_millis) {
        limits.stores = PoolSettings { idle, sweep: limits.stores.sweep.min(idle / 4), ..limits.stores };
    }
    let delay = arguments.delay_ms.map(Duration::from_millis);
    run_stdio(Options { config, root: arguments.root.root.clone(), limits, delay }).map_err(|error| Stop::Failure {
        message: format!("cannot serve on standard input and output: {error}"),
        hint: "start it from an MCP client; both must be open".to_owned(),
    })
}
