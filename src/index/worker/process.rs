//! Worker process: reads orders from standard input, executes them in sequence, and reports on
//! standard output. It exits with its parent, after a full build, and when a file exceeds the time
//! limit.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::effort::{Effort, ThreadId, Ticks, this_thread, use_of_process, use_of_thread};
use super::message::{Message, Order, Work};
use crate::config::Limits;
use crate::index::progress::{Phase, Progress};
use crate::index::quarantine::{Caution, LeftOut, Observer};
use crate::index::{
    ChangeSet, IndexError, Outcome, Residents, Run, Verified, apply, compare_some, fingerprint,
    if_readable, newest, prepare,
};
use crate::model::cancel::CancelToken;
use crate::model::thread_use::cpu_time;
use crate::model::{RepoPath, SkipReason};
use crate::store::Snapshot;

/// Address space on top of the memory limit, in bytes: program, libraries and per-thread allocator
/// reservations.
const RESERVED_BYTES: u64 = 1 << 30;
const THREAD_BYTES: u64 = 128 << 20;

/// Time limit of a phase without single files, as a multiple of the limit of a file.
const PHASE_TIME_FACTOR: u32 = 20;

/// Executes the orders of the parent process. Owns standard input and output until it returns.
pub fn serve_worker() -> io::Result<()> {
    let input =
        BufReader::new(File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?));
    let output = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    // Output of libraries must not interleave with messages.
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let orders = orders(input)?;
    let by_hand = |_| io::Error::other("a worker is started by this program, not by hand");
    let first = orders.recv().map_err(by_hand)?;
    bound_memory(&first.limits)?;
    let reports = Arc::new(Reports {
        output: Mutex::new(output),
        working: Mutex::default(),
        phase: Mutex::default(),
    });
    let watching = Arc::clone(&reports);
    let limit = first.limits.file_time;
    Builder::new()
        .name("worker-watchdog".to_owned())
        .spawn(move || watching.end_with_hanging_files(limit))?;
    let known = WorkerState { residents: Residents::without_timeout(), verified: Verified::new() };
    for order in std::iter::once(first).chain(orders) {
        let ended = known.carry_out(&order, &reports);
        let last = match &ended {
            Ok(Outcome::Unchanged { .. }) => Message::Finished { changed: false },
            Ok(Outcome::Published { timings, .. }) => {
                timings.iter().for_each(|timing| reports.send(&Message::Timing(*timing)));
                Message::Finished { changed: true }
            }
            Err(error) => {
                Message::Failed { message: error.to_string(), hint: error.hint().to_owned() }
            }
        };
        reports.reach(None);
        reports.send(&last);
        if !order.work.is_change() || ended.is_err() {
            break;
        }
        // The files are being edited: prepare, so that the next change is incremental.
        let cancel = CancelToken::new();
        if let Err(error) =
            prepare(&order.location, &known.residents, &Run::quiet(order.limits, &cancel))
        {
            tracing::info!(%error, "the next changes mean a whole build");
        }
    }
    Ok(())
}

/// Reads orders. End of input, which follows the death of the parent, ends the process in any
/// state; so does the end of this thread.
fn orders(mut input: BufReader<File>) -> io::Result<Receiver<Order>> {
    let (sender, orders) = sync_channel(1);
    let read = move || {
        // Without a first order nothing runs: the closed channel ends the main thread.
        let Some(first) = Order::read(&mut input) else { return };
        let mut next = Some(first);
        while let Some(order) = next {
            if sender.send(order).is_err() {
                break;
            }
            next = Order::read(&mut input);
        }
        exit_now()
    };
    Builder::new().name("worker-orders".to_owned()).spawn(read)?;
    Ok(orders)
}

/// State that a worker keeps between orders.
struct WorkerState {
    residents: Residents,
    verified: Verified,
}

impl WorkerState {
    fn carry_out(&self, order: &Order, reports: &Arc<Reports>) -> Result<Outcome, IndexError> {
        let Order { location, work, limits, .. } = order;
        let forced = matches!(work, Work::Everything { forced: true });
        let cancel = CancelToken::new();
        let known = if_readable(newest(location, &Run::quiet(*limits, &cancel)))?.flatten();
        let mut left_out = match &known {
            Some(snapshot) if !forced => {
                if_readable(quarantined(snapshot, limits))?.unwrap_or_default()
            }
            _ => FxHashMap::default(),
        };
        let known_here = |paths: &[RepoPath], reason| {
            let left_out = LeftOut { hash: None, reason };
            paths.iter().map(|path| (path.clone(), left_out)).collect::<Vec<_>>()
        };
        left_out.extend(known_here(&order.quarantined, SkipReason::Quarantined));
        left_out.extend(known_here(&order.slow, SkipReason::TooSlow));
        let caution =
            Caution::new(left_out, order.suspicion.clone(), Box::new(Arc::clone(reports)));
        let progress = |progress: Progress| {
            reports.reach(Some(progress));
            #[cfg(feature = "faults")]
            if progress.phase == Phase::Tables {
                super::faults::at_tables(location.root());
            }
        };
        let residents = work.is_change().then_some(&self.residents);
        let run = Run {
            progress: &progress,
            caution: Some(&caution),
            residents,
            ..Run::quiet(*limits, &cancel)
        };
        #[cfg(feature = "faults")]
        let run = Run { extract: super::faults::extract, ..run };
        #[cfg(feature = "faults")]
        super::faults::at_start(location.root());
        let changes = match (work, known) {
            (Work::Changes(paths), Some(snapshot)) => {
                let paths = paths.iter().cloned().collect();
                let looked = compare_some(&paths, &snapshot, limits, &self.verified, &cancel);
                if_readable(looked)?
                    .map_or(ChangeSet::Everything { forced: true }, |comparison| comparison.changes)
            }
            _ => ChangeSet::Everything { forced },
        };
        apply(location, &changes, order.patience, &run)
    }
}

/// Files quarantined by an earlier build because of their contents. They are tried again when the
/// contents or the fingerprint change.
fn quarantined(
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<FxHashMap<RepoPath, LeftOut>, IndexError> {
    if snapshot.meta().fingerprint != fingerprint(limits) {
        return Ok(FxHashMap::default());
    }
    let files = snapshot.files_skipped(SkipReason::Quarantined)?;
    let left_out = |hash| LeftOut { hash: Some(hash), reason: SkipReason::Quarantined };
    Ok(files.into_iter().map(|file| (file.path, left_out(file.hash))).collect())
}

/// Makes an allocation fail, which ends the worker, before the machine runs out of memory.
fn bound_memory(limits: &Limits) -> io::Result<()> {
    let thread = limits.stack_bytes as u64 + THREAD_BYTES;
    let bytes = limits
        .memory_bytes
        .saturating_add(RESERVED_BYTES)
        .saturating_add(limits.threads as u64 * thread);
    let current = getrlimit(Resource::As);
    let lowest = current.maximum.into_iter().chain(current.current).fold(bytes, u64::min);
    Ok(setrlimit(Resource::As, Rlimit { current: Some(lowest), maximum: current.maximum })?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "nobody wants the work any more; a store is whole at every instant"
)]
fn exit_now() -> ! {
    std::process::exit(1)
}

/// Message output of a worker's threads, and what each works on.
struct Reports {
    output: Mutex<File>,
    working: Mutex<BTreeMap<usize, Working>>,
    /// Current phase, and the effort of this process since its last progress.
    phase: Mutex<Option<(Phase, Effort)>>,
}

/// File that a thread works on.
struct Working {
    path: RepoPath,
    thread: ThreadId,
    effort: Effort,
}

impl Reports {
    fn send(&self, message: &Message) {
        let bytes = message.bytes();
        // Messages are written atomically. A write error is ignored: the end of input ends the
        // process.
        let _ = self.output.lock().write_all(&bytes);
    }

    fn working(&self) -> MutexGuard<'_, BTreeMap<usize, Working>> {
        self.working.lock()
    }

    /// Reports progress; none at the end of an order.
    fn reach(&self, progress: Option<Progress>) {
        *self.phase.lock() =
            progress.map(|progress| (progress.phase, Effort::start(use_of_process().cpu)));
        if let Some(progress) = progress {
            self.send(&Message::Progress(progress));
        }
    }

    /// Watchdog: checks the files in progress, often enough to detect soon that the effort for one
    /// exceeds `limit`.
    fn end_with_hanging_files(&self, limit: Duration) {
        // The token is never cancelled: this is a plain wait.
        let clock = CancelToken::new();
        let ticks = Ticks::every(limit / 4);
        let mut last_tick = Instant::now();
        loop {
            clock.wait(limit / 4);
            let interval = ticks.counted(last_tick.elapsed());
            last_tick = Instant::now();
            let hanging: Vec<RepoPath> = self
                .working()
                .values_mut()
                .filter_map(|Working { path, thread, effort }| {
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
                let took = effort.tick(use_of_process(), interval);
                (is_idle && took > limit * PHASE_TIME_FACTOR).then_some(*phase)
            });
            if let Some(phase) = stalled {
                self.send(&Message::Stalls(phase));
                exit_now()
            }
        }
    }
}

impl Observer for Arc<Reports> {
    fn announces(&self, paths: Vec<RepoPath>) {
        let thread = rayon::current_thread_index().unwrap_or(0) as u64;
        self.send(&Message::Parsing { thread, paths });
    }

    fn begins(&self, path: &RepoPath, alone: bool) {
        let working = Working {
            path: path.clone(),
            thread: this_thread(),
            effort: Effort::start(cpu_time()),
        };
        self.working().insert(rayon::current_thread_index().unwrap_or(0), working);
        if alone {
            self.send(&Message::Trying(path.clone()));
        }
    }

    fn ends(&self) {
        self.working().remove(&rayon::current_thread_index().unwrap_or(0));
    }
}
