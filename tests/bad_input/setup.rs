//! What the tests of bad input share: a repository in a temporary directory, what its store says,
//! and the program run as a child.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use cograph::config::Limits;
use cograph::index::{IndexError, Run, refresh};
use cograph::model::SkipReason;
use cograph::model::cancel::CancelToken;
use cograph::store::{FileRow, Location, Snapshot, Store, SymbolRow};
use tempfile::TempDir;

/// A small generator of numbers, so that a failure can be repeated.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// One of `0..bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).expect("it is below a length")
    }
}

/// A directory with files in it, gone at the end of the test.
pub(crate) struct Repository {
    directory: TempDir,
}

impl Repository {
    /// An empty one. Other users may look into it: some tests run the program as one.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))
            .expect("it is ours");
        fs::create_dir(directory.path().join("root")).expect("it is empty");
        Self { directory }
    }

    /// One with these files.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let repository = Self::new();
        for (path, bytes) in files {
            repository.write(path, bytes);
        }
        repository
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.directory.path()).expect("it exists").join("root")
    }

    /// A path next to the root, which the index does not read.
    pub(crate) fn sibling(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.directory.path()).expect("it exists").join(name)
    }

    /// What the program prints for a query in the repository.
    pub(crate) fn asked(&self, arguments: &[&str]) -> String {
        let output = program(&self.sibling("cache"))
            .args(arguments)
            .current_dir(self.root())
            .output()
            .expect("the program starts");
        stdout(&output)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, bytes).expect("written");
    }

    /// Where its store is, if it has one.
    pub(crate) fn location(&self) -> Location {
        Location::new(&self.sibling("cache"), &self.root())
    }

    /// Brings the store up to date; gives a snapshot of it.
    pub(crate) fn indexed(&self, run: &Run) -> Result<Snapshot, IndexError> {
        let location = self.location();
        refresh(&location, Duration::from_secs(60), run)?;
        Ok(Arc::new(Store::open_newest(&location)?).snapshot(&CancelToken::new())?)
    }

    /// The same with the usual limits.
    pub(crate) fn store(&self) -> Snapshot {
        self.indexed(&Run::quiet(limits(), &CancelToken::new())).expect("the root can be read")
    }
}

/// The usual limits, and more than one thread also on a small machine.
pub(crate) fn limits() -> Limits {
    Limits { threads: 2, ..Limits::default() }
}

/// The row of a file.
pub(crate) fn file(store: &Snapshot, path: &str) -> FileRow {
    let found = store.file_at(path).expect("the store can be read");
    found.unwrap_or_else(|| panic!("{path} is accounted for; there are {:?}", paths(store)))
}

pub(crate) fn paths(store: &Snapshot) -> Vec<String> {
    store.paths().expect("the store can be read").into_iter().map(|(_, path)| path).collect()
}

/// The named symbols of a file that was indexed.
pub(crate) fn symbol_rows(store: &Snapshot, path: &str) -> Vec<SymbolRow> {
    let file = file(store, path);
    assert_eq!(file.skipped, None, "{path} is indexed");
    let mut symbols = store.symbols_of(&file).expect("the store can be read");
    symbols.retain(|symbol| !symbol.name_text.is_empty());
    symbols
}

/// Their names.
pub(crate) fn symbols(store: &Snapshot, path: &str) -> Vec<String> {
    symbol_rows(store, path).into_iter().map(|symbol| symbol.name_text.into()).collect()
}

/// Why a file was skipped.
pub(crate) fn skipped(store: &Snapshot, path: &str) -> SkipReason {
    let file = file(store, path);
    assert_eq!((file.symbols, file.sites), (0, 0), "{path} has no facts");
    file.skipped.expect("it was skipped")
}

/// The user of [`program_with_few_rights`] where that is not the one who runs the tests.
const NO_USER: u32 = 65_534;

/// Gives a directory to the user of [`program_with_few_rights`].
pub(crate) fn give_away(directory: &Path) {
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(directory, Some(NO_USER), Some(NO_USER))
            .expect("the superuser may");
    }
}

/// The program, with a cache of its own and no other settings from this environment.
pub(crate) fn program(cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    without_settings(&mut command).env("COGRAPH_CACHE_DIR", cache);
    command
}

/// The program as a user that permissions bind: the tests may run as root, whom they do not.
/// `place` is a directory that everybody can enter; the program is put there, because the build's
/// own directory may be private.
pub(crate) fn program_with_few_rights(place: &Path, cache: &Path) -> Command {
    let program = place.join("cograph");
    if !program.exists() {
        fs::copy(env!("CARGO_BIN_EXE_cograph"), &program).expect("the program can be copied");
    }
    let mut command = Command::new(program);
    without_settings(&mut command).env("COGRAPH_CACHE_DIR", cache).current_dir(place);
    if rustix::process::geteuid().is_root() {
        command.uid(NO_USER).gid(NO_USER);
    }
    command
}

fn without_settings(command: &mut Command) -> &mut Command {
    for name in [
        "XDG_CACHE_HOME",
        "CLAUDE_PROJECT_DIR",
        "COGRAPH_FILE_LIMIT",
        "COGRAPH_LINE_LIMIT",
        "COGRAPH_THREADS",
    ] {
        command.env_remove(name);
    }
    command
}

/// Gives a directory or file to the user of [`program_with_few_rights`], or takes all rights away.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}
