//! Server limits as hidden options, for tests of clients.

use std::time::Duration;

use cograph_server::Limits;
use cograph_store::PoolSettings;

/// Hidden options of every command that serves.
#[derive(Debug, clap::Args)]
pub(crate) struct LimitArguments {
    /// Delay every tool call, in milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    delay_ms: Option<u64>,
    /// Maximum number of running calls of one class: for tests of clients
    #[arg(long, value_name = "N", hide = true)]
    permits: Option<usize>,
    /// Maximum number of queued calls: for tests of clients
    #[arg(long, value_name = "N", hide = true)]
    queue: Option<usize>,
    /// Deadline of every call, in milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    deadline_ms: Option<u64>,
    /// Timeout of a call that waits for the first index, in milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    index_wait_ms: Option<u64>,
    /// Idle timeout of an open store, in milliseconds: for tests of clients
    #[arg(long, value_name = "MS", hide = true)]
    idle_ms: Option<u64>,
}

impl LimitArguments {
    /// Default limits with the given options.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(permits) = self.permits {
            (limits.query_permits, limits.heavy_permits) = (permits, permits);
        }
        limits.queued_calls = self.queue.unwrap_or(limits.queued_calls);
        limits.deadline = self.deadline_ms.map(Duration::from_millis);
        limits.index_wait = self.index_wait_ms.map_or(limits.index_wait, Duration::from_millis);
        if let Some(idle) = self.idle_ms.map(Duration::from_millis) {
            limits.stores =
                PoolSettings { idle, sweep: limits.stores.sweep.min(idle / 4), ..limits.stores };
        }
        limits
    }

    /// Delay of every call.
    pub(crate) fn delay(&self) -> Option<Duration> {
        self.delay_ms.map(Duration::from_millis)
    }
}
