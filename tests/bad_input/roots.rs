//! Roots that are none: the program ends with code 3, the path in its message and a hint.

use std::fs;
use std::path::Path;

use super::setup::{
    Repository, file, give_away, limits, program, program_with_few_rights, set_mode, stderr, stdout,
};
use cograph::index::{IndexError, Run};
use cograph::model::cancel::CancelToken;

#[test]
fn a_missing_path_is_named() {
    let repository = Repository::new();
    for arguments in [vec!["index"], vec!["export", "calls", "--root"]] {
        let missing = repository.sibling("missing");
        let output = program(&repository.sibling("cache"))
            .args(&arguments)
            .arg(&missing)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        let message = stderr(&output);
        assert!(
            message.contains("no such directory")
                && message.contains(&missing.display().to_string()),
            "{message}"
        );
        assert!(message.contains("hint:"), "{message}");
        assert_eq!(stdout(&output), "");
    }
    assert!(
        !repository.sibling("cache").exists(),
        "nothing is made for a repository that does not exist"
    );
}

#[test]
fn a_file_as_root_is_named() {
    let repository = Repository::with(&[("a.py", b"")]);
    let output = program(&repository.sibling("cache"))
        .arg("index")
        .arg(repository.root().join("a.py"))
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("not a directory") && stderr(&output).contains("a.py"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_empty_directory_is_an_index_of_nothing() {
    let repository = Repository::new();
    let output = program(&repository.sibling("cache"))
        .arg("index")
        .arg("--json")
        .arg(repository.root())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("\"files\":0,\"indexed\":0"), "{}", stdout(&output));
}

#[test]
fn a_root_without_read_permission_is_named() {
    let repository = Repository::with(&[("a.py", b"")]);
    let cache = repository.sibling("cache");
    fs::create_dir(&cache).expect("created");
    give_away(&cache);
    set_mode(&repository.root(), 0o711);
    let output = program_with_few_rights(&repository.sibling("."), &cache)
        .arg("index")
        .arg(repository.root())
        .output()
        .expect("the program starts");
    set_mode(&repository.root(), 0o755);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    let message = stderr(&output);
    assert!(
        message.contains("cannot list the directory")
            && message.contains(&repository.root().display().to_string()),
        "{message}"
    );
}

#[test]
fn unreadable_files_and_directories_are_recorded() {
    let repository = Repository::with(&[
        ("open.py", b"def f():\n    pass\n"),
        ("shut.py", b"x = 1\n"),
        ("closed/a.py", b"x = 1\n"),
    ]);
    let cache = repository.sibling("cache");
    fs::create_dir(&cache).expect("created");
    give_away(&cache);
    set_mode(&repository.root().join("shut.py"), 0o000);
    set_mode(&repository.root().join("closed"), 0o000);
    let output = program_with_few_rights(&repository.sibling("."), &cache)
        .args(["index", "--json"])
        .arg(repository.root())
        .output()
        .expect("the program starts");
    set_mode(&repository.root().join("closed"), 0o755);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let numbers = stdout(&output);
    assert!(
        numbers.contains("\"files\":3,\"indexed\":1") && numbers.contains("\"unreadable\":2"),
        "{numbers}"
    );
}

#[test]
fn a_root_that_goes_away_during_the_run_is_an_error_or_recorded() {
    let repository = Repository::with(&[("a.py", b"x = 1\n")]);
    let root = repository.root();
    let cancel = CancelToken::new();
    let removed = |_| drop(fs::remove_dir_all(&root));
    // The first progress comes before the walk.
    let error = repository
        .indexed(&Run { progress: &removed, ..Run::quiet(limits(), &cancel) })
        .expect_err("it is gone");
    assert!(
        matches!(&error, IndexError::Source(error) if error.to_string().contains("root")),
        "{error}"
    );

    let repository = Repository::with(&[("a.py", b"x = 1\n")]);
    let root = repository.root();
    let removed_late = |progress: cograph::index::Progress| {
        if progress.total > 0 {
            drop(fs::remove_dir_all(&root));
        }
    };
    let store = repository
        .indexed(&Run { progress: &removed_late, ..Run::quiet(limits(), &cancel) })
        .expect("the walk was done");
    assert!(file(&store, "a.py").skipped.is_some());
}

#[test]
fn a_home_directory_is_not_indexed_unasked() {
    let repository = Repository::with(&[
        ("a.py", b"def a():\n    pass\n"),
        ("project/b.py", b"def b():\n    pass\n"),
    ]);
    let home = repository.root();
    let run = |directory: &str, words: &[&str]| {
        let mut command = program(&repository.sibling("cache"));
        command
            .args(words)
            .current_dir(home.join(directory))
            .env("HOME", &home)
            .output()
            .expect("the program starts")
    };
    for words in [&["index"][..], &["search", "a"], &["status"]] {
        let output = run("", words);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {}", stdout(&output));
        let message = stderr(&output);
        assert!(message.contains("is a home directory") && message.contains("--root"), "{message}");
    }
    assert!(!repository.sibling("cache").exists(), "nothing was indexed");
    assert!(stdout(&run("", &["doctor"])).contains("is a home directory"));
    assert!(
        stdout(&run("project", &["search", "b"])).contains("function b"),
        "a directory in it is meant"
    );
    assert!(
        stdout(&run("", &["search", "a", "--root", "."])).contains("function a"),
        "who names it means it"
    );
    assert!(
        stdout(&run("", &["search", "a"])).contains("function a"),
        "so has who indexed it before"
    );
}

#[test]
fn a_home_directory_that_is_a_repository_is_indexed() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n"), (".git/HEAD", b"")]);
    let home = repository.root();
    let mut command = program(&repository.sibling("cache"));
    let output = command
        .args(["search", "a"])
        .current_dir(&home)
        .env("HOME", &home)
        .output()
        .expect("the program starts");
    assert!(stdout(&output).contains("function a"), "{}", stderr(&output));
}

#[test]
fn the_root_of_the_file_system_is_not_indexed_unasked() {
    let repository = Repository::new();
    let mut command = program(&repository.sibling("cache"));
    let output = command
        .arg("index")
        .current_dir("/")
        .env("HOME", repository.root())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(stderr(&output).contains("is the root of the file system"), "{}", stderr(&output));
}

#[test]
fn a_relative_directory_for_the_cache_is_refused() {
    let repository = Repository::with(&[("a.py", b"")]);
    let output = program(Path::new("cache"))
        .arg("index")
        .current_dir(repository.root())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("COGRAPH_CACHE_DIR") && stderr(&output).contains("absolute"),
        "{}",
        stderr(&output)
    );
    assert!(!repository.root().join("cache").exists());
}
