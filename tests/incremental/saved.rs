//! What is known of a repository is kept in a segment and in its store: another process takes
//! changes in by it, and if the segment is damaged, or of another store, it is as if it were not
//! there.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use cograph::index::Outcome;
use cograph::store::{Identity, Store};

use super::Repository;

fn write(repository: &Repository, path: &str, text: &str) {
    let path = repository.root().join(path);
    fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
    fs::write(path, text).expect("written");
}

/// A repository with a store, and the state of it.
fn built() -> (Repository, Identity) {
    let repository = Repository::new();
    write(&repository, "a.py", "from b import g\n\ndef f():\n    return g()\n");
    write(&repository, "b.py", "def g():\n    return 1\n");
    write(&repository, "package.json", "{\"name\": \"left\"}\n");
    write(&repository, "c.ts", "import {d} from './d';\nexport const c = () => d();\n");
    let built = refreshed(&repository);
    (repository, built)
}

fn refreshed(repository: &Repository) -> Identity {
    match repository.refresh() {
        Outcome::Published { published, .. } => published.identity,
        Outcome::Unchanged { .. } => panic!("something has changed"),
    }
}

fn holds_what_a_fresh_build_gives(repository: &Repository) {
    let (kept, fresh) = (repository.dump("kept"), repository.fresh());
    assert!(kept == fresh, "{}", super::difference(&kept, &fresh));
}

/// The files of the repository's stores whose names end like this.
fn files(repository: &Repository, ending: &str) -> Vec<PathBuf> {
    let directory = fs::read_dir(repository.location("kept").directory()).expect("it exists");
    let paths = directory.map(|entry| entry.expect("it can be listed").path());
    paths.filter(|path| path.to_str().is_some_and(|path| path.ends_with(ending))).collect()
}

fn sibling(repository: &Repository) -> PathBuf {
    let mut found = files(repository, "-facts");
    assert_eq!(found.len(), 1, "one file beside one store: {found:?}");
    found.remove(0)
}

#[test]
fn another_process_takes_changes_in_where_they_are() {
    let (mut repository, first) = built();
    for (number, text) in
        ["def g(x):\n    return x\n", "def h():\n    return 2\n", "def g():\n    return h\n"]
            .into_iter()
            .enumerate()
    {
        repository.forget();
        write(&repository, "b.py", text);
        write(&repository, &format!("new{number}.py"), "import b\n\nb.g()\n");
        let identity = refreshed(&repository);
        assert_eq!(
            (identity.uid, identity.generation),
            (first.uid, first.generation + 1 + number as u64)
        );
        holds_what_a_fresh_build_gives(&repository);
    }
}

type Damage = fn(&mut Vec<u8>);

#[test]
fn damage_costs_a_whole_build_and_nothing_else() {
    let damages: [(&str, Damage); 6] = [
        ("nothing left", Vec::clear),
        ("an end cut off", |bytes| bytes.truncate(bytes.len() - 1)),
        ("a head cut off", |bytes| drop(bytes.drain(..8))),
        ("another state", |bytes| bytes[24] ^= 1),
        ("another length", |bytes| bytes[32] ^= 1),
        ("another piece", |bytes| *bytes.last_mut().expect("there are some") ^= 1),
    ];
    for (number, (what, damage)) in damages.into_iter().enumerate() {
        let (mut repository, first) = built();
        let path = sibling(&repository);
        let mut bytes = fs::read(&path).expect("it exists");
        damage(&mut bytes);
        fs::write(&path, bytes).expect("written");
        repository.forget();
        write(&repository, "b.py", &format!("def g():\n    return {number} + 2\n"));
        let second = refreshed(&repository);
        assert_ne!(second.uid, first.uid, "{what}: it is built anew");
        assert!(second.generation > first.generation, "{what}: generations never go back");
        holds_what_a_fresh_build_gives(&repository);
        repository.forget();
        write(&repository, "b.py", "def g():\n    return 'after'\n");
        assert_eq!(
            refreshed(&repository).uid,
            second.uid,
            "{what}: what the new build knows is kept"
        );
        holds_what_a_fresh_build_gives(&repository);
    }
}

#[test]
fn every_byte_of_it_may_be_another_one() {
    const PLACES: usize = 16;
    for part in 0..PLACES {
        let (mut other, _) = built();
        let path = sibling(&other);
        let mut bytes = fs::read(&path).expect("it exists");
        let place = bytes.len() * part / PLACES;
        bytes[place] = bytes[place].wrapping_add(97);
        fs::write(&path, bytes).expect("written");
        other.forget();
        write(&other, "b.py", "def g():\n    return g\n");
        refreshed(&other);
        holds_what_a_fresh_build_gives(&other);
    }
}

#[test]
fn what_is_known_goes_back_with_the_store() {
    let (mut repository, first) = built();
    let store = files(&repository, ".db").remove(0);
    let before = fs::read(&store).expect("it exists");
    write(&repository, "b.py", "def g():\n    return 'lost'\n");
    refreshed(&repository);
    // As after a loss of power: the change of the store has not come to the disk.
    repository.forget();
    for log in files(&repository, "-wal").into_iter().chain(files(&repository, "-shm")) {
        fs::remove_file(log).expect("nobody has it open");
    }
    fs::write(&store, before).expect("written");
    for text in ["def g():\n    return 'other'\n", "def h():\n    return 'last'\n"] {
        write(&repository, "b.py", text);
        assert_eq!(
            refreshed(&repository).uid,
            first.uid,
            "what is known of the state before serves"
        );
        holds_what_a_fresh_build_gives(&repository);
        repository.forget();
    }
}

#[test]
fn many_changes_do_not_let_it_grow_without_bound() {
    let (mut repository, first) = built();
    let long = (0..400)
        .map(|number| format!("def g{number}():\n    return g{number}\n"))
        .collect::<String>();
    let segment = fs::read(sibling(&repository)).expect("it exists");
    let mut rows = Vec::new();
    for turn in 0..12 {
        write(&repository, "b.py", &format!("{long}last = {turn}\n"));
        assert_eq!(refreshed(&repository).uid, first.uid);
        let store = Store::open_newest(&repository.location("kept")).expect("a store");
        let known = Arc::new(store)
            .snapshot(&repository.cancel)
            .and_then(|snapshot| snapshot.known())
            .expect("it can be read");
        rows.push(known.iter().map(|(key, data)| (*key, data.len())).collect::<Vec<_>>());
    }
    assert_eq!(
        fs::read(sibling(&repository)).expect("it exists"),
        segment,
        "a segment never changes"
    );
    let bytes = |rows: &[(u32, usize)]| rows.iter().map(|(_, bytes)| bytes).sum::<usize>();
    assert!(
        !rows[0].is_empty() && bytes(&rows[11]) < 2 * bytes(&rows[1]),
        "a file has one row, however often it changes: {rows:?}"
    );
    repository.forget();
    write(&repository, "a.py", "from b import g7\n\ng7()\n");
    assert_eq!(refreshed(&repository).uid, first.uid);
    holds_what_a_fresh_build_gives(&repository);
    fs::remove_file(repository.root().join("b.py")).expect("it exists");
    refreshed(&repository);
    let store = Store::open_newest(&repository.location("kept")).expect("a store");
    let known = Arc::new(store)
        .snapshot(&repository.cancel)
        .and_then(|snapshot| snapshot.known())
        .expect("it can be read");
    assert!(
        bytes(&known.iter().map(|(key, data)| (*key, data.len())).collect::<Vec<_>>())
            < bytes(&rows[1]) / 2,
        "a row goes with its file"
    );
    holds_what_a_fresh_build_gives(&repository);
}
