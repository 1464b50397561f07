//! Wire protocol between a worker and its parent: orders to the worker, and messages from it until
//! the order is done. Each is a sequence of fields terminated by NUL, which no path contains.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::outcome::IndexError;
use crate::progress::profile::Total;
use crate::progress::{Phase, Progress, Timing};
use crate::quarantine::Suspects;
use crate::state::change_set::ChangeSet;
use cograph_config::Limits;
use cograph_model::graph::FileStamp;
use cograph_model::{RepoPath, SkipReason};
use cograph_source::WalkedFile;
use cograph_store::{Identity, Location};
use cograph_system::names::from_bytes;

/// Order to a worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    /// Repository and its location in the cache.
    pub(crate) location: Location,
    /// Changes to apply, as the parent has found them.
    pub(crate) changes: ChangeSet,
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
    pub(crate) suspicion: Suspects,
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
    /// What the spans of a name took, of a worker with a profile.
    Spans { name: String, total: Total },
    /// The store is up to date; `changed` if it was written.
    Finished { changed: bool },
    /// Error.
    Failed { message: String, hint: String },
}

/// Codes of an order about some files, that were compared with a generation or not; those about all
/// files have 0, or 1 if forced.
const COMPARED: u64 = 2;
const NOT_COMPARED: u64 = 3;

impl Order {
    pub(crate) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let nothing = Identity { uid: 0, generation: 0 };
        let (kind, compared, touched, gone) = match &self.changes {
            ChangeSet::Everything { forced } => (u64::from(*forced), nothing, &[][..], &[][..]),
            ChangeSet::Some { touched, gone, compared } => {
                let kind = compared.map_or(NOT_COMPARED, |_| COMPARED);
                (kind, compared.unwrap_or(nothing), touched.as_slice(), gone.as_slice())
            }
        };
        let (swept, suspects) = match &self.suspicion {
            Suspects::Of(suspects) => (false, suspects.as_slice()),
            Suspects::AllAfter(last) => (true, last.as_slice()),
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
            compared.uid,
            compared.generation,
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
            touched.len() as u64,
            gone.len() as u64,
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
            .chain(gone)
            .for_each(|path| push(&mut text, path.as_str().as_bytes()));
        for (path, reason) in &self.exhausted {
            push(&mut text, path.as_str().as_bytes());
            push(&mut text, reason.word().as_bytes());
        }
        touched.iter().for_each(|file| push_file(&mut text, file));
        output.write_all(&text)?;
        output.flush()
    }

    /// Reads an order; none if it is truncated or invalid.
    pub(crate) fn read(input: &mut impl BufRead) -> Option<Self> {
        let mut path = || field(input).map(|bytes| PathBuf::from(from_bytes(bytes)));
        let location = Location::at(path()?, path()?);
        let mut number = || text(field(input)?)?.parse::<u64>().ok();
        let (kind, compared) = (number()?, Identity { uid: number()?, generation: number()? });
        let patience = Duration::from_millis(number()?);
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
        let (swept, suspects, touched, gone) = (number()?, number()?, number()?, number()?);
        let mut paths = |count| {
            (0..count).map(|_| RepoPath::new(&text(field(input)?)?)).collect::<Option<Vec<_>>>()
        };
        let (quarantined, slow) = (paths(quarantined)?, paths(slow)?);
        let (suspects, gone) = (paths(suspects)?, paths(gone)?);
        let mut left_out = || Some((RepoPath::new(&text(field(input)?)?)?, reason(input)?));
        let exhausted = (0..exhausted).map(|_| left_out()).collect::<Option<_>>()?;
        let touched = (0..touched).map(|_| file(input)).collect::<Option<_>>()?;
        let suspicion = if swept == 0 {
            Suspects::Of(suspects)
        } else {
            Suspects::AllAfter(suspects.into_iter().next())
        };
        let changes = match kind {
            COMPARED => ChangeSet::Some { touched, gone, compared: Some(compared) },
            NOT_COMPARED => ChangeSet::Some { touched, gone, compared: None },
            _ => ChangeSet::Everything { forced: kind != 0 },
        };
        Some(Self { location, changes, patience, limits, quarantined, slow, exhausted, suspicion })
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
            Self::Spans { name, total: Total { count, elapsed, own_cpu } } => (
                "spans",
                vec![
                    name.clone(),
                    number(*count),
                    number(microseconds(*elapsed)),
                    number(microseconds(*own_cpu)),
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
            "spans" => {
                let (name, count) = (next()?, next()?.parse().ok()?);
                let mut duration = || Some(Duration::from_micros(next()?.parse().ok()?));
                Self::Spans {
                    name,
                    total: Total { count, elapsed: duration()?, own_cpu: duration()? },
                }
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

/// A file as the walk found it; the word of a regular one is empty.
fn push_file(text: &mut Vec<u8>, file: &WalkedFile) {
    let FileStamp { size, modified_ns, changed_ns, inode, hash: _ } = file.stamp;
    let skipped = file.skipped.map_or("", SkipReason::word);
    push(text, file.path.as_str().as_bytes());
    push(text, skipped.as_bytes());
    push(text, size.to_string().as_bytes());
    push(text, modified_ns.to_string().as_bytes());
    push(text, changed_ns.to_string().as_bytes());
    push(text, inode.to_string().as_bytes());
}

fn file(input: &mut impl BufRead) -> Option<WalkedFile> {
    let mut next = || text(field(input)?);
    let path = RepoPath::new(&next()?)?;
    let skipped = match next()?.as_str() {
        "" => None,
        word => Some(SkipReason::from_word(word)?),
    };
    let stamp = FileStamp {
        size: next()?.parse().ok()?,
        modified_ns: next()?.parse().ok()?,
        changed_ns: next()?.parse().ok()?,
        inode: next()?.parse().ok()?,
        hash: 0,
    };
    Some(WalkedFile { path, stamp, skipped })
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
    use cograph_model::graph::UNTRUSTED_TIME;
    use std::path::Path;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("well formed")
    }

    #[test]
    fn an_order_arrives_as_it_was_given() {
        let root = PathBuf::from(from_bytes(b"/with \xff\nand\tmore".to_vec()));
        let order = |(changes, suspicion)| Order {
            location: Location::new(Path::new("/cache"), &root),
            changes,
            patience: Duration::from_secs(7),
            limits: Limits { threads: 3, memory_bytes: u64::MAX, ..Limits::default() },
            quarantined: vec![path("a\nb"), path("c d")],
            slow: vec![path("e")],
            exhausted: vec![(path("g"), SkipReason::Deferred), (path("h"), SkipReason::TooSlow)],
            suspicion,
        };
        let file = |text: &str, skipped| WalkedFile {
            path: path(text),
            stamp: FileStamp {
                size: u64::MAX,
                modified_ns: -1,
                changed_ns: UNTRUSTED_TIME,
                inode: 7,
                hash: 0,
            },
            skipped,
        };
        let compared = Some(Identity { uid: u64::MAX, generation: 3 });
        let touched = vec![file("f\ng", None), file("h", Some(SkipReason::Symlink))];
        let (gone, some) = (vec![path("i"), path("j k")], Suspects::Of(vec![path("e")]));
        let orders = [
            (ChangeSet::Everything { forced: false }, Suspects::default()),
            (ChangeSet::Everything { forced: true }, Suspects::AllAfter(None)),
            (ChangeSet::Some { touched: touched.clone(), gone, compared }, some),
            (
                ChangeSet::Some { touched, gone: Vec::new(), compared: None },
                Suspects::AllAfter(Some(path("e"))),
            ),
        ];
        for order in orders.map(order) {
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
            Message::Spans {
                name: "parse".to_owned(),
                total: Total {
                    count: 7,
                    elapsed: Duration::from_micros(3),
                    own_cpu: Duration::from_micros(2),
                },
            },
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
