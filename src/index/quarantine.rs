//! Quarantine of files that crash or hang the parser, and observers of the file in progress.
//! Independent of processes.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use cograph_model::{RepoPath, SkipReason};

/// Precautions of a build against files that may end the process.
pub struct Isolation {
    left_out: FxHashMap<RepoPath, LeftOut>,
    suspicion: Suspects,
    witness: Box<dyn Observer>,
}

/// File that is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LeftOut {
    /// Hash of the contents that are left out; none for any contents.
    pub(super) hash: Option<u128>,
    pub(super) reason: SkipReason,
}

/// Suspected files: they are parsed first, one at a time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Suspects {
    /// These files.
    Of(Vec<RepoPath>),
    /// Every file whose path sorts after this one, or every file.
    AllAfter(Option<RepoPath>),
}

impl Default for Suspects {
    fn default() -> Self {
        Self::Of(Vec::new())
    }
}

/// Observer of parsing and resolution, per file.
pub(super) trait Observer: Send + Sync {
    /// The current thread will parse some of these files, one after the other. Announced in
    /// batches, because every message wakes the parent process.
    fn announces(&self, paths: Vec<RepoPath>);
    /// The current thread parses or resolves the file; `bytes` is its size if it is parsed. `alone`
    /// if no other thread parses meanwhile.
    fn begins(&self, path: &RepoPath, bytes: Option<u64>, alone: bool);
    /// The current thread has finished its file.
    fn ends(&self);
    /// The file has exhausted its budget, and is left out for this reason.
    fn exhausts(&self, path: &RepoPath, reason: SkipReason);
}

impl Isolation {
    pub(super) fn new(
        left_out: FxHashMap<RepoPath, LeftOut>,
        suspicion: Suspects,
        witness: Box<dyn Observer>,
    ) -> Self {
        Self { left_out, suspicion, witness }
    }

    /// Files to parse first, one at a time.
    pub(super) fn suspicion(&self) -> &Suspects {
        &self.suspicion
    }

    /// Reason for leaving out the file with these contents, if it is.
    pub(super) fn leaves_out(&self, path: &RepoPath, hash: u128) -> Option<SkipReason> {
        let known = self.left_out.get(path)?;
        known.hash.is_none_or(|known| known == hash).then_some(known.reason)
    }

    /// Announces files that this thread will parse.
    pub(super) fn announce(&self, paths: Vec<RepoPath>) {
        self.witness.announces(paths);
    }

    /// Reports that a file is left out because it has exhausted its budget.
    pub(super) fn exhausts(&self, path: &RepoPath, reason: SkipReason) {
        self.witness.exhausts(path, reason);
    }

    /// Runs `work` on a file, with notifications to the observers.
    pub(super) fn working<T>(
        &self,
        path: &RepoPath,
        bytes: Option<u64>,
        alone: bool,
        work: impl FnOnce() -> T,
    ) -> T {
        self.witness.begins(path, bytes, alone);
        let result = work();
        self.witness.ends();
        result
    }
}

/// Runs the resolution `work` of a file with the observers of `caution`, so that a hang is detected
/// as it is for a parse.
pub(super) fn resolving<T>(
    caution: Option<&Isolation>,
    path: &RepoPath,
    work: impl FnOnce() -> T,
) -> T {
    match caution {
        Some(caution) => caution.working(path, None, false, work),
        None => work(),
    }
}

impl std::fmt::Debug for Isolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Isolation")
            .field("left_out", &self.left_out)
            .field("suspicion", &self.suspicion)
            .finish_non_exhaustive()
    }
}
