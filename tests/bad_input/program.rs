//! The program itself: exit codes, and readers that go away.

use super::setup::{Repository, program, stderr, stdout};

#[test]
fn a_module_whose_file_cannot_be_read_costs_itself() {
    let lib: &[u8] =
        b"mod linked;\nmod binary;\npub use linked::Left;\npub use binary::deep::Right;\n\
          fn f() -> Left { g() }\nfn g() {}\n";
    let repository = Repository::with(&[
        ("Cargo.toml", b"[package]\nname = \"x\"\n"),
        ("src/lib.rs", lib),
        ("src/binary.rs", b"a\0b"),
    ]);
    std::os::unix::fs::symlink("nowhere.rs", repository.root().join("src/linked.rs"))
        .expect("linked");
    let output = program(&repository.sibling("cache"))
        .args(["sql", "SELECT name, verdict FROM refs WHERE kind = 'call'"])
        .current_dir(repository.root())
        .output()
        .expect("the program starts");
    assert!(
        output.status.success() && stdout(&output).contains("g | resolved"),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let repository = Repository::new();
    for arguments in [
        &["indx"][..],
        &["index", "--nope"],
        &["index", "a", "b"],
        &["export"],
        &[],
        &["completions", "nosuch"],
    ] {
        let output = program(&repository.sibling("cache"))
            .args(arguments)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
    let output = program(&repository.sibling("cache"))
        .args(["index", "--log-level", "=="])
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn settings_that_are_no_numbers_are_named() {
    let repository = Repository::new();
    let output = program(&repository.sibling("cache"))
        .arg("index")
        .arg(repository.root())
        .env("COGRAPH_THREADS", "many")
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("COGRAPH_THREADS") && stderr(&output).contains("many"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn no_place_for_the_cache_is_an_error_that_says_what_to_set() {
    let repository = Repository::new();
    let output = program(&repository.sibling("cache"))
        .arg("index")
        .arg(repository.root())
        .env_remove("COGRAPH_CACHE_DIR")
        .env_remove("HOME")
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("COGRAPH_CACHE_DIR"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_has_left_ends_the_program_quietly() {
    let repository = Repository::with(&[("a.py", b"def a():\n    a()\n")]);
    let root = repository.root().display().to_string();
    for arguments in [&["completions", "bash"][..], &["index", "--json", &root], &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = program(&repository.sibling("cache"))
            .args(arguments)
            .stdout(writer)
            .output()
            .expect("the program starts");
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(0), String::new()),
            "{arguments:?}"
        );
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let repository = Repository::new();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("the device that is always full");
    let output = program(&repository.sibling("cache"))
        .args(["completions", "bash"])
        .stdout(full)
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("cannot write the output"), "{}", stderr(&output));
}

#[test]
fn help_and_version_are_results() {
    let repository = Repository::new();
    for argument in ["--help", "--version"] {
        let output = program(&repository.sibling("cache"))
            .arg(argument)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("cograph") && output.stderr.is_empty());
    }
    let output = program(&repository.sibling("cache"))
        .args(["completions", "bash"])
        .output()
        .expect("the program starts");
    assert!(stdout(&output).contains("_cograph()"), "{}", stdout(&output));
}
