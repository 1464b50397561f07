//! Test hooks: announce the state of the program, wait at a gate, print, panic, return long
//! answers. A gate is a FIFO: opening it for reading blocks until the test opens it for writing.

use crate::fault::Fault;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// Name of the injected fault.
const FAULT: &str = "COGRAPH_TEST_FAULT";
/// Gates: `name:whose=value`, separated by `;`.
const GATES: &str = "COGRAPH_TEST_GATES";

static SETTINGS: OnceLock<Settings> = OnceLock::new();

#[derive(Debug)]
struct Settings {
    fault: Option<Fault>,
    gates: Vec<(String, String)>,
}

/// Reads the settings from the environment. Called once, before anything else.
pub fn read(variable: impl Fn(&str) -> Option<OsString>) {
    let text = |name| variable(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
    let gate = |entry: &str| {
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        (name.to_owned(), value.to_owned())
    };
    let gates = text(GATES).split(';').map(gate).collect();
    // A second call in one process reads the same environment.
    let _ = SETTINGS.set(Settings { fault: Fault::from_name(&text(FAULT)), gates });
}

/// True if the fault is injected.
pub fn planted(fault: Fault) -> bool {
    SETTINGS.get().is_some_and(|settings| settings.fault == Some(fault))
}

/// A call starts, before it opens a store.
pub fn call_starts(tool: &str) {
    announce("call", tool);
}

/// A call has its store and starts to work.
pub fn call_works(tool: &str) {
    if gate("print", tool).is_some() {
        print();
    }
    assert!(gate("panic", tool).is_none(), "a planted panic");
    pass("work", tool);
}

/// Before a store is opened.
pub fn store_opens(root: &Path) {
    pass("open", &name(root));
}

/// Before a store is closed.
pub fn store_closes(root: &Path) {
    pass("close", &name(root));
}

/// An index run has started.
pub fn index_runs(root: &Path) {
    pass("index", &name(root));
}

/// Returns the answer of a tool, with the length that the test sets.
pub fn answer(tool: &str, text: String) -> String {
    let bytes = gate("answer", tool).and_then(|bytes| bytes.parse().ok());
    bytes.map_or(text, |bytes| "x".repeat(bytes))
}

/// Returns the deadline of a tool, or the earlier one that the test sets.
pub fn deadline(tool: &str, set: Duration) -> Duration {
    let milliseconds = gate("deadline", tool).and_then(|milliseconds| milliseconds.parse().ok());
    milliseconds.map_or(set, Duration::from_millis)
}

/// Returns the uid of a socket's peer, or the one that the test sets.
pub fn peer_uid(uid: u32) -> u32 {
    gate("peer-uid", "").and_then(|uid| uid.parse().ok()).unwrap_or(uid)
}

/// Returns the version of the program, or the one that the test sets.
pub fn version() -> &'static str {
    gate("version", "").unwrap_or(env!("CARGO_PKG_VERSION"))
}

/// Returns the fingerprint of the sources, or the one that the test sets.
pub fn build(own: &'static str) -> &'static str {
    gate("build", "").unwrap_or(own)
}

/// True if a tool is read-only: all are, except one that the test sets.
pub fn only_reads(tool: &str) -> bool {
    gate("changes", tool).is_none()
}

/// Returns the wall clock, shifted by the number of seconds in the file that the test sets.
pub fn wall_clock() -> Duration {
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

/// Announces a state, and waits at its gate if one is set.
fn pass(kind: &str, whose: &str) {
    announce(kind, whose);
    if let Some(path) = gate(kind, whose).filter(|path| !path.is_empty()) {
        // A missing gate does not block.
        let _ = File::open(path);
    }
}

fn announce(kind: &str, whose: &str) {
    if gate("announce", "").is_some() {
        // A test that does not read misses it.
        let _ = std::io::stderr().write_all(format!("@{kind} {whose}\n").as_bytes());
    }
}

/// Prints like a library: through the standard library, and directly to the descriptor.
#[expect(clippy::print_stdout, reason = "this is the noise that the test is about")]
fn print() {
    println!("printed by a handler");
    let _ = cograph_system::streams::write_to_output(b"written to the descriptor\n");
}
