//! The cache directory: read-only, full, or with files in it that are no stores. Whatever happens,
//! the store that was there before is still there, and a file that is none of ours is left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Store};

use super::setup::{Repository, program, program_with_few_rights, set_mode, stderr, stdout};

/// An indexed repository: the directory of its stores, and its store.
fn indexed(repository: &Repository) -> (PathBuf, PathBuf) {
    let output = program(&repository.sibling("cache"))
        .arg("index")
        .arg(repository.root())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let location = Location::new(&repository.sibling("cache"), &repository.root());
    let newest =
        *location.generations().expect("it is a directory").first().expect("there is a store");
    (location.directory().to_path_buf(), location.generation_path(newest))
}

/// Gives all users the right to read a directory's files, and none the right to write.
fn open_for_reading(directory: &Path) {
    let cache = directory.parent().expect("it is in the cache");
    set_mode(cache, 0o755);
    fs::read_dir(directory)
        .expect("it is ours")
        .flatten()
        .for_each(|file| set_mode(&file.path(), 0o644));
    set_mode(directory, 0o555);
}

fn source(number: usize) -> String {
    (0..number)
        .map(|number| {
            format!(
                "def function_{number}():\n    return 'a text that needs room in the \
                               store {number}'\n\n"
            )
        })
        .collect()
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    let cache = repository.sibling("cache");
    fs::create_dir(&cache).expect("created");
    set_mode(&cache, 0o555);
    let output = program_with_few_rights(&repository.sibling("."), &cache)
        .arg("index")
        .arg(repository.root())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    let message = stderr(&output);
    assert!(
        message.contains(&cache.display().to_string()) && message.contains("COGRAPH_CACHE_DIR"),
        "{message}"
    );
    assert_eq!(fs::read_dir(&cache).expect("it is ours").count(), 0);
}

#[test]
fn a_cache_that_cannot_be_written_is_read_with_what_its_stores_are_shared_by_and_without() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    let (directory, store) = indexed(&repository);
    for is_alone in [false, true] {
        if is_alone {
            for ending in ["db-wal", "db-shm"] {
                fs::remove_file(store.with_extension(ending)).expect("the index has left it there");
            }
        }
        open_for_reading(&directory);
        for question in ["a", "b"] {
            let output =
                program_with_few_rights(&repository.sibling("."), &repository.sibling("cache"))
                    .args(["search", question, "--root"])
                    .arg(repository.root())
                    .output()
                    .expect("the program starts");
            let answer = stdout(&output);
            assert!(answer.contains("· up to date"), "{is_alone}: {answer}{}", stderr(&output));
            assert_eq!(answer.contains("function a()"), question == "a", "{answer}");
        }
        assert_eq!(store.with_extension("db-shm").exists(), !is_alone, "nothing can be made there");
        set_mode(&directory, 0o755);
    }
    // A finished query leaves no lock that blocks a writer.
    repository.write("a.py", b"def b():\n    pass\n");
    indexed(&repository);
}

#[test]
fn an_index_that_cannot_be_renewed_is_not_exported() {
    let repository = Repository::with(&[("a.py", b"def a():\n    a()\n")]);
    let (directory, _) = indexed(&repository);
    open_for_reading(&directory);
    let export = || {
        let arguments = ["export", "calls", "--root"];
        let mut program =
            program_with_few_rights(&repository.sibling("."), &repository.sibling("cache"));
        program.args(arguments).arg(repository.root()).output().expect("the program starts")
    };
    let output = export();
    assert_eq!(
        (output.status.code(), stdout(&output).lines().count()),
        (Some(0), 1),
        "{}",
        stderr(&output)
    );
    repository.write("a.py", b"def b():\n    b()\n");
    let output = export();
    set_mode(&directory, 0o755);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(3), ""),
        "{}",
        stderr(&output)
    );
    let message = stderr(&output);
    assert!(message.contains("1 file not indexed") && message.contains("hint:"), "{message}");
}

/// The permissions of everything at and below a place.
fn modes(place: &Path) -> Vec<(PathBuf, u32)> {
    let found = fs::symlink_metadata(place).expect("it exists");
    let mut found_below = vec![(place.to_path_buf(), found.permissions().mode() & 0o777)];
    if found.is_dir() {
        fs::read_dir(place)
            .expect("readable")
            .flatten()
            .for_each(|entry| found_below.extend(modes(&entry.path())));
    }
    found_below
}

#[test]
fn no_other_user_can_read_the_cache() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    let index = || {
        let script = "umask 0; exec \"$0\" index \"$1\"";
        let output = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_cograph")])
            .arg(repository.root())
            .env("COGRAPH_CACHE_DIR", repository.sibling("cache/of/mine"))
            .output()
            .expect("there is a shell");
        assert!(output.status.success(), "{}", stderr(&output));
    };
    index();
    let found = modes(&repository.sibling("cache"));
    assert!(found.len() >= 6, "{found:?}");
    for (path, mode) in &found {
        assert_eq!(mode & 0o077, 0, "{} has {mode:o}", path.display());
    }
    // One that was made for all to read is closed when it is written the next time.
    let directory = Location::new(&repository.sibling("cache/of/mine"), &repository.root())
        .directory()
        .to_path_buf();
    set_mode(&directory, 0o755);
    repository.write("a.py", b"def b():\n    pass\n");
    index();
    assert_eq!(fs::metadata(&directory).expect("it exists").permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_cache_that_any_user_may_write_is_refused() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    let cache = repository.sibling("cache");
    fs::create_dir(&cache).expect("created");
    set_mode(&cache, 0o777);
    let run = |words: &[&str]| {
        program(&cache)
            .args(words)
            .current_dir(repository.root())
            .output()
            .expect("the program starts")
    };
    let output = run(&["index"]);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("any user may write it (mode 777)")
            && stderr(&output).contains("hint:")
    );
    assert!(stdout(&run(&["doctor"])).contains("any user may write it"));
    assert_eq!(fs::read_dir(&cache).expect("it is ours").count(), 0);
    // The sticky bit keeps users from replacing each other's files.
    set_mode(&cache, 0o1777);
    assert!(run(&["index"]).status.success());
}

#[test]
fn a_cache_of_another_user_is_refused() {
    const OTHER_USER: u32 = 54_321;
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    let (directory, _) = indexed(&repository);
    // Only the superuser can change owners. For other users the superuser's directories serve as
    // those of another user.
    let (cache, owner) = match std::os::unix::fs::chown(&directory, Some(OTHER_USER), None) {
        Ok(()) => (repository.sibling("cache"), OTHER_USER),
        Err(_) => (PathBuf::from("/"), 0),
    };
    for words in [["search", "a"], ["index", "--force"]] {
        let mut command = program(&cache);
        let output = command
            .args(words)
            .current_dir(repository.root())
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
        let message = stderr(&output);
        assert!(
            message.contains(&format!("it belongs to user {owner}")) || owner == 0,
            "{message}"
        );
    }
}

#[test]
fn a_cache_that_is_a_file_is_named() {
    let repository =
        Repository::with(&[("a.py", b"def a():\n    pass\n"), ("../cache", b"not a directory")]);
    let output = program(&repository.sibling("cache"))
        .arg("index")
        .arg(repository.root())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(
        stderr(&output).contains(&repository.sibling("cache").display().to_string()),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    let (directory, store) = indexed(&repository);
    let before = fs::read(&store).expect("it exists");
    repository.write("b.py", source(4_000).as_bytes());
    // No file may grow beyond 256 blocks: writing fails as on a full disk. The signal that comes
    // with it is ignored.
    let script = "trap '' XFSZ; ulimit -f 256; exec \"$0\" index \"$1\"";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_cograph")])
        .arg(repository.root())
        .env("COGRAPH_CACHE_DIR", repository.sibling("cache"))
        .output()
        .expect("there is a shell");
    assert_eq!(
        (output.status.code(), output.status.signal()),
        (Some(3), None),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains(&directory.display().to_string())
            && stderr(&output).contains("hint:"),
        "{}",
        stderr(&output)
    );
    assert!(fs::read(&store).expect("it is still there") == before, "not a byte of it has changed");
    // When there is room again the next run builds it.
    let (_, store) = indexed(&repository);
    assert!(fs::metadata(store).expect("it exists").len() > before.len() as u64);
}

#[test]
fn a_damaged_store_is_built_again() {
    for damage in ["truncated", "garbage", "header", "empty"] {
        let repository = Repository::with(&[("a.py", source(200).as_bytes())]);
        let (_, store) = indexed(&repository);
        let mut bytes = fs::read(&store).expect("it exists");
        match damage {
            "truncated" => bytes.truncate(bytes.len() / 2),
            "garbage" => bytes = b"nothing that was ever a store".to_vec(),
            "header" => bytes[..100].fill(0x5a),
            _ => bytes.clear(),
        }
        fs::write(&store, bytes).expect("written");
        let (_, rebuilt) = indexed(&repository);
        assert_ne!(rebuilt, store, "{damage}: there is a new generation");
        let location = Location::new(&repository.sibling("cache"), &repository.root());
        let whole = Arc::new(Store::open_newest(&location).expect("it can be read"));
        whole.verify(&CancelToken::new()).unwrap_or_else(|error| panic!("{damage}: {error}"));
        assert!(whole.meta().symbols >= 200, "{damage}: {}", whole.meta().symbols);
    }
}

#[test]
fn a_file_of_another_program_is_left_alone() {
    let repository = Repository::with(&[("a.py", source(20).as_bytes())]);
    let (directory, store) = indexed(&repository);
    // Instead of the store, and under names that only resemble ours.
    let foreign = b"SQLite format 3\0 of somebody else";
    fs::write(&store, foreign).expect("written");
    for name in ["notes.txt", "v999-1.db", "backup.db"] {
        fs::write(directory.join(name), foreign).expect("written");
    }
    let (_, rebuilt) = indexed(&repository);
    assert_ne!(rebuilt, store);
    for name in ["notes.txt", "v999-1.db", "backup.db"] {
        assert_eq!(fs::read(directory.join(name)).expect("it is still there"), foreign, "{name}");
    }
}
