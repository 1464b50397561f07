//! `status`: what is in the store, how complete it is, and when it was made.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::QueryError;
use crate::model::cancel::CancelToken;
use crate::model::{Problem, RepoPath, SkipReason};
use crate::store::{Identity, Snapshot};

/// What to list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusParams {
    /// At most so many problems are listed, and so many files for each reason for skipping.
    pub limit: usize,
}

impl Default for StatusParams {
    fn default() -> Self {
        Self { limit: 20 }
    }
}

/// Numbers of sites by verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VerdictCounts {
    /// One proven target.
    pub resolved: u64,
    /// One target by heuristic.
    pub likely: u64,
    /// Several candidates.
    pub ambiguous: u64,
    /// Target outside the repository.
    pub external: u64,
    /// Nothing known.
    pub unresolved: u64,
}

impl VerdictCounts {
    /// All sites.
    pub fn total(&self) -> u64 {
        self.resolved + self.likely + self.ambiguous + self.external + self.unresolved
    }
}

/// A language with its figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanguageStatus {
    /// The language.
    pub name: String,
    /// Files that were indexed.
    pub files: u64,
    /// Indexed files with problems.
    pub partial: u64,
    /// Lines of indexed files.
    pub lines: u64,
    /// Bytes of indexed files.
    pub bytes: u64,
    /// Symbols.
    pub symbols: u64,
    /// Sites.
    pub sites: VerdictCounts,
}

/// Files that were skipped for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedFiles {
    /// The reason.
    pub reason: SkipReason,
    /// How many.
    pub files: u64,
    /// Some of them, by path.
    pub examples: Vec<RepoPath>,
}

/// The answer of `status`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusResult {
    /// Which store and generation.
    pub identity: Identity,
    /// The repository's root.
    pub root: PathBuf,
    /// When the build ended.
    pub built_at: SystemTime,
    /// How long it took.
    pub build_duration: Duration,
    /// Size of the store's file.
    pub store_bytes: u64,
    /// Files that the walk met.
    pub files: u64,
    /// Languages, most files first.
    pub languages: Vec<LanguageStatus>,
    /// Skipped files by reason, most first.
    pub skipped: Vec<SkippedFiles>,
    /// Regions that are incomplete, by path and line.
    pub problems: Vec<(RepoPath, Problem)>,
    /// How many there are.
    pub problem_total: u64,
    /// In how many files.
    pub problem_files: u64,
}

/// Describes the store.
pub fn status(snapshot: &Snapshot, params: &StatusParams, cancel: &CancelToken) -> Result<StatusResult, QueryError> {
    super::pending(snapshot, params, cancel)
}
