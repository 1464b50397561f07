//! What has changed since a store was written: a sweep over the files' sizes and times, and a second look that lets the bytes
//! decide. Changes nothing.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::take_in::{self, Examined};
use super::{IndexError, Run};
use crate::config::Limits;
use crate::grammar;
use crate::model::cancel::CancelToken;
use crate::model::{RepoPath, SkipReason};
use crate::source::{self, WalkedFile, WalkedKind};
use crate::store::{FileRow, Snapshot};

/// What may differ between a store and the repository: a hint, from a sweep or a watcher. [`super::apply`] looks at the bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeSet {
    /// Every file: there is no store that could be compared, its facts were made by other rules, or a build is wanted anyway.
    Everything {
        /// Whether to build even if the store turns out to be right.
        forced: bool,
    },
    /// Some files.
    Some {
        /// Files that are new, or whose size or time is another one, sorted by path.
        touched: Vec<WalkedFile>,
        /// Files of the store that are no longer there, sorted.
        gone: Vec<RepoPath>,
    },
}

impl ChangeSet {
    /// Whether the store reflects the repository.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Some { touched, gone } if touched.is_empty() && gone.is_empty())
    }

    /// How many files it names; none if that is all of them.
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Everything { .. } => None,
            Self::Some { touched, gone } => Some(touched.len() + gone.len()),
        }
    }

    /// The files it names, as far as it names them.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        let (touched, gone) = match self {
            Self::Everything { .. } => (&[][..], &[][..]),
            Self::Some { touched, gone } => (touched.as_slice(), gone.as_slice()),
        };
        touched.iter().map(|file| &file.path).chain(gone)
    }
}

/// What a store was built by: stored with it, so that other rules or limits mean a new build.
pub fn fingerprint(limits: &Limits) -> u64 {
    let own = [grammar::fingerprint(), limits.file_bytes, limits.line_bytes as u64];
    let bytes: Vec<u8> = own.iter().flat_map(|part| part.to_le_bytes()).collect();
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

/// Compares a store with the repository by size and time of every file. Reads no file: a question can afford it.
pub fn freshness(snapshot: &Snapshot, limits: &Limits, cancel: &CancelToken) -> Result<ChangeSet, IndexError> {
    if snapshot.meta().fingerprint != fingerprint(limits) {
        return Ok(ChangeSet::Everything { forced: false });
    }
    let rows = snapshot.files()?;
    let mut known: FxHashMap<&str, &FileRow> = rows.iter().map(|row| (row.path.as_str(), row)).collect();
    let walk = source::walk(&snapshot.meta().root, limits.threads, cancel)?;
    let mut touched = walk.files;
    touched.retain(|file| known.remove(file.path.as_str()).is_none_or(|row| !looks_the_same(row, file)));
    let gone = rows.iter().filter(|row| known.contains_key(row.path.as_str())).map(|row| row.path.clone()).collect();
    Ok(ChangeSet::Some { touched, gone })
}

/// Whether nothing suggests that the file is another one than the store's.
fn looks_the_same(row: &FileRow, file: &WalkedFile) -> bool {
    match (file.kind, row.skipped) {
        (WalkedKind::Symlink, skipped) => skipped == Some(SkipReason::Symlink),
        (WalkedKind::Special, skipped) => skipped == Some(SkipReason::Special),
        (WalkedKind::Unreadable, skipped) => skipped == Some(SkipReason::Unreadable),
        // What stood in the way of reading them may have gone without touching them.
        (WalkedKind::File, Some(SkipReason::Symlink | SkipReason::Special | SkipReason::Unreadable | SkipReason::Vanished)) => {
            false
        }
        // A name that no language and no module system claims: whatever the bytes are, nobody reads them.
        (WalkedKind::File, Some(SkipReason::NoLanguage)) if row.hash == 0 && file.path.extension().is_some() => true,
        (WalkedKind::File, _) => row.size == file.stamp.size && row.modified_ns == file.stamp.modified_ns,
    }
}

/// Whether the bytes of files that were touched are those of the store after all, and no file of the store is gone.
pub(super) fn is_unfounded(
    snapshot: &Snapshot,
    root: &Path,
    touched: &[WalkedFile],
    gone: &[RepoPath],
    run: &Run,
) -> Result<bool, IndexError> {
    let project_names = take_in::project_names();
    for path in gone {
        if snapshot.file_at(path.as_str())?.is_some() {
            return Ok(false);
        }
    }
    for file in touched {
        run.check(root)?;
        let Some(row) = snapshot.file_at(file.path.as_str())? else { return Ok(false) };
        let is_project_file = project_names.contains(file.path.file_name());
        // Neighbours settle the language of some files; if they have changed, they are touched themselves.
        let examined = take_in::examine(root, file, is_project_file, &run.limits, |path, head| grammar::detect(path, head, &[]));
        if !is_the_same(&row, &examined) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_the_same(row: &FileRow, examined: &Examined) -> bool {
    if row.hash != 0 || examined.stamp.hash != 0 {
        return row.hash == examined.stamp.hash;
    }
    examined.text.as_ref().err() == row.skipped.as_ref()
}
