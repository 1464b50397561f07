//! Worker process for index runs. Isolation: a grammar that crashes, hangs or exhausts memory, and
//! a resolution that does not end, cost one file; cancellation is a kill; and the memory of a full
//! build is returned to the system. The worker runs the same executable. It handles full builds and
//! changes; after a change it stays for the next one and keeps its in-memory state.
//!
//! `message` is the wire protocol, this file the parent's side, and `crash_search` finds the file
//! that a worker died of. The worker's side is `apply::process`.

pub(crate) mod confinement;
mod crash_search;
mod effort;
#[cfg(feature = "faults")]
pub(crate) mod faults;
pub(crate) mod message;
pub(crate) mod watchdog;

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use self::crash_search::{CrashCause, CrashSearch, WorkerActivity};
use self::message::{Message, Order};
use super::idle_cache::IdleCache;
use super::progress::{Phase, Timing, profile};
use crate::build::context::RunContext;
use crate::outcome::{IndexError, Outcome};
use crate::state::change_set::ChangeSet;
use cograph_config::{TOKEN_VARIABLE, WorkerCommand};
use cograph_faults::{Fault, planted};
use cograph_store::{Location, Published, Store};
use cograph_system::processes::{ProcessId, described};

pub use watchdog::{FILE_MEMORY, FILE_MEMORY_PER_BYTE, MEMORY_INTERVAL, UNWATCHED_MEMORY};

/// Idle timeout of a worker, since its last change or the last query of its repository.
const IDLE: Duration = Duration::from_secs(60);
/// Lines of a dead worker's standard error that its error quotes, and their maximum length.
const LAST_LINES: usize = 4;
const LINE_BYTES: u64 = 500;

/// Workers of this process: one per repository with changes.
#[derive(Debug)]
pub struct WorkerPool {
    command: WorkerCommand,
    idle: IdleCache<Location, Worker>,
    /// Bound of the address space that workers would have inherited when the program started.
    inherited: u64,
}

impl WorkerPool {
    /// Creates an empty pool.
    pub fn new(command: WorkerCommand) -> Self {
        let inherited = confinement::inherited();
        Self { command, idle: IdleCache::new("workers-idle", IDLE), inherited }
    }

    /// Records a query of a repository: extends the lifetime of its worker.
    pub(crate) fn touch(&self, location: &Location) {
        self.idle.touch(location);
    }

    /// Has a worker apply `changes` to a repository's store. Files that crash the worker are
    /// quarantined and recorded in the store.
    pub(crate) fn apply(
        &self,
        location: &Location,
        changes: &ChangeSet,
        patience: Duration,
        run: &RunContext,
    ) -> Result<Outcome, IndexError> {
        let root = location.root();
        let mut search = CrashSearch::default();
        // The state of an idle worker is useless for a full build, and occupies memory that the
        // build may need.
        let mut idle = self.idle.take(location).filter(|_| changes.is_of_some());
        loop {
            run.check(root)?;
            let CrashSearch { quarantined, slow, exhausted, suspicion, .. } = search.clone();
            let order = Order {
                location: location.clone(),
                changes: changes.clone(),
                patience,
                limits: run.limits,
                quarantined,
                slow,
                exhausted,
                suspicion,
            };
            let was_idle = idle.is_some();
            let mut worker = match idle.take() {
                Some(worker) => worker,
                None => Worker::start(&self.command, root)?,
            };
            let end = worker.perform(&order, run, confinement::bound(&run.limits, self.inherited));
            // A cancelled run ends the worker: its error is expected.
            run.check(root)?;
            match end {
                End::Finished { changed, timings } => {
                    if changes.is_of_some() {
                        self.idle.put(location, worker);
                    }
                    return outcome(location, changed, timings);
                }
                End::Failed { message, hint } => {
                    return Err(IndexError::Reported { message, hint });
                }
                // An idle worker may have died of anything: not the fault of a file.
                End::Died { activity, .. } if was_idle && activity == WorkerActivity::default() => {
                }
                End::Died { activity: WorkerActivity { stalled: Some(phase), .. }, .. } => {
                    return Err(IndexError::Stalled {
                        root: root.to_path_buf(),
                        phase: phase.word(),
                    });
                }
                End::Died { activity, cause, how, said } => {
                    tracing::warn!(root = %root.display(), how, ?activity, "a process that indexes \
                        has died");
                    let known = (search.quarantined.len(), search.slow.len());
                    if !search.learn(activity, cause) {
                        return Err(IndexError::Worker { root: root.to_path_buf(), how, said });
                    }
                    for path in &search.quarantined[known.0..] {
                        tracing::error!(
                            path = path.as_str(),
                            how,
                            "a file ends the process that indexes it; the file is left out"
                        );
                    }
                    for path in &search.slow[known.1..] {
                        tracing::warn!(
                            path = path.as_str(),
                            "indexing a file exceeds the time limit; the file is left out"
                        );
                    }
                }
            }
        }
    }
}

/// Result of a worker, read from the store that it wrote.
fn outcome(
    location: &Location,
    changed: bool,
    timings: Vec<Timing>,
) -> Result<Outcome, IndexError> {
    let store = Store::open_newest(location)?;
    let identity = store.identity();
    if !changed {
        return Ok(Outcome::Unchanged { identity });
    }
    let published = Published { identity, path: store.path().to_path_buf(), bytes: store.bytes() };
    Ok(Outcome::Published { published, timings })
}

/// How a worker ended.
enum End {
    Finished { changed: bool, timings: Vec<Timing> },
    Failed { message: String, hint: String },
    Died { activity: WorkerActivity, cause: CrashCause, how: String, said: String },
}

/// Worker process. Drop kills it.
#[derive(Debug)]
struct Worker {
    child: Child,
    process: ProcessId,
    /// Closing it ends the worker and its descendants.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_words: Option<JoinHandle<String>>,
}

impl Worker {
    fn start(command: &WorkerCommand, root: &Path) -> Result<Self, IndexError> {
        let failed = |program: &Path, error: &std::io::Error| IndexError::NoWorker {
            program: program.to_path_buf(),
            root: root.to_path_buf(),
            reason: error.to_string(),
        };
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .env_remove(TOKEN_VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&command.program, &error))?;
        let process = ProcessId::of(&mut child).map_err(|error| {
            // It has no order yet and would end with its input.
            let _ = child.kill();
            failed(&command.program, &error)
        })?;
        let input = child.stdin.take().expect("it is piped, and was not taken before");
        let output = child.stdout.take().expect("it is piped, and was not taken before");
        let errors = child.stderr.take().expect("it is piped, and was not taken before");
        let last_words =
            Builder::new().name("worker-errors".to_owned()).spawn(move || listen(errors));
        let (input, output) = (Some(input), BufReader::new(output));
        let mut worker = Self { child, process, input, output, last_words: None };
        worker.last_words = Some(last_words.map_err(|error| failed(&command.program, &error))?);
        Ok(worker)
    }

    /// Sends the worker an order and follows its messages to the end. `bound`: its address space.
    fn perform(&mut self, order: &Order, run: &RunContext, bound: u64) -> End {
        if let Some(input) = &mut self.input {
            // A failed write means that the worker has died, which its exit status shows.
            let _ = order.write(input);
        }
        let process = self.process.clone();
        // The hook is removed before the child is reaped, so that it cannot kill a process that
        // reuses the pid.
        let kill = run.cancel.on_cancel(move || process.kill());
        let (mut parsing, mut activity, mut timings, mut last) =
            (BTreeMap::new(), WorkerActivity::default(), Vec::new(), None);
        while let Some(message) = Message::read(&mut self.output) {
            match message {
                Message::Progress(progress) => {
                    activity.trying = None;
                    if progress.phase > Phase::Extract {
                        parsing.clear();
                    }
                    (run.progress)(progress);
                }
                Message::Parsing { thread, paths } => {
                    activity.trying = None;
                    parsing.insert(thread, paths);
                }
                Message::Trying(path) => activity.trying = Some(path),
                Message::Hangs(path) => activity.hanging.push(path),
                Message::Exhausts(path, reason) => activity.exhausted.push((path, reason)),
                Message::Stalls(phase) => activity.stalled = Some(phase),
                Message::Timing(timing) => timings.push(timing),
                Message::Spans { name, total } => profile::add(&name, total),
                Message::Finished { changed } => {
                    last = Some(End::Finished { changed, timings: std::mem::take(&mut timings) })
                }
                Message::Failed { message, hint } => last = Some(End::Failed { message, hint }),
            }
            if last.is_some() {
                break;
            }
        }
        drop(kill);
        last.unwrap_or_else(|| {
            // Asked before the process is reaped.
            let is_confined = confinement::is_below(self.process.number(), bound);
            let (status, said) = self.end();
            activity.parsing = parsing.into_values().flatten().collect();
            let how = status.map_or_else(|| "it is lost".to_owned(), described);
            let cause = match status {
                Some(status) if !is_confined || !activity.hanging.is_empty() => {
                    CrashCause::of(status)
                }
                _ => CrashCause::External,
            };
            End::Died { activity, cause, how, said }
        })
    }

    /// Ends the worker if necessary; returns its exit status and its last messages.
    fn end(&mut self) -> (Option<ExitStatus>, String) {
        self.input = None;
        // Fails if the process has already ended.
        let _ = self.child.kill();
        let status = self.child.wait().ok();
        let said = self.last_words.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        (status, said)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// Forwards a worker's standard error line by line, and returns its end.
fn listen(errors: ChildStderr) -> String {
    while planted(Fault::StderrNotDrained) {
        std::thread::park();
    }
    let mut errors = BufReader::new(errors);
    let mut last: VecDeque<String> = VecDeque::with_capacity(LAST_LINES + 1);
    let mut line = Vec::new();
    while let Ok(1..) = errors.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        if text.is_empty() {
            continue;
        }
        // The worker's own log has the same filter as this one.
        match text {
            _ if text.contains("ERROR") => tracing::error!("{text}"),
            _ if text.contains("WARN") => tracing::warn!("{text}"),
            _ => tracing::debug!("{text}"),
        }
        last.push_back(text);
        last.drain(..last.len().saturating_sub(LAST_LINES));
    }
    Vec::from(last).join(" | ")
}
