//! Files that were left out because they are slow, and wait for another attempt of this process: a
//! few at a time, so that a change never waits for all of them.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::apply::{Run, apply, newest};
use crate::outcome::{IndexError, Outcome};
use crate::state::change_set::ChangeSet;
use cograph_model::SkipReason;
use cograph_model::cancel::CancelToken;
use cograph_model::graph::FileStamp;
use cograph_source::WalkedFile;
use cograph_store::{FileRow, Location, Snapshot, StoreError};
use std::time::Duration;

/// Files of one run.
pub const FILES_PER_RUN: usize = 8;

/// Waiting files of all repositories.
#[derive(Debug, Default)]
pub(super) struct SlowFiles(FxHashMap<Location, VecDeque<WalkedFile>>);

impl SlowFiles {
    /// True if the files of this repository were listed before.
    pub(super) fn knows(&self, location: &Location) -> bool {
        self.0.contains_key(location)
    }

    /// Forgets the files of a repository, so that they are listed again.
    pub(super) fn forget(&mut self, location: &Location) {
        self.0.remove(location);
    }

    /// Lists the files of a repository.
    pub(super) fn list(&mut self, location: &Location, files: Vec<WalkedFile>) {
        self.0.insert(location.clone(), files.into());
    }

    /// Takes the files of the next run; none if there are no more.
    pub(super) fn take(&mut self, location: &Location) -> Option<ChangeSet> {
        let waiting = self.0.get_mut(location)?;
        let count = waiting.len().min(FILES_PER_RUN);
        let touched: Vec<WalkedFile> = waiting.drain(..count).collect();
        (!touched.is_empty()).then(|| again(touched))
    }
}

/// Files to try again, without a comparison.
fn again(touched: Vec<WalkedFile>) -> ChangeSet {
    ChangeSet::Some { touched, gone: Vec::new(), compared: None }
}

/// Files of a store that are left out for these reasons, sorted by path.
pub(super) fn left_out(
    snapshot: &Snapshot,
    reasons: &[SkipReason],
) -> Result<Vec<WalkedFile>, StoreError> {
    let mut files = Vec::new();
    for reason in reasons {
        let walked = |row: FileRow| {
            let stamp = FileStamp { hash: 0, ..row.stamp() };
            WalkedFile { stamp, path: row.path, skipped: None }
        };
        files.extend(snapshot.files_skipped(*reason)?.into_iter().map(walked));
    }
    files.sort_by(|a: &WalkedFile, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Files that the newest full build has deferred.
pub(super) fn deferred(location: &Location, run: &Run) -> Result<Vec<WalkedFile>, IndexError> {
    match newest(location, &Run::quiet(run.limits, &CancelToken::new()))? {
        Some(snapshot) => Ok(left_out(&snapshot, &[SkipReason::Deferred])?),
        None => Ok(Vec::new()),
    }
}

/// Indexes the files of an up-to-date store that were left out because they are slow; none if there
/// are none.
pub fn retry_slow(
    location: &Location,
    patience: Duration,
    run: &Run,
) -> Result<Option<Outcome>, IndexError> {
    let Some(snapshot) = newest(location, run)? else { return Ok(None) };
    let reasons = [SkipReason::Deferred, SkipReason::TooSlow];
    let touched = left_out(&snapshot, &reasons)?;
    drop(snapshot);
    if touched.is_empty() {
        return Ok(None);
    }
    apply(location, &again(touched), patience, run).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::RepoPath;
    use std::path::Path;

    #[test]
    fn each_file_is_tried_once_and_few_at_a_time() {
        let place = Location::new(Path::new("/cache"), Path::new("/repository"));
        let file = |number| WalkedFile {
            path: RepoPath::new(&format!("{number:02}")).expect("well formed"),
            stamp: FileStamp::default(),
            skipped: None,
        };
        let mut slow = SlowFiles::default();
        assert!(!slow.knows(&place) && slow.take(&place).is_none());
        slow.list(&place, (0..11).map(file).collect());
        let mut taken = || slow.take(&place).and_then(|changes| changes.len());
        assert_eq!((taken(), taken(), taken()), (Some(8), Some(3), None));
        assert!(slow.knows(&place));
    }
}
