//! Another checkout of a repository starts from a copy of its store: it is the store that a fresh
//! build gives, whatever its donor is doing, and neither sees the edits of the other.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cograph::index::{Run, refresh};
use cograph::model::graph::UNTRUSTED_TIME;
use cograph::store::{Identity, Location, Store, lineage};
use cograph::{index::ChangeSet, source};
use rusqlite::Connection;

use super::edits::{Random, Tree};
use super::{PATIENCE, Repository, dump, limits, residents};

/// Another checkout: a directory next to the root of the repository.
struct Checkout {
    repository: Repository,
    root: PathBuf,
}

impl Checkout {
    /// The repository of these files, indexed, and a checkout with a change, without an index.
    fn new(files: usize) -> (Self, Identity) {
        let repository = Repository::new();
        for number in 0..files {
            write(&repository.root(), number, &format!("def f{number}():\n    return {number}\n"));
        }
        let first = repository.refresh().identity();
        let root = copied(&repository, "other");
        write(&root, 3, "from m4 import f4\n\ndef f3():\n    return f4()\n");
        (Self { repository, root }, first)
    }

    fn location(&self, cache: &str) -> Location {
        Location::new(&self.repository.directory.path().join(cache), &self.root)
    }

    fn refresh(&self, cache: &str) -> Identity {
        let residents = residents();
        let run =
            Run { residents: Some(&residents), ..Run::quiet(limits(2), &self.repository.cancel) };
        refresh(&self.location(cache), PATIENCE, &run)
            .expect("nothing stands in the way")
            .identity()
    }

    /// Asserts that the store is that of a fresh build.
    fn holds_what_a_fresh_build_gives(&self, what: &str) {
        let run = Run::quiet(limits(1), &self.repository.cancel);
        let all = ChangeSet::Everything { forced: true };
        cograph::index::apply(&self.location("fresh"), &all, PATIENCE, &run).expect("built");
        let [kept, fresh] = ["kept", "fresh"].map(|cache| rows(&self.location(cache)));
        assert!(kept == fresh, "{what}: {}", super::difference(&kept, &fresh));
        let store = Arc::new(Store::open_newest(&self.location("kept")).expect("a store"));
        assert_eq!(store.meta().root, self.root, "{what}");
        store.verify(&self.repository.cancel).expect("its pages are whole");
    }
}

fn rows(location: &Location) -> String {
    dump::of(Store::open_newest(location).expect("a store").path())
}

fn write(root: &Path, number: usize, text: &str) {
    fs::write(root.join(format!("m{number}.py")), text).expect("written");
}

/// A directory with copies of the files at the root of the repository.
fn copied(repository: &Repository, name: &str) -> PathBuf {
    let to = repository.directory.path().join(name);
    fs::create_dir(&to).expect("created");
    for entry in fs::read_dir(repository.root()).expect("it exists") {
        let path = entry.expect("it can be listed").path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().expect("it has a name"))).expect("copied");
        }
    }
    fs::canonicalize(to).expect("it exists")
}

/// The file of the repository's store.
fn donor(repository: &Repository) -> PathBuf {
    Store::open_newest(&repository.location("kept")).expect("a store").path().to_path_buf()
}

#[test]
fn a_checkout_starts_from_the_store_of_another() {
    let (checkout, first) = Checkout::new(12);
    let adopted = checkout.refresh("kept");
    assert_eq!(lineage(adopted.uid), lineage(first.uid), "the change was applied in place");
    assert_ne!(adopted.uid, first.uid, "answers that are kept by generation are not shared");
    checkout.holds_what_a_fresh_build_gives("a copy");
    // Its own changes, and those of the donor.
    write(&checkout.root, 5, "def f5():\n    return 'five'\n");
    assert_eq!(checkout.refresh("kept").uid, adopted.uid);
    checkout.holds_what_a_fresh_build_gives("after a change");
    write(&checkout.repository.root(), 3, "def f3():\n    return 'donor'\n");
    assert_eq!(checkout.repository.refresh().identity().uid, first.uid);
    assert_eq!(checkout.repository.dump("kept"), checkout.repository.fresh());
    checkout.holds_what_a_fresh_build_gives("after a change of its donor");
}

#[test]
fn edits_of_one_checkout_never_show_in_another() {
    let mut copies = 0;
    for seed in 0..6 {
        let repository = Repository::new();
        let mut trees = vec![Tree::new(repository.root(), seed)];
        trees[0].grow();
        repository.refresh();
        let root = repository.directory.path().join("other");
        fs::create_dir(&root).expect("created");
        let checkout = Checkout { root: fs::canonicalize(root).expect("it exists"), repository };
        trees.push(trees[0].copied_to(checkout.root.clone(), seed + 1_000));
        let donor = checkout.repository.location("kept");
        let uid = checkout.refresh("kept").uid;
        let first = Store::open_newest(&donor).expect("a store").identity().uid;
        // Few files are indexed quickly anyway.
        copies += u32::from(lineage(uid) == lineage(first));
        let mut random = Random::new(seed);
        for edit in 0..12 {
            let own = random.below(2);
            let what = trees[own].edit();
            let places = [donor.clone(), checkout.location("kept")];
            let before = [&places[0], &places[1]].map(rows);
            if own == 0 {
                checkout.repository.refresh();
            } else {
                checkout.refresh("kept");
            }
            let what = format!("seed {seed}, edit {edit} of {own} ({what})");
            assert_eq!(rows(&places[1 - own]), before[1 - own], "{what}");
            let fresh = checkout.repository.fresh();
            let kept = checkout.repository.dump("kept");
            assert!(kept == fresh, "{what}: {}", super::difference(&kept, &fresh));
            checkout.holds_what_a_fresh_build_gives(&what);
        }
    }
    assert!(copies >= 3, "{copies} of 6 checkouts start from a copy");
}

#[test]
fn a_store_is_copied_while_it_is_written_and_read() {
    let (checkout, first) = Checkout::new(12);
    let path = donor(&checkout.repository);
    // A question in the state before a change: the log of changes cannot be carried over.
    let store = Arc::new(Store::open_newest(&checkout.repository.location("kept")).expect("one"));
    let question = store.snapshot(&checkout.repository.cancel).expect("it can be read");
    write(&checkout.repository.root(), 7, "from m8 import f8\n\ndef f7():\n    return f8()\n");
    write(&checkout.root, 7, "from m8 import f8\n\ndef f7():\n    return f8()\n");
    checkout.repository.refresh();
    let read = checkout.refresh("kept");
    assert_eq!(lineage(read.uid), lineage(first.uid), "it is read in an earlier state");
    checkout.holds_what_a_fresh_build_gives("its donor is read");
    drop(question);

    // A change that has not ended.
    fs::remove_dir_all(checkout.location("kept").directory()).expect("it exists");
    let lock = checkout.repository.location("kept").lock(PATIENCE).expect("nobody writes");
    let writer = Connection::open(&path).expect("it can be changed");
    writer
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM site; DELETE FROM symbol;")
        .expect("changed");
    let written = checkout.refresh("kept");
    assert_eq!(lineage(written.uid), lineage(first.uid), "it is being written");
    checkout.holds_what_a_fresh_build_gives("its donor is being written");
    writer.execute_batch("ROLLBACK").expect("it can be undone");
    drop(lock);
    assert_eq!(checkout.repository.dump("kept"), checkout.repository.fresh());
}

#[test]
fn a_damaged_store_is_not_copied() {
    const PAGE: u64 = 4096;
    let (checkout, first) = Checkout::new(40);
    let path = donor(&checkout.repository);
    let segment = path.with_extension("db-facts");
    let (whole, known) = (bytes(&path), bytes(&segment));
    let refresh = |what: &str| {
        let directory = checkout.location("kept").directory().to_path_buf();
        let _ = fs::remove_dir_all(directory);
        let identity = checkout.refresh("kept");
        checkout.holds_what_a_fresh_build_gives(what);
        lineage(identity.uid) == lineage(first.uid)
    };
    let damage = |at: u64, length: usize| {
        let file = fs::OpenOptions::new().write(true).open(&path).expect("it exists");
        file.write_all_at(&vec![0xa5; length], at).expect("there is room");
    };
    assert!(refresh("whole"));
    let pages = whole.len() as u64 / PAGE;
    for page in (0..pages).step_by(5) {
        damage(page * PAGE, if page == 0 { 100 } else { PAGE as usize });
        assert!(!refresh(&format!("page {page} of {pages}")));
        fs::write(&path, &whole).expect("it exists");
    }
    for length in [0, 50, PAGE as usize, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).expect("it exists");
        assert!(!refresh(&format!("cut to {length} bytes")));
    }
    fs::write(&path, &whole).expect("it exists");
    for length in [0, 40, known.len() / 2] {
        // It is shared with the copies: another file, not the same one with another content.
        fs::remove_file(&segment).expect("it exists");
        fs::write(&segment, &known[..length]).expect("written");
        assert!(!refresh(&format!("a segment of {length} bytes")));
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).expect("it exists")
}

#[test]
fn a_store_of_another_schema_or_by_other_rules_is_not_copied() {
    for change in [
        "PRAGMA user_version = 1",
        "UPDATE meta SET fingerprint = fingerprint + 1",
        "DROP TABLE meta",
    ] {
        let (checkout, first) = Checkout::new(12);
        let store = Connection::open(donor(&checkout.repository)).expect("it can be changed");
        store.execute_batch(change).expect("changed");
        drop(store);
        assert_ne!(lineage(checkout.refresh("kept").uid), lineage(first.uid), "{change}");
        checkout.holds_what_a_fresh_build_gives(change);
    }
}

#[test]
fn times_of_files_of_another_checkout_are_no_evidence() {
    let (checkout, first) = Checkout::new(12);
    write(&checkout.root, 5, "def g5():\n    return 5\n");
    let file = loop {
        let walk = source::walk(&checkout.root, 1, &checkout.repository.cancel);
        let files = walk.expect("the root can be read").files;
        let file = files.into_iter().find(|file| file.path.as_str() == "m5.py").expect("it exists");
        if file.stamp.changed_ns != UNTRUSTED_TIME {
            break file.stamp;
        }
    };
    let store = Connection::open(donor(&checkout.repository)).expect("it can be changed");
    let of_donor: i64 = store
        .query_row("SELECT size FROM file WHERE path = 'm5.py'", [], |row| row.get(0))
        .expect("there is one");
    assert_eq!(of_donor, i64::try_from(file.size).expect("small"), "as long as that of the donor");
    store
        .execute(
            "UPDATE file SET modified_ns = ?1, changed_ns = ?2, inode = ?3 WHERE path = 'm5.py'",
            [file.modified_ns, file.changed_ns, i64::from_ne_bytes(file.inode.to_ne_bytes())],
        )
        .expect("changed");
    drop(store);
    assert_eq!(lineage(checkout.refresh("kept").uid), lineage(first.uid));
    checkout.holds_what_a_fresh_build_gives("a file with the stamp of another");
}

#[test]
fn of_several_stores_the_nearest_is_copied_and_less_is_required_of_the_same_repository() {
    let (checkout, first) = Checkout::new(20);
    // Ten files of twenty are others.
    let other = |root: &Path| {
        for number in 0..10 {
            write(root, number, &format!("def other_name_of_{number}():\n    pass\n"));
        }
    };
    other(&checkout.root);
    let is_copy = || {
        let _ = fs::remove_dir_all(checkout.location("kept").directory());
        lineage(checkout.refresh("kept").uid) == lineage(first.uid)
    };
    assert!(!is_copy(), "half of the files are others");
    let link = |root: &Path, name: &str| {
        let git = checkout.repository.root().join(".git/worktrees").join(name);
        fs::create_dir_all(&git).expect("created");
        fs::write(git.join("commondir"), "../..\n").expect("written");
        fs::write(root.join(".git"), format!("gitdir: {}\n", git.display())).expect("written");
    };
    link(&checkout.root, "other");
    assert!(is_copy(), "it is a work tree of the same repository");
    checkout.holds_what_a_fresh_build_gives("a work tree");
    let uid = Store::open_newest(&checkout.location("kept")).expect("a store").identity().uid;
    // Known to both donors, and nearer to the second.
    let third = copied(&checkout.repository, "third");
    other(&third);
    link(&third, "third");
    let third = Checkout { root: third, repository: checkout.repository };
    let path = donor(&third.repository);
    fs::remove_file(path.with_extension("db-facts")).expect("it exists");
    let copy = third.refresh("kept").uid;
    assert_eq!(lineage(copy), lineage(uid), "the first has nothing to start from");
    third.holds_what_a_fresh_build_gives("the nearest");
}
