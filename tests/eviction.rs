//! What becomes of stores over time: they follow a repository that moves, help another check-out to
//! start, and give way when all together take too much room.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cograph::config::Limits;
use cograph::index::{Outcome, Run, Verified, enforce_quota, freshness, refresh};
use cograph::model::RepoPath;
use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Snapshot, Store, Unindexed, lineage, seed};
use tempfile::TempDir;

use crate::incremental::assert_names_what_exists;

const PATIENCE: Duration = Duration::from_secs(60);

struct Place {
    directory: TempDir,
    cancel: CancelToken,
}

impl Place {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
            cancel: CancelToken::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.directory.path()).expect("it exists").join(name)
    }

    fn location(&self, name: &str) -> Location {
        Location::new(&self.path("cache"), &self.path(name))
    }

    /// A repository of twenty files whose texts have `word` in them.
    fn repository(&self, name: &str, word: &str) -> Location {
        for number in 0..20 {
            self.write(
                &format!("{name}/sub/file_{number}.py"),
                &format!("def {word}_{number}():\n    return {number}\n"),
            );
        }
        self.location(name)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("the place is above it")).expect("created");
        fs::write(&path, text).expect("written");
        let time = SystemTime::now() - Duration::from_secs(3_600);
        fs::File::options()
            .write(true)
            .open(path)
            .and_then(|file| file.set_modified(time))
            .expect("it is ours");
    }

    fn refresh(&self, location: &Location) -> Outcome {
        refresh(location, PATIENCE, &Run::quiet(limits(), &self.cancel))
            .expect("nothing stands in the way")
    }

    fn snapshot(&self, location: &Location) -> Snapshot {
        let store = Arc::new(Store::open_newest(location).expect("there is a store"));
        store.snapshot(&self.cancel).expect("it can be read")
    }

    fn changes(&self, location: &Location) -> Vec<String> {
        let changes =
            freshness(&self.snapshot(location), &limits(), &Verified::new(), &self.cancel);
        changes.expect("the root can be read").paths().map(ToString::to_string).collect()
    }
}

fn limits() -> Limits {
    Limits { threads: 2, ..Limits::default() }
}

fn has_store(location: &Location) -> bool {
    !location.generations().expect("the cache can be read").is_empty()
}

#[test]
fn a_repository_that_moved_keeps_its_store() {
    let place = Place::new();
    let before = place.repository("before", "work");
    let identity = place.refresh(&before).identity();
    fs::rename(place.path("before"), place.path("after")).expect("renamed");
    let after = place.location("after");
    let Outcome::Unchanged { identity: kept } = place.refresh(&after) else {
        panic!("it was built again")
    };
    assert_eq!(lineage(kept.uid), lineage(identity.uid));
    assert_eq!(place.snapshot(&after).meta().root, place.path("after"));
    assert!(!has_store(&before), "nobody can ask for it there");
    assert_names_what_exists(&after);
}

#[test]
fn another_check_out_starts_from_a_copy_and_knows_what_differs() {
    let place = Place::new();
    let first = place.repository("first", "work");
    place.refresh(&first);
    let second = place.repository("second", "work");
    place.write("second/sub/file_3.py", "def something_else():\n    return 3\n");
    place.write("second/sub/new.py", "def new():\n    return 3\n");
    {
        let lock = second.lock(Duration::ZERO).expect("nobody writes");
        let fingerprint = place.snapshot(&first).meta().fingerprint;
        let has = |path: &RepoPath, _: u64| second.root().join(path.as_str()).exists();
        let repository = Unindexed { fingerprint, is_related: &|_| false, has: &has };
        assert!(seed(&lock, &repository).expect("it can be copied"));
    }
    assert_eq!(place.changes(&second), ["sub/file_3.py", "sub/new.py"]);
    assert!(has_store(&first) && place.changes(&first).is_empty(), "the first one is as it was");
    place.refresh(&second);
    assert!(place.changes(&second).is_empty());
    assert_names_what_exists(&second);
}

#[test]
fn a_repository_of_its_own_starts_from_nothing() {
    let place = Place::new();
    place.refresh(&place.repository("first", "work"));
    let other = place.repository("second", "a_much_longer_word");
    assert!(matches!(
        place.refresh(&other),
        Outcome::Published { published, .. } if published.identity.generation == 1
    ));
    let small = place.location("small");
    place.write("small/sub/file_1.py", "def work_1():\n    return 1\n");
    let fingerprint = place.snapshot(&other).meta().fingerprint;
    let repository = Unindexed { fingerprint, is_related: &|_| false, has: &|_, _| false };
    let lock = small.lock(Duration::ZERO).expect("nobody writes");
    assert!(!seed(&lock, &repository).expect("the cache can be read"));
}

#[test]
fn those_that_were_used_longest_ago_make_room() {
    let place = Place::new();
    let names = ["oldest", "written", "older", "kept"];
    let locations = names.map(|name| place.repository(name, name));
    for (number, location) in (0..).zip(&locations) {
        place.refresh(location);
        let used = SystemTime::now() - Duration::from_secs(10_000 - 1_000 * number);
        let lock = fs::File::options()
            .append(true)
            .open(location.directory().join("writer.lock"))
            .expect("it exists");
        lock.set_modified(used).expect("it is ours");
    }
    let [oldest, written, older, kept] = &locations;
    let reader = place.snapshot(oldest);
    let writer = written.lock(Duration::ZERO).expect("nobody writes");
    let all: u64 = locations.iter().map(|location| size(location.directory())).sum();

    assert!(
        enforce_quota(kept, &Limits { cache_bytes: all, ..limits() }).is_empty(),
        "there is room for all"
    );
    let dropped = enforce_quota(kept, &Limits { cache_bytes: all - 1, ..limits() });
    assert_eq!(
        dropped.iter().map(|dropped| dropped.root.clone()).collect::<Vec<_>>(),
        [place.path("oldest")]
    );
    assert_eq!(reader.files().expect("it is still open").len(), 20);
    assert_eq!(locations.each_ref().map(has_store), [false, true, true, true]);

    let dropped = enforce_quota(kept, &Limits { cache_bytes: 1, ..limits() });
    assert_eq!(dropped.len(), 1, "neither the one that is written nor the one in use");
    assert_eq!(locations.each_ref().map(has_store), [false, true, false, true]);
    drop(writer);
    assert!(matches!(place.refresh(older), Outcome::Published { .. }), "it is built again");
}

fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("it exists");
    let entries = entries.map(|entry| entry.expect("it is ours"));
    let lasting = entries.filter(|entry| !entry.file_name().to_string_lossy().ends_with("-shm"));
    lasting.map(|entry| entry.metadata().expect("it is ours").len()).sum()
}

#[test]
fn the_files_of_a_revision_go_with_its_index() {
    let place = Place::new();
    let revision = place.repository("cache/revisions/0123", "old");
    let (kept, other) = (place.repository("kept", "kept"), place.repository("other", "other"));
    for location in [&revision, &kept, &other] {
        place.refresh(location);
    }
    let dropped = enforce_quota(&kept, &Limits { cache_bytes: 1, ..limits() });
    assert_eq!(dropped.len(), 2);
    assert!(!revision.root().exists(), "nobody else has them");
    assert!(other.root().exists() && kept.root().exists());
}
