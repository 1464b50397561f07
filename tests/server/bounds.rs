//! What a peer can make the program keep or hand on has a bound: arrays, ids, tokens, and the
//! secrets of the environment.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::client::{Client, place};

#[test]
fn an_array_of_many_messages_is_refused_as_a_whole() {
    let mut client = Client::connected_as("2025-03-26", &[]);
    let array = |count: usize| {
        let one = |id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
        format!("{}\n", Value::from((1..=count).map(one).collect::<Vec<_>>()))
    };
    client.write(array(100).as_bytes());
    assert_eq!(client.wait_for("an array", Value::is_array).as_array().map(Vec::len), Some(100));
    client.write(array(40_000).as_bytes());
    let refused = client.complaint();
    assert_eq!(
        refused["error"]["message"],
        json!("a batch of 40000 messages: none is served, 100 are the most")
    );
    client.ping();
    assert_eq!(
        client.seen.iter().filter(|message| message.is_array()).count(),
        1,
        "none of them was served"
    );
}

#[test]
fn ids_and_progress_tokens_are_short_or_refused() {
    let mut client = Client::connected(&[]);
    client.request("i".repeat(16_385), "ping", json!({}));
    let refused = client.complaint();
    assert_eq!((&refused["error"]["code"], refused.get("id")), (&json!(-32600), None));
    assert_eq!(refused["error"]["message"], json!("the member `id` is longer than 16384 bytes"));
    for (id, length, code) in [(1, 16_384, Value::Null), (2, 16_385, json!(-32602))] {
        let params = json!({
            "name": "status", "arguments": {}, "_meta": {"progressToken": "t".repeat(length)}
        });
        client.request(id, "tools/call", params);
        assert_eq!(client.answer(&json!(id))["error"]["code"], code, "{length}");
    }
}

#[test]
fn a_message_of_few_bytes_and_very_many_values_is_refused() {
    let mut client = Client::connected(&[]);
    let zeros = vec![0; 1 << 19];
    client.call(1, "search", json!({"query": zeros}));
    let answer = client.answer(&json!(1));
    assert_eq!(
        answer["error"]["message"],
        json!("the member `params` has more than 262144 values")
    );
}

#[test]
fn the_token_for_http_is_not_handed_on_to_programs() {
    let place = place(&[]);
    let said = place.path().join("said");
    let script = place.path().join("upstream.sh");
    fs::write(
        &script,
        format!("env > {0}.part; mv {0}.part {0}; cat > /dev/null\n", said.display()),
    )
    .expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    command.args(["mcp", "--upstream"]).arg(format!("up=cmd:sh {}", script.display()));
    command.env("COGRAPH_CACHE_DIR", place.path().join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.env("COGRAPH_TOKEN", "a-secret-of-some-length").env("ANOTHER", "is-handed-on");
    let mut client = Client::of(place, command);
    client.hello("2025-11-25");
    // Whatever this finds, the upstream has been started by then.
    client.outcome("status", json!({}));
    let until = std::time::Instant::now() + client.patience;
    while !said.exists() {
        assert!(std::time::Instant::now() < until, "the program was not started");
        std::thread::yield_now();
    }
    let environment = fs::read_to_string(&said).expect("it was written");
    assert!(environment.contains("ANOTHER=is-handed-on"), "{environment}");
    assert!(
        !environment.contains("COGRAPH_TOKEN") && !environment.contains("a-secret"),
        "{environment}"
    );
}

#[test]
fn a_token_that_goes_over_the_wire_in_the_clear_is_reported() {
    for (address, is_reported) in [
        ("http://192.0.2.1:9/mcp", true),
        ("https://192.0.2.1:9/mcp", false),
        ("http://127.0.0.1:9/mcp", false),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .args(["mcp", "--upstream", address])
            .env("COGRAPH_TOKEN", "a-secret-of-some-length")
            .stdin(Stdio::null());
        let output = command.output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(text.contains("sent in the clear"), is_reported, "{address}: {text}");
        assert!(!text.contains("a-secret"), "{text}");
    }
}
