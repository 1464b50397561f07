//! What has changed since a store was written: a look at the files' stamps, and at the bytes where
//! those differ. Changes nothing of what a store says of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::config::Limits;
use crate::faults::{Fault, planted};
use crate::grammar;
use crate::index::IndexError;
use crate::index::build::ingest::{self, Examined};
use crate::index::fingerprint;
use crate::model::cancel::CancelToken;
use crate::model::graph::{FileStamp, UNTRUSTED_TIME};
use crate::model::{RepoPath, SkipReason};
use crate::source::{self, Root, Rules, WalkedFile, WalkedKind};
use crate::store::{self, FileKey, FileRow, Identity, Location, Snapshot};

/// What differs between a store and the repository, or may differ: from a comparison, or a hint
/// from a watcher. [`crate::index::apply`] looks again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeSet {
    /// Every file: there is no store that could be compared, its facts were made by other rules, or
    /// a build is wanted anyway.
    Everything {
        /// Whether to build even if the store turns out to be right.
        forced: bool,
    },
    /// Some files.
    Some {
        /// Files that are new or changed, sorted by path.
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

    /// The files of it that `is_wanted` chooses, and the others; none if it names no files.
    pub fn split(&self, is_wanted: impl Fn(&RepoPath) -> bool) -> Option<(Self, Self)> {
        let Self::Some { touched, gone } = self else { return None };
        let (wanted, others) = touched.iter().cloned().partition(|file| is_wanted(&file.path));
        let (wanted_gone, others_gone) = gone.iter().cloned().partition(|path| is_wanted(path));
        Some((
            Self::Some { touched: wanted, gone: wanted_gone },
            Self::Some { touched: others, gone: others_gone },
        ))
    }

    /// Whether a run that looks at these files when it works looks at all those of `others` too.
    pub fn covers(&self, others: &Self) -> bool {
        match (self, others) {
            (Self::Everything { .. }, _) => true,
            (Self::Some { .. }, Self::Everything { .. }) => false,
            (
                Self::Some { touched, gone },
                Self::Some { touched: other_touched, gone: other_gone },
            ) => {
                let touched: BTreeSet<&RepoPath> = touched.iter().map(|file| &file.path).collect();
                let gone: BTreeSet<&RepoPath> = gone.iter().collect();
                other_touched.iter().all(|file| touched.contains(&file.path))
                    && other_gone.iter().all(|path| gone.contains(path))
            }
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

/// Files that were found to have a store's bytes although their stamps differ from it, so that they
/// are read once and not for every question. Keep one as long as questions are asked.
#[derive(Debug, Default)]
pub struct Verified(Mutex<FxHashMap<Identity, FxHashMap<RepoPath, FileStamp>>>);

impl Verified {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn knows(&self, store: Identity, file: &WalkedFile) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = known.get(&store).and_then(|files| files.get(&file.path));
        seen.is_some_and(|seen| file.stamp.suggests_same_bytes(seen))
    }

    /// Remembers files of a store, and forgets its earlier states: they are not asked any more.
    fn remember(&self, store: Identity, files: Vec<WalkedFile>) {
        const STORES: usize = 64;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= STORES && !known.contains_key(&store) {
            known.clear();
        }
        known
            .entry(store)
            .or_default()
            .extend(files.into_iter().map(|file| (file.path, file.stamp)));
    }
}

/// What came of comparing a store with the repository.
#[derive(Debug)]
pub struct Comparison {
    /// What differs.
    pub changes: ChangeSet,
    /// The files that were looked at and that the store would be wrong about if their bytes were
    /// others, with their stamps at that time; none if the store cannot be compared.
    pub seen: Vec<(RepoPath, FileStamp)>,
    /// What decided which files there are.
    pub rules: Rules,
}

/// What differs between a store and the repository; see [`compare`].
pub fn freshness(
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<ChangeSet, IndexError> {
    compare(snapshot, limits, verified, cancel).map(|comparison| comparison.changes)
}

/// Compares a store with the repository. The stamps of all files are looked at; only files in which
/// these differ are read.
pub fn compare(
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    look(None, snapshot, limits, verified, cancel)
}

/// Compares the part of a store that hints are about with the repository.
pub fn compare_some(
    paths: &BTreeSet<RepoPath>,
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    look(Some(paths), snapshot, limits, verified, cancel)
}

/// Compares these files, and what is in these directories, or everything.
fn look(
    paths: Option<&BTreeSet<RepoPath>>,
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    if snapshot.meta().fingerprint != fingerprint(limits) {
        let changes = ChangeSet::Everything { forced: false };
        return Ok(Comparison { changes, seen: Vec::new(), rules: Rules::default() });
    }
    let root = &snapshot.meta().root;
    let Some(paths) = paths else {
        let walk = source::walk(root, limits.threads, cancel)?;
        return compare_walked(snapshot, &snapshot.files()?, walk, limits, verified, cancel);
    };
    // Before the rows: a file that comes in between is a hint of its own.
    let walk = source::walk_below(root, paths, cancel)?;
    let mut rows = BTreeMap::new();
    for path in paths {
        let inside = snapshot.files_below(path)?;
        rows.extend(
            snapshot
                .file_at(path.as_str())?
                .into_iter()
                .chain(inside)
                .map(|row| (row.path.clone(), row)),
        );
    }
    let rows: Vec<FileRow> = rows.into_values().collect();
    compare_walked(snapshot, &rows, walk, limits, verified, cancel)
}

fn compare_walked(
    snapshot: &Snapshot,
    rows: &[FileRow],
    walk: source::Walk,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    let root = Root::new(&snapshot.meta().root);
    let store = snapshot.identity();
    let mut known: FxHashMap<&str, &FileRow> =
        rows.iter().map(|row| (row.path.as_str(), row)).collect();
    let project_names = ingest::project_names();
    let mut touched = Vec::new();
    let mut same = Vec::new();
    let mut seen: Vec<_> =
        walk.ignore_files.into_iter().map(|file| (file.path, file.stamp)).collect();
    seen.reserve(walk.files.len());
    for file in walk.files {
        let row = known.remove(file.path.as_str());
        if file.kind == WalkedKind::File && !row.is_some_and(|row| is_never_read(row, &file)) {
            seen.push((file.path.clone(), file.stamp));
        }
        let Some(row) = row else {
            touched.push(file);
            continue;
        };
        if looks_the_same(row, &file) || verified.knows(store, &file) {
            continue;
        }
        if cancel.is_cancelled() {
            return Err(IndexError::Cancelled { root: root.path().to_path_buf() });
        }
        if !has_the_same_bytes(
            &root,
            row,
            &file,
            project_names.contains(file.path.file_name()),
            limits,
        ) {
            touched.push(file);
        } else if row.hash != 0 {
            // What stands in the way of reading the others may go without touching them.
            same.push((row.key, file));
        }
    }
    note(snapshot, &same);
    verified.remember(store, same.into_iter().map(|(_, file)| file).collect());
    let is_gone =
        |row: &&FileRow| known.contains_key(row.path.as_str()) && !planted(Fault::MissedRemoval);
    let gone = rows.iter().filter(is_gone).map(|row| row.path.clone()).collect();
    if planted(Fault::LostFile) && touched.len() > 1 {
        touched.pop();
    }
    Ok(Comparison { changes: ChangeSet::Some { touched, gone }, seen, rules: walk.rules })
}

/// Has a store know the stamps of many files that have its bytes: a copy of a repository, or one
/// whose files were all given to another user, is read once and not by every process.
fn note(snapshot: &Snapshot, same: &[(FileKey, WalkedFile)]) {
    const MANY: usize = 64;
    let lasting = same.iter().filter(|(_, file)| file.stamp.changed_ns != UNTRUSTED_TIME);
    let stamps: Vec<(FileKey, FileStamp)> = lasting.map(|(key, file)| (*key, file.stamp)).collect();
    if stamps.len() >= MANY
        && let Some(directory) = snapshot.store().path().parent()
    {
        let location = Location::at(snapshot.meta().root.clone(), directory.to_path_buf());
        if let Err(error) = store::restamp(&location, snapshot, &stamps) {
            tracing::info!(%error, "files that have not changed are read again by the next \
                                    process");
        }
    }
}

/// What of these changes the store does not hold yet: another run may have taken some of them in
/// since they were found. A file that was changed just now has no time that could tell, so its
/// bytes do.
pub(in crate::index) fn still_missing(
    (touched, gone): (&[WalkedFile], &[RepoPath]),
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<(Vec<WalkedFile>, Vec<RepoPath>), IndexError> {
    let mut missing = (Vec::with_capacity(touched.len()), Vec::with_capacity(gone.len()));
    let (root, project_names) = (Root::new(&snapshot.meta().root), ingest::project_names());
    let is_held = |row: &FileRow, file: &WalkedFile| {
        let is_project_file = project_names.contains(file.path.file_name());
        looks_the_same(row, file)
            || (row.hash != 0 && has_the_same_bytes(&root, row, file, is_project_file, limits))
    };
    for file in touched {
        if snapshot.file_at(file.path.as_str())?.is_none_or(|row| !is_held(&row, file)) {
            missing.0.push(file.clone());
        }
    }
    for path in gone {
        if snapshot.file_at(path.as_str())?.is_some() {
            missing.1.push(path.clone());
        }
    }
    Ok(missing)
}

/// Whether so much has changed that to build everything is less work than to change the store: rows
/// cost several times as much one by one as in bulk, so that it is so from about half of the bytes
/// on.
pub(in crate::index) fn is_most_of(
    touched: &[WalkedFile],
    snapshot: &Snapshot,
) -> Result<bool, IndexError> {
    const FEW: usize = 64;
    if touched.len() <= FEW {
        return Ok(false);
    }
    let rows = snapshot.files()?;
    let known: FxHashMap<&str, &FileRow> =
        rows.iter().map(|row| (row.path.as_str(), row)).collect();
    let has_facts =
        |file: &&WalkedFile| known.get(file.path.as_str()).is_none_or(|row| row.skipped.is_none());
    let changed: u64 = touched.iter().filter(has_facts).map(|file| file.stamp.size).sum();
    let all: u64 = rows.iter().filter(|row| row.skipped.is_none()).map(|row| row.size).sum();
    Ok(changed > all / 2)
}

/// Whether nothing suggests that the file is another one than the store's.
fn looks_the_same(row: &FileRow, file: &WalkedFile) -> bool {
    match (file.kind, row.skipped) {
        // One that became such while it was read has a row of the file that it was.
        (WalkedKind::Symlink, Some(SkipReason::Symlink))
        | (WalkedKind::Special, Some(SkipReason::Special))
        | (WalkedKind::Unreadable, Some(SkipReason::Unreadable))
        | (WalkedKind::UnreadRules, Some(SkipReason::UnreadRules)) => {
            row.language.is_none() && row.size == file.stamp.size
        }
        (
            WalkedKind::Symlink
            | WalkedKind::Special
            | WalkedKind::Unreadable
            | WalkedKind::UnreadRules,
            _,
        ) => false,
        // What stood in the way of reading them may have gone without touching them.
        (
            WalkedKind::File,
            Some(
                SkipReason::Symlink
                | SkipReason::Special
                | SkipReason::Unreadable
                | SkipReason::UnreadRules
                | SkipReason::Vanished,
            ),
        ) => false,
        // Whatever the bytes are, nobody reads them; their number is stored.
        (WalkedKind::File, _) if is_never_read(row, file) => row.size == file.stamp.size,
        (WalkedKind::File, _) => file.stamp.suggests_same_bytes(&row.stamp()),
    }
}

/// Whether no language and no module system claims the name: whatever the bytes are, nobody reads
/// them.
fn is_never_read(row: &FileRow, file: &WalkedFile) -> bool {
    row.skipped == Some(SkipReason::NoLanguage) && row.hash == 0 && file.path.extension().is_some()
}

fn has_the_same_bytes(
    root: &Root,
    row: &FileRow,
    file: &WalkedFile,
    is_project_file: bool,
    limits: &Limits,
) -> bool {
    if file.kind != WalkedKind::File {
        return looks_the_same(row, file);
    }
    // Another size, and it was read before: no need to read it.
    if row.hash != 0 && row.size != file.stamp.size {
        return false;
    }
    // Neighbours settle the language of some files; if they have changed, they are changes
    // themselves.
    is_the_same(
        row,
        &ingest::examine(root, file, is_project_file, limits, |path, head| {
            grammar::detect(path, head, &[])
        }),
    )
}

fn is_the_same(row: &FileRow, examined: &Examined) -> bool {
    if row.hash != 0 || examined.stamp.hash != 0 {
        return row.hash == examined.stamp.hash;
    }
    examined.text.as_ref().err() == row.skipped.as_ref() && examined.stamp.size == row.size
}
