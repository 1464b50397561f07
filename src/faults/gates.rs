//! What tests can have the program do: announce where it is, wait at a gate, print, panic, answer
//! at length. A gate is a FIFO: opening it for reading waits until the test opens it for writing.

use super::Fault;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// Names the defect that is planted.
const FAULT: &str = "COGRAPH_TEST_FAULT";
/// Names the gates: `name:whose=value`, separated by `;`.
const GATES: &str = "COGRAPH_TEST_GATES";

static SETTINGS: OnceLock<Settings> = OnceLock::new();

#[derive(Debug)]
struct Settings {
    fault: Option<Fault>,
    gates: Vec<(String, String)>,
}

/// Takes the settings from the environment. Called once, before anything else is done.
pub(crate) fn read(variable: impl Fn(&str) -> Option<OsString>) {
    let text = |name| variable(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
    let gate = |entry: &str| {
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        (name.to_owned(), value.to_owned())
    };
    let gates = text(GATES).split(';').map(gate).collect();
    // A second reading in one process finds the same environment.
    let _ = SETTINGS.set(Settings { fault: Fault::from_name(&text(FAULT)), gates });
}

/// Whether the defect is planted.
pub(crate) fn planted(fault: Fault) -> bool {
    SETTINGS.get().is_some_and(|settings| settings.fault == Some(fault))
}

/// A call begins, before it looks at any store.
pub(crate) fn call_starts(tool: &str) {
    announce("call", tool);
}

/// A call has its store and is about to work.
pub(crate) fn call_works(tool: &str) {
    if gate("print", tool).is_some() {
        print();
    }
    assert!(gate("panic", tool).is_none(), "told to panic");
    pass("work", tool);
}

/// A store is about to be opened.
pub(crate) fn store_opens(root: &Path) {
    pass("open", &name(root));
}

/// A store is about to be closed.
pub(crate) fn store_closes(root: &Path) {
    pass("close", &name(root));
}

/// A run that makes an index has begun.
pub(crate) fn index_runs(root: &Path) {
    pass("index", &name(root));
}

/// The answer of a tool, as long as the test wants it.
pub(crate) fn answer(tool: &str, text: String) -> String {
    let bytes = gate("answer", tool).and_then(|bytes| bytes.parse().ok());
    bytes.map_or(text, |bytes| "x".repeat(bytes))
}

/// The deadline of a tool, as early as the test wants it.
pub(crate) fn deadline(tool: &str, set: Duration) -> Duration {
    let milliseconds = gate("deadline", tool).and_then(|milliseconds| milliseconds.parse().ok());
    milliseconds.map_or(set, Duration::from_millis)
}

/// The user at the other end of a socket, as the test wants it.
pub(crate) fn peer_uid(uid: u32) -> u32 {
    gate("peer-uid", "").and_then(|uid| uid.parse().ok()).unwrap_or(uid)
}

/// The version that the program says it is.
pub(crate) fn version() -> &'static str {
    gate("version", "").unwrap_or(env!("CARGO_PKG_VERSION"))
}

/// The sources that the program says it was built from.
pub(crate) fn build() -> &'static str {
    gate("build", "").unwrap_or(env!("COGRAPH_BUILD"))
}

/// Whether a tool only reads: all do, but for one that the test wants to be taken for another kind.
pub(crate) fn only_reads(tool: &str) -> bool {
    gate("changes", tool).is_none()
}

/// The wall clock, put forward by the number of seconds in the file that the test names, or back.
pub(crate) fn wall_clock() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds: i64 = gate("clock", "").and_then(read_number).unwrap_or(0);
    let shift = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { now.saturating_sub(shift) } else { now + shift }
}

#[expect(clippy::disallowed_methods, reason = "a file of the test's, not of a repository")]
fn read_number(path: &str) -> Option<i64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn name(root: &Path) -> String {
    root.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn gate(kind: &str, whose: &str) -> Option<&'static str> {
    let settings = SETTINGS.get()?;
    let wanted = format!("{kind}:{whose}");
    settings.gates.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str())
}

/// Announces that the program is there, and waits at the gate if there is one.
fn pass(kind: &str, whose: &str) {
    announce(kind, whose);
    if let Some(path) = gate(kind, whose).filter(|path| !path.is_empty()) {
        // A gate that is not there holds nobody.
        let _ = File::open(path);
    }
}

fn announce(kind: &str, whose: &str) {
    if gate("announce", "").is_some() {
        // A test that does not listen misses it.
        let _ = std::io::stderr().write_all(format!("@{kind} {whose}\n").as_bytes());
    }
}

/// As a library would that does not know where it runs: through the standard library, and straight
/// to the descriptor.
#[expect(clippy::print_stdout, reason = "this is the noise that the test is about")]
fn print() {
    println!("printed by a handler");
    let _ = rustix::io::write(rustix::stdio::stdout(), b"written to the descriptor\n");
}
