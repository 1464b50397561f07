//! Changes to apply: what a comparison has found, and which generation of the store it holds for.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use cograph_model::RepoPath;
use cograph_source::WalkedFile;
use cograph_store::Identity;

/// Differences between a store and the repository, as a comparison has found them, or files to try
/// again. They hold for one generation: [`crate::apply()`] compares once more if the store has
/// another one by then.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ChangeSet {
    /// Every file: there is no comparable store, its fingerprint differs, or a build was requested.
    Everything {
        /// Build even if the store is up to date.
        forced: bool,
    },
    /// Some files.
    Some {
        /// New or changed files, sorted by path.
        touched: Vec<WalkedFile>,
        /// Deleted files, sorted.
        gone: Vec<RepoPath>,
        /// Generation of the store that these files differ from; none if they were not compared.
        compared: Option<Identity>,
    },
}

impl ChangeSet {
    /// The changes of a repository that this generation reflects.
    pub fn none(store: Identity) -> Self {
        Self::Some { touched: Vec::new(), gone: Vec::new(), compared: Some(store) }
    }

    /// True if the store reflects the repository.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Number of changed files; none if all.
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Everything { .. } => None,
            Self::Some { touched, gone, .. } => Some(touched.len() + gone.len()),
        }
    }

    /// Splits the files by `is_wanted`; none if it is `Everything`.
    pub fn split(&self, is_wanted: impl Fn(&RepoPath) -> bool) -> Option<(Self, Self)> {
        let Self::Some { touched, gone, compared } = self else { return None };
        let compared = *compared;
        let (wanted, others) = touched.iter().cloned().partition(|file| is_wanted(&file.path));
        let (wanted_gone, others_gone) = gone.iter().cloned().partition(|path| is_wanted(path));
        Some((
            Self::Some { touched: wanted, gone: wanted_gone, compared },
            Self::Some { touched: others, gone: others_gone, compared },
        ))
    }

    /// True if only some files are concerned.
    pub(crate) fn is_of_some(&self) -> bool {
        matches!(self, Self::Some { .. })
    }

    /// True if applying these changes also applies `others`. Contents are read when they are
    /// applied; what a file is, and whether it is too large, was seen by the comparison.
    pub(crate) fn covers(&self, others: &Self) -> bool {
        let (touched, gone, other_touched, other_gone) = match (self, others) {
            (Self::Everything { .. }, _) => return true,
            (Self::Some { .. }, Self::Everything { .. }) => return false,
            (
                Self::Some { touched, gone, .. },
                Self::Some { touched: other_touched, gone: other_gone, .. },
            ) => (touched, gone, other_touched, other_gone),
        };
        let kind = |file: &WalkedFile| (file.skipped, file.stamp.size);
        let touched: FxHashMap<&RepoPath, _> =
            touched.iter().map(|file| (&file.path, kind(file))).collect();
        let gone: BTreeSet<&RepoPath> = gone.iter().collect();
        other_touched.iter().all(|file| touched.get(&file.path) == Some(&kind(file)))
            && other_gone.iter().all(|path| gone.contains(path))
    }

    /// Changed paths, if they are listed.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        let (touched, gone) = match self {
            Self::Everything { .. } => (&[][..], &[][..]),
            Self::Some { touched, gone, .. } => (touched.as_slice(), gone.as_slice()),
        };
        touched.iter().map(|file| &file.path).chain(gone)
    }
}
