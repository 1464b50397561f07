//! Watchdog of a worker process: its threads report what they work on, and it ends the process when
//! the effort for a file, its memory or a phase exceeds the limit, with the file's name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::effort::{Effort, Ticks};
use super::message::Message;
use crate::outcome::IndexError;
use crate::progress::{Phase, Progress};
use crate::quarantine::Observer;
use cograph_model::cancel::CancelToken;
use cograph_model::{RepoPath, SkipReason};
use cograph_system::clock::thread_cpu;
use cograph_system::effort::{
    CpuReading, MemoryUse, ThreadId, memory_use, this_thread, use_of_process, use_of_thread,
};
use cograph_system::limits::{Bounded, bound_of, set_bound};

/// Time limit of a phase without single files, as a multiple of the limit of a file.
const PHASE_TIME_FACTOR: u32 = 20;

/// Interval of the check of memory. A parser can take 8 MB in it: at the end of a file it copies
/// its stack once for each path, without a callback in which the file's budget could be checked.
pub const MEMORY_INTERVAL: Duration = Duration::from_millis(20);
/// Memory that the process may grow by while it parses a file: constant part. Whole extraction of
/// ordinary files takes up to 122 bytes a byte.
pub const FILE_MEMORY: u64 = 40 << 20;
/// The part for each byte.
pub const FILE_MEMORY_PER_BYTE: u64 = 1_000;
/// Memory that stays of each byte of a file that has been parsed meanwhile, at most.
const KEPT_PER_BYTE: u64 = 200;
/// Beyond what the watchdog allows, the system refuses memory: a parser grows by 2 GB while the
/// watchdog of a process that hardly gets a processor waits for its turn. For what the allocator
/// maps ahead, and for the threads that do not parse.
pub const UNWATCHED_MEMORY: u64 = 192 << 20;

/// True if the process has grown by more than the constant part since the work on a file that is
/// being parsed began.
fn may_be_to_blame(working: &BTreeMap<usize, Working>, memory: u64) -> bool {
    let parsed = working.values().filter(|file| file.bytes.is_some());
    parsed.into_iter().any(|file| memory.saturating_sub(file.memory.anonymous) > FILE_MEMORY)
}

/// Message output of a worker's threads, and what each works on.
pub(crate) struct Reports {
    output: Mutex<File>,
    working: Mutex<BTreeMap<usize, Working>>,
    /// Current phase, and the effort of this process since the watchdog first looked after its last
    /// progress; none between orders.
    phase: Mutex<Option<(Phase, Option<Effort>)>>,
    /// Signalled when an order begins.
    begun: Condvar,
    /// Memory of the process, and when it was read.
    memory: Mutex<Option<(MemoryUse, Instant)>>,
    /// `RLIMIT_DATA` of the process while no file is parsed.
    data_limit: Option<u64>,
    /// Repository, for messages.
    root: PathBuf,
    /// Memory limit of the process, in bytes.
    memory_limit: u64,
    /// Bytes of the files that have been parsed.
    parsed: AtomicU64,
}

/// File that a thread works on.
struct Working {
    path: RepoPath,
    thread: ThreadId,
    effort: Effort,
    /// Size of a file that is parsed.
    bytes: Option<u64>,
    /// Memory of the process, and the bytes of parsed files, when the work began.
    memory: MemoryUse,
    parsed: u64,
}

#[expect(
    clippy::disallowed_methods,
    reason = "no client wants the work any more; a store is whole at every instant"
)]
pub(crate) fn exit_now() -> ! {
    std::process::exit(1)
}

/// Use of the process without the watchdog, on whose thread this is called: to read the memory
/// takes more than what counts as progress.
fn use_of_others() -> CpuReading {
    let all = use_of_process();
    CpuReading { cpu: all.cpu.saturating_sub(thread_cpu()), ..all }
}

/// Memory that the process may reach, by the measure `of`, while these files are parsed: what it
/// had when the work on the first began, what all may take, and what those that have been parsed
/// since may leave. None while no file is parsed.
fn allowed_memory(
    working: &BTreeMap<usize, Working>,
    parsed: u64,
    of: impl Fn(MemoryUse) -> u64,
) -> Option<u64> {
    let files = || working.values().filter_map(|file| Some((file, file.bytes?)));
    let all: u64 = files()
        .map(|(_, bytes)| FILE_MEMORY + bytes.saturating_mul(FILE_MEMORY_PER_BYTE))
        .fold(0, u64::saturating_add);
    files()
        .map(|(file, _)| {
            let kept = parsed.saturating_sub(file.parsed).saturating_mul(KEPT_PER_BYTE);
            of(file.memory).saturating_add(all).saturating_add(kept)
        })
        .min()
}

impl Reports {
    pub(crate) fn to(output: File, root: &Path, memory_limit: u64) -> Self {
        Self {
            root: root.to_path_buf(),
            memory_limit,
            output: Mutex::new(output),
            working: Mutex::default(),
            phase: Mutex::default(),
            begun: Condvar::new(),
            memory: Mutex::default(),
            data_limit: bound_of(Bounded::Data).current,
            parsed: AtomicU64::new(0),
        }
    }

    pub(crate) fn send(&self, message: &Message) {
        let bytes = message.bytes();
        // Messages are written atomically. A write error is ignored: the end of input ends the
        // process.
        let _ = self.output.lock().write_all(&bytes);
    }

    fn working(&self) -> MutexGuard<'_, BTreeMap<usize, Working>> {
        self.working.lock()
    }

    /// Reports progress; none at the end of an order.
    pub(crate) fn reach(&self, progress: Option<Progress>) {
        *self.phase.lock() = progress.map(|progress| (progress.phase, None));
        if let Some(progress) = progress {
            self.begun.notify_one();
            self.send(&Message::Progress(progress));
        }
    }

    /// Checks the files in progress until one exceeds `limit` or its memory; sleeps between orders.
    pub(crate) fn watch(&self, limit: Duration) {
        // The token is never cancelled: this is a plain wait.
        let clock = CancelToken::new();
        let ticks = Ticks::every(limit / 4);
        let mut last_tick = Instant::now();
        loop {
            let mut phase = self.phase.lock();
            if phase.is_none() {
                self.begun.wait_while(&mut phase, |phase| phase.is_none());
                last_tick = Instant::now();
            }
            drop(phase);
            clock.wait(MEMORY_INTERVAL.min(limit / 4));
            self.check_memory();
            if last_tick.elapsed() >= limit / 4 {
                let interval = ticks.counted(last_tick.elapsed());
                last_tick = Instant::now();
                self.check_effort(limit, interval);
            }
        }
    }

    fn look_at_memory(&self) -> Option<MemoryUse> {
        let memory = memory_use()?;
        *self.memory.lock() = Some((memory, Instant::now()));
        Some(memory)
    }

    /// Memory of the process, read recently: on a busy machine the watchdog is late.
    fn recent_memory(&self) -> MemoryUse {
        const UNKNOWN: MemoryUse = MemoryUse { anonymous: u64::MAX, data: u64::MAX };
        let known = *self.memory.lock();
        match known {
            Some((memory, looked)) if looked.elapsed() < MEMORY_INTERVAL => memory,
            _ => self.look_at_memory().unwrap_or(UNKNOWN),
        }
    }

    /// Bounds what the system gives this process by what the files in progress may take.
    fn bound_data(&self, working: &BTreeMap<usize, Working>) {
        let parsed = self.parsed.load(Ordering::Relaxed);
        let allowed = allowed_memory(working, parsed, |memory| memory.data)
            .map(|bytes| bytes.saturating_add(UNWATCHED_MEMORY));
        let limit = [allowed, self.data_limit].into_iter().flatten().min();
        // A limit that cannot be lowered leaves the watchdog.
        let _ = set_bound(Bounded::Data, limit);
    }

    fn check_memory(&self) {
        let Some(memory) = self.look_at_memory() else { return };
        let working = self.working();
        let parsed = self.parsed.load(Ordering::Relaxed);
        let allowed = allowed_memory(&working, parsed, |memory| memory.anonymous);
        let is_within = allowed.is_none_or(|allowed| memory.anonymous <= allowed);
        if is_within && memory.anonymous <= self.memory_limit {
            return;
        }
        if is_within && !may_be_to_blame(&working, memory.anonymous) {
            let error = IndexError::Memory { root: self.root.clone(), limit: self.memory_limit };
            let failed = Message::failed(&error);
            // The lock is kept: no other message may follow.
            let mut output = self.output.lock();
            let _ = output.write_all(&failed.bytes());
            exit_now()
        }
        let mut parsed = working.values().filter(|file| file.bytes.is_some());
        // Of several files the next worker finds the one that it is.
        if let (Some(only), None) = (parsed.next(), parsed.next()) {
            let message = Message::Trying(only.path.clone());
            // The lock is kept: no other message may follow.
            let mut output = self.output.lock();
            let _ = output.write_all(&message.bytes());
            exit_now()
        }
        exit_now()
    }

    fn check_effort(&self, limit: Duration, interval: Option<Duration>) {
        let hanging: Vec<RepoPath> = self
            .working()
            .values_mut()
            .filter_map(|Working { path, thread, effort, .. }| {
                let took = effort.tick(use_of_thread(*thread), interval);
                (took > limit).then(|| path.clone())
            })
            .collect();
        if !hanging.is_empty() {
            hanging.into_iter().for_each(|path| self.send(&Message::Hangs(path)));
            exit_now()
        }
        let is_idle = self.working().is_empty();
        let stalled = self.phase.lock().as_mut().and_then(|(phase, effort)| {
            let now = use_of_others();
            let took = effort.get_or_insert_with(|| Effort::start(now.cpu)).tick(now, interval);
            (is_idle && took > limit * PHASE_TIME_FACTOR).then_some(*phase)
        });
        if let Some(phase) = stalled {
            self.send(&Message::Stalls(phase));
            exit_now()
        }
    }
}

impl Observer for Arc<Reports> {
    fn announces(&self, paths: Vec<RepoPath>) {
        let thread = rayon::current_thread_index().unwrap_or(0) as u64;
        self.send(&Message::Parsing { thread, paths });
    }

    fn begins(&self, path: &RepoPath, bytes: Option<u64>, alone: bool) {
        let working = Working {
            path: path.clone(),
            thread: this_thread(),
            effort: Effort::start(thread_cpu()),
            bytes,
            memory: self.recent_memory(),
            parsed: self.parsed.load(Ordering::Relaxed),
        };
        let mut all = self.working();
        all.insert(rayon::current_thread_index().unwrap_or(0), working);
        self.bound_data(&all);
        drop(all);
        if alone {
            self.send(&Message::Trying(path.clone()));
        }
    }

    fn ends(&self) {
        let mut working = self.working();
        let ended = working.remove(&rayon::current_thread_index().unwrap_or(0));
        let bytes = ended.and_then(|ended| ended.bytes).unwrap_or(0);
        self.parsed.fetch_add(bytes, Ordering::Relaxed);
        self.bound_data(&working);
    }

    fn exhausts(&self, path: &RepoPath, reason: SkipReason) {
        self.send(&Message::Exhausts(path.clone(), reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn file(bytes: Option<u64>, memory: u64) -> Working {
        Working {
            path: RepoPath::new("a").expect("well formed"),
            thread: this_thread(),
            effort: Effort::start(Duration::ZERO),
            bytes,
            memory: MemoryUse { anonymous: memory, data: 2 * memory },
            parsed: 0,
        }
    }

    fn allowed(files: impl IntoIterator<Item = Working>, parsed: u64) -> Option<u64> {
        let working = files.into_iter().enumerate().collect();
        allowed_memory(&working, parsed, |memory| memory.anonymous)
    }

    #[test]
    fn a_process_may_grow_by_what_its_files_may_take() {
        let small = || file(Some(8_000), 100 * MB);
        assert_eq!(allowed([small()], 0), Some(140 * MB + 8_000_000));
        assert_eq!(allowed([small()], MB), Some(340 * MB + 8_000_000), "others leave something");
        let large = || file(Some(4_000_000), 50 * MB);
        assert_eq!(allowed([small(), large()], 0), Some(130 * MB + 4_008_000_000));
        assert_eq!(allowed([file(None, 0)], 0), None, "resolution has no such bound");
        let data = allowed_memory(&BTreeMap::from([(0, small())]), 0, |memory| memory.data);
        assert_eq!(data, Some(240 * MB + 8_000_000));
    }
}
