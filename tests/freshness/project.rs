//! A repository that changes, with the runs that follow it, for the tests of freshness.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cograph::config::Limits;
use cograph::index::{ChangeSet, Outcome, Run, Verified, freshness, refresh};
use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Snapshot, Store};
use tempfile::TempDir;

use super::PATIENCE;

pub(super) struct Project {
    pub(super) directory: TempDir,
    pub(super) location: Location,
    pub(super) cancel: CancelToken,
}

impl Project {
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let top = fs::canonicalize(directory.path()).expect("it exists");
        fs::create_dir(top.join("root")).expect("created");
        let project = Self {
            directory,
            location: Location::new(&top.join("cache"), &top.join("root")),
            cancel: CancelToken::new(),
        };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.location.root().join(path)
    }

    /// Writes a file, and gives it a time that is long past, so that the clock of the file system
    /// plays no part.
    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(&path, text).expect("written");
        set_age(&path, 3_600);
    }

    pub(super) fn run(&self) -> Run<'_> {
        Run::quiet(limits(), &self.cancel)
    }

    pub(super) fn refresh(&self) -> Outcome {
        refresh(&self.location, PATIENCE, &self.run()).expect("nothing stands in the way")
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let store = Arc::new(Store::open_newest(&self.location).expect("there is a store"));
        store.snapshot(&self.cancel).expect("it can be read")
    }

    /// What has changed since the store was written.
    pub(super) fn changes(&self) -> ChangeSet {
        freshness(&self.snapshot(), &limits(), &Verified::new(), &self.cancel)
            .expect("the root can be read")
    }

    pub(super) fn changed_paths(&self) -> Vec<String> {
        self.changes().paths().map(ToString::to_string).collect()
    }
}

pub(super) fn limits() -> Limits {
    Limits { threads: 2, ..Limits::default() }
}

/// Sets the time of last modification to a number of seconds ago.
pub(super) fn set_age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    fs::File::options()
        .write(true)
        .open(path)
        .and_then(|file| file.set_modified(time))
        .expect("it is ours");
}

pub(super) fn generation(outcome: &Outcome) -> (bool, u64) {
    match outcome {
        Outcome::Unchanged { identity } => (false, identity.generation),
        Outcome::Published { published, .. } => (true, published.identity.generation),
    }
}
