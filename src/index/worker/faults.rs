//! Fault injection for tests (feature `faults`): a file requests a fault by its text.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use cograph_system::limits::{Bounded, set_bound};
use cograph_system::processes;

use cograph_extract::{self as extract, Exhausted, Limits};
use cograph_model::LanguageId;
use cograph_model::facts::FileFacts;

/// Prefix of a fault's name.
const MARK: &str = "worker-fault:";
/// Root file that requests a fault before any file is read.
const AT_START: &str = "worker-fault-at-start";

/// Like [`extract::extract`], unless the text requests a fault.
pub(crate) fn extract(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> Result<FileFacts, Exhausted> {
    let text = String::from_utf8_lossy(source);
    if let Some((_, rest)) = text.split_once(MARK) {
        happen(rest.split_whitespace().next().unwrap_or_default());
    }
    extract::extract(language, path, source, limits)
}

/// Injects the fault that the root requests.
pub(crate) fn at_start(root: &Path) {
    ask(&root.join(AT_START));
}

fn ask(file: &Path) {
    let mut text = String::new();
    if File::open(file).and_then(|mut file| file.read_to_string(&mut text)).is_ok() {
        happen(text.trim());
    }
}

/// Root file that requests a fault while the tables are built.
const AT_TABLES: &str = "worker-fault-at-tables";

/// Injects the fault that the root requests for the tables.
pub(crate) fn at_tables(root: &Path) {
    ask(&root.join(AT_TABLES));
}

fn happen(what: &str) {
    match what {
        "abort" => std::process::abort(),
        // The runtime ignores the first signal, because it is not a stack overflow.
        "segv" => loop {
            processes::fault();
        },
        "kill" => processes::end_from_outside(),
        "overflow" => assert_ne!(overflow(0), 1),
        "hang" => loop {
            std::thread::park();
        },
        "allocate" => {
            let mut kept: Vec<Vec<u8>> = Vec::new();
            loop {
                kept.push(Vec::with_capacity(256 << 20));
            }
        }
        // Nothing of it is used, so that it is not resident: the watchdog does not see it.
        "reserve" => drop(std::hint::black_box(Vec::<u8>::with_capacity(600 << 20))),
        // As if another process had set the limit.
        "confine" => {
            let _ = set_bound(Bounded::AddressSpace, Some(64 << 20));
            happen("reserve");
        }
        "swell" => {
            let mut kept: Vec<Vec<u8>> = Vec::new();
            loop {
                kept.push(vec![1; 4 << 20]);
            }
        }
        // What is left is enough for a message, and too little for a backtrace.
        "exhaust" => {
            let mut kept: Vec<Vec<u8>> = Vec::new();
            let mut size = 64 << 20;
            while size > 1 << 16 {
                let mut more = Vec::new();
                match more.try_reserve_exact(size) {
                    Ok(()) => kept.push(more),
                    Err(_) => size /= 2,
                }
            }
            std::hint::black_box(&kept);
            panic!("a panic without memory");
        }
        "chatter" => {
            let mut errors = std::io::stderr().lock();
            for number in 0..20_000 {
                let _ = writeln!(errors, "line {number} of a worker that talks before it dies");
            }
            std::process::abort()
        }
        _ => {}
    }
}

/// Overflows the stack.
fn overflow(depth: u64) -> u64 {
    let kept = std::hint::black_box([depth; 128]);
    if kept[1] == u64::MAX { 0 } else { overflow(depth + 1) + kept[0] }
}
