//! What a query knows after runs of this process and of others.

use std::fs;
use std::path::Path;

use super::*;
use crate::index::{Run, apply};
use crate::store::Store;

const PATIENCE: Duration = Duration::from_secs(60);

/// Writes a file, and applies the change as a process does.
fn changed(location: &Location, name: &str, text: &str) -> Outcome {
    fs::write(location.root().join(name), text).expect("the directory is there");
    let cancel = CancelToken::new();
    let run = Run::quiet(config::Limits::default(), &cancel);
    index::refresh(location, PATIENCE, &run).expect("nothing stands in the way")
}

fn snapshot(location: &Location) -> Snapshot {
    let store = Arc::new(Store::open_newest(location).expect("there is a store"));
    store.snapshot(&CancelToken::new()).expect("nobody cancels")
}

/// The generation that is known to reflect every file outside of the reports.
fn known(watches: &Watches, location: &Location) -> Option<Identity> {
    watches.kept.with(location, |repository| repository.known.map(|(store, _)| store)).flatten()
}

fn asked(watches: &Watches, location: &Location) -> ChangeSet {
    let (limits, verified) = (config::Limits::default(), Verified::new());
    let snapshot = snapshot(location);
    let found = watches.freshness(location, &snapshot, &limits, &verified, &CancelToken::new());
    found.expect("the root can be read").0
}

fn watched(top: &Path) -> (Location, Watches) {
    let root = top.join("repository");
    fs::create_dir(&root).expect("the directory is new");
    let location = Location::at(root, top.join("store"));
    let cancel = CancelToken::new();
    fs::write(location.root().join("a.py"), "x = 1\n").expect("the directory is there");
    let run = Run::quiet(config::Limits::default(), &cancel);
    let everything = ChangeSet::Everything { forced: false };
    apply(&location, &everything, PATIENCE, &run).expect("nothing stands in the way");
    let watches = Watches::new();
    let until = Instant::now() + PATIENCE;
    while known(&watches, &location).is_none() {
        assert!(asked(&watches, &location).is_empty() && Instant::now() < until);
        std::thread::yield_now();
    }
    (location, watches)
}

#[test]
fn a_run_upon_what_another_process_published_says_nothing_of_all_files() {
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let (location, watches) = watched(place.path());
    let first = known(&watches, &location).expect("it was waited for");
    let own = changed(&location, "own.py", "y = 1\n");
    watches.run_finished(&location, &own, Instant::now());
    assert_eq!(known(&watches, &location), Some(own.identity()));
    assert_ne!(own.identity(), first);

    // Not reported to this process: another one has read some files before.
    changed(&location, "other.py", "z = 1\n");
    let next = changed(&location, "own.py", "y = 2\n");
    watches.run_finished(&location, &next, Instant::now());
    assert_eq!(known(&watches, &location), Some(own.identity()));
    assert!(asked(&watches, &location).is_empty());
    assert_eq!(known(&watches, &location), Some(next.identity()), "all files were looked at");
}
