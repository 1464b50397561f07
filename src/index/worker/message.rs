//! Wire protocol between a worker and its parent: orders to the worker, and messages from it until
//! the order is done. Each is a sequence of fields terminated by NUL, which no path contains.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::outcome::IndexError;
use crate::progress::{Phase, Progress, Timing};
use crate::quarantine::Suspicion;
use crate::state::change::ChangeSet;
use cograph_config::Limits;
use cograph_model::{RepoPath, SkipReason};
use cograph_store::Location;
use cograph_system::names::from_bytes;

/// Order to a worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    /// Repository and its location in the cache.
    pub(crate) location: Location,
    /// Changes to apply.
    pub(crate) work: Work,
    /// Timeout of the writer lock.
    pub(crate) patience: Duration,
    /// Limits.
    pub(crate) limits: Limits,
    /// Quarantined files.
    pub(crate) quarantined: Vec<RepoPath>,
    /// Files that exceeded the time limit.
    pub(crate) slow: Vec<RepoPath>,
    /// Files that exhausted their budget in an earlier attempt.
    pub(crate) exhausted: Vec<(RepoPath, SkipReason)>,
    /// Suspected files, parsed first, one at a time.
    pub(crate) suspicion: Suspicion,
}

/// Kind of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// All files; `forced` builds even if the store is up to date.
    Everything { forced: bool },
    /// These paths, which are compared with the store again.
    Changes(Vec<RepoPath>),
}

impl Work {
    pub(crate) fn of(changes: &ChangeSet) -> Self {
        match changes {
            ChangeSet::Everything { forced } => Self::Everything { forced: *forced },
            ChangeSet::Some { .. } => Self::Changes(changes.paths().cloned().collect()),
        }
    }

    /// True if the order is about some files.
    pub(crate) fn is_change(&self) -> bool {
        matches!(self, Self::Changes(_))
    }
}

/// Message from a worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// Progress.
    Progress(Progress),
    /// A thread will parse these files, one after the other.
    Parsing { thread: u64, paths: Vec<RepoPath> },
    /// A suspected file is parsed with no other in progress.
    Trying(RepoPath),
    /// Parsing or resolving the file exceeds the time limit: the worker exits.
    Hangs(RepoPath),
    /// A file exhausted its budget, and is left out for this reason.
    Exhausts(RepoPath, SkipReason),
    /// A phase that concerns no single file exceeds the time limit: the worker exits.
    Stalls(Phase),
    /// Duration of a phase.
    Timing(Timing),
    /// The store is up to date; `changed` if it was written.
    Finished { changed: bool },
    /// Error.
    Failed { message: String, hint: String },
}

/// Code of an order about some files; those about all files have 0, or 1 if forced.
const CHANGES: u64 = 2;

impl Order {
    pub(crate) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let (kind, changes) = match &self.work {
            Work::Everything { forced } => (u64::from(*forced), &[][..]),
            Work::Changes(paths) => (CHANGES, paths.as_slice()),
        };
        let (swept, suspects) = match &self.suspicion {
            Suspicion::Of(suspects) => (false, suspects.as_slice()),
            Suspicion::AllAfter(last) => (true, last.as_slice()),
        };
        let Limits {
            file_bytes,
            line_bytes,
            threads,
            stack_bytes,
            file_time,
            memory_bytes,
            cache_bytes,
        } = self.limits;
        let numbers = [
            kind,
            milliseconds(self.patience),
            file_bytes,
            line_bytes as u64,
            threads as u64,
            stack_bytes as u64,
            milliseconds(file_time),
            memory_bytes,
            cache_bytes,
            self.quarantined.len() as u64,
            self.slow.len() as u64,
            self.exhausted.len() as u64,
            u64::from(swept),
            suspects.len() as u64,
            changes.len() as u64,
        ];
        let mut text = Vec::new();
        for path in [self.location.root(), self.location.directory()] {
            push(&mut text, path.as_os_str().as_encoded_bytes());
        }
        numbers.iter().for_each(|number| push(&mut text, number.to_string().as_bytes()));
        self.quarantined
            .iter()
            .chain(&self.slow)
            .chain(suspects)
            .chain(changes)
            .for_each(|path| push(&mut text, path.as_str().as_bytes()));
        for (path, reason) in &self.exhausted {
            push(&mut text, path.as_str().as_bytes());
            push(&mut text, reason.word().as_bytes());
        }
        output.write_all(&text)?;
        output.flush()
    }

    /// Reads an order; none if it is truncated or invalid.
    pub(crate) fn read(input: &mut impl BufRead) -> Option<Self> {
        let mut path = || field(input).map(|bytes| PathBuf::from(from_bytes(bytes)));
        let location = Location::at(path()?, path()?);
        let mut number = || text(field(input)?)?.parse::<u64>().ok();
        let (kind, patience) = (number()?, Duration::from_millis(number()?));
        let limits = Limits {
            file_bytes: number()?,
            line_bytes: size(number()?)?,
            threads: size(number()?)?,
            stack_bytes: size(number()?)?,
            file_time: Duration::from_millis(number()?),
            memory_bytes: number()?,
            cache_bytes: number()?,
        };
        let (quarantined, slow, exhausted) = (number()?, number()?, number()?);
        let (swept, suspects, changes) = (number()?, number()?, number()?);
        let mut paths = |count| {
            (0..count).map(|_| RepoPath::new(&text(field(input)?)?)).collect::<Option<Vec<_>>>()
        };
        let (quarantined, slow) = (paths(quarantined)?, paths(slow)?);
        let (suspects, changes) = (paths(suspects)?, paths(changes)?);
        let mut left_out = || Some((RepoPath::new(&text(field(input)?)?)?, reason(input)?));
        let exhausted = (0..exhausted).map(|_| left_out()).collect::<Option<_>>()?;
        let suspicion = if swept == 0 {
            Suspicion::Of(suspects)
        } else {
            Suspicion::AllAfter(suspects.into_iter().next())
        };
        let work = if kind == CHANGES {
            Work::Changes(changes)
        } else {
            Work::Everything { forced: kind != 0 }
        };
        Some(Self { location, work, patience, limits, quarantined, slow, exhausted, suspicion })
    }
}

impl Message {
    /// The message of an error.
    pub(crate) fn failed(error: &IndexError) -> Self {
        Self::Failed { message: error.to_string(), hint: error.hint().to_owned() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let number = |number: u64| number.to_string();
        let (word, fields) = match self {
            Self::Progress(Progress { phase, done, total }) => {
                ("progress", vec![phase.word().to_owned(), number(*done), number(*total)])
            }
            Self::Parsing { thread, paths } => {
                let head = [number(*thread), number(paths.len() as u64)];
                ("parsing", head.into_iter().chain(paths.iter().map(RepoPath::to_string)).collect())
            }
            Self::Trying(path) => ("trying", vec![path.to_string()]),
            Self::Hangs(path) => ("hangs", vec![path.to_string()]),
            Self::Exhausts(path, reason) => {
                ("exhausts", vec![path.to_string(), reason.word().to_owned()])
            }
            Self::Stalls(phase) => ("stalls", vec![phase.word().to_owned()]),
            Self::Timing(Timing { phase, elapsed, cpu }) => (
                "timing",
                vec![
                    phase.word().to_owned(),
                    number(microseconds(*elapsed)),
                    number(microseconds(*cpu)),
                ],
            ),
            Self::Finished { changed } => ("finished", vec![number(u64::from(*changed))]),
            Self::Failed { message, hint } => {
                ("failed", vec![message.replace('\0', " "), hint.replace('\0', " ")])
            }
        };
        let mut bytes = Vec::new();
        push(&mut bytes, word.as_bytes());
        fields.iter().for_each(|field| push(&mut bytes, field.as_bytes()));
        bytes
    }

    /// Reads the next message; none at the end of input or if it is invalid.
    pub(crate) fn read(input: &mut impl BufRead) -> Option<Self> {
        let word = text(field(input)?)?;
        let mut next = || text(field(input)?);
        Some(match word.as_str() {
            "progress" => Self::Progress(Progress {
                phase: phase(&next()?)?,
                done: next()?.parse().ok()?,
                total: next()?.parse().ok()?,
            }),
            "parsing" => {
                let (thread, count): (_, u64) = (next()?.parse().ok()?, next()?.parse().ok()?);
                Self::Parsing {
                    thread,
                    paths: (0..count).map(|_| RepoPath::new(&next()?)).collect::<Option<_>>()?,
                }
            }
            "trying" => Self::Trying(RepoPath::new(&next()?)?),
            "hangs" => Self::Hangs(RepoPath::new(&next()?)?),
            "exhausts" => Self::Exhausts(RepoPath::new(&next()?)?, reason(input)?),
            "stalls" => Self::Stalls(phase(&next()?)?),
            "timing" => {
                let phase = phase(&next()?)?;
                let mut duration = || Some(Duration::from_micros(next()?.parse().ok()?));
                Self::Timing(Timing { phase, elapsed: duration()?, cpu: duration()? })
            }
            "finished" => Self::Finished { changed: next()? != "0" },
            "failed" => Self::Failed { message: next()?, hint: next()? },
            _ => return None,
        })
    }
}

fn push(text: &mut Vec<u8>, field: &[u8]) {
    text.extend_from_slice(field);
    text.push(0);
}

/// Reads the next field; none if it is truncated.
fn field(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    input.read_until(0, &mut bytes).ok()?;
    (bytes.pop() == Some(0)).then_some(bytes)
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

fn reason(input: &mut impl BufRead) -> Option<SkipReason> {
    SkipReason::from_word(&text(field(input)?)?)
}

fn phase(word: &str) -> Option<Phase> {
    Phase::ALL.into_iter().find(|phase| phase.word() == word)
}

fn size(number: u64) -> Option<usize> {
    usize::try_from(number).ok()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("well formed")
    }

    #[test]
    fn an_order_arrives_as_it_was_given() {
        let root = PathBuf::from(from_bytes(b"/with \xff\nand\tmore".to_vec()));
        let order = |(work, suspicion)| Order {
            location: Location::new(Path::new("/cache"), &root),
            work,
            patience: Duration::from_secs(7),
            limits: Limits { threads: 3, memory_bytes: u64::MAX, ..Limits::default() },
            quarantined: vec![path("a\nb"), path("c d")],
            slow: vec![path("e")],
            exhausted: vec![(path("g"), SkipReason::Deferred), (path("h"), SkipReason::TooSlow)],
            suspicion,
        };
        let works = [
            (Work::Everything { forced: false }, Suspicion::default()),
            (Work::Everything { forced: true }, Suspicion::AllAfter(None)),
            (Work::Changes(vec![path("f\ng"), path("h")]), Suspicion::Of(vec![path("e")])),
            (Work::Changes(vec![path("f")]), Suspicion::AllAfter(Some(path("e")))),
        ];
        for order in works.map(order) {
            let mut bytes = Vec::new();
            order.write(&mut bytes).expect("memory takes it");
            for end in [0, 1, bytes.len() / 2, bytes.len() - 1] {
                assert_eq!(Order::read(&mut &bytes[..end]), None, "cut after {end} bytes");
            }
            // Consecutive orders have no separator.
            bytes.extend_from_within(..);
            let mut input = bytes.as_slice();
            assert_eq!(Order::read(&mut input), Some(order.clone()));
            assert_eq!(Order::read(&mut input), Some(order));
        }
    }

    #[test]
    fn messages_arrive_one_by_one() {
        let messages = [
            Message::Progress(Progress { phase: Phase::Resolve, done: 3, total: 9 }),
            Message::Parsing { thread: 4, paths: vec![path("a\nb"), path("c")] },
            Message::Parsing { thread: 5, paths: Vec::new() },
            Message::Trying(path("x")),
            Message::Hangs(path("y")),
            Message::Exhausts(path("z"), SkipReason::TooMuchMemory),
            Message::Stalls(Phase::Tables),
            Message::Timing(Timing {
                phase: Phase::Write,
                elapsed: Duration::from_micros(1_234),
                cpu: Duration::from_micros(2_345),
            }),
            Message::Finished { changed: true },
            Message::Failed { message: "one\ntwo".to_owned(), hint: "three".to_owned() },
        ];
        let bytes: Vec<u8> = messages.iter().flat_map(Message::bytes).collect();
        let mut input = bytes.as_slice();
        for message in messages {
            assert_eq!(Message::read(&mut input), Some(message));
        }
        assert_eq!(Message::read(&mut input), None);
        assert_eq!(Message::read(&mut &b"something\0else\0"[..]), None);
    }
}
