//! What the process is doing, as plain data: for `status` and for the log of slow calls. Nothing
//! here acts, and nothing here holds text that a caller wrote.

use crate::server::jsonrpc::admission::LaneState;
use crate::store::PoolCounts;
use std::time::Duration;

/// The server at one moment.
#[derive(Clone, Debug)]
pub struct ServerState {
    /// Time since the start.
    pub uptime: Duration,
    /// Requests in flight, this one included.
    pub in_flight: usize,
    /// The calls among them without this one, in the order in which they arrived.
    pub calls: Vec<CallState>,
    /// Every class of calls.
    pub lanes: Vec<LaneState>,
    /// Threads of calls that were given up and have not ended.
    pub lingering: usize,
    /// Memory of the process that is in use, in bytes, if the system tells.
    pub memory: Option<u64>,
}

/// How far a call is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgressReport {
    /// The share that is done, in thousandths; never shrinks during a call.
    pub thousandths: u32,
    /// What is being done.
    pub message: String,
}

/// A call in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallState {
    /// Its tool.
    pub tool: &'static str,
    /// What it does at the moment.
    pub stage: &'static str,
    /// Time since it arrived.
    pub age: Duration,
}

/// Stores and index runs of this process.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct Activity {
    /// Stores that are open.
    pub(in crate::server) stores: PoolCounts,
    /// Index runs that are queued or under way: the name of the repository's directory, and how far
    /// the run is.
    pub(in crate::server) runs: Vec<(String, ProgressReport)>,
    /// Repositories: the name of the directory, and how it is watched, or that its index is no
    /// longer there.
    pub(in crate::server) repositories: Vec<(String, String)>,
}

/// Memory of this process that is in use, in bytes.
pub(in crate::server) fn memory() -> Option<u64> {
    memory_stats::memory_stats().map(|memory| memory.physical_mem as u64)
}
