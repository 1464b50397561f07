//! Progress of a run and timings of its phases, as plain data.

pub mod profile;

use cograph_system::clock::process_cpu;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// A phase of a run, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Phase {
    /// Listing the files.
    Walk,
    /// Reading files and extracting their facts.
    Extract,
    /// Building the symbol tables of all files.
    Tables,
    /// Resolving references.
    Resolve,
    /// Writing the store.
    Write,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 5] =
        [Self::Walk, Self::Extract, Self::Tables, Self::Resolve, Self::Write];

    /// Word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Walk => "list",
            Self::Extract => "parse",
            Self::Tables => "tables",
            Self::Resolve => "resolve",
            Self::Write => "write",
        }
    }
}

/// Progress of a run. `total` is 0 while unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Progress {
    /// The phase.
    pub phase: Phase,
    /// Files done in this phase.
    pub done: u64,
    /// Files to do in this phase.
    pub total: u64,
}

/// Duration of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// The phase.
    pub phase: Phase,
    /// Wall-clock time.
    pub elapsed: Duration,
    /// CPU time of all threads of the process.
    pub cpu: Duration,
}

/// Measures successive phases.
pub(super) struct Stopwatch {
    last: Instant,
    last_cpu: Duration,
    laps: Vec<Timing>,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { last: Instant::now(), last_cpu: process_cpu(), laps: Vec::new() }
    }

    /// Ends a phase and starts the next.
    pub(super) fn lap(&mut self, phase: Phase) {
        let (now, cpu) = (Instant::now(), process_cpu());
        self.laps.push(Timing {
            phase,
            elapsed: now.duration_since(self.last),
            cpu: cpu.saturating_sub(self.last_cpu),
        });
        (self.last, self.last_cpu) = (now, cpu);
    }

    pub(super) fn laps(self) -> Vec<Timing> {
        self.laps
    }
}

/// Counts the files of a phase on several threads; reports about two hundred times.
pub(super) struct Counter<'a> {
    phase: Phase,
    done: AtomicU64,
    total: u64,
    report: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Counter<'a> {
    /// Starts a phase and reports it.
    pub(super) fn start(phase: Phase, total: usize, report: &'a (dyn Fn(Progress) + Sync)) -> Self {
        let total = total as u64;
        report(Progress { phase, done: 0, total });
        Self { phase, done: AtomicU64::new(0), total, report }
    }

    pub(super) fn add_one(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done == self.total || done.is_multiple_of((self.total / 200).max(1)) {
            (self.report)(Progress { phase: self.phase, done, total: self.total });
        }
    }
}
