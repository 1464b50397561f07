//! The worker: takes its task from the input, builds or parses, and says on the output how far it is. It ends with the process that
//! started it, whatever that one dies of, and with a file that takes too long.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::message::{Message, Order, Task};
use super::parsers;
use crate::config::Limits;
use crate::index::caution::{Caution, Witness};
use crate::index::{ChangeSet, IndexError, Outcome, Run, apply, fingerprint};
use crate::model::cancel::CancelToken;
use crate::model::{RepoPath, SkipReason};
use crate::store::{Location, Store, StoreError};

/// Address space beside what the work itself takes: the program, its libraries, and what the allocator sets aside for a thread.
const PROGRAM_BYTES: u64 = 1 << 30;
const THREAD_BYTES: u64 = 128 << 20;

/// Does what the process that started this one orders over standard input. Returns when that is done; until then the two
/// standard streams belong to the worker.
pub fn serve_worker() -> io::Result<()> {
    let mut input = BufReader::new(File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?));
    let output = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    // What a library prints must not get between the messages.
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let order = match Task::read(&mut input) {
        Some(Task::Build(order)) => order,
        Some(Task::Parse(limits)) => {
            bound_memory(&limits)?;
            return parsers::serve(&limits, input, output);
        }
        None => return Err(io::Error::other("a worker is started by this program, not by hand")),
    };
    bound_memory(&order.limits)?;
    Builder::new().name("worker-parent".to_owned()).spawn(move || end_with_parent(&mut input))?;
    let reports = Arc::new(Reports { output: Mutex::new(output), parsing: Mutex::default() });
    let watching = Arc::clone(&reports);
    let limit = order.limits.file_time;
    Builder::new().name("worker-watchdog".to_owned()).spawn(move || watching.end_with_hanging_files(limit))?;
    let last = match work(&order, &reports) {
        Ok(Outcome::Unchanged { .. }) => Message::Finished { changed: false },
        Ok(Outcome::Published { timings, .. }) => {
            timings.into_iter().for_each(|timing| reports.send(&Message::Timing(timing)));
            Message::Finished { changed: true }
        }
        Err(error) => Message::Failed { message: error.to_string(), hint: error.hint().to_owned() },
    };
    reports.send(&last);
    Ok(())
}

fn work(order: &Order, reports: &Arc<Reports>) -> Result<Outcome, IndexError> {
    let mut left_out = if order.forced { FxHashMap::default() } else { quarantined(&order.location, &order.limits)? };
    left_out.extend(order.left_out.iter().map(|path| (path.clone(), None)));
    let caution = Caution::new(left_out, order.suspects.clone(), Box::new(Arc::clone(reports)));
    let cancel = CancelToken::new();
    let progress = |progress| reports.send(&Message::Progress(progress));
    let run = Run { progress: &progress, caution: Some(&caution), ..Run::quiet(order.limits, &cancel) };
    #[cfg(feature = "faults")]
    let run = Run { extract: super::faults::extract, ..run };
    #[cfg(feature = "faults")]
    super::faults::at_start(order.location.root());
    apply(&order.location, &ChangeSet::Everything { forced: order.forced }, order.patience, &run)
}

/// The files that an earlier build left out because of what they contained. They are tried again when that changes, or when
/// the rules do.
fn quarantined(location: &Location, limits: &Limits) -> Result<FxHashMap<RepoPath, Option<u128>>, IndexError> {
    let read = || -> Result<_, StoreError> {
        let snapshot = Arc::new(Store::open_newest(location)?).snapshot(&CancelToken::new())?;
        if snapshot.meta().fingerprint != fingerprint(limits) {
            return Ok(FxHashMap::default());
        }
        let files = snapshot.files()?.into_iter().filter(|file| file.skipped == Some(SkipReason::Quarantined));
        Ok(files.map(|file| (file.path, Some(file.hash))).collect())
    };
    match read() {
        Err(error) if !error.calls_for_build() => Err(error.into()),
        files => Ok(files.unwrap_or_default()),
    }
}

/// Has an allocation fail, and the worker with it, before the machine runs out of memory.
fn bound_memory(limits: &Limits) -> io::Result<()> {
    let thread = limits.stack_bytes as u64 + THREAD_BYTES;
    let bytes = limits.memory_bytes.saturating_add(PROGRAM_BYTES).saturating_add(limits.threads as u64 * thread);
    let current = getrlimit(Resource::As);
    let lowest = current.maximum.into_iter().chain(current.current).fold(bytes, u64::min);
    Ok(setrlimit(Resource::As, Rlimit { current: Some(lowest), maximum: current.maximum })?)
}

/// Waits for the end of the input, which comes when the other end is gone, and ends the process.
fn end_with_parent(input: &mut impl Read) {
    // Nothing comes after the order; whatever the end looks like, it is the end.
    let _ = io::copy(input, &mut io::sink());
    exit_now()
}

#[expect(clippy::disallowed_methods, reason = "nobody wants the work any more; a store is whole at every instant")]
pub(super) fn exit_now() -> ! {
    std::process::exit(1)
}

/// What the threads of a worker tell, and the files that they parse.
struct Reports {
    output: Mutex<File>,
    parsing: Mutex<BTreeMap<usize, (RepoPath, Instant)>>,
}

impl Reports {
    fn send(&self, message: &Message) {
        let bytes = message.bytes();
        // Whole messages, one after the other. If nobody reads them, the end of the input ends the process.
        let _ = self.output.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes);
    }

    fn parsing(&self) -> MutexGuard<'_, BTreeMap<usize, (RepoPath, Instant)>> {
        self.parsing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the files that are being parsed, often enough to notice soon that one takes longer than `limit`.
    fn end_with_hanging_files(&self, limit: Duration) {
        // Nobody cancels this token: it is a wait that nothing can hold up.
        let clock = CancelToken::new();
        loop {
            clock.wait(limit / 4);
            let hanging: Vec<RepoPath> =
                self.parsing().values().filter(|(_, since)| since.elapsed() > limit).map(|(path, _)| path.clone()).collect();
            if !hanging.is_empty() {
                hanging.into_iter().for_each(|path| self.send(&Message::Hangs(path)));
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
        self.parsing().insert(rayon::current_thread_index().unwrap_or(0), (path.clone(), Instant::now()));
        if alone {
            self.send(&Message::Trying(path.clone()));
        }
    }

    fn ends(&self) {
        self.parsing().remove(&rayon::current_thread_index().unwrap_or(0));
    }
}
