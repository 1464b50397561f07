//! The files of a repository in use, on their way through the threads that look at them, and how
//! far an answer may rely on them.
//!
//! A look at one file is one system call: 1.4 µs of CPU on the machine where it was measured, 4 ms
//! for the 2,788 files of Django, which threads share, and 82 ms for a tree of 55,000. So the files
//! of most repositories are looked at for every question, and those of a large one beside the
//! questions, every few seconds while there are any: an answer says then when that was last.

use std::time::{Duration, Instant};

use crate::model::RepoPath;
use crate::model::graph::FileStamp;
use crate::server::workspace::repositories::opened::Extent;
use crate::source::Sweep;

/// So many files are looked at for one question.
const AT_ONCE: usize = 8_192;
/// How often those of a larger repository are looked at while it is asked about.
const BESIDE: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Default)]
pub(super) struct Swept {
    /// None while a thread looks at them.
    sweep: Option<Sweep>,
    /// What was compared meanwhile.
    added: Vec<(RepoPath, FileStamp)>,
    count: usize,
    /// When they were compared as a whole, which tells them from those of another time; none before
    /// the first time.
    begun: Option<Instant>,
    /// When they were all looked at last.
    looked: Option<Instant>,
}

/// The files in the hands of a thread.
pub(super) struct TakenFiles {
    sweep: Sweep,
    begun: Option<Instant>,
    looked: Instant,
}

impl Swept {
    /// The files of a whole comparison that began at this time.
    pub(super) fn new(sweep: Sweep, begun: Instant) -> Self {
        Self {
            count: sweep.len(),
            sweep: Some(sweep),
            added: Vec::new(),
            begun: Some(begun),
            looked: Some(begun),
        }
    }

    /// Adds files that were compared later.
    pub(super) fn add(&mut self, files: Vec<(RepoPath, FileStamp)>) {
        match &mut self.sweep {
            Some(sweep) => {
                sweep.add(files);
                self.count = sweep.len();
            }
            None => self.added.extend(files),
        }
    }

    /// Hands the files to a question that was asked at this time, if it is to look at them.
    pub(super) fn take_for(&mut self, asked: Instant) -> Option<TakenFiles> {
        let is_wanted = self.count <= AT_ONCE && self.looked.is_some_and(|looked| looked < asked);
        if is_wanted { self.take() } else { None }
    }

    /// Hands the files to a thread that looks at them beside the questions, if it is time.
    pub(super) fn take_when_due(&mut self) -> Option<TakenFiles> {
        let is_due = self.looked.is_some_and(|looked| looked.elapsed() >= BESIDE);
        if is_due { self.take() } else { None }
    }

    /// Takes the files back from a thread that has looked at them; those of another time are not
    /// wanted any more.
    pub(super) fn put(&mut self, taken: TakenFiles) {
        let TakenFiles { mut sweep, begun, looked } = taken;
        if self.begun == begun && self.sweep.is_none() {
            sweep.add(std::mem::take(&mut self.added));
            (self.count, self.looked) = (sweep.len(), Some(looked));
            self.sweep = Some(sweep);
        }
    }

    /// How far a question may rely on them that knows what has been reported.
    pub(super) fn extent(&self) -> Extent {
        match self.looked {
            Some(looked) if self.count > AT_ONCE => Extent::Reported(looked.elapsed()),
            _ => Extent::All,
        }
    }

    fn take(&mut self) -> Option<TakenFiles> {
        let sweep = self.sweep.take()?;
        Some(TakenFiles { sweep, begun: self.begun, looked: Instant::now() })
    }
}

impl TakenFiles {
    /// Looks at the files, and gives those that are otherwise than the last time.
    pub(super) fn look(&mut self, threads: usize) -> Vec<RepoPath> {
        self.looked = Instant::now();
        self.sweep.look(threads)
    }
}
