//! Work stops when no request needs its result: measured by the CPU time of the server, not by its
//! reports.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, PATIENCE, SMALL, place};

/// When work must have stopped.
const STOPPED_AFTER: Duration = Duration::from_millis(500);
/// How long CPU time is measured then, and the most that may have been used: a server that only
/// waits uses next to nothing.
const LOOK: Duration = Duration::from_millis(400);
const NEXT_TO_NOTHING: Duration = Duration::from_millis(60);

/// A statement that goes on until it is stopped.
const ENDLESS: &str =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";

/// Processor time that a process and those that it has started and that still run have used.
fn processor_time(pid: u32) -> Duration {
    let processes: Vec<Process> = std::fs::read_dir("/proc")
        .expect("it exists")
        .flatten()
        .filter_map(Process::read)
        .collect();
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        next += 1;
        family.extend(
            processes.iter().filter(|process| process.parent == parent).map(|process| process.pid),
        );
    }
    processes
        .iter()
        .filter(|process| family.contains(&process.pid))
        .map(|process| process.time)
        .sum()
}

struct Process {
    pid: u32,
    parent: u32,
    time: Duration,
}

impl Process {
    /// None if it is no process, or one that has just ended.
    fn read(entry: std::fs::DirEntry) -> Option<Self> {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name, which is in brackets and may hold anything. Fields 14 and 15 count
        // hundredths of a second.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: u64 =
            fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            time: Duration::from_millis(ticks * 10),
        })
    }
}

/// Has the server work on a call, then has `withdraw` end it, and measures the CPU time.
fn assert_stops(
    client: &mut Client,
    tool: &str,
    arguments: Value,
    withdraw: impl FnOnce(&mut Client),
) {
    client.call(1, tool, arguments);
    let before = processor_time(client.pid());
    while processor_time(client.pid()) < before + Duration::from_millis(20) {
        client.ping();
        assert_eq!(
            client.answers(&json!(1)),
            0,
            "{tool} is no heavy call: {:?}",
            client.seen.last()
        );
    }
    withdraw(client);
    client.expect_no_answer(STOPPED_AFTER);
    let before = processor_time(client.pid());
    client.expect_no_answer(LOOK);
    // A process that has ended in between counts no more.
    let used = processor_time(client.pid()).saturating_sub(before);
    assert!(
        used <= NEXT_TO_NOTHING,
        "{tool}: {used:?} of processor time in {LOOK:?} after it was withdrawn"
    );
    let state = client.ask("status", json!({}));
    assert!(
        state.contains("; 0 calls not stopped yet") && state.contains("1 request in flight"),
        "{state}"
    );
}

fn cancel(client: &mut Client) {
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
}

fn write(repository: &Path, name: &str, text: &str) {
    std::fs::write(repository.join(name), text).expect("files can be written");
}

#[test]
fn a_cancelled_statement_is_interrupted() {
    let mut client = Client::connected(&[]);
    client.ask("search", json!({"query": "helper"}));
    assert_stops(&mut client, "sql", json!({"statement": ENDLESS}), cancel);
    assert_eq!(client.answers(&json!(1)), 0);
}

#[test]
fn a_statement_past_its_deadline_is_interrupted() {
    let mut client = Client::connected(&["--deadline-ms", "700"]);
    // Making the index may take longer than this deadline on a slow machine; it goes on, and the
    // next call finds it.
    while client.outcome("search", json!({"query": "helper"})).1 {}
    assert_stops(&mut client, "sql", json!({"statement": ENDLESS}), |client| {
        assert!(client.answer(&json!(1)).to_string().contains("timed out"));
    });
}

#[test]
fn a_cancelled_search_of_files_stops() {
    let place = place(SMALL);
    for number in 0..12 {
        write(
            &place.path().join("repository"),
            &format!("long{number}.txt"),
            &"x\n".repeat(2_000_000),
        );
    }
    let mut client = Client::start_in(place, &[], &[]);
    client.hello("2025-11-25");
    client.ask("search", json!({"query": "helper"}));
    assert_stops(&mut client, "grep", json!({"pattern": "x"}), cancel);
    assert_eq!(client.answers(&json!(1)), 0);
}

#[test]
fn a_cancelled_walk_over_calls_stops() {
    let place = place(SMALL);
    // Everything calls everything: as many paths as there can be.
    let all: String = (0..220).map(|number| format!("    f{number}()\n")).collect();
    let text: String = (0..220).map(|number| format!("def f{number}():\n{all}\n")).collect();
    write(&place.path().join("repository"), "dense.py", &text);
    let mut client = Client::start_in(place, &[], &[]);
    client.hello("2025-11-25");
    client.ask("search", json!({"query": "helper"}));
    assert_stops(&mut client, "trace", json!({"symbol": "f0", "depth": 20}), cancel);
    assert_eq!(client.answers(&json!(1)), 0);
}

/// A repository that takes a while to index.
fn large() -> tempfile::TempDir {
    let text: String = (0..150)
        .map(|number| {
            format!("def f{number}(a, b):\n    c = g(a) + h(b)\n    return c.d(a.e)\n\n\n")
        })
        .collect();
    let names: Vec<String> = (0..150).map(|number| format!("m{number}.py")).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    place(&files)
}

#[test]
fn the_first_index_of_another_repository_stops_with_the_only_call_that_wanted_it() {
    let other = large();
    let mut client = Client::connected(&[]);
    client.ask("search", json!({"query": "helper"}));
    let root = other.path().join("repository");
    assert_stops(&mut client, "search", json!({"query": "f1", "root": root}), cancel);
    assert!(!client.ask("status", json!({})).contains("index runs:"));
    // It can be made later; on a slow machine that takes longer than a call waits.
    let until = Instant::now() + client.patience;
    loop {
        let question = json!({"query": "f149", "mode": "name", "root": root});
        let answer = client.ask("search", question);
        if answer.contains("m149.py") {
            break;
        }
        assert!(
            answer.contains("is being indexed for the first time") && Instant::now() < until,
            "{answer}"
        );
    }
}

#[test]
fn the_first_index_of_the_session_goes_on_when_its_call_is_cancelled() {
    let mut client = Client::start_in(large(), &[], &[]);
    client.hello("2025-11-25");
    client.call(1, "search", json!({"query": "f1"}));
    client.ping();
    cancel(&mut client);
    let until = Instant::now() + PATIENCE;
    while stores(&client.place.path().join("cache")) == 0 {
        client.ping();
        assert!(Instant::now() < until, "nobody asks again, and there is still no store");
    }
    assert_eq!(client.answers(&json!(1)), 0);
    client.signal("TERM");
    client.ended();
}

/// Whole stores below a cache directory.
fn stores(cache: &Path) -> usize {
    let Ok(repositories) = std::fs::read_dir(cache) else { return 0 };
    let files = repositories
        .flatten()
        .filter_map(|repository| std::fs::read_dir(repository.path()).ok())
        .flatten()
        .flatten();
    files.filter(|file| file.path().extension().is_some_and(|extension| extension == "db")).count()
}
