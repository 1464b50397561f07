//! 22 to 25: messages that are too long or no messages, results that are too long, and ids of every
//! kind.

use serde_json::{Value, json};

#[cfg(feature = "faults")]
use super::super::client::SMALL;
use super::super::client::place;
#[cfg(feature = "faults")]
use super::harness::Gate;
use super::harness::{Bench, milliseconds};

/// Longest line that the server reads.
const LIMIT: usize = 8 << 20;

#[test]
fn t22_a_line_that_is_too_long_costs_one_error() {
    let mut bench = Bench::connected(&[], &[]);
    bench.warm();
    let before = bench.memory("VmRSS");
    bench.seen.clear();
    bench.patience = milliseconds(10_000);
    let head = "{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"method\":\"ping\",\"params\":{\"x\":\"";
    let line = format!("{head}{}\"}}}}", "x".repeat(LIMIT + 1 - head.len() - 3));
    assert_eq!(line.len(), LIMIT + 1);
    bench.write(format!("{line}\n").as_bytes());
    assert_eq!(bench.answer(&json!("long"))["error"]["code"], json!(-32600));
    let fitting = format!("{head}{}\"}}}}", "x".repeat(LIMIT - head.len() - 3))
        .replace("\"long\"", "\"fits\"");
    assert_eq!(fitting.len(), LIMIT);
    bench.write(format!("{fitting}\n").as_bytes());
    assert!(bench.answer(&json!("fits")).get("result").is_some(), "the limit itself is no excess");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        bench.write(&piece);
    }
    assert_eq!(
        bench.complaint()["error"]["code"],
        json!(-32600),
        "the end of the line is not waited for"
    );
    bench.write(b"\n");
    bench.ping();
    assert_eq!(bench.replies(), 4, "one error each: {:?}", bench.seen);
    let grown = bench.memory("VmRSS").saturating_sub(before);
    assert!(grown < 48 << 20, "{} MiB more", grown >> 20);
}

#[test]
fn t23_a_result_that_is_too_long_is_cut_and_says_how_to_go_on() {
    let source: String = (0..4_000)
        .map(|number| format!("def function_number_{number}(value):\n    return value\n\n\n"))
        .collect();
    let mut bench = Bench::connected_at(place(&[("a.py", &source)]), &[], &[]);
    for (tool, arguments) in [
        ("search", json!({"query": "function_number"})),
        ("outline", json!({"path": "a.py"})),
        ("show", json!({"targets": ["a.py"]})),
        ("grep", json!({"pattern": "return value"})),
        ("sql", json!({"statement": "SELECT name, path FROM symbols"})),
    ] {
        for budget in [500, 10_000] {
            let mut arguments = arguments.clone();
            arguments["budget"] = json!(budget);
            let text = bench.ask(tool, arguments);
            assert!(
                text.len() <= budget * 4 + 200,
                "{tool}: {} bytes for {budget} tokens",
                text.len()
            );
            let last = text.lines().last().unwrap_or_default();
            let says_how = ["budget", "offset", "narrow", "path", "show `", "OFFSET"]
                .iter()
                .any(|word| last.contains(word));
            assert!(says_how && text.contains("more"), "{tool}: {last}");
            let result = &bench.seen.last().expect("the answer was seen")["result"];
            assert_eq!(result["_meta"]["truncated"], json!(true), "{tool}: {result}");
        }
    }
    bench.ping();
}

#[test]
fn t24_what_is_no_message_has_its_code_and_breaks_nothing() {
    let mut bench = Bench::connected(&[], &[]);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep_params = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{{\"x\":{}}}}}",
        nested(10_000)
    );
    let id = json!(7);
    let corpus: Vec<(Vec<u8>, i64, Option<&Value>)> = vec![
        (b"text".to_vec(), -32700, None),
        (b"[]".to_vec(), -32600, None),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]".to_vec(), -32600, None),
        (b"42".to_vec(), -32600, None),
        (b"\"text\"".to_vec(), -32600, None),
        (b"null".to_vec(), -32600, None),
        (b"{}".to_vec(), -32600, None),
        (b"{\"id\":7,\"method\":\"ping\"}".to_vec(), -32600, Some(&id)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}".to_vec(), -32600, Some(&id)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}".to_vec(), -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}".to_vec(), -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}".to_vec(), -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}".to_vec(), -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\xfe\"}".to_vec(), -32700, Some(&id)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\0\"method\":\"ping\"}".to_vec(), -32700, None),
        (deep_params.into_bytes(), -32602, Some(&id)),
        (nested(10_000).into_bytes(), -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"id\":8,\"method\":\"ping\"}".to_vec(), -32600, None),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"x\":\"\\ud800\"}}"
                .to_vec(),
            -32602,
            Some(&id),
        ),
    ];
    for (line, code, with_id) in corpus {
        bench.seen.clear();
        bench.write(&[&line[..], b"\n"].concat());
        bench.ping();
        let name = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let errors: Vec<&Value> =
            bench.seen.iter().filter(|message| message.get("error").is_some()).collect();
        assert_eq!(errors.len(), 1, "{name}: {:?}", bench.seen);
        assert_eq!(
            (errors[0]["error"]["code"].as_i64(), errors[0].get("id")),
            (Some(code), with_id),
            "{name}"
        );
        assert_eq!(bench.replies(), 2, "{name}: {:?}", bench.seen);
    }
}

#[test]
fn t24_complaints_come_to_rest() {
    let mut bench = Bench::connected(&[], &[]);
    let start = std::time::Instant::now();
    bench.write("noise\n".repeat(2_000).as_bytes());
    bench.ping();
    let seconds = start.elapsed().as_secs() as usize + 1;
    let complaints = bench.seen.iter().filter(|message| message.get("error").is_some()).count();
    assert!((1..=10 * (seconds + 1)).contains(&complaints), "{complaints} in {seconds} s");
}

#[test]
fn t25_ids_come_back_in_value_and_kind() {
    let mut bench = Bench::connected(&[], &[]);
    let ids = [
        json!(0),
        json!(-1),
        json!(1_u64 << 53),
        json!(i64::MAX),
        json!("0"),
        json!(""),
        json!("x".repeat(10_000)),
        json!("é\u{1f980}\n"),
    ];
    for id in ids {
        bench.seen.clear();
        bench.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        assert_eq!(bench.answer(&id)["result"], json!({}));
        bench.call(id.clone(), "no_such_tool", json!({}));
        bench.wait_for("an error with the id", |message| {
            message["id"] == id && message["error"]["code"] == json!(-32602)
        });
        assert_eq!(bench.replies(), 2, "{:?}", bench.seen);
    }
}

#[test]
#[cfg(feature = "faults")]
fn t25_an_id_in_flight_keeps_its_own_answer() {
    let place = place(SMALL);
    let mut gate = Gate::shut(&place, "gate");
    let mut bench = Bench::connected_at(place, &[], &[gate.at("work search")]);
    bench.warm();
    bench.call(1, "search", json!({"query": "helper"}));
    bench.announced("work search", 1);
    bench.call(1, "outline", json!({}));
    assert_eq!(bench.answer(&json!(1))["error"]["code"], json!(-32600));
    bench.call("1", "outline", json!({}));
    assert!(!bench.outcome_of("1").1, "the string is another id");
    bench.seen.clear();
    gate.open();
    let (text, is_error) = bench.outcome_of(1);
    assert!(!is_error && text.contains("function helper"), "{text}");
    bench.ping();
    assert_eq!(bench.answers(&json!(1)), 1);
}
