//! What grammars have been seen to do, for tests: a file asks for it by its text. Only in builds
//! with the feature `faults`.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use rustix::process::{Signal, getpid, kill_process};

use crate::extract::{self, Limits};
use crate::model::LanguageId;
use crate::model::facts::FileFacts;

/// Stands before the word for what is to happen.
const MARK: &str = "worker-fault:";
/// A file at the root that asks for something to happen before any file is looked at.
const AT_START: &str = "worker-fault-at-start";

/// As [`extract::extract`], unless the text asks for something else.
pub(super) fn extract(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> FileFacts {
    let text = String::from_utf8_lossy(source);
    if let Some((_, rest)) = text.split_once(MARK) {
        happen(rest.split_whitespace().next().unwrap_or_default());
    }
    extract::extract(language, path, source, limits)
}

/// Does what the root asks for.
pub(super) fn at_start(root: &Path) {
    ask(&root.join(AT_START));
}

fn ask(file: &Path) {
    let mut text = String::new();
    if File::open(file).and_then(|mut file| file.read_to_string(&mut text)).is_ok() {
        happen(text.trim());
    }
}

/// A file at the root that asks for something to happen when the tables of all files are made.
const AT_TABLES: &str = "worker-fault-at-tables";

/// Does what the root asks for when the tables are made.
pub(super) fn at_tables(root: &Path) {
    ask(&root.join(AT_TABLES));
}

fn happen(what: &str) {
    match what {
        "abort" => std::process::abort(),
        // The first one is taken for an overflow of the stack, and ignored since it is none.
        "segv" => loop {
            let _ = kill_process(getpid(), Signal::SEGV);
        },
        "kill" => {
            let _ = kill_process(getpid(), Signal::KILL);
        }
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

/// Goes deeper than any stack.
fn overflow(depth: u64) -> u64 {
    let kept = std::hint::black_box([depth; 128]);
    if kept[1] == u64::MAX { 0 } else { overflow(depth + 1) + kept[0] }
}
