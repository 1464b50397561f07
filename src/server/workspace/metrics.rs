//! Metrics as plain data, for `status` and for the log of slow calls. Contains no text from
//! callers.

use crate::jsonrpc::admission::LaneState;
use cograph_store::PoolCounts;
use std::time::Duration;

/// State of the server at one moment.
#[derive(Clone, Debug)]
pub struct ServerState {
    /// Time since the start.
    pub uptime: Duration,
    /// Requests in flight, including this one.
    pub in_flight: usize,
    /// Other calls in flight, in order of arrival.
    pub calls: Vec<CallState>,
    /// State of each admission class.
    pub lanes: Vec<LaneState>,
    /// Threads of aborted calls that still run.
    pub lingering: usize,
    /// Resident memory of the process in bytes, if the system reports it.
    pub memory: Option<u64>,
}

/// Progress of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgressReport {
    /// Completed share in thousandths; never decreases during a call.
    pub thousandths: u32,
    /// Current activity.
    pub message: String,
}

/// Call in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallState {
    /// Tool.
    pub tool: &'static str,
    /// Current stage.
    pub stage: &'static str,
    /// Time since arrival.
    pub age: Duration,
}

/// Stores and index runs of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    /// Open stores.
    pub(crate) stores: PoolCounts,
    /// Queued and active index runs: directory name of the repository, and progress.
    pub(crate) runs: Vec<(String, ProgressReport)>,
    /// Repositories: directory name, and the state of the watch, or that the index was removed.
    pub(crate) repositories: Vec<(String, String)>,
}

/// Allocated memory of this process, in bytes.
pub(crate) fn memory() -> Option<u64> {
    memory_stats::memory_stats().map(|memory| memory.physical_mem as u64)
}
