//! What can be observed of a server: `status`, and a log that delays no request.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use super::client::{Client, PATIENCE, PROMPT, SMALL, command, place, threads_of};

/// A statement that goes on until it is stopped.
const ENDLESS: &str =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";

/// A client of a server that logs to `log` in its place, with more arguments.
fn logging(arguments: &[&str]) -> Client {
    let place = place(SMALL);
    let log = place.path().join("log");
    let mut command = command(place.path());
    command.arg("--log").arg(log).args(arguments);
    let mut client = Client::of(place, command);
    client.hello("2025-11-25");
    client
}

fn log_of(client: &Client) -> String {
    std::fs::read_to_string(client.place.path().join("log"))
        .expect("the server makes it when it starts")
}

/// Waits for a line of the log, which has its own thread.
fn wait_for_line(client: &mut Client, parts: &[&str]) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let log = log_of(client);
        if let Some(line) = log.lines().find(|line| parts.iter().all(|part| line.contains(part))) {
            return line.to_owned();
        }
        assert!(Instant::now() < until, "{parts:?} is not in the log:\n{log}");
        client.ping();
    }
}

fn number(line: &str, name: &str) -> u64 {
    let (_, rest) =
        line.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("no {name} in {line}"));
    rest.chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .expect("it is a number")
}

#[test]
fn a_slow_call_is_logged_with_its_times_and_without_its_arguments() {
    let mut client = logging(&["--delay-ms", "1100", "--permits", "1"]);
    client.ask("search", json!({"query": "secretword"}));
    let first = wait_for_line(
        &mut client,
        &["slow call", "tool=\"search\"", "outcome=\"ok\"", "queued_ms=0"],
    );
    assert!(number(&first, "total_ms") >= 1100 && number(&first, "index_ms") > 0, "{first}");
    assert!(number(&first, "sql_ms") < 1000, "{first}");
    for id in [1, 2] {
        client.call(id, "outline", json!({"path": "secretword"}));
    }
    client.answer(&json!(1));
    client.answer(&json!(2));
    let until = Instant::now() + PATIENCE;
    while log_of(&client).matches("tool=\"outline\" outcome=\"error\"").count() < 2
        && Instant::now() < until
    {
        client.ping();
    }
    let log = log_of(&client);
    let queued = log
        .lines()
        .filter(|line| line.contains("outline"))
        .map(|line| number(line, "queued_ms"))
        .max();
    assert!(queued.is_some_and(|queued| queued >= 1000), "one of them waited for the other: {log}");
    assert!(!log.contains("secretword"), "{log}");
}

#[test]
fn time_in_statements_is_separate() {
    let mut client = logging(&["--deadline-ms", "1500"]);
    while client.outcome("search", json!({"query": "helper"})).1 {}
    let (text, is_error) = client.outcome("sql", json!({"statement": ENDLESS}));
    assert!(is_error && text.contains("timed out"), "{text}");
    wait_for_line(&mut client, &["a call has timed out", "tool=\"sql\""]);
    let line = wait_for_line(&mut client, &["slow call", "tool=\"sql\"", "outcome=\"given up\""]);
    assert!(number(&line, "sql_ms") >= 1000, "{line}");
}

#[test]
fn levels_say_how_much_is_logged() {
    let mut quiet = logging(&["--delay-ms", "1050", "--log-level", "warn"]);
    quiet.ask("search", json!({"query": "helper"}));
    let mut talkative = logging(&["--log-level", "debug"]);
    talkative.ask("search", json!({"query": "helper"}));
    wait_for_line(&mut talkative, &["DEBUG", " call ", "tool=\"search\""]);
    quiet.signal("TERM");
    quiet.ended();
    assert_eq!(log_of(&quiet), "");
    for (arguments, code, reported) in [
        (&["--log", "debug"][..], 2, "--log-level debug"),
        (&["--log-level", "=="], 2, "no filter"),
        (&["--log", "/nowhere/at/all"], 3, "/nowhere/at/all"),
    ] {
        let output = command(quiet.place.path())
            .args(arguments)
            .stderr(Stdio::piped())
            .output()
            .expect("it can be started");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(reported), "{text}");
    }
}

/// Many calls, each of which has the server log something; then nothing may have been slow.
fn talk(client: &mut Client, calls: u64) {
    client.hello("2025-11-25");
    client.ask("search", json!({"query": "helper"}));
    for id in 1..=calls {
        client.call(id, "status", json!({}));
        if id % 50 == 0 {
            client.answer(&json!(id));
        }
    }
    let start = Instant::now();
    client.ping();
    assert!(start.elapsed() < PROMPT);
}

#[test]
fn a_log_that_no_process_opens_blocks_no_call() {
    let place = place(SMALL);
    let pipe = place.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo can be run").success());
    let mut command = command(place.path());
    command.arg("--log").arg(&pipe).args(["--log-level", "trace"]);
    let mut client = Client::of(place, command);
    talk(&mut client, 200);
    client.close_input();
    let (status, elapsed) = client.ended();
    assert!(status.success() && elapsed < PROMPT, "{status} {elapsed:?}");
}

#[test]
fn a_log_that_no_process_reads_blocks_no_call_and_what_was_dropped_is_counted() {
    let place = place(SMALL);
    let mut command = command(place.path());
    command.args(["--log", "stderr", "--log-level", "debug"]).stderr(Stdio::piped());
    let mut client = Client::of(place, command);
    let mut stderr = client.take_stderr();
    talk(&mut client, 3000);
    let (reported, counted) = std::sync::mpsc::channel();
    let read = std::thread::Builder::new().spawn(move || {
        let (mut lost, mut calls) = (false, 0);
        for line in BufReader::new(&mut stderr).lines() {
            let line = line.expect("the pipe can be read");
            lost |= line.contains(" lines of the log were dropped)");
            calls += usize::from(line.contains("tool=\"status\""));
            if lost && calls > 1_000 {
                // A second report has no receiver.
                let _ = reported.send(());
            }
        }
        (lost, calls)
    });
    // The thread of the log writes what is queued: the count of lost lines, and those that fitted.
    client.ping();
    let waited = counted.recv_timeout(PATIENCE);
    client.signal("TERM");
    client.ended();
    let seen = read.expect("a thread can be started").join().expect("it does not panic");
    assert!(waited.is_ok(), "lines were dropped, calls that fitted: {seen:?}");
}

#[test]
fn the_state_of_the_server_has_calls_stores_memory_and_index_runs() {
    let mut client = Client::connected(&["--permits", "1"]);
    client.ask("search", json!({"query": "helper"}));
    client.call(1, "sql", json!({"statement": ENDLESS}));
    client.call(2, "sql", json!({"statement": ENDLESS}));
    client.ping();
    let state = client.ask("status", json!({}));
    for part in [
        "server 0.",
        "up 0 s",
        "MB of memory",
        "3 requests in flight",
        "heavy 1/1 running, 1 waiting",
        "query 0/1 running, 0 waiting",
        "0 calls not stopped yet",
        "stores: 1 open, 2 in use",
        "sql running for ",
        "sql queued for ",
    ] {
        assert!(state.contains(part), "{part} is not in {state}");
    }
    assert!(!state.contains("index runs:") && !state.contains("RECURSIVE"), "{state}");
}

#[test]
fn the_allocator_does_not_wake_a_server_of_one_client() {
    let client = Client::connected(&[]);
    let names = threads_of(client.pid());
    assert!(
        names.iter().any(|name| name == "cograph")
            && !names.iter().any(|name| name.starts_with("jemalloc")),
        "{names:?}"
    );
}

#[test]
fn the_state_of_the_server_is_reported_while_there_is_no_index_and_when_there_can_be_none() {
    let text: String =
        (0..300).map(|number| format!("def f{number}(a):\n    return g(a).h(a.b)\n\n\n")).collect();
    let names: Vec<String> = (0..60).map(|number| format!("m{number}.py")).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let mut client = Client::start_in(place(&files), &[], &[]);
    client.hello("2025-11-25");
    let state = client.ask("status", json!({}));
    assert!(state.contains("indexed for the first time"), "{state}");
    assert!(
        state.contains("index runs:\n  repository: indexing") && state.contains("MB of memory"),
        "{state}"
    );
    let (state, is_error) = client.outcome("status", json!({"root": Path::new("/nowhere/at/all")}));
    assert!(
        is_error && state.contains("no such directory") && state.contains("MB of memory"),
        "{state}"
    );
}
