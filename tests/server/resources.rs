//! Resources: what is listed, what an address gives, and what an address cannot reach.

use serde_json::{Value, json};

use super::client::{Client, meta, place};

const MODERN: &str = "2026-07-28";

/// One request with its parameters, in the older era (`legacy`) or the stateless one. Gives the
/// answer.
fn ask(client: &mut Client, is_legacy: bool, method: &str, mut params: Value) -> Value {
    let id = json!(format!("{method}-{}", client.seen.len()));
    if !is_legacy {
        params["_meta"] = meta(MODERN);
    }
    client.request(id.clone(), method, params);
    client.answer(&id)
}

fn read(client: &mut Client, is_legacy: bool, uri: &str) -> Value {
    ask(client, is_legacy, "resources/read", json!({"uri": uri}))
}

#[test]
fn the_lists_exist_before_anything_is_read() {
    let mut client = Client::connected(&[]);
    for is_legacy in [true, false] {
        for (method, member) in
            [("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")]
        {
            let result = ask(&mut client, is_legacy, method, json!({}))["result"].clone();
            assert!(
                result[member].as_array().is_some_and(|items| !items.is_empty()),
                "{method}: {result}"
            );
            assert_eq!(result.get("ttlMs").is_none(), is_legacy, "{method}: {result}");
            assert_eq!(result.get("cacheScope").is_none(), is_legacy, "{method}: {result}");
            let error =
                ask(&mut client, is_legacy, method, json!({"cursor": "x"}))["error"].clone();
            assert_eq!(error["code"], json!(-32602), "{method}");
        }
    }
    assert!(!client.place.path().join("cache").exists(), "nothing was looked at");
}

#[test]
fn an_address_gives_what_the_tool_says() {
    let mut client = Client::connected(&[]);
    // The first answer names the repository as well.
    client.ask("search", json!({"query": "helper"}));
    for (uri, tool, arguments) in [
        ("cograph://overview", "overview", json!({})),
        ("cograph://outline/a.py", "outline", json!({"path": "a.py"})),
        ("cograph://outline/%61%2Epy", "outline", json!({"path": "a.py"})),
        ("cograph://outline/", "outline", json!({})),
        ("cograph://symbol/a.py::helper", "show", json!({"targets": ["a.py::helper"]})),
        ("cograph://symbol/main", "show", json!({"targets": ["main"]})),
    ] {
        let said = client.ask(tool, arguments);
        for is_legacy in [true, false] {
            let result = read(&mut client, is_legacy, uri)["result"].clone();
            let contents = json!([{"uri": uri, "mimeType": "text/plain", "text": said}]);
            assert_eq!(result["contents"], contents, "{uri}");
            let era = [
                result["ttlMs"].is_u64(),
                result["cacheScope"] == json!("private"),
                result["resultType"] == json!("complete"),
            ];
            assert_eq!(era, [!is_legacy; 3], "{result}");
        }
    }
}

#[test]
fn what_is_not_there_is_an_error_of_the_protocol_in_the_code_of_the_era() {
    let files = [("a.py", "def helper():\n    pass\n"), ("b.py", "def helper():\n    pass\n")];
    let mut client = Client::start_in(place(&files), &[], &[]);
    client.hello("2025-11-25");
    for (uri, legacy) in [
        ("nosuch:///zz", -32002),
        ("cograph://nosuch/zz", -32002),
        ("cograph://outline/zz.py", -32002),
        ("cograph://symbol/zz", -32002),
        ("cograph://symbol/", -32602),
        ("cograph://outline/../repository/a.py", -32602),
        ("cograph://outline/x/%2E%2E/%2e%2e/a.py", -32602),
        ("cograph://outline//etc/passwd", -32602),
        ("cograph://symbol/../../etc/passwd", -32602),
        ("cograph://outline/a.py%00", -32602),
        ("cograph://outline/a%2", -32602),
        ("cograph://outline/\u{1b}[31m\u{202e}", -32602),
    ] {
        for (is_legacy, code) in [(true, legacy), (false, -32602)] {
            let answer = read(&mut client, is_legacy, uri);
            assert_eq!(answer["error"]["code"], json!(code), "{uri}: {answer}");
            assert!(!answer.to_string().contains(['\u{1b}', '\u{202e}']), "{answer}");
        }
    }
    for params in [json!({}), json!({"uri": 5})] {
        assert_eq!(
            ask(&mut client, true, "resources/read", params)["error"]["code"],
            json!(-32602)
        );
    }
}

#[test]
fn hostile_names_reach_contents_escaped() {
    let name = "sub/\u{1b}[31m\u{202e}evil\nname.py";
    let mut client = Client::start_in(place(&[(name, "def inside():\n    return 1\n")]), &[], &[]);
    client.hello("2025-11-25");
    for uri in [
        "cograph://overview",
        "cograph://outline/",
        "cograph://outline/sub",
        "cograph://symbol/inside",
    ] {
        let answer = read(&mut client, true, uri);
        let text =
            answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("sub"), "{uri}: {text}");
    }
    let listed = read(&mut client, true, "cograph://outline/sub").to_string();
    assert!(
        listed.contains("\\\\u{1b}[31m\\\\u{202e}evil\\\\nname.py"),
        "what could deceive is shown, not removed: {listed}"
    );
    let raw = "cograph://outline/sub/%1B%5B31m%E2%80%AEevil%0Aname.py";
    assert!(
        read(&mut client, true, raw)["result"]["contents"].is_array(),
        "it can still be asked for by its address"
    );
}

#[test]
fn reading_keeps_to_the_rules_of_calls() {
    let mut client = Client::connected(&["--delay-ms", "3600000", "--deadline-ms", "300"]);
    client.request(1, "resources/read", json!({"uri": "cograph://overview"}));
    client.ping();
    assert_eq!(client.answers(&json!(1)), 0, "it does not hold up the dispatcher");
    let error = client.answer(&json!(1))["error"].clone();
    assert_eq!(error["code"], json!(-32603));
    assert!(error["message"].as_str().is_some_and(|text| text.contains("timed out")), "{error}");
    client.request(2, "resources/read", json!({"uri": "cograph://overview"}));
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    );
    client.request(3, "resources/read", json!({"uri": "cograph://overview"}));
    client.answer(&json!(3));
    assert_eq!(client.answers(&json!(2)), 0, "a cancelled one is not answered");
}
