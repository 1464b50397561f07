//! The two eras: what each understands and what its answers look like.

use serde_json::{Value, json};

use super::client::{Client, SMALL, initialize, meta, place};

#[test]
fn every_known_version_is_taken_and_any_other_gets_the_latest() {
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let mut client = Client::start(&[]);
        client.send(&initialize(asked));
        let result = client.answer(&json!(0))["result"].clone();
        assert_eq!(result["protocolVersion"], json!(given), "{asked}");
        assert_eq!(
            result["capabilities"],
            json!({
                "tools": {}, "resources": {"subscribe": true, "listChanged": true}, "prompts": {},
                "completions": {}
            }),
            "what is declared has a test in a file of its own"
        );
        assert!(result["serverInfo"]["version"].is_string() && result["instructions"].is_string());
    }
}

#[test]
fn a_stateless_request_needs_no_handshake_and_says_when_it_cannot_be_served() {
    let mut client = Client::start(&[]);
    client.request("d", "server/discover", json!({"_meta": meta("2026-07-28")}));
    let found = client.answer(&json!("d"))["result"].clone();
    assert_eq!(
        (&found["resultType"], &found["supportedVersions"][0]),
        (&json!("complete"), &json!("2026-07-28"))
    );
    assert!(
        found["ttlMs"].is_u64()
            && found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].is_string()
    );

    client.request("l", "tools/list", json!({"_meta": meta("2026-07-28")}));
    let listed = client.answer(&json!("l"))["result"].clone();
    assert_eq!(
        (&listed["resultType"], &listed["cacheScope"]),
        (&json!("complete"), &json!("public"))
    );

    client.request("v", "tools/list", json!({"_meta": meta("1900-01-01")}));
    let error = client.answer(&json!("v"))["error"].clone();
    assert_eq!(
        (&error["code"], &error["data"]["supported"]),
        (&json!(-32022), &found["supportedVersions"])
    );

    let without = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    for (id, method, params, code) in [
        ("m1", "tools/list", without, -32602),
        ("m2", "server/discover", json!({}), -32602),
        ("m3", "tools/list", json!({}), -32602),
        ("m4", "ping", json!({"_meta": meta("2026-07-28")}), -32601),
        (
            "m5",
            "initialize",
            json!({"_meta": meta("2026-07-28"), "protocolVersion": "2025-11-25"}),
            -32601,
        ),
        ("m6", "logging/setLevel", json!({"_meta": meta("2026-07-28"), "level": "info"}), -32601),
    ] {
        client.request(id, method, params);
        assert_eq!(client.answer(&json!(id))["error"]["code"], json!(code), "{id}");
    }

    client.hello("2025-11-25");
    client.request("n", "tools/list", json!({}));
    let negotiated = client.answer(&json!("n"))["result"].clone();
    assert!(
        negotiated.get("resultType").is_none() && negotiated.get("ttlMs").is_none(),
        "each era has its own shape"
    );
    assert_eq!(negotiated["tools"], listed["tools"]);
}

#[test]
fn before_the_handshake_nothing_ends_the_process() {
    let mut client = Client::start(&[]);
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}
    }));
    client.ping();
    client.request("early", "tools/call", json!({"name": "status", "arguments": {}}));
    assert_eq!(client.answer(&json!("early"))["error"]["code"], json!(-32602));
    client.request("bad", "initialize", json!({"protocolVersion": 5}));
    assert_eq!(client.answer(&json!("bad"))["error"]["code"], json!(-32602));
    client.hello("2025-11-25");
    client.ping();
}

#[test]
fn an_array_of_messages_is_answered_in_one_array_in_the_version_that_has_them() {
    let mut client = Client::connected_as("2025-03-26", &[]);
    client.write(
        b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\
                   \"method\":\"n\"},{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\
                   \"params\":{\"name\":\"search\",\"arguments\":{\"query\":\"helper\"}}},5]\n",
    );
    let answers = client.wait_for("an array", Value::is_array);
    let ids: Vec<&Value> =
        answers.as_array().expect("it is an array").iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &Value::Null, &json!(2)]);
    client.write(b"[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]\n");
    client.ping();
    assert_eq!(
        client.seen.iter().filter(|message| message.is_array()).count(),
        1,
        "notifications alone are not answered"
    );
}

#[test]
fn a_subscription_is_acknowledged_and_ends_in_silence() {
    let mut client = Client::start(&[]);
    client.request(
        "listen:0",
        "subscriptions/listen",
        json!({"_meta": meta("2026-07-28"), "notifications": {"toolsListChanged": true}}),
    );
    let acknowledged = client.wait_for("an acknowledgment", |message| {
        message["method"] == json!("notifications/subscriptions/acknowledged")
    });
    assert_eq!(
        acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        json!("listen:0")
    );
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({}),
        "nothing is promised that never comes"
    );
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "listen:0"}
    }));
    client.ping();
    assert_eq!(client.answers(&json!("listen:0")), 0);
}

#[test]
fn a_subscription_does_not_hold_up_the_end_and_is_closed_by_a_result() {
    let mut client = Client::start(&[]);
    client.request("l", "subscriptions/listen", json!({"_meta": meta("2026-07-28")}));
    client.ping();
    client.close_input();
    assert!(client.ended().0.success());
    assert_eq!(client.answer(&json!("l"))["result"]["resultType"], json!("complete"));
}

#[test]
fn malformed_calls_are_errors_of_the_protocol() {
    let mut client = Client::connected(&[]);
    for (id, params) in [
        (1, json!({"arguments": {}})),
        (2, json!({"name": 5})),
        (3, json!({"name": "search", "arguments": [1]})),
        (4, json!({"name": "no_such_tool", "arguments": {}})),
    ] {
        client.request(id, "tools/call", params);
        assert_eq!(client.answer(&json!(id))["error"]["code"], json!(-32602), "{id}");
    }
    assert!(
        client.answer(&json!(4))["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("explore, search"))
    );
    client.request(5, "tools/list", json!({"cursor": "x"}));
    assert_eq!(client.answer(&json!(5))["error"]["code"], json!(-32602));
}

#[test]
fn settings_that_cannot_be_used_are_reported_to_the_caller_of_a_tool() {
    let mut client = Client::start_in(place(SMALL), &[], &[("COGRAPH_THREADS", "many")]);
    client.hello("2025-11-25");
    client.request(1, "tools/list", json!({}));
    assert!(client.answer(&json!(1))["result"]["tools"].is_array());
    let (text, is_error) = client.outcome("status", json!({}));
    assert!(is_error && text.contains("COGRAPH_THREADS"), "{text}");
}
