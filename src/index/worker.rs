//! Index runs in a process of their own: a grammar that crashes, hangs or eats the memory, and a
//! resolution that does not end, cost the file that made it, to cancel is to kill, and the memory
//! of a whole build goes back to the system. The worker is this program once more. Whole builds and
//! changes go the same way; after a change the worker stays for the next one, with what it knows.
//!
//! `message` is the protocol between the two, `process` the one side of it, this file the other,
//! and `crash_search` what is learnt when a worker dies.

mod crash_search;
#[cfg(feature = "faults")]
mod faults;
mod message;
mod process;

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use self::crash_search::{Death, Doing, Trial};
use self::message::{Message, Order, Work};
use super::kept::Kept;
use super::progress::{Phase, Timing};
use super::{ChangeSet, IndexError, Outcome, Run};
use crate::config::WorkerCommand;
use crate::faults::{Fault, planted};
use crate::store::{Location, Published, Store};

pub use process::serve_worker;

/// How long a worker is kept after its last change, or the last question about its repository.
const IDLE: Duration = Duration::from_secs(60);
/// The last lines of a dead worker that its error repeats, and how much of a line is one.
const LAST_LINES: usize = 4;
const LINE_BYTES: u64 = 500;

/// The workers of this process: one for each repository in which files change.
#[derive(Debug)]
pub struct WorkerPool {
    command: WorkerCommand,
    idle: Kept<Location, Worker>,
}

impl WorkerPool {
    /// No worker yet.
    pub fn new(command: WorkerCommand) -> Self {
        Self { command, idle: Kept::new("workers-idle", IDLE) }
    }

    /// Notes that questions are asked about a repository: its worker is worth keeping.
    pub fn touch(&self, location: &Location) {
        self.idle.touch(location);
    }

    /// Has a worker make a repository's store reflect `changes`. Files that end the worker are left
    /// out, and the store says so.
    pub(super) fn apply(
        &self,
        location: &Location,
        changes: &ChangeSet,
        patience: Duration,
        run: &Run,
    ) -> Result<Outcome, IndexError> {
        let root = location.root();
        let work = Work::of(changes);
        let mut trial = Trial::default();
        // What an idle worker knows is of no use for a whole build, and takes memory that the build
        // may need.
        let mut idle = self.idle.take(location).filter(|_| work.is_change());
        loop {
            run.check(root)?;
            let (left_out, suspicion) = (trial.guilty.clone(), trial.suspicion.clone());
            let order = Order {
                location: location.clone(),
                work: work.clone(),
                patience,
                limits: run.limits,
                left_out,
                suspicion,
            };
            let was_idle = idle.is_some();
            let mut worker = match idle.take() {
                Some(worker) => worker,
                None => Worker::start(&self.command, root)?,
            };
            let end = worker.perform(&order, run);
            // Whatever the worker says of its end: it was asked for.
            run.check(root)?;
            match end {
                End::Finished { changed, timings } => {
                    if work.is_change() {
                        self.idle.put(location, worker);
                    }
                    return outcome(location, changed, timings);
                }
                End::Failed { message, hint } => return Err(IndexError::Told { message, hint }),
                // It ended while it waited, for whatever reason.
                End::Died { doing, .. } if was_idle && doing == Doing::default() => {}
                End::Died { doing: Doing { stalled: Some(phase), .. }, .. } => {
                    return Err(IndexError::Stalled {
                        root: root.to_path_buf(),
                        phase: phase.word(),
                    });
                }
                End::Died { doing, death, how, said } => {
                    tracing::warn!(root = %root.display(), how, ?doing, "a process that indexes \
                        has died");
                    let known = trial.guilty.len();
                    if !trial.learn(doing, death) {
                        return Err(IndexError::Worker { root: root.to_path_buf(), how, said });
                    }
                    for path in &trial.guilty[known..] {
                        tracing::error!(
                            path = path.as_str(),
                            how,
                            "a file ends the process that indexes it; the file is left out"
                        );
                    }
                }
            }
        }
    }
}

/// What the worker has done, read from where it has done it.
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
    Died { doing: Doing, death: Death, how: String, said: String },
}

/// A worker and what this process holds of it. Dropping it kills the worker.
#[derive(Debug)]
struct Worker {
    child: Child,
    /// The worker, and whatever it may have started, ends when this does.
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
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&command.program, &error))?;
        let input = child.stdin.take().expect("it is piped, and nobody has taken it");
        let output = child.stdout.take().expect("it is piped, and nobody has taken it");
        let errors = child.stderr.take().expect("it is piped, and nobody has taken it");
        let last_words =
            Builder::new().name("worker-errors".to_owned()).spawn(move || listen(errors));
        let mut worker =
            Self { child, input: Some(input), output: BufReader::new(output), last_words: None };
        worker.last_words = Some(last_words.map_err(|error| failed(&command.program, &error))?);
        Ok(worker)
    }

    /// Gives the worker an order and follows it to the end of that.
    fn perform(&mut self, order: &Order, run: &Run) -> End {
        if let Some(input) = &mut self.input {
            // One that dies before it has read its order is seen by its end.
            let _ = order.write(input);
        }
        let pid = Pid::from_child(&self.child);
        // The hook is gone before the child is waited for, so that it cannot hit another process of
        // the same number.
        let kill = run.cancel.on_cancel(move || {
            let _ = kill_process(pid, Signal::KILL);
        });
        let (mut parsing, mut doing, mut timings, mut last) =
            (BTreeMap::new(), Doing::default(), Vec::new(), None);
        while let Some(message) = Message::read(&mut self.output) {
            match message {
                Message::Progress(progress) => {
                    doing.trying = None;
                    if progress.phase > Phase::Extract {
                        parsing.clear();
                    }
                    (run.progress)(progress);
                }
                Message::Parsing { thread, paths } => {
                    doing.trying = None;
                    parsing.insert(thread, paths);
                }
                Message::Trying(path) => doing.trying = Some(path),
                Message::Hangs(path) => doing.hanging.push(path),
                Message::Stalls(phase) => doing.stalled = Some(phase),
                Message::Timing(timing) => timings.push(timing),
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
            let (status, said) = self.end();
            doing.parsing = parsing.into_values().flatten().collect();
            let how = status.map_or_else(|| "it is lost".to_owned(), describe);
            End::Died { doing, death: status.map_or(Death::FromOutside, Death::of), how, said }
        })
    }

    /// Ends the worker if it has not ended, and gives how it did and what it said last.
    fn end(&mut self) -> (Option<ExitStatus>, String) {
        self.input = None;
        // One that has ended already cannot be killed, which is as well.
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

fn describe(status: ExitStatus) -> String {
    match status.signal() {
        Some(number) => {
            let name = Signal::from_named_raw(number)
                .map(|signal| format!("{signal:?}"))
                .unwrap_or_default();
            format!("signal {number} {}", name.trim_matches('"').trim_start_matches("Signal::"))
                .trim_end()
                .to_owned()
        }
        None => format!("exit code {}", status.code().unwrap_or(-1)),
    }
}

/// Passes on what a worker says, line by line, and gives the last of it.
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
