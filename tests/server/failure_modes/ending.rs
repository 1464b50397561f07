//! 15 to 21: the process ends when it should, with everything said that was to be said, whatever
//! its client does.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Store};
use serde_json::json;

use super::super::client::{Client, SMALL, place};
#[cfg(feature = "faults")]
use super::harness::Gate;
use super::harness::{
    Bench, Wire, call_line, ends_within, hello, in_time, milliseconds, pass_time, raw, read_all,
    within, work_of,
};

/// The place of the store of the small repository.
fn location(place: &std::path::Path) -> Location {
    let there = |name: &str| place.join(name).canonicalize().expect("it exists");
    Location::new(&there("cache"), &there("repository"))
}

/// Asserts that the store is complete, no process holds its lock, and no partial file is left.
fn assert_store_is_whole(place: &std::path::Path) {
    let location = location(place);
    let store = std::sync::Arc::new(Store::open_newest(&location).expect("there is a store"));
    store.verify(&CancelToken::new()).expect("it is whole");
    location.lock(std::time::Duration::ZERO).expect("no process holds the lock");
    let names = std::fs::read_dir(location.directory()).expect("it exists");
    let left: Vec<_> = names.map(|entry| entry.expect("it exists").file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("building")), "{left:?}");
}

#[test]
fn t15_the_end_of_input_ends_an_idle_server() {
    for wire in Wire::ALL {
        let mut bench = Bench::start_at(place(SMALL), &[], &[], wire);
        bench.hello("2025-11-25");
        bench.ping();
        bench.close_input();
        let (status, elapsed) = bench.ended();
        assert!(
            status.success() && elapsed < milliseconds(1_000),
            "{wire:?}: {status} {elapsed:?}"
        );
    }
}

#[test]
#[cfg(feature = "faults")]
fn t16_the_end_of_input_waits_for_calls_within_limits() {
    let place = place(SMALL);
    let (mut short, stuck) = (Gate::shut(&place, "short"), Gate::shut(&place, "stuck"));
    let mut bench =
        Bench::connected_at(place, &[], &[short.at("work search"), stuck.at("work show")]);
    bench.warm();
    bench.call(1, "search", json!({"query": "helper"}));
    bench.call(2, "show", json!({"targets": ["helper"]}));
    bench.announced("work search", 1);
    bench.announced("work show", 1);
    bench.close_input();
    bench.close_input();
    pass_time(milliseconds(500));
    short.open();
    bench.patience = milliseconds(6_000);
    let (status, elapsed) = bench.ended();
    assert!(status.success() && elapsed < milliseconds(6_000), "{status} {elapsed:?}");
    assert!(!bench.outcome_of(1).1, "what ends in time is answered");
    let (text, is_error) = bench.outcome_of(2);
    assert!(is_error && text.contains("ending"), "{text}");
    assert_eq!([1, 2].map(|id| bench.answers(&json!(id))), [1, 1]);
    assert_store_is_whole(bench.place.path());
}

#[test]
fn t17_a_signal_ends_the_server_while_its_input_is_open() {
    for wire in Wire::ALL {
        for signal in ["TERM", "INT"] {
            let mut bench = Bench::start_at(place(SMALL), &[], &[], wire);
            bench.hello("2025-11-25");
            bench.ping();
            bench.signal(signal);
            let (status, elapsed) = bench.ended();
            assert!(
                status.success() && elapsed < milliseconds(2_000),
                "{wire:?} {signal}: {status} {elapsed:?}"
            );
        }
    }
}

#[test]
fn t17_a_signal_ends_a_server_whose_answers_are_not_read() {
    let place = place(SMALL);
    for signals in [1, 2] {
        let mut child = raw(place.path(), &[], &[]);
        let mut input = child.stdin.take().expect("it is piped");
        let list =
            |id: u64| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n");
        let requests: String = std::iter::once(hello()).chain((1..=50).map(list)).collect();
        input.write_all(requests.as_bytes()).expect("the server reads");
        // The output is not read: what does not fit the pipe waits. The first bytes prove that the
        // server runs.
        let output = child.stdout.take().expect("it is piped");
        let polled = &mut [rustix::event::PollFd::new(&output, rustix::event::PollFlags::IN)];
        rustix::event::poll(polled, None).expect("it can be waited for");
        for _ in 0..signals {
            let pid = child.id().to_string();
            assert!(
                Command::new("kill")
                    .args(["-TERM", &pid])
                    .status()
                    .expect("kill can be run")
                    .success()
            );
        }
        ends_within(child, milliseconds(3_000), "the end after a signal");
        drop((input, output));
    }
}

#[test]
#[cfg(feature = "faults")]
fn t18_a_long_answer_is_written_whole_before_the_end() {
    const LENGTH: usize = 8 << 20;
    let place = place(SMALL);
    let mut child = raw(place.path(), &[], &[format!("answer:search={LENGTH}")]);
    let mut input = child.stdin.take().expect("it is piped");
    let both = hello() + &call_line(1, "search", &json!({"query": "helper"}));
    input.write_all(both.as_bytes()).expect("the server reads");
    drop(input);
    let mut output = child.stdout.take().expect("it is piped");
    let slowly = move || {
        let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            match std::io::Read::read(&mut output, &mut buffer).expect("it can be read") {
                0 => return bytes,
                count => bytes.extend_from_slice(&buffer[..count]),
            }
            pass_time(std::time::Duration::from_millis(5));
        }
    };
    let bytes = in_time(milliseconds(20_000), "the answers", slowly);
    assert!(ends_within(child, milliseconds(2_000), "the end").success());
    let text = String::from_utf8(bytes).expect("messages are text");
    let last: serde_json::Value =
        serde_json::from_str(text.lines().last().expect("there are answers")).expect("it is whole");
    assert_eq!(last["result"]["content"][0]["text"].as_str().map(str::len), Some(LENGTH));
}

/// A server whose parent is a shell, while this process holds both ends of its pipes.
struct Orphan {
    shell: std::process::Child,
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Orphan {
    fn start(place: &std::path::Path, gates: &str) -> Self {
        let script = "exec 3<&0; \"$0\" mcp <&3 & echo $!; wait";
        let mut shell = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_cograph")])
            .current_dir(place.join("repository"))
            .env("COGRAPH_CACHE_DIR", place.join("cache"))
            .env("COGRAPH_TEST_GATES", gates)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a shell");
        let mut input = shell.stdin.take().expect("it is piped");
        let mut output = BufReader::new(shell.stdout.take().expect("it is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("the shell says that it has started");
        input.write_all(hello().as_bytes()).expect("the server reads");
        line.clear();
        output.read_line(&mut line).expect("the server answers");
        assert!(line.contains("serverInfo"), "{line}");
        Self { shell, input, output }
    }
}

#[test]
fn t19_a_server_does_not_outlive_its_parent() {
    let place = place(SMALL);
    let Orphan { mut shell, mut input, output } = Orphan::start(place.path(), "");
    input
        .write_all(call_line(1, "search", &json!({"query": "helper"})).as_bytes())
        .expect("the server reads");
    let mut output = output;
    output.read_line(&mut String::new()).expect("the server answers");
    shell.kill().and_then(|()| shell.wait()).expect("it is our child");
    // Its output ends when no process has it open: neither the server nor a child of it.
    in_time(milliseconds(3_000), "the end of an orphan", move || read_all(output));
    assert_store_is_whole(place.path());
    drop(input);
}

#[test]
#[cfg(feature = "faults")]
fn t20_a_call_that_panics_is_an_error_for_its_id_alone() {
    let mut bench = Bench::connected(&[], &["panic:search".to_owned()]);
    bench.warm();
    bench.call(1, "search", json!({"query": "helper"}));
    bench.prompt_answer(1, 1_000);
    let (text, is_error) = bench.outcome_of(1);
    assert!(is_error && text.contains("internal error"), "{text}");
    assert!(bench.ask("show", json!({"targets": ["helper"]})).contains("def helper"));
    bench.at_rest();
    assert_eq!(bench.answers(&json!(1)), 1);
}

#[test]
#[cfg(feature = "faults")]
fn t20_a_worker_that_dies_is_an_error_with_its_last_words() {
    for death in ["chatter", "abort", "segv", "allocate"] {
        let place = place(SMALL);
        let order = place.path().join("repository/worker-fault-at-start");
        std::fs::write(&order, death).expect("files can be written");
        let mut bench = Bench::connected_at(place, &[], &[]);
        bench.call(1, "search", json!({"query": "helper"}));
        bench.prompt_answer(1, 1_000);
        let (text, is_error) = bench.outcome_of(1);
        assert!(is_error && (death != "chatter" || text.contains("line 19999")), "{death}: {text}");
        std::fs::remove_file(&order).expect("it exists");
        assert!(
            bench.ask("search", json!({"query": "helper"})).contains("function helper"),
            "{death}"
        );
        assert_eq!(bench.answers(&json!(1)), 1);
    }
}

#[test]
fn t21_a_client_that_reads_no_more_ends_the_server() {
    let place = place(SMALL);
    let mut first = Bench::connected_at(place, &[], &[]);
    first.warm();
    let place = first.end();
    let mut child = raw(place.path(), &[], &[]);
    let mut input = child.stdin.take().expect("it is piped");
    let pid = child.id();
    drop(child.stdout.take());
    let before = work_of(pid);
    input.write_all(hello().as_bytes()).expect("the server reads");
    // No client can observe more than that; the input stays open.
    let status = ends_within(child, milliseconds(2_000), "the end of a server without a reader");
    assert!(status.success() && before < 200, "{status}");
    assert_store_is_whole(place.path());
    drop(input);
}

#[test]
fn t21_a_broken_output_costs_no_work() {
    let mut bench = Client::connected(&[]);
    let before = work_of(bench.pid());
    pass_time(milliseconds(300));
    within(milliseconds(300), "an idle server rests", || work_of(bench.pid()) <= before + 3);
    bench.ping();
}
