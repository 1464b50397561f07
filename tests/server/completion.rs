//! Completion: which references and arguments there are, what is offered, and that it delays no
//! other request.

use serde_json::{Value, json};

use super::client::{Client, PROMPT, SMALL, meta, place};

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

fn template(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

fn complete(client: &mut Client, reference: &Value, argument: &Value) -> Value {
    let id = json!(format!("complete-{}", client.seen.len()));
    client.request(
        id.clone(),
        "completion/complete",
        json!({"ref": reference, "argument": argument}),
    );
    client.answer(&id)
}

fn values(client: &mut Client, reference: &Value, name: &str, typed: &str) -> Value {
    let answer = complete(client, reference, &json!({"name": name, "value": typed}));
    let completion = answer["result"]["completion"].clone();
    assert!(completion["values"].as_array().is_some_and(|values| values.len() <= 100), "{answer}");
    completion
}

#[test]
fn symbols_and_paths_are_offered_for_arguments_of_prompts_and_templates() {
    let mut client = Client::start_in(
        place(&[("a.py", SMALL[0].1), ("sub/b.py", "def other():\n    pass\n")]),
        &[],
        &[],
    );
    client.hello("2025-11-25");
    client.ask("status", json!({}));
    client.ask("search", json!({"query": "helper"}));
    let exact =
        |values: &[&str]| json!({"values": values, "hasMore": false, "total": values.len()});
    for (reference, name, typed, expected) in [
        (prompt("explore"), "topic", "hel", exact(&["helper"])),
        (prompt("review"), "symbol", "a.py::", exact(&["a.py::helper", "a.py::main"])),
        (prompt("explore"), "path", "", exact(&["a.py", "sub/"])),
        (prompt("review"), "path", "sub/", exact(&["sub/b.py"])),
        (prompt("review"), "change", "unc", exact(&[])),
        (template("cograph://outline/{+path}"), "path", "s", exact(&["sub/"])),
        (template("cograph://symbol/{+name}"), "name", "OTH", exact(&["other"])),
        (template("cograph://symbol/{+name}"), "name", "no such thing", exact(&[])),
    ] {
        assert_eq!(
            values(&mut client, &reference, name, typed),
            expected,
            "{reference} {name} {typed}"
        );
    }
    let params = json!({
        "_meta": meta("2026-07-28"), "ref": prompt("explore"),
        "argument": {"name": "topic", "value": "mai"},
        "context": {"arguments": {"path": "a.py"}},
    });
    client.request("modern", "completion/complete", params);
    let result = client.answer(&json!("modern"))["result"].clone();
    assert_eq!(
        (&result["resultType"], &result["completion"]),
        (&json!("complete"), &exact(&["main"]))
    );
}

#[test]
fn no_more_than_a_hundred_come_and_the_others_are_counted() {
    let many: String =
        (0..150).map(|number| format!("def function_{number}():\n    pass\n\n\n")).collect();
    let mut client = Client::start_in(place(&[("a.py", &many)]), &[], &[]);
    client.hello("2025-11-25");
    client.ask("search", json!({"query": "function_1"}));
    let completion = values(&mut client, &prompt("explore"), "topic", "func");
    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
}

#[test]
fn mistakes_are_errors_of_the_protocol() {
    let mut client = Client::connected(&[]);
    let topic = json!({"name": "topic", "value": "x"});
    for (reference, argument, expected) in [
        (prompt("nothing"), topic.clone(), "the prompts are: explore, review"),
        (prompt("explore"), json!({"name": "nothing", "value": ""}), "there are: topic, path"),
        (prompt("explore"), json!({"name": "topic"}), "`argument.value`"),
        (prompt("explore"), json!({"name": "topic", "value": 5}), "`argument.value`"),
        (prompt("explore"), json!({"name": "topic", "value": "x".repeat(2000)}), "1024 bytes"),
        (template("cograph://nothing/{+path}"), topic.clone(), "cograph://outline/{+path}"),
        (template("cograph://overview"), topic.clone(), "there are: none"),
        (template("cograph://symbol/{+name}"), topic.clone(), "there are: name"),
        (
            json!({"type": "ref/other", "name": "explore"}),
            topic.clone(),
            "ref/prompt or ref/resource",
        ),
        (json!("explore"), topic, "ref/prompt or ref/resource"),
    ] {
        let error = complete(&mut client, &reference, &argument)["error"].clone();
        assert_eq!(error["code"], json!(-32602), "{reference} {argument}: {error}");
        assert!(
            error["message"].as_str().is_some_and(|message| message.contains(expected)),
            "{reference}: {error}"
        );
    }
    assert!(!client.place.path().join("cache").exists(), "for a mistake nothing is looked at");
}

#[test]
fn it_blocks_no_other_request_and_can_be_cancelled() {
    let mut client = Client::connected(&["--delay-ms", "3600000", "--deadline-ms", "300"]);
    let params = json!({"ref": prompt("explore"), "argument": {"name": "topic", "value": "h"}});
    client.request(1, "completion/complete", params.clone());
    client.request(2, "completion/complete", params);
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    client.ping();
    let error = client.answer(&json!(2))["error"].clone();
    assert_eq!(error["code"], json!(-32603), "it has a deadline: {error}");
    assert_eq!(client.answers(&json!(1)), 0);
}

#[test]
fn without_an_index_it_waits_for_none_and_does_not_claim_that_there_is_nothing() {
    let many: Vec<(String, String)> = (0..300)
        .map(|number| (format!("f{number}.py"), "def helper(x):\n    return x\n\n\n".repeat(100)))
        .collect();
    let many: Vec<(&str, &str)> =
        many.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut client = Client::start_in(place(&many), &[], &[]);
    client.hello("2025-11-25");
    let start = std::time::Instant::now();
    let completion = values(&mut client, &prompt("explore"), "topic", "hel");
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    assert_eq!(completion, json!({"values": [], "hasMore": true}));
}

#[test]
fn hostile_names_are_offered_escaped() {
    let name = "sub/\u{1b}[31m\u{202e}evil\nname.py";
    let mut client = Client::start_in(place(&[(name, "def inside():\n    return 1\n")]), &[], &[]);
    client.hello("2025-11-25");
    client.ask("search", json!({"query": "inside"}));
    let completion = values(&mut client, &prompt("explore"), "path", "sub/");
    assert_eq!(completion["values"], json!(["sub/\\u{1b}[31m\\u{202e}evil\\nname.py"]));
}
