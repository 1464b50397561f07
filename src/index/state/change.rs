//! Change detection: compares the `stat` signatures of files with the store, and the contents where
//! those differ. Read-only, except for stamps.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::build::ingest::{self, Examined};
use crate::fingerprint::fingerprint_at;
use crate::outcome::IndexError;
use crate::state::change_set::ChangeSet;
use cograph_config::Limits;
use cograph_faults::{Fault, planted};
use cograph_grammar as grammar;
use cograph_model::cancel::CancelToken;
use cograph_model::graph::{FileStamp, UNTRUSTED_TIME};
use cograph_model::{RepoPath, SkipReason};
use cograph_source::{self as source, Root, Rules, WalkedFile};
use cograph_store::{self as store, FileKey, FileRow, Identity, Location, Snapshot};

/// Files whose stamps differ from the store but whose contents do not: a memo, so that they are
/// read once and not at every query.
#[derive(Debug, Default)]
pub struct Verified(Mutex<FxHashMap<Identity, FxHashMap<RepoPath, FileStamp>>>);

impl Verified {
    /// Creates an empty memo.
    pub fn new() -> Self {
        Self::default()
    }

    fn knows(&self, store: Identity, file: &WalkedFile) -> bool {
        let known = self.0.lock();
        let seen = known.get(&store).and_then(|files| files.get(&file.path));
        seen.is_some_and(|seen| file.stamp.suggests_same_bytes(seen))
    }

    /// Adds files of a generation, and removes those of earlier generations.
    fn remember(&self, store: Identity, files: Vec<WalkedFile>) {
        const STORES: usize = 64;
        let mut known = self.0.lock();
        if known.len() >= STORES && !known.contains_key(&store) {
            known.clear();
        }
        known
            .entry(store)
            .or_default()
            .extend(files.into_iter().map(|file| (file.path, file.stamp)));
    }
}

/// Result of a comparison.
#[derive(Debug)]
pub struct Comparison {
    /// Differences.
    pub changes: ChangeSet,
    /// Files that were checked, with their stamps at that time: the store is stale if one changes;
    /// empty if the store is not comparable.
    pub seen: Vec<(RepoPath, FileStamp)>,
    /// Rules that selected the files.
    pub rules: Rules,
}

/// Differences between a store and the repository; see [`compare`].
pub fn freshness(
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<ChangeSet, IndexError> {
    compare(snapshot, limits, verified, cancel).map(|comparison| comparison.changes)
}

/// Compares a store with the repository. Checks the stamps of all files; reads only files whose
/// stamp differs.
pub fn compare(
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    compare_stamps(None, snapshot, limits, verified, cancel)
}

/// Compares the part of a store that the hints name.
pub fn compare_some(
    paths: &BTreeSet<RepoPath>,
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    compare_stamps(Some(paths), snapshot, limits, verified, cancel)
}

/// Compares these files and the contents of these directories, or everything.
fn compare_stamps(
    paths: Option<&BTreeSet<RepoPath>>,
    snapshot: &Snapshot,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    if snapshot.meta().fingerprint != fingerprint_at(snapshot, limits) {
        let changes = ChangeSet::Everything { forced: false };
        return Ok(Comparison { changes, seen: Vec::new(), rules: Rules::default() });
    }
    let root = &snapshot.meta().root;
    let Some(paths) = paths else {
        let walk = source::walk(root, limits.threads, cancel)?;
        let rows = snapshot.files()?;
        return compare_walked(snapshot, (&rows, None), walk, limits, verified, cancel);
    };
    // Walked before the rows are read: a later file has a hint of its own.
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
    compare_walked(snapshot, (&rows, Some(paths)), walk, limits, verified, cancel)
}

/// Compares walked files with the rows about them, `named` by hints. A file that a hint names is
/// compared by contents: its time is set when a write begins, so that a reader may have seen half
/// of a write under the stamp of the whole.
fn compare_walked(
    snapshot: &Snapshot,
    (rows, named): (&[FileRow], Option<&BTreeSet<RepoPath>>),
    walk: source::Walk,
    limits: &Limits,
    verified: &Verified,
    cancel: &CancelToken,
) -> Result<Comparison, IndexError> {
    let root = Root::new(&snapshot.meta().root);
    let store = snapshot.identity();
    let mut known: FxHashMap<&str, &FileRow> =
        rows.iter().map(|row| (row.path.as_str(), row)).collect();
    let mut touched = Vec::new();
    let mut same = Vec::new();
    let mut seen: Vec<_> =
        walk.ignore_files.into_iter().map(|file| (file.path, file.stamp)).collect();
    seen.reserve(walk.files.len());
    for file in walk.files {
        let row = known.remove(file.path.as_str());
        if file.skipped.is_none() && !row.is_some_and(|row| is_never_read(row, &file)) {
            seen.push((file.path.clone(), file.stamp));
        }
        let Some(row) = row else {
            touched.push(file);
            continue;
        };
        if named.is_some() && is_tried_again(row) {
            touched.push(file);
            continue;
        }
        let is_named = named.is_some_and(|paths| paths.contains(&file.path));
        let is_evidence = !is_named || file.skipped.is_some() || is_never_read(row, &file);
        if is_evidence && (looks_the_same(row, &file) || verified.knows(store, &file)) {
            continue;
        }
        if cancel.is_cancelled() {
            return Err(IndexError::Cancelled { root: root.path().to_path_buf() });
        }
        if !has_the_same_bytes(
            &root,
            row,
            &file,
            grammar::is_project_file(file.path.file_name()),
            limits,
        ) {
            touched.push(file);
        } else if row.hash != 0 {
            // The reason for skipping the others may be gone without a change of the file.
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
    let changes = ChangeSet::Some { touched, gone, compared: Some(store) };
    Ok(Comparison { changes, seen, rules: walk.rules })
}

/// Records new stamps of many unchanged files in the store: a copied or chowned repository is read
/// once, not by every process.
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

/// What of these changes the store lacks: the one comparison of a run, under the lock of the
/// writer, with the store as it is then. Files that were compared with this very generation differ
/// from it. Where another run has published meanwhile, it may have applied them: they are compared
/// by contents, as where they were named. A file that was gone and is back counts as touched: it
/// may have come back while this run waited for another process.
pub(crate) fn still_missing(
    changes: &ChangeSet,
    snapshot: &Snapshot,
    limits: &Limits,
    cancel: &CancelToken,
) -> Result<ChangeSet, IndexError> {
    let (touched, gone, compared) = match changes {
        ChangeSet::Everything { forced: true } => return Ok(changes.clone()),
        ChangeSet::Everything { forced: false } => {
            let found = freshness(snapshot, limits, &Verified::new(), cancel)?;
            return Ok(if found.is_empty() { found } else { changes.clone() });
        }
        ChangeSet::Some { .. }
            if snapshot.meta().fingerprint != fingerprint_at(snapshot, limits) =>
        {
            return Ok(ChangeSet::Everything { forced: false });
        }
        ChangeSet::Some { touched, gone, compared } => (touched, gone, *compared),
    };
    let removed: BTreeSet<RepoPath> = gone.iter().cloned().collect();
    let mut back = match removed.is_empty() {
        true => Vec::new(),
        false => source::walk_below(&snapshot.meta().root, &removed, cancel)?.files,
    };
    // Below a directory that replaces a file, files have changes of their own.
    back.retain(|file| removed.contains(&file.path));
    let returned: BTreeSet<&RepoPath> = back.iter().map(|file| &file.path).collect();
    let mut still_gone = Vec::with_capacity(gone.len());
    for path in gone.iter().filter(|path| !returned.contains(path)) {
        if snapshot.file_at(path.as_str())?.is_some() {
            still_gone.push(path.clone());
        }
    }
    let (store, root) = (snapshot.identity(), Root::new(&snapshot.meta().root));
    let is_held = |row: &FileRow, file: &WalkedFile| {
        let is_project_file = grammar::is_project_file(file.path.file_name());
        !is_tried_again(row)
            && match row.hash {
                0 => looks_the_same(row, file),
                _ => has_the_same_bytes(&root, row, file, is_project_file, limits),
            }
    };
    let is_compared = compared == Some(store);
    let mut still_touched = if is_compared { touched.clone() } else { Vec::new() };
    for file in touched.iter().filter(|_| !is_compared).chain(&back) {
        if snapshot.file_at(file.path.as_str())?.is_none_or(|row| !is_held(&row, file)) {
            still_touched.push(file.clone());
        }
    }
    Ok(ChangeSet::Some { touched: still_touched, gone: still_gone, compared: Some(store) })
}

/// True if a full build is cheaper than an incremental update: a row costs several times as much as
/// in bulk, which makes half of the bytes the threshold.
pub(crate) fn is_most_of(touched: &[WalkedFile], snapshot: &Snapshot) -> Result<bool, IndexError> {
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

/// True if the file of this row is indexed again although it has not changed, once a run names it.
fn is_tried_again(row: &FileRow) -> bool {
    row.skipped.is_some_and(SkipReason::is_of_time)
}

/// True if the stamp of a file matches the store.
fn looks_the_same(row: &FileRow, file: &WalkedFile) -> bool {
    match (file.skipped, row.skipped) {
        // A file that became a symlink while it was read has a row of a regular file.
        (Some(reason), _) => {
            let is_same = row.skipped == Some(reason) && row.language.is_none();
            is_same && row.size == file.stamp.size && leads_to_the_same(row, file)
        }
        // The reason for skipping it may be gone without a change of the file.
        (None, Some(reason)) if reason.is_of_entry() || reason == SkipReason::Vanished => false,
        // Only the size of a file that is never read is stored.
        (None, _) if is_never_read(row, file) => row.size == file.stamp.size,
        (None, _) => file.stamp.suggests_same_bytes(&row.stamp()),
    }
}

/// True unless a file is a link that was made anew: where a link leads cannot be changed in place.
fn leads_to_the_same(row: &FileRow, file: &WalkedFile) -> bool {
    let made = |stamp: &FileStamp| (stamp.modified_ns, stamp.inode);
    file.skipped != Some(SkipReason::Symlink) || made(&file.stamp) == made(&row.stamp())
}

/// True if neither a language nor module resolution claims the name, so the contents do not matter.
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
    if file.skipped.is_some() {
        return looks_the_same(row, file);
    }
    // Another size means a change, without reading.
    if row.hash != 0 && row.size != file.stamp.size {
        return false;
    }
    // The language of some files depends on their neighbours, which may have changed.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::apply::{Run, apply};
    use cograph_store::Store;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A reader during a write may see half of it, under the time of the whole.
    #[test]
    fn a_named_file_is_compared_by_contents_where_its_stamp_is_that_of_the_store() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let root = place.path().join("repository");
        fs::create_dir(&root).expect("the directory is new");
        let location = Location::at(root.clone(), place.path().join("store"));
        let (cancel, limits) = (CancelToken::new(), Limits::default());
        let built = |changes: &ChangeSet| {
            apply(&location, changes, PATIENCE, &Run::quiet(limits, &cancel)).expect("it is built");
            let store = Arc::new(Store::open_newest(&location).expect("there is a store"));
            store.snapshot(&cancel).expect("nothing cancels")
        };
        fs::write(root.join("a.py"), "x = 1\n").expect("the directory exists");
        let half = built(&ChangeSet::Everything { forced: true });
        let row = half.file_at("a.py").expect("it can be read").expect("it exists");
        fs::write(root.join("a.py"), "y = 1\n").expect("the directory exists");
        let until = Instant::now() + PATIENCE;
        let whole = loop {
            let walk = source::walk(&root, 1, &cancel).expect("the root can be read");
            let file = walk.files.into_iter().next().expect("there is one file");
            if file.stamp.changed_ns != UNTRUSTED_TIME {
                break file;
            }
            assert!(Instant::now() < until, "its time is never evidence");
        };
        store::restamp(&location, &half, &[(row.key, whole.stamp)]).expect("nothing else writes");
        let verified = Verified::new();
        let named = BTreeSet::from([whole.path]);
        let half = Arc::new(Store::open_newest(&location).expect("there is a store"));
        let half = half.snapshot(&cancel).expect("nothing cancels");
        let all = compare(&half, &limits, &verified, &cancel).expect("the root can be read");
        assert!(all.changes.is_empty(), "no stamp differs");
        let found = compare_some(&named, &half, &limits, &verified, &cancel);
        let changes = found.expect("the root can be read").changes;
        assert_eq!(changes.len(), Some(1), "the text is another one");
        drop(half);
        let now = built(&changes).file_at("a.py").expect("it can be read").expect("it exists");
        assert_ne!(now.hash, row.hash);
    }
}
