//! The worker: takes orders from the input, carries them out one after the other, and says on the
//! output how far it is. It ends with the process that started it, whatever that one dies of, after
//! a whole build, and with a file that takes too long.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::message::{Message, Order, Work};
use crate::config::Limits;
use crate::index::progress::{Phase, Progress};
use crate::index::quarantine::{Caution, Witness};
use crate::index::{
    ChangeSet, IndexError, Outcome, Residents, Run, Verified, apply, compare_some, fingerprint,
    newest, prepare,
};
use crate::model::cancel::CancelToken;
use crate::model::{RepoPath, SkipReason};
use crate::store::Snapshot;

/// Address space beside what the work itself takes: the program, its libraries, and what the
/// allocator sets aside for a thread.
const PROGRAM_BYTES: u64 = 1 << 30;
const THREAD_BYTES: u64 = 128 << 20;

/// A phase that is about no single file may take so many times as long as a file.
const PHASE_IN_FILES: u32 = 20;

/// Carries out what the process that started this one orders over standard input. Returns when that
/// is done; until then the two standard streams belong to the worker.
pub fn serve_worker() -> io::Result<()> {
    let input =
        BufReader::new(File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?));
    let output = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    // What a library prints must not get between the messages.
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
    let known = Known { residents: Residents::kept_always(), verified: Verified::new() };
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
        // Somebody works on the files: the next change shall cost what it concerns.
        let cancel = CancelToken::new();
        if let Err(error) =
            prepare(&order.location, &known.residents, &Run::quiet(order.limits, &cancel))
        {
            tracing::info!(%error, "the next changes mean a whole build");
        }
    }
    Ok(())
}

/// Reads orders as they come. The end of the input, which comes when the other end is gone, ends
/// the process, whatever it does; so does the end of this one.
fn orders(mut input: BufReader<File>) -> io::Result<Receiver<Order>> {
    let (sender, orders) = sync_channel(1);
    let read = move || {
        // Without a first order there is nothing to end: the other thread hears of it.
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

/// What a worker keeps from one order to the next.
struct Known {
    residents: Residents,
    verified: Verified,
}

impl Known {
    fn carry_out(&self, order: &Order, reports: &Arc<Reports>) -> Result<Outcome, IndexError> {
        let Order { location, work, limits, .. } = order;
        let forced = matches!(work, Work::Everything { forced: true });
        let cancel = CancelToken::new();
        let known = newest(location, &Run::quiet(*limits, &cancel))?;
        let mut left_out = match &known {
            Some(snapshot) if !forced => quarantined(snapshot, limits)?,
            _ => FxHashMap::default(),
        };
        left_out.extend(order.left_out.iter().map(|path| (path.clone(), None)));
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
                compare_some(
                    &paths.iter().cloned().collect(),
                    &snapshot,
                    limits,
                    &self.verified,
                    &cancel,
                )?
                .changes
            }
            _ => ChangeSet::Everything { forced },
        };
        apply(location, &changes, order.patience, &run)
    }
}

/// The files that an earlier build left out because of what they contained. They are tried again
/// when that changes, or when the rules do.
fn quarantined(
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<FxHashMap<RepoPath, Option<u128>>, IndexError> {
    if snapshot.meta().fingerprint != fingerprint(limits) {
        return Ok(FxHashMap::default());
    }
    let files = snapshot.files_skipped(SkipReason::Quarantined)?;
    Ok(files.into_iter().map(|file| (file.path, Some(file.hash))).collect())
}

/// Has an allocation fail, and the worker with it, before the machine runs out of memory.
fn bound_memory(limits: &Limits) -> io::Result<()> {
    let thread = limits.stack_bytes as u64 + THREAD_BYTES;
    let bytes = limits
        .memory_bytes
        .saturating_add(PROGRAM_BYTES)
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

/// What the threads of a worker tell, and the file that each works on, with when it began to.
struct Reports {
    output: Mutex<File>,
    working: Mutex<BTreeMap<usize, (RepoPath, Instant)>>,
    /// The phase of the order at hand, and when it was heard of last.
    phase: Mutex<Option<(Phase, Instant)>>,
}

impl Reports {
    fn send(&self, message: &Message) {
        let bytes = message.bytes();
        // Whole messages, one after the other. If nobody reads them, the end of the input ends the
        // process.
        let _ = self.output.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes);
    }

    fn working(&self) -> MutexGuard<'_, BTreeMap<usize, (RepoPath, Instant)>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn phase(&self) -> Option<(Phase, Instant)> {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says how far the order is; none when it is done.
    fn reach(&self, progress: Option<Progress>) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) =
            progress.map(|progress| (progress.phase, Instant::now()));
        if let Some(progress) = progress {
            self.send(&Message::Progress(progress));
        }
    }

    /// Looks at the files that are being parsed or resolved, often enough to notice soon that one
    /// takes longer than `limit`.
    fn end_with_hanging_files(&self, limit: Duration) {
        // Nobody cancels this token: it is a wait that nothing can hold up.
        let clock = CancelToken::new();
        loop {
            clock.wait(limit / 4);
            let hanging: Vec<RepoPath> = self
                .working()
                .values()
                .filter(|(_, since)| since.elapsed() > limit)
                .map(|(path, _)| path.clone())
                .collect();
            if !hanging.is_empty() {
                hanging.into_iter().for_each(|path| self.send(&Message::Hangs(path)));
                exit_now()
            }
            let stalled = self.phase().filter(|(_, heard)| {
                self.working().is_empty() && heard.elapsed() > limit * PHASE_IN_FILES
            });
            if let Some((phase, _)) = stalled {
                self.send(&Message::Stalls(phase));
                exit_now()
            }
        }
    }
}

impl Witness for Arc<Reports> {
    fn announces(&self, paths: Vec<RepoPath>) {
        let thread = rayon::current_thread_index().unwrap_or(0) as u64;
        self.send(&Message::Parsing { thread, paths });
    }

    fn begins(&self, path: &RepoPath, alone: bool) {
        self.working()
            .insert(rayon::current_thread_index().unwrap_or(0), (path.clone(), Instant::now()));
        if alone {
            self.send(&Message::Trying(path.clone()));
        }
    }

    fn ends(&self) {
        self.working().remove(&rayon::current_thread_index().unwrap_or(0));
    }
}
