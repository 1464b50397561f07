//! Cycles of imports, complexity, and `check`, as commands on small repositories.

mod check;
mod complexity;
mod cycles;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Repository in a directory of its own, with a cache of its own.
struct Small {
    root: TempDir,
    cache: TempDir,
}

impl Small {
    fn of(files: &[(&str, &str)]) -> Self {
        let directory = || tempfile::tempdir().expect("a temporary directory");
        let small = Self { root: directory(), cache: directory() };
        files.iter().for_each(|(path, text)| small.write(path, text));
        small
    }

    fn root(&self) -> &Path {
        self.root.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).expect("it is there")
    }

    fn run_with(&self, cache: &Path, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cograph"))
            .current_dir(self.root())
            .args(arguments)
            .args(["--root", "."])
            .env("COGRAPH_CACHE_DIR", cache)
            .output()
            .expect("the program starts")
    }

    /// Exit code, output and messages.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let done = self.run_with(self.cache.path(), arguments);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        (done.status.code().expect("no signal"), text(done.stdout), text(done.stderr))
    }

    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (code, output, messages) = self.run(arguments);
        let value = serde_json::from_str(&output);
        (code, value.unwrap_or_else(|error| panic!("{error}: {output}{messages}")))
    }

    /// Rows of a statement.
    fn rows(&self, statement: &str) -> Vec<Vec<Value>> {
        let (_, answer) = self.json(&["sql", "--json", statement]);
        serde_json::from_value(answer["rows"].clone()).expect("rows")
    }
}
