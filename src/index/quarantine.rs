//! What is known of files that must not be parsed, and who hears which file is being parsed or
//! resolved: what a run needs to know when a file can end it. Knows nothing of processes.

use rustc_hash::FxHashMap;

use crate::model::RepoPath;

/// How a build goes about files that may end it.
pub struct Caution {
    /// Files that are left out, each with the bytes it is left out for: their hash, or whatever
    /// they are.
    left_out: FxHashMap<RepoPath, Option<u128>>,
    suspicion: Suspicion,
    witness: Box<dyn Witness>,
}

/// Which files may end a run: they are parsed first, one at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Suspicion {
    /// These.
    Of(Vec<RepoPath>),
    /// Every file whose path comes after this one, or every file at all.
    AllAfter(Option<RepoPath>),
}

impl Default for Suspicion {
    fn default() -> Self {
        Self::Of(Vec::new())
    }
}

/// Hears of files before they are worked on, and after.
pub(super) trait Witness: Send + Sync {
    /// This thread is going to parse some of these files, one after the other. What they are is
    /// told for many at once: whoever is told in another process is woken each time.
    fn announces(&self, paths: Vec<RepoPath>);
    /// This thread is going to parse or resolve the file. `alone` if it parses it and no other
    /// thread parses one.
    fn begins(&self, path: &RepoPath, alone: bool);
    /// This thread is done with its file.
    fn ends(&self);
}

impl Caution {
    pub(super) fn new(
        left_out: FxHashMap<RepoPath, Option<u128>>,
        suspicion: Suspicion,
        witness: Box<dyn Witness>,
    ) -> Self {
        Self { left_out, suspicion, witness }
    }

    /// Files that are to be parsed first, one at a time.
    pub(super) fn suspicion(&self) -> &Suspicion {
        &self.suspicion
    }

    /// Whether the file with these bytes must not be parsed.
    pub(super) fn leaves_out(&self, path: &RepoPath, hash: u128) -> bool {
        self.left_out.get(path).is_some_and(|known| known.is_none_or(|known| known == hash))
    }

    /// Says which files this thread is going to parse, or some of them.
    pub(super) fn announce(&self, paths: Vec<RepoPath>) {
        self.witness.announces(paths);
    }

    /// Does `work` on a file, with witnesses.
    pub(super) fn working<T>(&self, path: &RepoPath, alone: bool, work: impl FnOnce() -> T) -> T {
        self.witness.begins(path, alone);
        let result = work();
        self.witness.ends();
        result
    }
}

/// Resolves a file by `work`, with the witnesses of `caution`: a resolution that does not end is
/// noticed as a parse is.
pub(super) fn resolving<T>(
    caution: Option<&Caution>,
    path: &RepoPath,
    work: impl FnOnce() -> T,
) -> T {
    match caution {
        Some(caution) => caution.working(path, false, work),
        None => work(),
    }
}

impl std::fmt::Debug for Caution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caution")
            .field("left_out", &self.left_out)
            .field("suspicion", &self.suspicion)
            .finish_non_exhaustive()
    }
}
