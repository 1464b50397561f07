//! Limits of the server: sizes, queues, permits and timeouts, as plain data.

use cograph_faults::{Fault, planted};
use cograph_store::PoolSettings;
use std::time::Duration;

/// Limits of one server process.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum length of a line, in bytes.
    pub line_bytes: usize,
    /// Output queue in bytes beyond which no further message is read (backpressure).
    pub output_bytes: usize,
    /// Maximum number of queued calls, all classes together.
    pub queued_calls: usize,
    /// Maximum size of their arguments, in bytes.
    pub queued_bytes: usize,
    /// Concurrent calls of class `Control`.
    pub control_permits: usize,
    /// Concurrent calls of class `Query`.
    pub query_permits: usize,
    /// Concurrent calls of class `Heavy`.
    pub heavy_permits: usize,
    /// Overrides the deadline of every tool.
    pub deadline: Option<Duration>,
    /// Maximum number of threads of aborted calls that still run; beyond it new calls are rejected.
    pub lingering_calls: usize,
    /// Timeout of waiting for the first index of a repository, after which a call reports its
    /// progress.
    pub index_wait: Duration,
    /// Timeout of waiting for changed files to be indexed, after which a call answers from the
    /// current snapshot and lists the stale files.
    pub renewal_wait: Duration,
    /// Timeout of the client's `roots/list` response.
    pub roots_wait: Duration,
    /// Drain timeout after end of input. Clients send a signal two seconds after they close the
    /// input; clients that still read get their responses before that.
    pub end_grace: Duration,
    /// At shutdown: timeout of a client that does not read the rest of the output.
    pub output_stall: Duration,
    /// Time from a signal to the forced end of the process.
    pub signal_grace: Duration,
    /// Interval of checking the parent process and the client's end of the output.
    pub housekeeping: Duration,
    /// Pool of open stores.
    pub stores: PoolSettings,
    /// Minimum interval of progress notifications of a call.
    pub progress_interval: Duration,
    /// Interval over which change notifications are coalesced.
    pub change_interval: Duration,
}

impl Limits {
    /// Maximum number of requests in flight: running and waiting for a permit or for an index.
    pub(crate) fn in_flight(&self) -> usize {
        self.queued_calls + self.control_permits + self.query_permits + self.heavy_permits
    }
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            line_bytes: 8 << 20,
            output_bytes: 16 << 20,
            queued_calls: if planted(Fault::QueueOf8) { 8 } else { 256 },
            queued_bytes: 16 << 20,
            control_permits: 4,
            query_permits: cores.clamp(2, 8),
            heavy_permits: 2,
            deadline: None,
            lingering_calls: 64,
            index_wait: Duration::from_secs(25),
            renewal_wait: Duration::from_millis(300),
            roots_wait: Duration::from_millis(300),
            end_grace: Duration::from_millis(1500),
            output_stall: Duration::from_secs(5),
            signal_grace: Duration::from_millis(300),
            housekeeping: Duration::from_secs(1),
            stores: PoolSettings::default(),
            progress_interval: Duration::from_millis(200),
            change_interval: Duration::from_millis(500),
        }
    }
}
