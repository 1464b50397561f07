//! `scripts/fleet` on three repositories, one of which is broken: what is done, what is not done
//! again, and what failed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

struct Fleet(TempDir);

impl Fleet {
    /// Two repositories with a commit each, and a directory that is none.
    fn new() -> Self {
        let fleet = Self(tempfile::tempdir().expect("a temporary directory"));
        for name in ["one", "two", "broken"] {
            fs::create_dir(fleet.path(name)).expect("created");
        }
        for name in ["one", "two"] {
            fleet.git(name, &["init", "-q", "-b", "main"]);
            fleet.commit(name, "def f():\n    return g()\n\n\ndef g():\n    return 1\n");
        }
        let lines = ["one", "two", "broken"]
            .map(|name| format!("team/{name}\t{}\tmain\n", fleet.path(name).display()));
        fs::write(fleet.path("list"), format!("# a list\n\n{}", lines.concat())).expect("written");
        fleet
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn git(&self, name: &str, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(self.path(name))
            .status();
        assert!(status.expect("git starts").success(), "{arguments:?}");
    }

    fn commit(&self, name: &str, text: &str) {
        fs::write(self.path(name).join("m.py"), text).expect("written");
        self.git(name, &["add", "-A"]);
        self.git(name, &["commit", "-q", "-m", "a change"]);
    }

    /// Exit code, and the outcome of each line: its first two words.
    fn run(&self, more: &[&str]) -> (Option<i32>, Vec<String>) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/fleet");
        let output = Command::new(script)
            .arg(self.path("list"))
            .arg("--dataset")
            .arg(self.path("dataset"))
            .arg("--publish")
            .arg(self.path("published"))
            .args(["--bin", env!("CARGO_BIN_EXE_cograph")])
            .args(more)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("python3 starts");
        let text = String::from_utf8(output.stdout).expect("it is UTF-8");
        let words = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        let outcomes = lines.len().saturating_sub(1);
        (output.status.code(), lines[..outcomes].to_vec())
    }

    fn tables(&self, name: &str) -> Vec<PathBuf> {
        let Ok(folders) = fs::read_dir(self.path("dataset").join(name)) else { return Vec::new() };
        let files = folders.flat_map(|one| fs::read_dir(one.expect("listed").path()));
        files.flatten().map(|file| file.expect("listed").path()).collect()
    }
}

#[test]
fn a_second_run_does_what_is_missing_and_failures_are_listed() {
    let fleet = Fleet::new();
    let expected = |outcomes: [&str; 3]| {
        let names = ["one", "two", "broken"];
        let lines =
            outcomes.iter().zip(names).map(|(outcome, name)| format!("{outcome} team/{name}"));
        (Some(1), lines.collect::<Vec<_>>())
    };
    assert_eq!(fleet.run(&[]), expected(["done", "done", "failed"]));
    assert_eq!((fleet.tables("symbols").len(), fleet.tables("calls").len()), (2, 2));
    assert!(fleet.path("published/team/one/cograph-1").is_dir());
    let failures = fs::read_to_string(fleet.path("dataset/fleet/failed-0.tsv")).expect("a list");
    let fields: Vec<&str> = failures.split('\t').collect();
    assert_eq!((fields[0], fields[3]), ("team/broken", "fetch"), "{failures}");
    assert!(fields[4].contains("not appear to be a git repository"), "{failures}");

    fleet.commit("two", "def g():\n    return 2\n");
    assert_eq!(fleet.run(&[]), expected(["kept", "done", "failed"]));
    assert_eq!(fleet.tables("symbols").len(), 2);

    fleet.git("broken", &["init", "-q", "-b", "main"]);
    fleet.commit("broken", "def h():\n    pass\n");
    let (code, lines) = fleet.run(&[]);
    assert_eq!((code, &lines[2]), (Some(0), &"done team/broken".to_owned()));
    let failures = fs::read_to_string(fleet.path("dataset/fleet/failed-0.tsv"));
    assert_eq!(failures.expect("a list"), "");
}

#[test]
fn a_repository_that_needs_more_memory_than_is_given_has_failed() {
    let fleet = Fleet::new();
    let (code, lines) = fleet.run(&["--memory", "40"]);
    assert_eq!(code, Some(1));
    assert_eq!(lines[0], "failed team/one");
    assert!(!fleet.path("dataset/fleet/team%2Fone.json").exists());
    assert_eq!(fleet.run(&["--memory", "1000"]).1[..2], ["done team/one", "done team/two"]);
}

#[test]
fn shards_divide_the_list() {
    let fleet = Fleet::new();
    assert_eq!(fleet.run(&["--shard", "0/2"]).1, ["done team/one", "failed team/broken"]);
    assert_eq!(fleet.run(&["--shard", "1/2"]), (Some(0), vec!["done team/two".to_owned()]));
}

#[test]
fn a_list_that_names_a_repository_twice_is_refused() {
    let fleet = Fleet::new();
    fs::write(fleet.path("list"), "a /x main\na /y main\n").expect("written");
    assert_eq!(fleet.run(&[]), (Some(2), Vec::new()));
    assert!(!fleet.path("dataset").exists());
}
