//! The numbers that bound the server: sizes, queues, permits and times. Plain data; nothing here
//! acts.

use crate::faults::{Fault, planted};
use crate::store::PoolSettings;
use std::time::Duration;

/// What bounds one server process.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest line that is read, in bytes.
    pub line_bytes: usize,
    /// Answers that wait for the client to read, in bytes; beyond it no further message is taken
    /// from the input.
    pub output_bytes: usize,
    /// Calls that may wait for a permit, all classes together.
    pub queued_calls: usize,
    /// Their arguments together, in bytes.
    pub queued_bytes: usize,
    /// Calls of class `Control` at once.
    pub control_permits: usize,
    /// Calls of class `Query` at once.
    pub query_permits: usize,
    /// Calls of class `Heavy` at once.
    pub heavy_permits: usize,
    /// In place of every tool's own deadline.
    pub deadline: Option<Duration>,
    /// Threads of calls that were given up but have not ended yet; beyond it new calls are refused.
    pub lingering_calls: usize,
    /// How long a call waits for the first index of a repository before it answers with what is
    /// known so far.
    pub index_wait: Duration,
    /// How long a call waits for changed files to be taken in before it answers from the index at
    /// hand and says what it misses.
    pub renewal_wait: Duration,
    /// How long calls wait for a client that was asked which directories it works on.
    pub roots_wait: Duration,
    /// After the end of input: how long calls in flight may still run. Clients send a signal two
    /// seconds after they have closed the input; until then those that still read get their
    /// answers.
    pub end_grace: Duration,
    /// At the end: how long the client may read nothing before the rest of the output is given up.
    pub output_stall: Duration,
    /// After a signal: when the process ends whatever happens.
    pub signal_grace: Duration,
    /// Time between two looks at the parent process and at whether the client still reads.
    pub housekeeping: Duration,
    /// Stores that are kept open between calls.
    pub stores: PoolSettings,
    /// Shortest time between two progress notifications of one call.
    pub progress_interval: Duration,
    /// How long changes are gathered before the client is told of them.
    pub change_interval: Duration,
}

impl Limits {
    /// Requests that may be in flight: those that run and those that wait, whether for a permit or
    /// for an index.
    pub(in crate::server) fn in_flight(&self) -> usize {
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
