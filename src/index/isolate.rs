//! Whole builds in a process of their own: a grammar that crashes, hangs or eats the memory costs the file that made it, to
//! stop is to kill, and the memory goes back to the system. The worker is this program once more.
//!
//! `message` is what the two say to each other, `worker` the one side of it, this file the other, and `trial` what is learnt
//! when a worker dies. `parsers` are processes that parse single files, for changes.

#[cfg(feature = "faults")]
mod faults;
mod message;
mod parsers;
mod trial;
mod worker;

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use self::message::{Message, Order, Task};
use self::trial::{Doing, Trial};
use super::progress::{Phase, Timing};
use super::{IndexError, Outcome, Run};
use crate::config::WorkerCommand;
use crate::faults::{Fault, planted};
use crate::store::{Location, Published, Store};

pub use parsers::Parsers;
pub use worker::serve_worker;

/// The last lines of a dead worker that its error repeats, and how much of a line is one.
const LAST_LINES: usize = 4;
const LINE_BYTES: u64 = 500;

/// Builds a repository's store in a worker. Files that end it are left out, and the store says so.
pub(super) fn build(
    command: &WorkerCommand,
    location: &Location,
    forced: bool,
    patience: Duration,
    run: &Run,
) -> Result<Outcome, IndexError> {
    let mut trial = Trial::default();
    loop {
        run.check(location.root())?;
        let (left_out, suspects) = (trial.guilty.clone(), trial.suspects.clone());
        let order = Order { location: location.clone(), forced, patience, limits: run.limits, left_out, suspects };
        let end = Worker::start(command, &order)?.watch(run);
        // Whatever the worker says of its end: it was asked for.
        run.check(location.root())?;
        match end {
            End::Finished { changed, timings } => return outcome(location, changed, timings),
            End::Failed { message, hint } => return Err(IndexError::Told { message, hint }),
            End::Died { doing, how, said } => {
                tracing::warn!(root = %location.root().display(), how, ?doing, "a process that indexes has died");
                if !trial.learn(doing) {
                    return Err(IndexError::Worker { root: location.root().to_path_buf(), how, said });
                }
            }
        }
    }
}

/// What the worker has done, read from where it has done it.
fn outcome(location: &Location, changed: bool, timings: Vec<Timing>) -> Result<Outcome, IndexError> {
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
    Died { doing: Doing, how: String, said: String },
}

/// A worker and what this process holds of it. Dropping it kills the worker.
struct Worker {
    child: Child,
    /// The worker, and whatever it may have started, ends when this does.
    input: Option<ChildStdin>,
    last_words: Option<JoinHandle<String>>,
}

impl Worker {
    fn start(command: &WorkerCommand, order: &Order) -> Result<Self, IndexError> {
        let failed = |program: &Path, error: &std::io::Error| IndexError::NoWorker {
            program: program.to_path_buf(),
            root: order.location.root().to_path_buf(),
            reason: error.to_string(),
        };
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&command.program, &error))?;
        let mut input = child.stdin.take().expect("it is piped, and nobody has taken it");
        let errors = child.stderr.take().expect("it is piped, and nobody has taken it");
        let last_words = Builder::new().name("worker-errors".to_owned()).spawn(move || listen(errors));
        // One that dies before it has read its order is seen by its end.
        let _ = Task::Build(order.clone()).write(&mut input);
        let mut worker = Self { child, input: Some(input), last_words: None };
        worker.last_words = Some(last_words.map_err(|error| failed(&command.program, &error))?);
        Ok(worker)
    }

    /// Follows the worker to its end.
    fn watch(mut self, run: &Run) -> End {
        let output = self.child.stdout.take().expect("it is piped, and only this takes it");
        let pid = Pid::from_child(&self.child);
        // The hook is gone before the child is waited for, so that it cannot hit another process of the same number.
        let kill = run.cancel.on_cancel(move || {
            let _ = kill_process(pid, Signal::KILL);
        });
        let (mut parsing, mut doing, mut timings, mut last) = (BTreeMap::new(), Doing::default(), Vec::new(), None);
        let mut output = BufReader::new(output);
        while let Some(message) = Message::read(&mut output) {
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
                Message::Timing(timing) => timings.push(timing),
                Message::Finished { changed } => last = Some(End::Finished { changed, timings: std::mem::take(&mut timings) }),
                Message::Failed { message, hint } => last = Some(End::Failed { message, hint }),
            }
            if last.is_some() {
                break;
            }
        }
        drop(kill);
        let (status, said) = self.end();
        doing.parsing = parsing.into_values().flatten().collect();
        last.unwrap_or_else(|| End::Died { doing, how: status.map_or_else(|| "it is lost".to_owned(), describe), said })
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
            let name = Signal::from_named_raw(number).map(|signal| format!("{signal:?}")).unwrap_or_default();
            format!("signal {number} {}", name.trim_matches('"').trim_start_matches("Signal::")).trim_end().to_owned()
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
