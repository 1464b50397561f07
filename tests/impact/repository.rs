//! Repository made with git in a temporary directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(super) struct GitRepository {
    directory: TempDir,
}

impl GitRepository {
    pub(super) fn new() -> Self {
        let repository = Self { directory: TempDir::new().expect("a temporary directory") };
        fs::create_dir(repository.root()).expect("created");
        repository.git(&["init", "-q", "-b", "main", "."]);
        repository
    }

    /// A clone of another one.
    pub(super) fn clone_of(other: &Self, options: &[&str]) -> Self {
        let repository = Self { directory: TempDir::new().expect("a temporary directory") };
        let (from, to) = (format!("file://{}", other.root().display()), repository.root());
        let to = to.to_str().expect("UTF-8");
        git(other.directory.path(), &[&["clone", "-q"], options, &[&from, to]].concat());
        repository
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().join("repository")
    }

    pub(super) fn sibling(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    pub(super) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Exit code and standard output, or the error.
    pub(super) fn ask(&self, arguments: &[&str]) -> (Option<i32>, String) {
        self.ask_in(&self.root(), arguments, "")
    }

    pub(super) fn ask_in(
        &self,
        directory: &Path,
        arguments: &[&str],
        input: &str,
    ) -> (Option<i32>, String) {
        self.run(self.command(directory, arguments), input)
    }

    /// The same in a place without the program `git`.
    pub(super) fn ask_without_git(&self, arguments: &[&str], input: &str) -> (Option<i32>, String) {
        let mut command = self.command(&self.root(), arguments);
        command.env("PATH", self.directory.path().join("nothing"));
        self.run(command, input)
    }

    fn command(&self, directory: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .current_dir(directory)
            .args(arguments)
            .env("COGRAPH_CACHE_DIR", self.directory.path().join("cache"))
            .env_remove("CLAUDE_PROJECT_DIR")
            .envs(SETTINGS);
        command
    }

    fn run(&self, mut command: Command, input: &str) -> (Option<i32>, String) {
        let file = self.directory.path().join("input");
        fs::write(&file, input).expect("written");
        command.stdin(Stdio::from(fs::File::open(&file).expect("it exists")));
        let output = command.output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        (output.status.code(), if out.is_empty() { error } else { out })
    }

    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let (_, text) = self.ask(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Name and class of each test, best first.
    pub(super) fn tests(&self, arguments: &[&str]) -> Vec<String> {
        let answer = self.json(arguments);
        let tests = answer["tests"].as_array().expect("a list").iter();
        tests
            .map(|test| {
                format!("{} {}", test["name"].as_str().expect("a name"), word(test, "class"))
            })
            .collect()
    }

    /// Kind of change and name of each changed symbol.
    pub(super) fn changed(&self, arguments: &[&str]) -> Vec<String> {
        let answer = self.json(arguments);
        let changed = answer["changed"].as_array().expect("a list").iter();
        changed.map(|one| format!("{} {}", word(one, "change"), word(one, "name"))).collect()
    }
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// No configuration of the user or the system.
const SETTINGS: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "author"),
    ("GIT_AUTHOR_EMAIL", "author@example.org"),
    ("GIT_COMMITTER_NAME", "author"),
    ("GIT_COMMITTER_EMAIL", "author@example.org"),
];

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(directory)
        .args(["-c", "core.autocrlf=false", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .envs(SETTINGS)
        .output()
        .expect("there is git");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
