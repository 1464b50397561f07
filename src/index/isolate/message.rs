//! What a worker and the process that started it say to each other: the order at the beginning, messages after it. Each is a
//! sequence of fields, and a field ends with a NUL byte, which no path contains.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use crate::config::Limits;
use crate::index::progress::{Phase, Progress, Timing};
use crate::model::RepoPath;
use crate::store::Location;

/// What a worker is to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Order {
    /// The repository and its place in the cache.
    pub(super) location: Location,
    /// Whether to build even if the store reflects the files.
    pub(super) forced: bool,
    /// How long another writer is waited for.
    pub(super) patience: Duration,
    /// What bounds the work.
    pub(super) limits: Limits,
    /// Files that are left out.
    pub(super) left_out: Vec<RepoPath>,
    /// Files that are parsed first, one at a time.
    pub(super) suspects: Vec<RepoPath>,
}

/// What a process that this program starts is there for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Task {
    /// A whole build.
    Build(Order),
    /// To parse what comes, within bounds of stack and memory.
    Parse(Limits),
}

/// What a worker says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Message {
    /// How far it is.
    Progress(Progress),
    /// One of its threads is going to parse files, one after the other.
    Parsing { thread: u64, paths: Vec<RepoPath> },
    /// It is going to parse a file that it suspects, and nothing else.
    Trying(RepoPath),
    /// Parsing the file takes longer than it may: the worker ends itself.
    Hangs(RepoPath),
    /// How long a phase took.
    Timing(Timing),
    /// The store is up to date; whether it was written for that.
    Finished { changed: bool },
    /// It could not be done.
    Failed { message: String, hint: String },
}

impl Task {
    pub(super) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Build(order) => {
                output.write_all(b"build\0")?;
                order.write(output)
            }
            Self::Parse(limits) => {
                write!(output, "parse\0{}\0{}\0", limits.stack_bytes, limits.memory_bytes)?;
                output.flush()
            }
        }
    }

    /// Reads a task; none if the input ends before it is whole, or is none.
    pub(super) fn read(input: &mut impl BufRead) -> Option<Self> {
        match text(field(input)?)?.as_str() {
            "build" => Order::read(input).map(Self::Build),
            "parse" => {
                let mut number = || text(field(input)?)?.parse::<u64>().ok();
                let (stack_bytes, memory_bytes) = (size(number()?)?, number()?);
                Some(Self::Parse(Limits { stack_bytes, memory_bytes, threads: 1, ..Limits::default() }))
            }
            _ => None,
        }
    }
}

impl Order {
    fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let Limits { file_bytes, line_bytes, threads, stack_bytes, file_time, memory_bytes, cache_bytes } = self.limits;
        let numbers = [
            u64::from(self.forced),
            milliseconds(self.patience),
            file_bytes,
            line_bytes as u64,
            threads as u64,
            stack_bytes as u64,
            milliseconds(file_time),
            memory_bytes,
            cache_bytes,
            self.left_out.len() as u64,
            self.suspects.len() as u64,
        ];
        let mut text = Vec::new();
        for path in [self.location.root(), self.location.directory()] {
            push(&mut text, path.as_os_str().as_bytes());
        }
        numbers.iter().for_each(|number| push(&mut text, number.to_string().as_bytes()));
        self.left_out.iter().chain(&self.suspects).for_each(|path| push(&mut text, path.as_str().as_bytes()));
        output.write_all(&text)?;
        output.flush()
    }

    /// Reads an order; none if the input ends before it is whole, or is none.
    fn read(input: &mut impl BufRead) -> Option<Self> {
        let mut path = || field(input).map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
        let location = Location::at(path()?, path()?);
        let mut number = || text(field(input)?)?.parse::<u64>().ok();
        let (forced, patience) = (number()? != 0, Duration::from_millis(number()?));
        let limits = Limits {
            file_bytes: number()?,
            line_bytes: size(number()?)?,
            threads: size(number()?)?,
            stack_bytes: size(number()?)?,
            file_time: Duration::from_millis(number()?),
            memory_bytes: number()?,
            cache_bytes: number()?,
        };
        let (left_out, suspects) = (number()?, number()?);
        let mut paths = |count| (0..count).map(|_| RepoPath::new(&text(field(input)?)?)).collect::<Option<Vec<_>>>();
        Some(Self { location, forced, patience, limits, left_out: paths(left_out)?, suspects: paths(suspects)? })
    }
}

impl Message {
    pub(super) fn bytes(&self) -> Vec<u8> {
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
            Self::Timing(Timing { phase, elapsed, cpu }) => {
                ("timing", vec![phase.word().to_owned(), number(microseconds(*elapsed)), number(microseconds(*cpu))])
            }
            Self::Finished { changed } => ("finished", vec![number(u64::from(*changed))]),
            Self::Failed { message, hint } => ("failed", vec![message.replace('\0', " "), hint.replace('\0', " ")]),
        };
        let mut bytes = Vec::new();
        push(&mut bytes, word.as_bytes());
        fields.iter().for_each(|field| push(&mut bytes, field.as_bytes()));
        bytes
    }

    /// Reads the next message; none at the end, and if what comes is no message.
    pub(super) fn read(input: &mut impl BufRead) -> Option<Self> {
        let word = text(field(input)?)?;
        let mut next = || text(field(input)?);
        Some(match word.as_str() {
            "progress" => {
                Self::Progress(Progress { phase: phase(&next()?)?, done: next()?.parse().ok()?, total: next()?.parse().ok()? })
            }
            "parsing" => {
                let (thread, count): (_, u64) = (next()?.parse().ok()?, next()?.parse().ok()?);
                Self::Parsing { thread, paths: (0..count).map(|_| RepoPath::new(&next()?)).collect::<Option<_>>()? }
            }
            "trying" => Self::Trying(RepoPath::new(&next()?)?),
            "hangs" => Self::Hangs(RepoPath::new(&next()?)?),
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

/// The next field; none if the input ends before the field does.
fn field(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    input.read_until(0, &mut bytes).ok()?;
    (bytes.pop() == Some(0)).then_some(bytes)
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
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
    use std::ffi::OsStr;
    use std::path::Path;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("well formed")
    }

    #[test]
    fn an_order_arrives_as_it_was_given() {
        let root = Path::new(OsStr::from_bytes(b"/with \xff\nand\tmore"));
        let order = Order {
            location: Location::new(Path::new("/cache"), root),
            forced: true,
            patience: Duration::from_secs(7),
            limits: Limits { threads: 3, memory_bytes: u64::MAX, ..Limits::default() },
            left_out: vec![path("a\nb"), path("c d")],
            suspects: vec![path("e")],
        };
        for task in [Task::Build(order), Task::Parse(Limits { threads: 1, stack_bytes: 5, memory_bytes: 7, ..Limits::default() })]
        {
            let mut bytes = Vec::new();
            task.write(&mut bytes).expect("memory takes it");
            assert_eq!(Task::read(&mut bytes.as_slice()), Some(task));
            for end in [0, 1, bytes.len() / 2, bytes.len() - 1] {
                assert_eq!(Task::read(&mut &bytes[..end]), None, "cut after {end} bytes");
            }
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
