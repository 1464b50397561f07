//! Changed files are parsed in processes of their own, one file at a time in each: a grammar that crashes, hangs or eats the
//! memory costs the file that made it. The processes are kept for the next change, and go when none comes for a while.
//!
//! `Parsers` is this side of it, [`serve`] the other one. A request is a language, a path and the text; the answer is the facts
//! in their compact form, or the message of a panic. Lengths come first.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use super::message::Task;
use super::worker::exit_now;
use super::{describe, listen};
use crate::config::{Limits, WorkerCommand};
use crate::extract;
use crate::grammar;
use crate::index::kept::Kept;
use crate::index::workers::guarded;
use crate::model::LanguageId;
use crate::model::cancel::CancelToken;
use crate::model::facts::FileFacts;
use crate::model::packed::{self, Reader, Writer};

/// How long a process is kept that has nothing to parse.
const IDLE: Duration = Duration::from_secs(60);
/// Before the answer: facts, or the message of a panic.
const FACTS: u8 = 0;
const PANIC: u8 = 1;

/// The processes that parse for this one.
#[derive(Debug)]
pub struct Parsers {
    command: WorkerCommand,
    idle: Kept<u64, Parser>,
    next: AtomicU64,
}

/// Why there are no facts.
enum Failed {
    /// The process could not be started.
    NotStarted(io::Error),
    /// It has ended; how.
    Died(String),
    /// It has been told to end, for one of these reasons.
    Stopped(String),
    /// Extraction has panicked, and the process goes on.
    Panicked(String),
}

impl Parsers {
    /// None yet.
    pub fn new(command: WorkerCommand) -> Self {
        Self { command, idle: Kept::new("parsers-idle", IDLE), next: AtomicU64::new(0) }
    }

    /// Has a process ready: it starts while something else is done.
    pub(in crate::index) fn prepare(&self, limits: &Limits) {
        if self.idle.keys().is_empty()
            && let Ok(parser) = Parser::start(&self.command, limits)
        {
            self.keep(parser);
        }
    }

    /// The facts of a file, or why it is left out.
    pub(in crate::index) fn extract(
        &self,
        (language, path, source): (LanguageId, &str, &[u8]),
        limits: &Limits,
        cancel: &CancelToken,
    ) -> Result<FileFacts, String> {
        let kept = self.idle.keys().into_iter().find_map(|key| self.idle.take(&key));
        let first = kept.map(|parser| self.ask(parser, (language, path, source), limits, cancel));
        let answer = match first {
            // One that was kept may have ended for another reason, and long ago.
            None | Some(Err(Failed::Died(_))) => Parser::start(&self.command, limits)
                .map_err(Failed::NotStarted)
                .and_then(|parser| self.ask(parser, (language, path, source), limits, cancel)),
            Some(answer) => answer,
        };
        match answer {
            Ok(facts) => Ok(facts),
            Err(Failed::NotStarted(error)) => {
                tracing::warn!(%error, path, "no process can be started to parse a changed file; it is parsed in this one");
                guarded(|| extract::extract(language, path, source, extract::Limits::default()))
            }
            Err(Failed::Died(how)) => Err(format!("the process that parses it has died ({how})")),
            Err(Failed::Stopped(why) | Failed::Panicked(why)) => Err(why),
        }
    }

    fn ask(
        &self,
        mut parser: Parser,
        request: (LanguageId, &str, &[u8]),
        limits: &Limits,
        cancel: &CancelToken,
    ) -> Result<FileFacts, Failed> {
        let answer = parser.parse(request, limits.file_time, cancel);
        if matches!(answer, Ok(_) | Err(Failed::Panicked(_))) {
            self.keep(parser);
        }
        answer
    }

    fn keep(&self, parser: Parser) {
        self.idle.put(&self.next.fetch_add(1, Ordering::Relaxed), parser);
    }
}

/// One process. Dropping it ends the process.
#[derive(Debug)]
struct Parser {
    child: Child,
    /// The process ends when this does.
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: Option<JoinHandle<String>>,
}

impl Parser {
    fn start(command: &WorkerCommand, limits: &Limits) -> io::Result<Self> {
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().expect("it is piped, and nobody has taken it");
        let output = child.stdout.take().expect("it is piped, and nobody has taken it");
        let errors = child.stderr.take().expect("it is piped, and nobody has taken it");
        let mut parser = Self { child, input: Some(input), output, errors: None };
        parser.errors = Some(Builder::new().name("parser-errors".to_owned()).spawn(move || listen(errors))?);
        // One that dies before it has read this is seen by its end.
        let _ = Task::Parse(*limits).write(parser.input.as_mut().expect("it was just put there"));
        Ok(parser)
    }

    fn parse(
        &mut self,
        (language, path, source): (LanguageId, &str, &[u8]),
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<FileFacts, Failed> {
        let until = Instant::now() + limit;
        let pid = Pid::from_child(&self.child);
        // The hook is gone before the child is waited for, so that it cannot hit another process of the same number.
        let kill = cancel.on_cancel(move || {
            let _ = kill_process(pid, Signal::KILL);
        });
        let input = self.input.as_mut().expect("it is there until the process is ended");
        let request = [&u64::from(language.0).to_le_bytes()[..], &framed(path.as_bytes()), &framed(source)].concat();
        let answer = input.write_all(&request).map_err(|_| None).and_then(|()| self.read_answer(until));
        drop(kill);
        if cancel.is_cancelled() {
            return Err(Failed::Stopped("stopped".to_owned()));
        }
        match answer {
            Ok(answer) => facts_of(&answer).unwrap_or_else(|| Err(Failed::Died("it does not make sense".to_owned()))),
            Err(Some(Late)) => Err(Failed::Stopped(format!("parsing it takes longer than {limit:?}"))),
            Err(None) => Err(Failed::Died(self.end())),
        }
    }

    /// The next answer; none if the process has ended.
    fn read_answer(&mut self, until: Instant) -> Result<Vec<u8>, Option<Late>> {
        let mut answer = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            if let Some((length, rest)) = answer.split_first_chunk()
                && rest.len() as u64 >= u64::from_le_bytes(*length)
            {
                return Ok(rest.to_vec());
            }
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(|_| None)?;
            match poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&left)) {
                Ok(0) => return Err(Some(Late)),
                Err(rustix::io::Errno::INTR) => continue,
                Ok(_) | Err(_) => {}
            }
            match self.output.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return Err(None),
                Ok(read) => answer.extend_from_slice(&buffer[..read]),
            }
        }
    }

    /// Ends the process if it has not ended, and says how it did.
    fn end(&mut self) -> String {
        self.input = None;
        // One that has ended already cannot be killed, which is as well.
        let _ = self.child.kill();
        let how = self.child.wait().map_or_else(|_| "it is lost".to_owned(), describe);
        let said = self.errors.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if said.is_empty() { how } else { format!("{how}; {said}") }
    }
}

impl Drop for Parser {
    fn drop(&mut self) {
        self.end();
    }
}

/// The answer has not come in time.
struct Late;

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes()[..], bytes].concat()
}

fn facts_of(answer: &[u8]) -> Option<Result<FileFacts, Failed>> {
    let (kind, rest) = answer.split_first()?;
    if *kind == PANIC {
        return Some(Err(Failed::Panicked(String::from_utf8_lossy(rest).into_owned())));
    }
    let (words, rest) = Reader::words(rest)?;
    let (facts, _) = packed::facts::read(&mut Reader::new(rest, &words))?;
    Some(Ok(facts))
}

/// A file to parse, as it arrives.
struct Request {
    language: LanguageId,
    path: String,
    source: Vec<u8>,
}

impl Request {
    /// Reads the next one; none at the end, and if what comes is none.
    fn read(input: &mut impl Read) -> Option<Self> {
        let mut number = || {
            let mut bytes = [0; 8];
            input.read_exact(&mut bytes).ok().map(|()| u64::from_le_bytes(bytes))
        };
        let language = usize::try_from(number()?).ok()?;
        let language = grammar::all().get(language)?.id;
        let mut bytes = || {
            let mut length = [0; 8];
            input.read_exact(&mut length).ok()?;
            let mut bytes = vec![0; usize::try_from(u64::from_le_bytes(length)).ok()?];
            input.read_exact(&mut bytes).ok().map(|()| bytes)
        };
        let path = String::from_utf8(bytes()?).ok()?;
        Some(Self { language, path, source: bytes()? })
    }
}

/// The other side: parses what comes, until nothing more can come.
pub(super) fn serve(limits: &Limits, mut input: impl Read + Send + 'static, mut output: File) -> io::Result<()> {
    let (sender, requests) = sync_channel(1);
    let read = move || {
        while let Some(request) = Request::read(&mut input) {
            if sender.send(request).is_err() {
                break;
            }
        }
        // Nobody is there any more, whatever a grammar may be doing.
        exit_now()
    };
    Builder::new().name("parser-input".to_owned()).spawn(read)?;
    let work = move || {
        for Request { language, path, source } in requests {
            let answer = match guarded(|| extract(language, &path, &source)) {
                Ok(facts) => {
                    let mut writer = Writer::default();
                    packed::facts::write(&mut writer, &facts);
                    let (words, rest) = writer.into_parts();
                    [&[FACTS][..], &words, &rest].concat()
                }
                Err(message) => [&[PANIC][..], message.as_bytes()].concat(),
            };
            output.write_all(&framed(&answer))?;
        }
        Ok(())
    };
    let thread = Builder::new().name("parser".to_owned()).stack_size(limits.stack_bytes).spawn(work)?;
    thread.join().map_err(|_| io::Error::other("the thread that parses has panicked"))?
}

fn extract(language: LanguageId, path: &str, source: &[u8]) -> FileFacts {
    #[cfg(feature = "faults")]
    let extract = super::faults::extract;
    #[cfg(not(feature = "faults"))]
    let extract = extract::extract;
    extract(language, path, source, extract::Limits::default())
}
