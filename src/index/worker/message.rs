//! Wire protocol between a worker and its parent: orders to the worker, and messages from it until
//! the order is done. Each is encoded by `postcard` and framed by COBS: it ends with a NUL and has
//! no other. Both sides are the same program, so that the encoding has no versions.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::outcome::IndexError;
use crate::progress::profile::Total;
use crate::progress::{Phase, Progress, Timing};
use crate::quarantine::Suspects;
use crate::state::change_set::ChangeSet;
use cograph_config::Limits;
use cograph_model::{RepoPath, SkipReason};
use cograph_store::Location;

/// Order to a worker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

impl Order {
    pub(crate) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        output.write_all(&encoded(self))?;
        output.flush()
    }

    /// Reads an order; none if it is truncated or invalid.
    pub(crate) fn read(input: &mut impl BufRead) -> Option<Self> {
        decoded(input)
    }
}

impl Message {
    /// The message of an error.
    pub(crate) fn failed(error: &IndexError) -> Self {
        Self::Failed { message: error.to_string(), hint: error.hint().to_owned() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }

    /// Reads the next message; none at the end of input or if it is invalid.
    pub(crate) fn read(input: &mut impl BufRead) -> Option<Self> {
        decoded(input)
    }
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec_cobs(value).expect("every value of these types has an encoding")
}

fn decoded<T: DeserializeOwned>(input: &mut impl BufRead) -> Option<T> {
    let mut bytes = Vec::new();
    input.read_until(0, &mut bytes).ok()?;
    // Without its end it is truncated.
    (bytes.last() == Some(&0)).then(|| postcard::from_bytes_cobs(&mut bytes).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::graph::{FileStamp, UNTRUSTED_TIME};
    use cograph_source::WalkedFile;
    use cograph_store::Identity;
    use cograph_system::names::from_bytes;
    use std::path::{Path, PathBuf};

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
        assert_eq!(Message::read(&mut &b"\x09\xff\xff\xff\xff\xff\xff\xff\xff\0"[..]), None);
    }
}
