//! A repository with checkouts on several machines: each has a cache of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// Directory with checkouts, caches, and published indexes.
pub(super) struct Team {
    place: TempDir,
}

impl Team {
    /// A repository with files that use each other, committed in a checkout named `ci`.
    pub(super) fn new() -> Self {
        let team = Self { place: tempfile::tempdir().expect("a temporary directory") };
        fs::create_dir(team.root("ci")).expect("created");
        team.git("ci", &["init", "-q", "-b", "main"]);
        for number in 0..40 {
            team.write("ci", &format!("shop/m{number}.py"), &module(number));
        }
        team.commit("ci");
        team
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.place.path()).expect("it exists").join(name)
    }

    /// Root of a checkout.
    pub(super) fn root(&self, machine: &str) -> PathBuf {
        self.path(machine)
    }

    /// Directory of the published indexes.
    pub(super) fn published(&self) -> PathBuf {
        self.path("published")
    }

    /// Another checkout of the present commit.
    pub(super) fn clone_to(&self, machine: &str) {
        let output = Command::new("git")
            .args(["clone", "-q", "ci", machine])
            .current_dir(self.path(""))
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{output:?}");
    }

    pub(super) fn write(&self, machine: &str, path: &str, text: &str) {
        let path = self.root(machine).join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    pub(super) fn git(&self, machine: &str, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(self.root(machine))
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    /// Commits everything; returns the commit.
    pub(super) fn commit(&self, machine: &str) -> String {
        self.git(machine, &["add", "-A"]);
        self.git(machine, &["commit", "-q", "-m", "change"]);
        self.git(machine, &["rev-parse", "HEAD"])
    }

    pub(super) fn command(&self, machine: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .current_dir(self.root(machine))
            .args(arguments)
            .env("COGRAPH_CACHE_DIR", self.cache(machine))
            .env_remove("CLAUDE_PROJECT_DIR");
        command
    }

    /// Exit code, output, and messages.
    pub(super) fn run(&self, machine: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        texts(&self.command(machine, arguments).output().expect("the program starts"))
    }

    /// Output of a command that succeeds.
    pub(super) fn done(&self, machine: &str, arguments: &[&str]) -> String {
        let (code, output, messages) = self.run(machine, arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {output}{messages}");
        output
    }

    /// A command that runs.
    pub(super) fn start(&self, machine: &str, arguments: &[&str]) -> Child {
        let mut command = self.command(machine, arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    pub(super) fn publish(&self, machine: &str) -> String {
        let url = self.published();
        self.done(machine, &["publish", url.to_str().expect("a plain path")])
    }

    pub(super) fn pull(&self, machine: &str) -> String {
        let url = self.published();
        self.done(machine, &["pull", url.to_str().expect("a plain path")])
    }

    pub(super) fn cache(&self, machine: &str) -> PathBuf {
        self.path(&format!("cache-{machine}"))
    }

    /// Database of a machine's newest store.
    pub(super) fn store(&self, machine: &str) -> PathBuf {
        let stores = files(&self.cache(machine)).into_iter();
        // A killed process may leave the one before.
        let newest = stores.filter(|path| is_store(path)).max_by_key(|path| generation(path));
        newest.expect("there is a store")
    }

    /// Rows of a machine's store, without keys.
    pub(super) fn rows(&self, machine: &str) -> String {
        crate::incremental::dump::of(&self.store(machine))
    }

    /// Rows of an index that is built anew for the files of a checkout.
    pub(super) fn fresh_rows(&self, machine: &str) -> String {
        let cache = self.cache("fresh");
        // A cache of its own has no store to start from.
        let _ = fs::remove_dir_all(&cache);
        let mut command = self.command(machine, &["index", "--json"]);
        let output = command.env("COGRAPH_CACHE_DIR", cache).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        self.rows("fresh")
    }
}

/// A module that uses the one before.
pub(super) fn module(number: usize) -> String {
    let before = number.saturating_sub(1);
    let mut text = format!("from shop.m{before} import f{before}_0\n");
    for function in 0..20 {
        let head = format!("\n\ndef f{number}_{function}(value):\n");
        let doc = format!("    \"\"\"Adds {function} of {number}.\"\"\"\n");
        let body = format!("    return f{before}_0(value) + {function}\n");
        text.extend([head, doc, body]);
    }
    text
}

fn texts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

pub(super) fn is_store(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with('v') && name.ends_with(".db")
}

fn generation(store: &Path) -> Option<u64> {
    let name = store.file_stem()?.to_str()?;
    name.split_once('-')?.1.parse().ok()
}

/// Files below a directory; none if it does not exist.
pub(super) fn files(directory: &Path) -> Vec<PathBuf> {
    let (mut found, mut pending) = (Vec::new(), vec![directory.to_path_buf()]);
    while let Some(directory) = pending.pop() {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for entry in entries {
            // A temporary file may be gone since.
            let Ok(entry) = entry else { continue };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                _ => found.push(entry.path()),
            }
        }
    }
    found.sort();
    found
}
