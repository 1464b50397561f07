//! Budget of one file: CPU time and heap that its thread may use to parse and traverse it, relative
//! to its size.
//! The error recovery of a parser can take both in proportion to the square of the file: 8 kB of
//! comment openers without an end are 2 GB in one grammar.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cograph_model::SkipReason;
use cograph_system::allocator::heap_bytes;
use cograph_system::clock::thread_cpu;

/// Allowance that grows with the size of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// For an empty file.
    pub base: u64,
    /// For each byte of source.
    pub per_byte: u64,
    /// For any file.
    pub most: u64,
}

impl Allowance {
    const fn of(self, bytes: usize) -> u64 {
        let sum = self.base.saturating_add(self.per_byte.saturating_mul(bytes as u64));
        if sum < self.most { sum } else { self.most }
    }
}

/// What a file used more of than its budget allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// CPU time.
    Time,
    /// Heap.
    Memory,
}

impl Exhausted {
    /// Reason for leaving the file out.
    pub fn reason(self) -> SkipReason {
        match self {
            Self::Time => SkipReason::TooSlow,
            Self::Memory => SkipReason::TooMuchMemory,
        }
    }
}

/// Budget of one file, from its creation on, for the thread that made it.
pub(super) struct Budget {
    /// CPU time of the thread at which it ends: first that of the first parse.
    cpu: Cell<Duration>,
    /// The same for everything.
    all_cpu: Duration,
    heap: i64,
    last_look: Cell<Instant>,
    nodes: Cell<u32>,
    /// Work of the parser that is left.
    work: Cell<u64>,
    exhausted: Cell<Option<Exhausted>>,
}

/// The CPU clock, which is a system call, is read after so much time on the clock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// Work between two calls of the parser: a thousand is about 4 ms in both cases.
const PLAIN_WORK: u64 = 10;
const ERROR_WORK: u64 = 100;
/// Work of the repairs of a file: on an idle machine about 60 ms and 4 µs a byte, which is less
/// than half of the time that a file has.
const REPAIR_WORK: Allowance = Allowance { base: 15_000, per_byte: 1, most: u64::MAX };
/// Nodes of a traversal between two checks.
const NODES_PER_CHECK: u32 = 64;

impl Budget {
    /// Budget for a source of this length.
    pub(super) fn start(limits: &Limits, bytes: usize) -> Self {
        let Limits { first_parse, time, heap, .. } = limits;
        let now = thread_cpu();
        let heap = heap_bytes().saturating_add(heap.of(bytes).try_into().unwrap_or(i64::MAX));
        let after = |time: &Allowance| now + Duration::from_nanos(time.of(bytes));
        Self { cpu: Cell::new(after(first_parse)), ..Self::until(after(time), heap) }
    }

    fn until(cpu: Duration, heap: i64) -> Self {
        Self {
            cpu: Cell::new(cpu),
            all_cpu: cpu,
            heap,
            last_look: Cell::new(Instant::now()),
            nodes: Cell::new(0),
            work: Cell::new(u64::MAX),
            exhausted: Cell::new(None),
        }
    }

    /// From here on the budget is that of everything together.
    pub(super) fn end_first_parse(&self) {
        self.cpu.set(self.all_cpu);
    }

    /// Budget of the repairs of a source of this length: work of the parser, so that a busy machine
    /// repairs what an idle one does, and the time that is left as a bound for what is slower than
    /// that. What comes afterwards has half of that time in any case.
    pub(super) fn spare(&self, bytes: usize) -> Self {
        let spare = Self::until(self.cpu.get(), self.heap);
        spare.work.set(REPAIR_WORK.of(bytes));
        spare
    }

    /// Gives what follows the repairs half of the time that was left before them.
    pub(super) fn end_repairs(&self, begun: Duration) {
        let half = self.all_cpu.saturating_sub(begun) / 2;
        self.cpu.set(self.cpu.get().max(thread_cpu() + half));
    }

    /// Checks after a part of the parser's work: each costs about as much, and several times more
    /// behind an error, where the parser follows several readings of the source.
    pub(super) fn check_parse(&self, has_error: bool) -> ControlFlow<()> {
        let cost = if has_error { ERROR_WORK } else { PLAIN_WORK };
        match self.work.get().checked_sub(cost) {
            Some(left) => self.work.set(left),
            None => self.exhausted.set(self.exhausted.get().or(Some(Exhausted::Time))),
        }
        self.check()
    }

    /// Budget without an end.
    #[cfg(test)]
    pub(super) fn unlimited() -> Self {
        Self::until(Duration::MAX, i64::MAX)
    }

    /// Breaks once more is used than allowed; cheap enough for the parser's progress callback.
    pub(super) fn check(&self) -> ControlFlow<()> {
        if self.exhausted.get().is_none() {
            let now = Instant::now();
            if heap_bytes() > self.heap {
                self.exhausted.set(Some(Exhausted::Memory));
            } else if now.duration_since(self.last_look.get()) >= BETWEEN_LOOKS {
                self.last_look.set(now);
                if thread_cpu() > self.cpu.get() {
                    self.exhausted.set(Some(Exhausted::Time));
                }
            }
        }
        match self.exhausted.get() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    /// Counts a node of a traversal; true if the budget is exhausted.
    pub(super) fn ends_at_node(&self) -> bool {
        let nodes = self.nodes.get().wrapping_add(1);
        self.nodes.set(nodes);
        if nodes.is_multiple_of(NODES_PER_CHECK) {
            return self.check().is_break();
        }
        self.exhausted.get().is_some()
    }

    /// What was exhausted, if anything.
    pub(super) fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get()
    }
}

/// Limits per file.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum nesting of syntax nodes; deeper regions become a `TooDeep` problem.
    pub depth: u32,
    /// CPU time of the first parse, in nanoseconds.
    pub first_parse: Allowance,
    /// CPU time of everything together, in nanoseconds.
    pub time: Allowance,
    /// Heap of parsing, in bytes.
    pub heap: Allowance,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 1_000, first_parse: FULL_TIME, time: WHOLE_TIME, heap: HEAP }
    }
}

impl Limits {
    /// Limits for a build that others wait for: it leaves slow files to a later run.
    pub fn quick() -> Self {
        Self { first_parse: QUICK_TIME, ..Self::default() }
    }

    /// Limits for such a build once slow files have taken too much of its time.
    pub fn quicker() -> Self {
        Self { first_parse: QUICKER_TIME, ..Self::default() }
    }
}

/// Ordinary files, 21,000 of all languages, take at most 5 µs a byte on a busy machine, and 128
/// bytes of heap a byte; what nests deeply in little text takes some megabytes. The process grows
/// by more than twice the heap, since the parser's stacks grow by copying. At the end of a
/// file that it could not parse the parser copies its stack once for each path through it, without
/// a callback: there the watchdog of the process that indexes is the bound.
pub(crate) const FULL_TIME: Allowance =
    Allowance { base: 150_000_000, per_byte: 10_000, most: 10_000_000_000 };

pub(crate) const QUICK_TIME: Allowance =
    Allowance { base: 100_000_000, per_byte: 3_000, most: 2_000_000_000 };

/// Several times what an ordinary file takes on an idle machine.
pub(crate) const QUICKER_TIME: Allowance =
    Allowance { base: 25_000_000, per_byte: 1_000, most: 1_000_000_000 };

pub(crate) const HEAP: Allowance = Allowance { base: 12 << 20, per_byte: 300, most: u64::MAX };

/// Time of the parse and of the traversal, which is this program's own code: without optimisation
/// it takes several times as long, and the parser does not.
pub(crate) const WHOLE_TIME: Allowance = Allowance {
    base: FULL_TIME.base * OWN_CODE,
    per_byte: FULL_TIME.per_byte * OWN_CODE,
    most: FULL_TIME.most * OWN_CODE,
};

pub(crate) const OWN_CODE: u64 = if cfg!(debug_assertions) { 10 } else { 1 };
