//! One transcript per tool over one small repository, `tests/transcripts/shop`: commands as a shell
//! runs them, each with what it prints. A change of an answer is read in the difference of these
//! files.
//!
//! `COGRAPH_WRITE_FIXTURES=1` writes them anew; the run fails then, since it has compared nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use cograph::server::TOOLS;
use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    for entry in fs::read_dir(from).expect("it is a directory") {
        let entry = entry.expect("it can be listed");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// The repository with one commit, and its cache.
struct Session(TempDir);

impl Session {
    fn new() -> Self {
        let session = Self(tempfile::tempdir().expect("a temporary directory"));
        copy(&folder().join("shop"), &session.root());
        session.run(
            "git init --quiet && git add . && git -c user.name=shop -c user.email=shop@example.org \
             commit --quiet --message 'Open the shop'",
        );
        session
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("shop")
    }

    /// What a command line prints, on both streams.
    fn run(&self, line: &str) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_cograph"));
        let programs = program.parent().expect("it lies in a directory").display();
        let path = env::var("PATH").expect("there are programs");
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {line}")])
            .current_dir(self.root())
            .env("PATH", format!("{programs}:{path}"))
            .env("COGRAPH_CACHE_DIR", self.0.path().join("cache"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("HOME", self.0.path())
            .env_remove("CLAUDE_PROJECT_DIR")
            .output()
            .expect("there is a shell");
        String::from_utf8(output.stdout).expect("answers are UTF-8")
    }
}

/// The transcript with what its commands print now. Commands and output are indented; what is not
/// is prose.
fn played(transcript: &str) -> String {
    let session = Session::new();
    // What differs from run to run.
    let masks = [
        (r"\b\d+ (s|min) ago\b", "0 s ago"),
        (r"\bin \d+\.\d s\b", "in 0.0 s"),
        (r"\d{4}-\d\d-\d\d", "DATE"),
    ]
    .map(|(pattern, mask)| (Regex::new(pattern).expect("it is a pattern"), mask));
    let mut played = String::new();
    for line in transcript.lines() {
        if let Some(command) = line.strip_prefix("    $ ") {
            played += &format!("\n{line}\n");
            let mut printed = session.run(command);
            for (pattern, mask) in &masks {
                printed = pattern.replace_all(&printed, *mask).into_owned();
            }
            let place = fs::canonicalize(session.0.path()).expect("it exists");
            let place = place.to_str().expect("it is UTF-8");
            for printed in printed.replace(place, "").lines() {
                played += format!("    {printed}").trim_end();
                played.push('\n');
            }
        } else if !line.is_empty() && !line.starts_with(' ') {
            played += &format!("{line}\n");
        }
    }
    played
}

#[test]
fn every_tool_answers_as_its_transcript_says() {
    let is_written = env::var_os("COGRAPH_WRITE_FIXTURES").is_some();
    let mut seen = BTreeSet::new();
    let mut changed = Vec::new();
    for entry in fs::read_dir(folder()).expect("the transcripts are there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let transcript = fs::read_to_string(&path).expect("it can be read");
        let now = played(&transcript);
        seen.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        if is_written {
            fs::write(&path, &now).expect("written");
        } else if now != transcript {
            let lines = now.lines().zip(transcript.lines()).find(|(now, before)| now != before);
            changed.push(format!("{}: {lines:?}", path.display()));
        }
    }
    let tools: BTreeSet<String> = TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    assert_eq!(seen, tools, "one transcript for each tool");
    assert!(changed.is_empty(), "now, and in the transcript:\n{}", changed.join("\n"));
    assert!(!is_written, "the transcripts were written: read the difference");
}

/// The edges of depth 1 that a direction of `trace` gives, as caller and callee.
fn edges(session: &Session, symbols: &[String], direction: &str) -> BTreeSet<(String, String)> {
    let mut edges = BTreeSet::new();
    for symbol in symbols {
        let answer = session
            .run(&format!("cograph trace '{symbol}' --direction {direction} --depth 1 --json"));
        let answer: Value = serde_json::from_str(&answer).expect("it is JSON");
        for node in answer["tree"]["nodes"].as_array().expect("there is a tree") {
            let Some(other) = node["end"]["symbol"].as_str() else { continue };
            let edge = (symbol.clone(), other.to_owned());
            edges.insert(if direction == "callees" { edge } else { (edge.1, edge.0) });
        }
    }
    edges
}

#[test]
fn callers_invert_callees() {
    let session = Session::new();
    let statement = "select path || '::' || coalesce(container || '.', '') || name as symbol \
                     from symbols where kind in ('function', 'method', 'class')";
    let rows = session.run(&format!("cograph sql --json \"{statement}\""));
    let rows: Value = serde_json::from_str(&rows).expect("it is JSON");
    let symbols: Vec<String> = rows["rows"]
        .as_array()
        .expect("there are rows")
        .iter()
        .filter_map(|row| row[0].as_str().map(str::to_owned))
        .collect();
    assert!(symbols.len() > 12, "{symbols:?}");
    let (callers, callees) =
        (edges(&session, &symbols, "callers"), edges(&session, &symbols, "callees"));
    // Calls at the top level of a file have no symbol to ask from.
    let of_symbols = |edges: BTreeSet<(String, String)>| -> BTreeSet<(String, String)> {
        edges.into_iter().filter(|(from, _)| symbols.contains(from)).collect()
    };
    let callers = of_symbols(callers);
    assert!(callers.len() > 9, "{callers:?}");
    assert_eq!(callers, of_symbols(callees));
}
