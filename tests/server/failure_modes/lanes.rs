//! 7 to 9: no request waits for another.
#![cfg(feature = "faults")]

use std::time::Instant;

use serde_json::{Value, json};

use super::super::client::{SMALL, place};
use super::harness::{Bench, Gate, assert_prompt, milliseconds, within};

/// A second repository at the same place.
fn other(bench: &Bench) -> Value {
    let root = bench.place.path().join("other");
    std::fs::create_dir_all(&root).expect("directories can be made");
    std::fs::write(root.join("b.py"), "def elsewhere():\n    pass\n")
        .expect("files can be written");
    json!({"query": "elsewhere", "root": root})
}

#[test]
fn t07_cheap_requests_pass_one_that_is_held() {
    let place = place(SMALL);
    let mut gate = Gate::shut(&place, "gate");
    let mut bench = Bench::connected_at(place, &[], &[gate.at("work trace")]);
    let other = other(&bench);
    bench.ask("search", json!({"query": "helper"}));
    bench.ask("search", other.clone());
    bench.call(1, "trace", json!({"symbol": "helper"}));
    bench.request(2, "ping", json!({}));
    bench.prompt_answer(2, 200);
    bench.announced("work trace", 1);
    for round in 0..5 {
        bench.request(10 + round, "ping", json!({}));
        bench.prompt_answer(10 + round, 200);
        bench.request(20 + round, "tools/list", json!({}));
        bench.prompt_answer(20 + round, 200);
        assert!(bench.prompt_ask("search", other.clone(), 200).contains("elsewhere"));
        assert!(bench.prompt_ask("search", json!({"query": "helper"}), 200).contains("helper"));
    }
    assert_eq!(bench.answers(&json!(1)), 0, "it is still held");
    gate.open();
    assert!(!bench.outcome_of(1).1);
    assert_eq!(bench.answers(&json!(1)), 1);
}

#[test]
fn t08_what_is_cheap_and_what_cancels_pass_a_full_queue() {
    let place = place(SMALL);
    let mut gate = Gate::shut(&place, "gate");
    let mut bench =
        Bench::connected_at(place, &["--permits", "1", "--queue", "8"], &[gate.at("work trace")]);
    bench.warm();
    for id in 1..=20 {
        bench.call(id, "trace", json!({"symbol": "helper"}));
    }
    bench.announced("work trace", 1);
    bench.request("p", "ping", json!({}));
    bench.prompt_answer("p", 200);
    bench.request("l", "tools/list", json!({}));
    bench.prompt_answer("l", 200);
    assert!(bench.prompt_ask("status", json!({}), 200).contains("heavy 1/1 running, 8 waiting"));
    for id in 10..=20 {
        let (text, is_error) = bench.outcome_of(id);
        assert!(is_error && text.contains("busy"), "{id}: {text}");
    }
    bench.cancel(1);
    bench.announced("work trace", 2);
    gate.open();
    for id in 2..=9 {
        assert!(!bench.outcome_of(id).1, "{id}");
    }
    bench.at_rest();
    assert_eq!(bench.answers(&json!(1)), 0);
    assert!((2..=20).all(|id| bench.answers(&json!(id)) == 1));
}

#[test]
fn t09_questions_are_answered_while_an_index_is_made() {
    let place = place(SMALL);
    let mut gate = Gate::shut(&place, "gate");
    let mut bench = Bench::connected_at(place, &["--permits", "1"], &[gate.at("index repository")]);
    let other = other(&bench);
    bench.ask("search", other.clone());
    // The first index: only calls that need it wait for it.
    bench.call(1, "search", json!({"query": "helper"}));
    bench.announced("index repository", 1);
    assert!(bench.prompt_ask("search", other.clone(), 250).contains("elsewhere"));
    assert!(
        bench.prompt_ask("status", json!({}), 1_000).contains("index"),
        "it says that a job is under way"
    );
    gate.open();
    assert!(!bench.outcome_of(1).1);
    gate.close();
    // The next one: the published generation answers meanwhile.
    std::fs::write(bench.place.path().join("repository/new.py"), "def newcomer():\n    pass\n")
        .expect("files can be written");
    bench.call(2, "search", json!({"query": "helper"}));
    bench.announced("index repository", 2);
    assert!(bench.prompt_ask("search", other.clone(), 250).contains("elsewhere"));
    let (text, is_error) = bench.outcome_of(2);
    assert!(!is_error && text.contains("generation 1"), "{text}");
    let mut times = Vec::new();
    for _ in 0..20 {
        let start = Instant::now();
        assert!(bench.ask("search", json!({"query": "helper"})).contains("generation 1"));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    assert_prompt(times[18], 250, "the slowest but one of twenty questions");
    gate.open();
    within(milliseconds(10_000), "the new file is taken in", || {
        bench.ask("search", json!({"query": "newcomer"})).contains("function newcomer")
    });
}
