//! Notifications of changes: who gets which, how often, and who gets none.

use serde_json::{Value, json};

use super::client::{Client, initialize, meta};

const LIST: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

/// Opens a subscription of the stateless era.
fn listen(client: &mut Client, id: &str, notifications: Value) -> Value {
    client.request(
        id,
        "subscriptions/listen",
        json!({"_meta": meta("2026-07-28"), "notifications": notifications}),
    );
    let what = format!("an acknowledgment of {id}");
    client.wait_for(&what, |message| {
        message["method"] == json!("notifications/subscriptions/acknowledged")
            && subscription(message) == json!(id)
    })
}

fn subscription(message: &Value) -> Value {
    message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone()
}

/// What has come of a method for a subscription; for none, what is not marked.
fn count(client: &Client, method: &str, id: &Value) -> usize {
    client
        .seen
        .iter()
        .filter(|message| message["method"] == json!(method) && subscription(message) == *id)
        .count()
}

fn wait_for(client: &mut Client, method: &str, id: &Value, times: usize) {
    for number in 1..=times {
        let seen = std::cell::Cell::new(0);
        client.wait_for(&format!("{method} number {number} for {id}"), |message| {
            let is_it = message["method"] == json!(method) && subscription(message) == *id;
            seen.set(seen.get() + usize::from(is_it));
            is_it && seen.get() == number
        });
    }
}

fn edit(client: &mut Client, number: u32) {
    let file = client.place.path().join("repository/new.py");
    std::fs::write(file, format!("def newcomer_{number}():\n    pass\n"))
        .expect("files can be written");
    let text = client.ask("search", json!({"query": format!("newcomer_{number}")}));
    assert!(text.contains("function newcomer"), "{text}");
}

#[test]
fn a_new_generation_is_reported_to_its_subscribers_and_to_no_other_client() {
    let mut client = Client::start(&[]);
    client.send(&initialize("2025-11-25"));
    client.answer(&json!(0));
    let all =
        json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    let acknowledged = listen(&mut client, "list", all);
    assert_eq!(acknowledged["params"]["notifications"], json!({"resourcesListChanged": true}));
    listen(&mut client, "tools", json!({"toolsListChanged": true}));
    let asked = json!({"resourceSubscriptions": ["cograph://overview", "file:///etc/passwd"]});
    let acknowledged = listen(&mut client, "one", asked);
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"resourceSubscriptions": ["cograph://overview"]})
    );

    client.ask("search", json!({"query": "helper"}));
    wait_for(&mut client, UPDATED, &json!("one"), 1);
    assert_eq!(count(&client, LIST, &json!("list")), 1);
    assert_eq!(count(&client, LIST, &Value::Null), 0, "the client has not said that it is ready");

    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.request(1, "resources/subscribe", json!({"uri": "cograph://outline/a.py"}));
    client.request(2, "resources/subscribe", json!({"uri": "cograph://overview"}));
    client.request(3, "resources/unsubscribe", json!({"uri": "cograph://overview"}));
    assert_eq!(client.answer(&json!(3))["result"], json!({}));
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "list"}
    }));
    edit(&mut client, 1);
    wait_for(&mut client, UPDATED, &json!("one"), 2);
    assert_eq!(count(&client, LIST, &json!("list")), 1, "it was cancelled");
    assert_eq!((count(&client, LIST, &Value::Null), count(&client, UPDATED, &Value::Null)), (1, 1));
    let updated = client
        .seen
        .iter()
        .find(|message| message["method"] == json!(UPDATED) && subscription(message).is_null());
    assert_eq!(
        updated.map(|message| &message["params"]["uri"]),
        Some(&json!("cograph://outline/a.py"))
    );
    for method in [LIST, UPDATED] {
        assert_eq!(count(&client, method, &json!("tools")), 0);
    }
}

#[test]
fn a_subscription_can_only_follow_what_can_exist() {
    let mut client = Client::connected(&[]);
    for (id, uri, code) in [
        (1, json!("cograph://outline/../x"), -32602),
        (2, json!("file:///etc/passwd"), -32002),
        (3, json!(5), -32602),
    ] {
        client.request(id, "resources/subscribe", json!({"uri": uri}));
        assert_eq!(client.answer(&json!(id))["error"]["code"], json!(code), "{uri}");
    }
    client.request(
        4,
        "resources/subscribe",
        json!({"_meta": meta("2026-07-28"), "uri": "cograph://overview"}),
    );
    assert_eq!(
        client.answer(&json!(4))["error"]["code"],
        json!(-32601),
        "the stateless era has no such method"
    );
}

#[test]
fn subscriptions_are_bounded_and_end_with_a_result_that_names_them() {
    let mut client = Client::start(&[]);
    for number in 0..64 {
        listen(&mut client, &format!("s{number}"), json!({"resourcesListChanged": true}));
    }
    client.request(
        "more",
        "subscriptions/listen",
        json!({"_meta": meta("2026-07-28"), "notifications": {}}),
    );
    assert_eq!(client.answer(&json!("more"))["error"]["code"], json!(-32603));
    client.close_input();
    assert!(client.ended().0.success());
    let closed = client.answer(&json!("s0"))["result"].clone();
    assert_eq!(closed["_meta"]["io.modelcontextprotocol/subscriptionId"], json!("s0"));
}
