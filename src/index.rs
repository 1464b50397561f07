//! From a repository on disk to its graph: plan, parallel read and extraction, resolution, writing. The only module that uses
//! several cores, and the only one that changes a store. Knows no protocol and prints nothing.

mod plan;
mod progress;
mod report;
mod resolve;
mod take_in;
mod workers;

use std::path::{Path, PathBuf};

pub use progress::{Phase, Progress, Timing};
pub use report::{LanguageReport, Report};

use crate::config::Limits;
use crate::extract;
use crate::model::LanguageId;
use crate::model::cancel::CancelToken;
use crate::model::facts::FileFacts;
use crate::model::graph::Graph;
use crate::source::{self, SourceError};
use progress::Stopwatch;
use workers::Workers;

/// What one run of the index needs to know besides the files.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// What bounds the work.
    pub limits: Limits,
    /// Ends the run early.
    pub cancel: &'a CancelToken,
    /// Told how far the run is, from any thread: at the start of every phase, and then often, but not for every file.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Makes facts of one file; [`extract::extract`] outside tests.
    pub extract: fn(LanguageId, &str, &[u8], extract::Limits) -> FileFacts,
}

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The repository could not be read as a whole.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The threads could not be started.
    #[error("cannot start {threads} threads to index {}: {reason}", root.display())]
    Threads {
        /// How many.
        threads: usize,
        /// The repository.
        root: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Looking over all files together failed; this is a defect of the program.
    #[error("preparing the resolution of {} failed: {reason}", root.display())]
    Resolution {
        /// The repository.
        root: PathBuf,
        /// The message of the panic.
        reason: String,
    },
    /// The run was told to stop.
    #[error("stopped while indexing {}", root.display())]
    Cancelled {
        /// The repository.
        root: PathBuf,
    },
}

impl IndexError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Source(_) => "check that the directory exists and may be read",
            Self::Threads { .. } => "lower COGRAPH_THREADS, or raise the limit on processes",
            Self::Resolution { .. } => "report it as a defect of this program, with the repository if it is public",
            Self::Cancelled { .. } => "start it again",
        }
    }
}

impl<'a> Run<'a> {
    /// A run with these limits that reports to nobody.
    pub fn quiet(limits: Limits, cancel: &'a CancelToken) -> Self {
        Self { limits, cancel, progress: &|_| {}, extract: extract::extract }
    }

    fn check(&self, root: &Path) -> Result<(), IndexError> {
        if self.cancel.is_cancelled() { Err(IndexError::Cancelled { root: root.to_path_buf() }) } else { Ok(()) }
    }
}

/// Reads the repository at `root` and resolves it, all in memory. Also says how long each phase took.
pub fn build_graph(root: &Path, run: &Run) -> Result<(Graph, Vec<Timing>), IndexError> {
    let mut stopwatch = Stopwatch::start();
    (run.progress)(Progress { phase: Phase::Walk, done: 0, total: 0 });
    let walk = source::walk(root, run.limits.threads, run.cancel)?;
    let plan = plan::plan(walk);
    stopwatch.lap(Phase::Walk);

    let workers = Workers::start(root, &run.limits)?;
    let taken = take_in::take_in(root, &plan, run, &workers);
    run.check(root)?;
    stopwatch.lap(Phase::Extract);

    let resolutions = resolve::resolve(root, &taken, run, &workers)?;
    run.check(root)?;
    stopwatch.lap(Phase::Resolve);
    Ok((Graph { files: taken.files, resolutions }, stopwatch.laps()))
}
