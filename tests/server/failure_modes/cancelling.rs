//! 10 to 14: what is cancelled stops and stays silent, and every call ends in time.
#![cfg(feature = "faults")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::client::{SMALL, place};
use super::harness::runtime::{Runtime, WAYS, thin};
use super::harness::{Bench, Gate, milliseconds, pass_time, scaled};

/// A query that takes longer than any client waits.
fn endless() -> Value {
    json!({"statement": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT \
                         count(*) FROM n"})
}

#[test]
fn t10_a_cancelled_call_stops_working_and_is_never_answered() {
    let mut bench = Bench::connected(&[], &[]);
    bench.warm();
    bench.call(7, "sql", endless());
    bench.announced("work sql", 1);
    bench.cancel("7");
    let before = bench.work();
    pass_time(milliseconds(300));
    assert!(bench.work() > before + 5, "it works, and another id does not stop it");
    bench.cancel(7);
    pass_time(milliseconds(500));
    let before = bench.work();
    pass_time(milliseconds(300));
    assert!(bench.work() <= before + 3, "it still works");
    bench.at_rest();
    assert_eq!(bench.answers(&json!(7)), 0);
}

#[test]
fn t11_a_call_cancelled_in_the_queue_never_starts() {
    let place = place(SMALL);
    let mut gate = Gate::shut(&place, "gate");
    let mut bench = Bench::connected_at(place, &["--permits", "1"], &[gate.at("work search")]);
    bench.warm();
    for id in 1..=3 {
        bench.call(id, "search", json!({"query": "helper"}));
    }
    bench.announced("work search", 1);
    bench.cancel(2);
    bench.ping();
    gate.open();
    bench.answer(&json!(3));
    bench.at_rest();
    let seen = bench.replies();
    // What is unknown, answered, malformed or not to be cancelled.
    for params in [
        json!({"requestId": "x"}),
        json!({"requestId": 1}),
        json!({"requestId": {}}),
        json!({}),
        json!({"requestId": 0}),
    ] {
        bench.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
    }
    bench.ping();
    assert_eq!(bench.replies(), seen + 1, "{:?}", bench.seen);
    assert_eq!([1, 2, 3].map(|id| bench.answers(&json!(id))), [1, 0, 1]);
    assert_eq!(bench.announcements("call search"), 2, "the second never starts");
}

#[test]
fn t12_a_thousand_cancellations_at_any_moment_leave_nothing_behind() {
    let mut bench = Bench::connected(&[], &[]);
    bench.warm();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for id in 1_000..2_000 {
        bench.call(id, "search", json!({"query": "helper"}));
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        match random % 4 {
            0 => {}
            1 => bench.ping(),
            pause => pass_time(Duration::from_micros(random % (pause * 2_000))),
        }
        bench.cancel(id);
        if id % 10 == 0 {
            bench.ping();
            // Whatever comes after this came after the cancellation.
            let early = bench.answers(&json!(id));
            bench.ping();
            assert_eq!(
                bench.answers(&json!(id)),
                early,
                "{id} was answered after it was cancelled"
            );
        }
    }
    bench.at_rest();
    assert!((1_000..2_000).all(|id| bench.answers(&json!(id)) <= 1));
    // An id that has its answer is free.
    for _ in 0..20 {
        bench.seen.clear();
        bench.call("again", "search", json!({"query": "helper"}));
        assert!(bench.answer(&json!("again")).get("result").is_some(), "{:?}", bench.seen);
    }
}

/// Arguments that a tool takes, from its own schema.
fn arguments(tool: &Value) -> Value {
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let value = |name: &str| match (schema["properties"][name]["type"].as_str(), name) {
        (_, "statement") => json!("SELECT 1"),
        (Some("array"), _) => json!(["helper"]),
        (Some("integer"), _) => json!(1),
        _ => json!("helper"),
    };
    let named =
        required.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), value(name)));
    Value::Object(named.collect())
}

#[test]
fn t13_every_tool_that_never_returns_is_answered_at_its_deadline() {
    assert_deadlines(|place, gates| (Bench::connected_at(place, &[], gates), ()));
}

#[test]
fn t13_every_tool_that_never_returns_in_a_runtime_is_answered_at_its_deadline() {
    assert_deadlines(|place, gates| {
        let runtime = Runtime::start(place.path(), WAYS[WAYS.len() - 1], gates);
        (thin(&place, &["--upstream", &runtime.target], &[]), (runtime, place))
    });
}

/// Calls every tool, each of which stops at a gate, on what `start` makes of a place and its gates.
fn assert_deadlines<K>(start: impl FnOnce(TempDir, &[String]) -> (Bench, K)) {
    let place = place(SMALL);
    let mut gate = Gate::shut(&place, "gate");
    let mut probe = Bench::connected(&[], &[]);
    probe.request("l", "tools/list", json!({}));
    let tools = probe.answer(&json!("l"))["result"]["tools"].as_array().cloned().expect("a list");
    assert!(!tools.is_empty());
    let name = |tool: &Value| tool["name"].as_str().expect("tools have names").to_owned();
    let gates: Vec<String> =
        tools.iter().map(|tool| gate.at(&format!("work {}", name(tool)))).collect();
    let (mut bench, _kept) = start(place, &gates);
    gate.open();
    bench.warm();
    gate.close();
    let start = Instant::now();
    for tool in &tools {
        bench.call(name(tool), &name(tool), arguments(tool));
    }
    let mut by_deadline: Vec<(u64, String)> = tools
        .iter()
        .map(|tool| {
            let deadline = match name(tool).as_str() {
                "status" => 2,
                "trace" | "overview" | "grep" | "sql" | "explore" | "impact" => 30,
                _ => 10,
            };
            (deadline, name(tool))
        })
        .collect();
    by_deadline.sort();
    for (deadline, tool) in by_deadline {
        let limit = Duration::from_secs(deadline).mul_f64(1.1) + milliseconds(100);
        bench.patience = limit.saturating_sub(start.elapsed());
        let (text, is_error) = bench.outcome_of(tool.as_str());
        let elapsed = start.elapsed();
        assert!(
            is_error && text.contains(&format!("timed out after {deadline} s")),
            "{tool}: {text}"
        );
        assert!(
            elapsed >= Duration::from_secs(deadline).mul_f64(0.9) && elapsed <= limit,
            "{tool}: {elapsed:?}"
        );
    }
    // The threads are stuck still; their places are free.
    bench.patience = milliseconds(5_000);
    gate.open();
    for tool in &tools {
        bench.call(format!("again {}", name(tool)), &name(tool), arguments(tool));
        assert!(!bench.outcome_of(format!("again {}", name(tool))).0.contains("timed out"));
    }
    bench.at_rest();
}

#[test]
fn t14_the_deadline_counts_the_time_in_the_queue() {
    let place = place(SMALL);
    let gate = Gate::shut(&place, "gate");
    let gates = [gate.at("work trace"), "deadline:sql=1000".to_owned()];
    let mut bench = Bench::connected_at(place, &["--permits", "1"], &gates);
    bench.warm();
    bench.call(1, "trace", json!({"symbol": "helper"}));
    bench.announced("work trace", 1);
    let start = Instant::now();
    bench.call(2, "sql", json!({"statement": "SELECT 1"}));
    let (text, is_error) = bench.outcome_of(2);
    let elapsed = start.elapsed();
    assert!(is_error && text.contains("timed out after 1 s"), "{text}");
    assert!(
        elapsed >= Duration::from_millis(800)
            && elapsed <= Duration::from_secs(1) + scaled(Duration::from_millis(200))
    );
    bench.ping();
    assert_eq!((bench.answers(&json!(1)), bench.announcements("call sql")), (0, 0));
}
