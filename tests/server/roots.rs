//! The directories that a client works on: they choose the repository, and no request waits long
//! for them.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Client, PROMPT, SMALL, initialize, place};

/// A server that was started in the repository of a place without an argument that names it, and
/// its first messages.
fn start(capabilities: &Value) -> Client {
    start_in(place(SMALL), capabilities)
}

fn start_in(place: TempDir, capabilities: &Value) -> Client {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    command
        .arg("mcp")
        .current_dir(place.path().join("repository"))
        .env_remove("CLAUDE_PROJECT_DIR")
        .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut client = Client::of(place, command);
    let mut hello = initialize("2025-11-25");
    hello["params"]["capabilities"] = capabilities.clone();
    client.send(&hello);
    client.answer(&json!(0));
    client
}

fn ready(client: &mut Client) {
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
}

/// Waits for the question of this number and gives its id.
fn asked(client: &mut Client, number: usize) -> Value {
    let count = std::cell::Cell::new(0);
    let question = client.wait_for("roots/list", |message| {
        count.set(count.get() + usize::from(message["method"] == json!("roots/list")));
        message["method"] == json!("roots/list") && count.get() == number
    });
    question["id"].clone()
}

fn answer(client: &mut Client, id: &Value, roots: &[&Path]) {
    let roots: Vec<Value> =
        roots.iter().map(|root| json!({"uri": format!("file://{}", root.display())})).collect();
    client.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"roots": roots}}));
}

fn knows(client: &mut Client, name: &str) -> bool {
    client
        .ask("search", json!({"query": name, "mode": "name"}))
        .contains(&format!("function {name}"))
}

#[test]
fn the_first_usable_root_is_the_repository_and_a_change_is_followed() {
    let one = place(&[("one.py", "def in_one():\n    pass\n")]);
    let two = place(&[("two.py", "def in_two():\n    pass\n")]);
    let [one, two] = [&one, &two].map(|place| place.path().join("repository"));
    let mut client = start(&json!({"roots": {"listChanged": true}}));
    ready(&mut client);
    client.request(1, "tools/list", json!({}));
    client.answer(&json!(1));
    client.ping();
    assert!(
        client.seen.iter().all(|message| message.get("method").is_none()),
        "nothing is asked before a call needs it"
    );
    client.request(
        2,
        "tools/call",
        json!({"name": "search", "arguments": {"query": "in_one", "mode": "name"}}),
    );
    let id = asked(&mut client, 1);
    answer(&mut client, &id, &[Path::new("/no/such/directory"), &one, &two]);
    let first = client.answer(&json!(2)).to_string();
    assert!(
        first.contains("function in_one"),
        "the first call is about the client's directory already: {first}"
    );
    assert!(!knows(&mut client, "helper"));

    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    let id = asked(&mut client, 2);
    answer(&mut client, &json!("roots-1"), &[&one]);
    answer(&mut client, &id, &[&two]);
    assert!(knows(&mut client, "in_two") && !knows(&mut client, "in_one"));
    client.wait_for("list_changed", |message| {
        message["method"] == json!("notifications/resources/list_changed")
    });

    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    let id = asked(&mut client, 3);
    answer(&mut client, &id, &[]);
    assert!(
        knows(&mut client, "helper"),
        "without roots it is the directory that the server was started in"
    );
}

#[test]
fn a_client_that_does_not_answer_or_cannot_delays_no_other() {
    let mut client = start(&json!({"roots": {}}));
    ready(&mut client);
    client.request(
        1,
        "tools/call",
        json!({"name": "search", "arguments": {"query": "helper", "mode": "name"}}),
    );
    let id = asked(&mut client, 1);
    let start = std::time::Instant::now();
    client.request(2, "tools/list", json!({}));
    client.answer(&json!(2));
    assert!(start.elapsed() < PROMPT);
    let first = client.answer(&json!(1)).to_string();
    assert!(first.contains("function helper"), "{first}");
    assert!(knows(&mut client, "helper"));
    client.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}));
    assert!(knows(&mut client, "helper"));
    client.ping();
}

#[test]
fn only_a_client_that_has_roots_gets_a_request_and_only_if_they_matter() {
    let mut client = start(&json!({}));
    ready(&mut client);
    client.ping();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    assert!(knows(&mut client, "helper"));
    assert!(client.seen.iter().all(|message| message.get("method").is_none()), "{:?}", client.seen);

    // Started with a directory of its own choice.
    let mut client = Client::start(&[]);
    let mut hello = initialize("2025-11-25");
    hello["params"]["capabilities"] = json!({"roots": {}});
    client.send(&hello);
    ready(&mut client);
    assert!(knows(&mut client, "helper"));
    assert!(client.seen.iter().all(|message| message.get("method").is_none()), "{:?}", client.seen);
}

#[test]
fn a_server_that_is_started_in_a_home_directory_asks_for_a_root_and_obeys_one() {
    let client = |root: Option<&str>| {
        let place = place(SMALL);
        let home = place.path().join("repository");
        std::fs::remove_dir_all(home.join(".git")).ok();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .arg("mcp")
            .args(root.map(|_| "--root"))
            .args(root)
            .current_dir(&home)
            .env_remove("CLAUDE_PROJECT_DIR")
            .env("HOME", &home)
            .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut client = Client::of(place, command);
        client.send(&initialize("2025-11-25"));
        client.answer(&json!(0));
        client
    };
    let mut unasked = client(None);
    let call = |client: &mut Client, id: &str, arguments: Value| {
        client.call(id, "search", arguments);
        client.answer(&json!(id))["result"].clone()
    };
    let home = std::fs::canonicalize(unasked.place.path().join("repository")).expect("it exists");
    for (id, arguments) in
        [("own", json!({"query": "helper"})), ("named", json!({"query": "helper", "root": home}))]
    {
        let result = call(&mut unasked, id, arguments);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(
            result["isError"] == json!(true)
                && text.contains("is a home directory")
                && text.contains("--root"),
            "{result}"
        );
    }
    assert!(knows(&mut client(Some(".")), "helper"));
}

#[test]
fn a_directory_of_repositories_is_reported_once_with_how_to_query_one() {
    let place = place(&[
        ("api/.git/HEAD", "ref: refs/heads/main\n"),
        ("api/a.py", "def in_api():\n    pass\n"),
        ("web/.git/HEAD", "ref: refs/heads/main\n"),
        ("web/b.py", "def in_web():\n    pass\n"),
    ]);
    let top = place.path().join("repository").canonicalize().expect("it exists");
    let mut client = start_in(place, &json!({}));
    ready(&mut client);
    let about = json!({"query": "in_api", "mode": "name"});
    let first = client.ask("search", about.clone());
    let reported = format!(
        "{} is no repository and holds 2, read as one: api, web; `root`: \"{}\" asks one alone, ",
        top.display(),
        top.join("api").display()
    );
    assert!(first.contains(&reported), "{first}\nwithout {reported}");
    let second = client.ask("search", about);
    assert!(!second.contains("is no repository"), "once: {second}");
    let alone = json!({"query": "in_web", "mode": "name", "root": top.join("api")});
    let alone = client.ask("search", alone);
    assert!(!alone.contains("function in_web") && !alone.contains("is no repository"), "{alone}");
}
