//! 1 to 6: bytes to messages, however they are cut and whatever stands between them; and bursts.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::client::{SMALL, place};
#[cfg(feature = "faults")]
use super::harness::Gate;
use super::harness::{
    BURST, Bench, Wire, assert_prompt, call_line, ends_within, hello, in_time, milliseconds,
    pass_time, raw, read_all,
};

fn ping_line(id: u64) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"params\":{{\"x\":\"né {id}\"}}}}\n"
    )
}

#[test]
fn t01_frames_cut_anywhere_are_answered_once_each() {
    for wire in Wire::ALL {
        let mut bench = Bench::start_at(place(SMALL), &[], &[], wire);
        bench.hello("2025-11-25");
        for byte in ping_line(1).bytes() {
            bench.write(&[byte]);
            pass_time(milliseconds(1));
        }
        let three: String = (2..5).map(ping_line).collect();
        bench.write(three.as_bytes());
        let (begin, rest) = (ping_line(5), ping_line(6));
        let (begin, middle) = begin.as_bytes().split_at(30);
        bench.write(begin);
        bench.answer(&json!(4));
        bench.write(&[middle, rest.as_bytes()].concat());
        bench.answer(&json!(6));
        bench.ping();
        for id in 1..=6 {
            assert_eq!(bench.answers(&json!(id)), 1, "{wire:?} {id}");
        }
    }
}

#[test]
#[cfg(feature = "faults")]
fn t01_while_a_line_is_unfinished_earlier_work_goes_on() {
    let place = place(SMALL);
    let gate = Gate::shut(&place, "gate");
    let mut bench = Bench::connected_at(
        place,
        &[],
        &[gate.at("work search"), "deadline:search=1000".to_owned()],
    );
    bench.warm();
    bench.call(1, "search", json!({"query": "x"}));
    bench.call(2, "search", json!({"query": "x"}));
    bench.announced("work search", 2);
    bench.cancel(2);
    let line = ping_line(3);
    let (begin, rest) = line.as_bytes().split_at(30);
    let start = Instant::now();
    bench.write(begin);
    assert!(bench.outcome_of(1).1, "the deadline passes in the middle of a line");
    pass_time(milliseconds(2_000).saturating_sub(start.elapsed()));
    bench.write(rest);
    bench.prompt_answer(3, 500);
    bench.ping();
    assert_eq!([1, 2, 3].map(|id| bench.answers(&json!(id))), [1, 0, 1]);
}

#[test]
#[cfg(feature = "faults")]
fn t02_noise_goes_to_standard_error_only() {
    let mut bench = Bench::connected(&["--log-level", "trace"], &["print:search".to_owned()]);
    for id in 1..=3 {
        bench.call(id, "search", json!({"query": "helper"}));
        bench.answer(&json!(id));
    }
    bench.close_input();
    assert!(bench.ended().0.success());
    // Each line of standard output was read as a message, or there would be no answers.
    assert_eq!(bench.replies(), 4, "{:?}", bench.seen);
    let notes = bench.all_notes();
    for noise in ["printed by a handler", "written to the descriptor"] {
        assert_eq!(notes.matches(noise).count(), 3, "{notes}");
    }
}

#[test]
fn t03_foreign_ends_of_lines_and_headers_hold_nothing_up() {
    let mut bench = Bench::connected(&[], &[]);
    bench.seen.clear();
    let request = |id: u64, text: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"params\":{{\"x\":\"{text}\"}}}\
             }"
        )
    };
    bench.write(format!("{}\r\n", request(1, "a")).as_bytes());
    bench.write(format!("\u{feff}{}\n\n \t\r\n\r\n", request(2, "b")).as_bytes());
    bench.write(format!("{}\n{}\n", request(3, "a\u{2028}b"), request(4, "a\\u0000b")).as_bytes());
    for id in 1..=4 {
        bench.prompt_answer(id, 1_000);
    }
    assert_eq!(bench.replies(), 4, "blank lines are nothing: {:?}", bench.seen);
    let framed = request(5, "c");
    bench.write(format!("Content-Length: {}\r\n\r\n{framed}\n", framed.len()).as_bytes());
    assert_eq!(bench.complaint()["error"]["code"], json!(-32700));
    bench.prompt_answer(5, 1_000);
    bench.write(request(6, "last").as_bytes());
    bench.close_input();
    assert!(bench.ended().0.success());
    assert_eq!(bench.answers(&json!(6)), 1, "the last line needs no end");
    assert_eq!(bench.replies(), 7, "{:?}", bench.seen);
}

#[test]
fn t04_the_opening_burst_is_answered_at_once() {
    let mut times = Vec::new();
    for number in 0..50 {
        let idle = ["1000", "3600000"][number % 2];
        let mut bench = Bench::start_at(
            place(SMALL),
            &["--idle-ms", idle],
            &[],
            Wire::ALL[number % Wire::ALL.len()],
        );
        let start = Instant::now();
        bench.write(BURST.as_bytes());
        bench.prompt_answer(1, 1_000);
        times.push(start.elapsed());
        bench.ping();
        assert_eq!(
            bench.replies(),
            3,
            "two answers, the ping's, and nothing else: {:?}",
            bench.seen
        );
        assert_eq!(
            (&bench.seen[0]["id"], bench.seen[1]["result"]["tools"].is_array()),
            (&json!(0), true)
        );
    }
    times.sort_unstable();
    assert_prompt(times[49], 300, "the slowest of fifty starts");
}

#[test]
fn t05_a_burst_is_answered_though_the_input_ends_behind_it() {
    let mut bench = Bench::start_at(place(SMALL), &[], &[], Wire::Pipe);
    let burst =
        format!("{BURST}{}{}", call_line(2, "search", &json!({"query": "helper"})), ping_line(3));
    bench.write(burst.as_bytes());
    bench.close_input();
    let (status, elapsed) = bench.ended();
    assert!(status.success() && elapsed < milliseconds(2_000), "{status} {elapsed:?}");
    assert_eq!([0, 1, 2, 3].map(|id| bench.answers(&json!(id))), [1; 4]);
    let (text, is_error) = bench.outcome_of(2);
    assert!(!is_error && text.contains("helper"), "{text}");
}

#[test]
fn t05_a_probe_of_the_other_era_may_come_first() {
    let mut bench = Bench::start_at(place(SMALL), &[], &[], Wire::Socket);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let probe = json!({
        "jsonrpc": "2.0", "id": "server-discover-probe-1", "method": "server/discover",
        "params": {"_meta": meta}
    });
    let unknown =
        json!({"jsonrpc": "2.0", "id": "u", "method": "no/such/method", "params": {"_meta": meta}});
    bench.write(format!("{probe}\n{unknown}\n{BURST}").as_bytes());
    assert!(
        bench.prompt_answer("server-discover-probe-1", 1_000)["result"]["supportedVersions"]
            .is_array()
    );
    assert_eq!(
        bench.prompt_answer("u", 1_000)["error"]["code"],
        json!(-32601),
        "an error, not silence"
    );
    assert!(bench.prompt_answer(1, 1_000)["result"]["tools"].is_array());
    bench.close_input();
    let (status, elapsed) = bench.ended();
    assert!(status.success() && elapsed < milliseconds(2_000), "{status} {elapsed:?}");
    assert_eq!(bench.replies(), 4, "{:?}", bench.seen);
}

#[test]
#[cfg(feature = "faults")]
fn t06_two_hundred_and_fifty_six_calls_in_one_write() {
    let place = place(SMALL);
    let mut child = raw(place.path(), &[], &["answer:search=65536".to_owned()]);
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(hello().as_bytes()).expect("the server reads");
    let padding = format!("{{{}", " ".repeat(4_000));
    let calls: String = (1..=256)
        .map(|id| call_line(id, "search", &json!({"query": "helper"})).replacen('{', &padding, 1))
        .collect();
    assert!(calls.len() > 1 << 20 && calls.len() < 17 << 16, "{}", calls.len());
    let input =
        in_time(milliseconds(10_000), "the calls are taken while nobody reads", move || {
            input.write_all(calls.as_bytes()).expect("the server reads");
            input
        });
    let output = child.stdout.take().expect("it is piped").into();
    let client = super::super::client::Client::over(child, Some(input.into()), output, place);
    let mut bench = Bench::adopt(client);
    bench.patience = milliseconds(30_000);
    for id in 1..=256 {
        let (text, is_error) = bench.outcome_of(id);
        assert!(!is_error && text.len() == 65_536, "{id}: {}", &text[..text.len().min(200)]);
    }
    bench.ping();
    assert!((1..=256).all(|id| bench.answers(&json!(id)) == 1));
    let peak = bench.memory("VmHWM");
    // What the program itself takes, and 64 MiB.
    assert!(peak < 128 << 20, "{} MiB", peak >> 20);
}

#[test]
fn t06_a_client_that_writes_before_it_reads_is_served() {
    let place = place(SMALL);
    let mut child = raw(place.path(), &[], &[]);
    let mut input = child.stdin.take().expect("it is piped");
    let padding = " ".repeat(1_000);
    let list = |id: u64| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{padding}\"method\":\"tools/list\"}}\n")
    };
    let requests: String = std::iter::once(hello()).chain((1..=1_000).map(list)).collect();
    in_time(milliseconds(10_000), "the requests are taken while nobody reads", move || {
        input.write_all(requests.as_bytes()).expect("the server reads");
    });
    let output = child.stdout.take().expect("it is piped");
    let bytes = in_time(milliseconds(10_000), "the answers are written", move || read_all(output));
    assert!(ends_within(child, milliseconds(2_000), "the end").success());
    let mut ids: Vec<u64> = String::from_utf8(bytes)
        .expect("messages are text")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("a message")["id"]
                .as_u64()
                .expect("an answer")
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..=1_000).collect::<Vec<u64>>());
}
