//! How a run ends: its result, or why it failed.

use crate::progress::Timing;
use cograph_source::SourceError;
use cograph_store::{Identity, Location, Published, StoreError, StoreErrorKind};
use std::path::PathBuf;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Reading the repository failed.
    #[error(transparent)]
    Source(SourceError),
    /// Reading or writing the store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Thread creation failed.
    #[error("cannot start {threads} threads to index {}: {reason}", root.display())]
    Threads {
        /// Number of threads.
        threads: usize,
        /// Repository.
        root: PathBuf,
        /// Cause.
        reason: String,
    },
    /// Internal error in work that concerns all files: a bug.
    #[error("indexing {} failed: {reason}", root.display())]
    Defect {
        /// Repository.
        root: PathBuf,
        /// Panic message.
        reason: String,
    },
    /// Starting the worker process failed.
    #[error("cannot start {} to index {}: {reason}", program.display(), root.display())]
    NoWorker {
        /// Executable.
        program: PathBuf,
        /// Repository.
        root: PathBuf,
        /// Cause.
        reason: String,
    },
    /// The worker process crashed, and no file is the cause.
    #[error("the process that indexes {} has died ({how}){}", root.display(), last_words(said))]
    Worker {
        /// Repository.
        root: PathBuf,
        /// Exit status.
        how: String,
        /// End of its standard error output.
        said: String,
    },
    /// The worker process needs more memory than it may have, and no file is the cause.
    #[error("indexing {} needs more than {} MiB of memory", root.display(), limit >> 20)]
    Memory {
        /// Repository.
        root: PathBuf,
        /// Limit in bytes.
        limit: u64,
    },
    /// The worker process reported an error.
    #[error("{message}")]
    Reported {
        /// Error.
        message: String,
        /// Suggested fix.
        hint: String,
    },
    /// A phase exceeded the time limit.
    #[error("indexing {} failed: the phase `{phase}` takes too long", root.display())]
    Stalled {
        /// Repository.
        root: PathBuf,
        /// Phase.
        phase: &'static str,
    },
    /// The run was cancelled.
    #[error("stopped while indexing {}", root.display())]
    Cancelled {
        /// Repository.
        root: PathBuf,
    },
}

impl IndexError {
    /// Suggested fix.
    pub fn hint(&self) -> &str {
        match self {
            Self::Source(_) => "check that the directory exists and may be read",
            Self::Store(error) => match error.kind {
                StoreErrorKind::Locked => "wait for the other process to end, or stop it",
                StoreErrorKind::Full => {
                    "make room, or set COGRAPH_CACHE_DIR to a place that has more"
                }
                StoreErrorKind::FileSize => {
                    "raise the file size limit of the process (`ulimit -f`); the index from \
                     before is as it was"
                }
                StoreErrorKind::Permission => {
                    "check the permissions of the cache, or set COGRAPH_CACHE_DIR to another place"
                }
                _ => {
                    "if it stays, remove the repository's directory from the cache: it is built \
                     again"
                }
            },
            Self::Threads { .. } => "lower COGRAPH_THREADS, or raise the limit on processes",
            Self::Defect { .. } => {
                "report it as a defect of this program, with the repository if it is public"
            }
            Self::NoWorker { .. } => {
                "check that the program is still there and that more processes may be started"
            }
            Self::Worker { .. } => {
                "if the system ended it for lack of memory, lower COGRAPH_THREADS or \
                 COGRAPH_MEMORY_LIMIT; if it was refused memory, raise COGRAPH_MEMORY_LIMIT; else \
                 report it"
            }
            Self::Memory { .. } => {
                "raise COGRAPH_MEMORY_LIMIT, or leave directories out by .cographignore"
            }
            Self::Stalled { .. } => {
                "raise COGRAPH_FILE_SECONDS if the machine is slow, else report it"
            }
            Self::Reported { hint, .. } => hint,
            Self::Cancelled { .. } => "start it again",
        }
    }
}

pub(crate) fn last_words(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; the last that it said: {said}") }
}

impl From<SourceError> for IndexError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Cancelled { root } => Self::Cancelled { root },
            error => Self::Source(error),
        }
    }
}

impl From<StoreError> for IndexError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Result of a run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The store was up to date; nothing was written.
    Unchanged {
        /// Store and generation.
        identity: Identity,
    },
    /// A new generation was published.
    Published {
        /// Generation and file.
        published: Published,
        /// Timings of the phases.
        timings: Vec<Timing>,
    },
}

impl Outcome {
    /// Generation that reflects the repository.
    pub fn identity(&self) -> Identity {
        match self {
            Self::Unchanged { identity } => *identity,
            Self::Published { published, .. } => published.identity,
        }
    }

    /// True if the run built the store from all files.
    pub fn is_whole(&self, location: &Location) -> bool {
        matches!(self, Self::Published { published, .. } if published.is_whole(location))
    }

    /// True if the generation differs from `base` by the changes of the run alone. Otherwise
    /// another process has published a generation in between, which may be older than `base` in
    /// what it reflects: its files may have been read before.
    pub fn continues(&self, base: Identity) -> bool {
        match self {
            Self::Unchanged { identity } => *identity == base,
            Self::Published { published, .. } => {
                published.identity.generation == base.generation + 1
            }
        }
    }
}
