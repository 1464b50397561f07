//! Whatever a change has left in the store, the next run indexes what is on disk: rows of any
//! length, a store that can be read only in part, and failures that come to an end.

use std::fs;
use std::sync::Arc;

use cograph::index::{IndexError, JobState, Jobs, Run};
use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Snapshot, Store};
use rusqlite::{Connection, params};

use super::setup::{Repository, limits, symbols};

const BEFORE: &[u8] = b"def before():\n    pass\n";
const AFTER: &[u8] = b"def after():\n    pass\n";

fn newest(repository: &Repository) -> Snapshot {
    let store = Store::open_newest(&repository.location()).expect("there is a store");
    Arc::new(store).snapshot(&CancelToken::new()).expect("it can be read")
}

/// Changes the newest store behind the back of the program.
fn meddle(repository: &Repository, statement: &str, value: &[u8]) {
    let path = newest(repository).store().path().to_path_buf();
    let connection = Connection::open(path).expect("it is a database");
    connection.execute(statement, params![value]).expect(statement);
}

#[test]
fn rows_of_any_length_are_read_and_replaced() {
    let repository = Repository::with(&[("a.py", BEFORE), ("b.py", BEFORE)]);
    let cancel = CancelToken::new();
    let run = Run::quiet(limits(), &cancel);
    drop(repository.indexed(&run).expect("a first index"));
    for megabytes in [1, 3, 97] {
        let row = vec![1; (megabytes << 20) + 1];
        meddle(&repository, "INSERT OR REPLACE INTO known VALUES (1, ?1)", &row);
        let kept = newest(&repository).known().expect("the program reads what it has written");
        assert!(kept.iter().any(|(_, data)| data.len() == row.len()), "{megabytes} MB");
        drop(kept);
        let text = format!("def after_{megabytes}():\n    pass\n");
        repository.write("a.py", text.as_bytes());
        let store = repository.indexed(&run).expect("the change is indexed");
        assert_eq!(symbols(&store, "a.py"), [format!("after_{megabytes}")]);
    }
}

#[test]
fn a_store_that_is_readable_only_in_part_is_built_anew() {
    let damages = [
        ("UPDATE file SET path = ?1 WHERE path = 'a.py'", "compared with the files"),
        ("UPDATE file SET hash = 7, skipped = 7 WHERE ?1 IS NOT NULL", "with quarantined files"),
        ("INSERT OR REPLACE INTO known VALUES (1, ?1)", "with changes"),
        ("INSERT INTO known SELECT id + 5000, ?1 FROM file", "with changes of no file"),
    ];
    for (statement, what) in damages {
        let repository = Repository::with(&[("a.py", BEFORE), ("b.py", BEFORE)]);
        let cancel = CancelToken::new();
        let run = Run::quiet(limits(), &cancel);
        drop(repository.indexed(&run).expect("a first index"));
        meddle(&repository, statement, b"\xff\xfe");
        repository.write("a.py", AFTER);
        let store = repository.indexed(&run).expect(what);
        assert_eq!(symbols(&store, "a.py"), ["after"], "{what}");
        assert_eq!(symbols(&store, "b.py"), ["before"], "{what}");
    }
}

#[test]
fn a_failure_is_remembered_and_not_repeated_at_once() {
    let repository = Repository::with(&[("a.py", BEFORE)]);
    let cache = repository.sibling("cache");
    fs::write(&cache, "a file where the cache should be").expect("written");
    let location = Location::new(&cache, &repository.root());
    let jobs = Jobs::new(limits(), None);
    let far = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let failed = |state| match state {
        JobState::Done(Err(error)) => error,
        other => panic!("{other:?}"),
    };
    let first = failed(jobs.start(&location).wait(far));
    assert!(matches!(*first, IndexError::Store(_)), "{first}");
    let failure = jobs.failure(&location).expect("it is remembered");
    assert!(failure.pause_left().is_zero(), "its reason may be gone");
    let second = failed(jobs.start(&location).wait(far));
    assert!(!Arc::ptr_eq(&first, &second), "another run was started");
    let failure = jobs.failure(&location).expect("it is remembered");
    assert!(failure.pause_left().as_secs() < 1 && !failure.pause_left().is_zero());
    let third = failed(jobs.start(&location).state());
    assert!(Arc::ptr_eq(&second, &third), "no run was started within the pause");
    let other = Repository::with(&[("a.py", BEFORE)]);
    let done = jobs.start(&other.location()).wait(far);
    assert!(matches!(done, JobState::Done(Ok(_))), "another repository has no pause: {done:?}");
}
