//! Calls that run at the same time: none waits for another, each has one answer or none, and no
//! more run than may.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, PROMPT};

/// A delay longer than any test waits.
const HELD_UP: &[&str] = &["--delay-ms", "3600000", "--permits", "1", "--queue", "1"];

fn cancel(client: &mut Client, id: impl Into<Value>) {
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.into()}
    }));
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn cheap_requests_pass_a_call_that_does_not_end() {
    let mut client = Client::connected(HELD_UP);
    client.call(1, "search", json!({"query": "x"}));
    client.ping();
    let start = Instant::now();
    client.request(2, "tools/list", json!({}));
    client.answer(&json!(2));
    client.call(3, "search", json!({"wrong": 1}));
    assert!(text(&client.answer(&json!(3))).contains("`wrong`"));
    assert!(start.elapsed() < PROMPT);
    assert_eq!(client.answers(&json!(1)), 0);
}

#[test]
fn what_exceeds_permits_and_queue_is_refused_and_a_cancellation_frees_a_slot() {
    let mut client = Client::connected(HELD_UP);
    let busy = |client: &mut Client, id: u64| {
        client.call(id, "search", json!({"query": "x"}));
        client.ping();
        client.answers(&json!(id)) == 1 && text(&client.answer(&json!(id))).contains("busy")
    };
    assert!(!busy(&mut client, 1), "it runs");
    assert!(!busy(&mut client, 2), "it waits");
    assert!(busy(&mut client, 3));
    cancel(&mut client, 1);
    assert!(!busy(&mut client, 4), "2 runs now, and 4 waits");
    assert!(busy(&mut client, 5));
    cancel(&mut client, 4);
    assert!(!busy(&mut client, 6), "one that waited can be cancelled too");
    for id in [1, 4] {
        assert_eq!(client.answers(&json!(id)), 0, "{id}");
    }
    client.call(7, "trace", json!({"symbol": "x"}));
    client.ping();
    assert_eq!(client.answers(&json!(7)), 0, "another class has its own permits");
}

#[test]
fn an_id_in_flight_cannot_be_used_again_and_keeps_its_answer() {
    let mut client = Client::connected(HELD_UP);
    client.call(1, "search", json!({"query": "x"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(client.answer(&json!(1))["error"]["code"], json!(-32600));
    cancel(&mut client, "1");
    client.ping();
    client.seen.clear();
    client.signal("TERM");
    client.ended();
    assert!(text(&client.answer(&json!(1))).contains("ending"), "the string \"1\" is another id");
    assert_eq!(client.answers(&json!(1)), 1);
}

#[test]
fn the_deadline_counts_the_time_in_the_queue() {
    let mut client =
        Client::connected(&["--delay-ms", "3600000", "--permits", "1", "--deadline-ms", "400"]);
    let start = Instant::now();
    client.call(1, "search", json!({"query": "x"}));
    client.call(2, "search", json!({"query": "x"}));
    let (first, second) = (client.answer(&json!(1)), client.answer(&json!(2)));
    assert!(
        start.elapsed() >= Duration::from_millis(400) && start.elapsed() < PROMPT,
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        (&first["result"]["isError"], &second["result"]["isError"]),
        (&json!(true), &json!(true))
    );
    assert!(text(&first).contains("timed out"), "{first}");
    client.call(3, "search", json!({"query": "x"}));
    client.answer(&json!(3));
    client.ping();
    for id in [1, 2, 3] {
        assert_eq!(client.answers(&json!(id)), 1, "{id}");
    }
}

#[test]
fn calls_that_are_cancelled_at_any_moment_leave_nothing_behind() {
    let mut client = Client::connected(&["--delay-ms", "1"]);
    for id in 0..300 {
        client.call(1_000 + id, "search", json!({"query": "helper"}));
        if id % 3 == 0 {
            client.ping();
        }
        cancel(&mut client, 1_000 + id);
    }
    let state = loop {
        // Where many cancelled calls run on for a moment, the server refuses further ones.
        let (state, is_error) = client.outcome("status", json!({}));
        assert!(!is_error || state.contains("too many earlier calls have not stopped"), "{state}");
        if state.contains("query 0/") && state.contains("; 0 calls not stopped yet") {
            break state;
        }
    };
    assert!(state.contains("1 request in flight"), "{state}");
    for id in 0..300 {
        assert!(client.answers(&json!(1_000 + id)) <= 1, "{id}");
    }
}

#[test]
fn progress_grows_and_ends_with_the_answer() {
    let mut client = Client::connected(&[]);
    let params = json!({
        "name": "search", "arguments": {"query": "helper"}, "_meta": {"progressToken": "t"}
    });
    client.request(1, "tools/call", params);
    client.answer(&json!(1));
    client.ping();
    let done =
        client.seen.iter().position(|message| message["id"] == json!(1)).expect("it was answered");
    let reported: Vec<(usize, u64)> = client
        .seen
        .iter()
        .enumerate()
        .filter(|(_, message)| message["method"] == json!("notifications/progress"))
        .map(|(at, message)| (at, message["params"]["progress"].as_u64().expect("it is a number")))
        .collect();
    assert!(!reported.is_empty(), "the first call makes the index");
    assert!(reported.iter().all(|(at, _)| *at < done));
    assert!(reported.windows(2).all(|pair| pair[0].1 < pair[1].1), "{reported:?}");
}
