//! Bytes to messages: bursts, cuts, ends of lines, lines that are too long, and things that are no
//! messages.

use std::time::Instant;

use serde_json::{Value, json};

use super::client::{Client, PROMPT, initialize};

const LIST: &str = r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#;

#[test]
fn a_burst_in_one_write_is_answered_at_once_with_the_input_open() {
    let start = Instant::now();
    let mut client = Client::start(&[]);
    let burst = format!(
        "{}\n{{\"method\":\"notifications/initialized\",\"jsonrpc\":\"2.0\"}}\n{LIST}\n",
        initialize("2025-11-25")
    );
    client.write(burst.as_bytes());
    assert_eq!(client.answer(&json!(1))["result"]["tools"].as_array().map(Vec::len), Some(11));
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    assert_eq!(client.seen.len(), 2, "two answers and nothing else: {:?}", client.seen);
    assert_eq!(client.seen[0]["id"], json!(0));
}

#[test]
fn a_message_in_single_bytes_is_the_same_message() {
    let mut client = Client::connected(&[]);
    for byte in "{\"jsonrpc\":\"2.0\",\"id\":\"bÿte\",\"method\":\"ping\"}\r\n".as_bytes() {
        client.write(&[*byte]);
    }
    assert_eq!(client.answer(&json!("bÿte"))["result"], json!({}));
}

#[test]
fn the_last_line_may_lack_its_end() {
    let mut client = Client::connected(&[]);
    client.write(LIST.as_bytes());
    client.close_input();
    assert!(client.ended().0.success());
    assert_eq!(client.answers(&json!(1)), 1);
}

#[test]
fn a_line_that_is_too_long_costs_one_error_and_no_more() {
    let mut client = Client::connected(&[]);
    let long = "x".repeat(8 << 20);
    client.write(
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"method\":\"ping\",\
                 \"params\":{{\"x\":\"{long}\"}}}}\n"
        )
        .as_bytes(),
    );
    assert_eq!(client.answer(&json!("long"))["error"]["code"], json!(-32600));
    client.write(format!("{long}{long}").as_bytes());
    assert_eq!(
        client.complaint()["error"]["code"],
        json!(-32600),
        "the end of the line is not waited for"
    );
    client.write(b"\n");
    client.ping();
    assert_eq!(client.seen.iter().filter(|message| message.get("error").is_some()).count(), 2);
}

#[test]
fn what_is_no_message_gets_its_code_and_nothing_breaks() {
    let mut client = Client::connected(&[]);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{}{}}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let id = json!(7);
    for (line, code, with_id) in [
        (&b"text"[..], -32700, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":", -32700, None),
        (b"\xff\xfe{\"jsonrpc\":\"2.0\",\"id\":7}", -32700, None),
        (b"\0\0\0", -32700, None),
        (b"42", -32600, None),
        (b"[]", -32600, None),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]", -32600, None),
        (b"{}", -32600, None),
        (b"{\"id\":7,\"method\":\"ping\"}", -32600, Some(&id)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", -32600, Some(&id)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":[1]}", -32602, Some(&id)),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"x\":\"\\ud800\"}}",
            -32602,
            Some(&id),
        ),
        (deep.as_bytes(), -32602, Some(&id)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"no/such\"}", -32601, Some(&id)),
    ] {
        client.seen.clear();
        client.write(&[line, b"\n"].concat());
        client.ping();
        let name = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let errors: Vec<&Value> =
            client.seen.iter().filter(|message| message.get("error").is_some()).collect();
        assert_eq!(errors.len(), 1, "{name}: {:?}", client.seen);
        assert_eq!(
            (errors[0]["error"]["code"].as_i64(), errors[0].get("id")),
            (Some(code), with_id),
            "{name}"
        );
    }
}

#[test]
fn every_request_that_is_not_utf8_gets_an_error_under_its_id() {
    let mut client = Client::connected_as("2025-03-26", &[]);
    let call = |id: u64, bytes: &[u8]| {
        let head =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":");
        let search = b"{\"name\":\"search\",\"arguments\":{\"query\":\"";
        [head.as_bytes(), search, bytes, b"\"}}}"].concat()
    };
    // More than the noise that is complained about within a second.
    for id in 1..=30 {
        client.write(&[&call(id, b"caf\xe9")[..], b"\n"].concat());
    }
    for id in 1..=30 {
        assert_eq!(client.answer(&json!(id))["error"]["code"], json!(-32700));
    }
    client.write(&[b"[", &call(31, b"\xf0\x9f")[..], b",", &call(32, b"x"), b"]\n"].concat());
    let answers = client.wait_for("an array", Value::is_array);
    for (answer, id) in answers.as_array().expect("it is one").iter().zip([31, 32]) {
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32700)));
    }
    client.ping();
}

#[test]
fn what_needs_no_answer_gets_none() {
    let mut client = Client::connected(&[]);
    client.seen.clear();
    for line in [
        "",
        "  \t ",
        "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"x":1}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":98,"error":{"code":1,"message":"x"}}"#,
    ] {
        client.write(format!("{line}\n").as_bytes());
    }
    client.ping();
    assert_eq!(client.seen.len(), 1, "{:?}", client.seen);
}

#[test]
fn complaints_about_noise_come_to_rest() {
    let mut client = Client::connected(&[]);
    client.write("noise\n".repeat(5_000).as_bytes());
    client.ping();
    let complaints = client.seen.iter().filter(|message| message.get("error").is_some()).count();
    assert!((1..=100).contains(&complaints), "{complaints}");
}

#[test]
fn ids_come_back_as_they_were() {
    let mut client = Client::connected(&[]);
    for id in [
        json!(7),
        json!(-1),
        json!(9_007_199_254_740_993_i64),
        json!(i64::MAX),
        json!("7"),
        json!(""),
        json!("é\n\""),
        json!("x".repeat(10_000)),
    ] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        assert_eq!(client.answer(&id)["id"], id);
    }
}

#[test]
fn a_client_that_reads_late_loses_nothing() {
    let mut client = Client::connected(&[]);
    let count = 3_000;
    let requests: String = (1..=count)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n"))
        .collect();
    client.write(requests.as_bytes());
    client.answer(&json!(count));
    client.close_input();
    assert!(client.ended().0.success());
    for id in 1..=count {
        assert_eq!(client.answers(&json!(id)), 1, "{id}");
    }
}
