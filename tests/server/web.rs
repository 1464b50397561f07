//! The runtime over HTTP as clients and strangers see it: sessions, the stateless era, who may come, and what is too much.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::yield_now;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{PATIENCE, SMALL, initialize, meta, place, threads_of};

/// A runtime with its address.
struct Web {
    child: Child,
    host: String,
    _place: TempDir,
}

/// An answer: its status, its head and its body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn session(&self) -> String {
        let line = self.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        line.expect("a session has a name").to_owned()
    }
}

impl Web {
    fn start(variables: &[(&str, &str)]) -> Self {
        let place = place(SMALL);
        let mut child = Command::new(env!("CARGO_BIN_EXE_cograph"))
            .args(["serve", "--http", "127.0.0.1:0", "--root"])
            .arg(place.path().join("repository"))
            .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program was built with the tests");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let line = output.lines().nth(1).expect("it says where it listens").expect("it is text");
        let host = line.split('/').nth(2).expect("it is an address").to_owned();
        Self { child, host, _place: place }
    }

    /// Sends a request on a connection of its own; `headers` are whole lines.
    fn open(&self, method: &str, headers: &[&str], body: &[u8]) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        let host =
            if headers.iter().any(|line| line.starts_with("Host:")) { String::new() } else { format!("Host: {}\r\n", self.host) };
        let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let accept = "Accept: application/json, text/event-stream\r\nConnection: close\r\n";
        let head = format!("{method} /mcp HTTP/1.1\r\n{host}{accept}{lines}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).expect("it reads");
        // One that will not read all of it has answered already.
        let _ = stream.write_all(body);
        BufReader::new(stream)
    }

    fn ask(&self, method: &str, headers: &[&str], body: &Value) -> Answer {
        self.ask_raw(method, headers, body.to_string().as_bytes())
    }

    fn ask_raw(&self, method: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.open(method, headers, body);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).expect("it answers") > 0, "{head}");
        }
        let mut body = String::new();
        stream.read_to_string(&mut body).expect("it answers in text");
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("it has a status");
        Answer { status, head, body }
    }

    /// A request of the stateless era.
    fn stateless(&self, method: &str, params: Value, headers: &[&str]) -> Answer {
        let mut params = params;
        params["_meta"] = meta("2026-07-28");
        self.ask("POST", headers, &json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params}))
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // Nothing to say if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn a_session_has_a_name_that_every_request_bears_until_it_is_ended() {
    let web = Web::start(&[]);
    let hello = web.ask("POST", &[], &initialize("2025-11-25"));
    assert_eq!((hello.status, &hello.json()["result"]["serverInfo"]["name"]), (200, &json!("cograph")));
    let session = format!("Mcp-Session-Id: {}", hello.session());
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(web.ask("POST", &[&session], &ready).status, 202);
    let call = request(1, "tools/call", json!({"name": "trace", "arguments": {"symbol": "helper"}}));
    let answer = web.ask("POST", &[&session, "MCP-Protocol-Version: 2025-11-25"], &call).json();
    assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("main")), "{answer}");
    let list = request(2, "tools/list", json!({}));
    assert_eq!(web.ask("POST", &[], &list).status, 400, "without a session");
    assert_eq!(web.ask("POST", &["Mcp-Session-Id: another"], &list).status, 404);
    assert_eq!(web.ask("POST", &[&session, "MCP-Protocol-Version: 1999-01-01"], &list).status, 400);
    assert_eq!(web.ask("DELETE", &[&session], &Value::Null).status, 204);
    assert_eq!(web.ask("POST", &[&session], &list).status, 404, "it has ended");
}

#[test]
fn a_stateless_request_says_the_same_in_its_headers_and_its_body() {
    let web = Web::start(&[]);
    let version = "MCP-Protocol-Version: 2026-07-28";
    let search = || json!({"name": "search", "arguments": {"query": "helper"}});
    for name in ["Mcp-Name: search", "Mcp-Name: =?base64?c2VhcmNo?="] {
        let answer = web.stateless("tools/call", search(), &[version, "Mcp-Method: tools/call", name]);
        assert_eq!((answer.status, &answer.json()["result"]["resultType"]), (200, &json!("complete")), "{name}");
    }
    for headers in [
        [version, "Mcp-Method: tools/call", "Mcp-Name: show"],
        [version, "Mcp-Method: tools/list", "Mcp-Name: search"],
        ["X-Nothing: 1", "Mcp-Method: tools/call", "Mcp-Name: search"],
    ] {
        let answer = web.stateless("tools/call", search(), &headers);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)), "{headers:?}");
    }
    let unknown = web.stateless("no/such", json!({}), &[version, "Mcp-Method: no/such"]);
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
}

#[test]
fn a_subscription_is_acknowledged_on_its_stream() {
    let web = Web::start(&[]);
    let params = json!({"notifications": {"resourcesListChanged": true}, "_meta": meta("2026-07-28")});
    let listen = request(7, "subscriptions/listen", params).to_string();
    let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"];
    let stream = web.open("POST", &headers, listen.as_bytes());
    let acknowledged = stream.lines().map_while(Result::ok).find(|line| line.starts_with("data: "));
    let event = acknowledged.expect("it is acknowledged");
    assert!(event.contains("notifications/subscriptions/acknowledged") && event.contains("resourcesListChanged"), "{event}");
}

#[test]
fn strangers_and_what_is_too_long_are_turned_away() {
    let web = Web::start(&[]);
    for (header, status) in
        [("Origin: http://evil.example", 403), ("Host: evil.example", 403), ("Origin: http://localhost:1", 200)]
    {
        assert_eq!(web.ask("POST", &[header], &initialize("2025-11-25")).status, status, "{header}");
    }
    let broken = web.ask_raw("POST", &[], b"{nothing");
    assert_eq!((broken.status, &broken.json()["error"]["code"]), (400, &json!(-32700)));
    assert_eq!(web.ask("PUT", &[], &Value::Null).status, 405);
    let mut stream = TcpStream::connect(&web.host).expect("it listens");
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 1073741824\r\n\r\n", web.host);
    stream.write_all(head.as_bytes()).expect("it reads");
    let chunk = vec![b'x'; 1 << 20];
    // It stops reading and answers before all of it was sent.
    let sent = (0..64).take_while(|_| stream.write_all(&chunk).is_ok()).count();
    assert!(sent < 64, "{sent} MB were taken");
}

#[test]
fn a_token_is_asked_for_wherever_there_is_one() {
    const TOKEN: &str = "a-token-is-one-word-of-this-length";
    let web = Web::start(&[("COGRAPH_TOKEN", TOKEN)]);
    let hello = initialize("2025-11-25");
    let shown = format!("Authorization: Bearer {TOKEN}");
    for (headers, status) in [(vec![], 401), (vec!["Authorization: Bearer wrong"], 401), (vec![shown.as_str()], 200)] {
        assert_eq!(web.ask("POST", &headers, &hello).status, status, "{headers:?}");
    }
    let place = place(&[]);
    let open = Command::new(env!("CARGO_BIN_EXE_cograph"))
        .args(["serve", "--http", "0.0.0.0:0"])
        .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
        .output()
        .expect("it can be run");
    let said = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(open.status.code() == Some(3) && said.contains("no token") && said.contains("--token-file"), "{said}");
}

#[test]
fn memory_that_calls_have_used_is_given_back_by_a_thread_of_the_allocator() {
    let web = Web::start(&[]);
    let until = Instant::now() + PATIENCE;
    // It names itself after it has begun, so it may not have its name yet.
    loop {
        let names = threads_of(web.child.id());
        if names.iter().any(|name| name.starts_with("jemalloc")) {
            break;
        }
        assert!(Instant::now() < until, "{names:?}");
        yield_now();
    }
}
