//! The runtime over HTTP as its clients see it: sessions, the stateless era, access control, and
//! what is too much.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::yield_now;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{PATIENCE, SMALL, initialize, meta, place, threads_of};

mod page;
mod unauthenticated;

/// A runtime with its address.
pub(super) struct Web {
    child: Child,
    pub(super) host: String,
    /// What requests show that say nothing else.
    pub(super) token: String,
    /// Where the program says that it has put the token.
    token_file: Option<PathBuf>,
    place: TempDir,
}

/// An answer: its status, its head and its body.
pub(super) struct Answer {
    pub(super) status: u16,
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
    pub(super) fn start(variables: &[(&str, &str)]) -> Self {
        Self::start_with(&[], variables)
    }

    /// The same with more arguments.
    fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let place = place(SMALL);
        let mut child = Command::new(env!("CARGO_BIN_EXE_cograph"))
            .args(["serve", "--http", "127.0.0.1:0", "--root"])
            .arg(place.path().join("repository"))
            .args(arguments)
            .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
            .env_remove("COGRAPH_TOKEN")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program was built with the tests");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let line = output.nth(1).expect("it says where it listens").expect("it is text");
        let host = line.split('/').nth(2).expect("it is an address").to_owned();
        let given = variables
            .iter()
            .find(|(name, _)| *name == "COGRAPH_TOKEN")
            .map(|(_, token)| (*token).to_owned());
        let token_file = given.is_none().then(|| {
            let line = output.next().expect("it says where the token is").expect("it is text");
            PathBuf::from(
                line.strip_prefix("the bearer token for it is in ").expect("it names a file"),
            )
        });
        let token = given
            .or_else(|| fs::read_to_string(token_file.as_ref()?).ok())
            .expect("there is a token");
        Self { child, host, token: token.trim().to_owned(), token_file, place }
    }

    /// The number of its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Threads that have to do with sessions.
    fn sessions(&self) -> usize {
        threads_of(self.child.id()).iter().filter(|name| name.starts_with("session-")).count()
    }

    /// Calls a tool in a session; gives its text.
    fn call(&self, session: &str, tool: &str, arguments: Value) -> String {
        let call = request(9, "tools/call", json!({"name": tool, "arguments": arguments}));
        let answer = self.ask("POST", &[&format!("Mcp-Session-Id: {session}")], &call).json();
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    }

    /// Sends a request on a connection of its own; `headers` are whole lines.
    fn open(&self, method: &str, headers: &[&str], body: &[u8]) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        let host = if headers.iter().any(|line| line.starts_with("Host:")) {
            String::new()
        } else {
            format!("Host: {}\r\n", self.host)
        };
        let mut lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        for (name, value) in [
            ("Content-Type", "application/json"),
            ("Authorization", &format!("Bearer {}", self.token)),
        ] {
            if !headers.iter().any(|line| line.starts_with(name)) {
                lines += &format!("{name}: {value}\r\n");
            }
        }
        let accept = "Accept: application/json, text/event-stream\r\nConnection: close\r\n";
        let head = format!(
            "{method} /mcp HTTP/1.1\r\n{host}{accept}{lines}Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        // One that will not read all of it has answered already.
        let _ = stream.write_all(body);
        BufReader::new(stream)
    }

    pub(super) fn ask(&self, method: &str, headers: &[&str], body: &Value) -> Answer {
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
        let status =
            head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("it has a status");
        Answer { status, head, body }
    }

    /// A request of the stateless era.
    fn stateless(&self, method: &str, params: Value, headers: &[&str]) -> Answer {
        let mut params = params;
        params["_meta"] = meta("2026-07-28");
        self.ask(
            "POST",
            headers,
            &json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params}),
        )
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
    assert_eq!(
        (hello.status, &hello.json()["result"]["serverInfo"]["name"]),
        (200, &json!("cograph"))
    );
    let session = format!("Mcp-Session-Id: {}", hello.session());
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(web.ask("POST", &[&session], &ready).status, 202);
    let call =
        request(1, "tools/call", json!({"name": "trace", "arguments": {"symbol": "helper"}}));
    let answer = web.ask("POST", &[&session, "MCP-Protocol-Version: 2025-11-25"], &call).json();
    assert!(
        answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("main")),
        "{answer}"
    );
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
        let answer =
            web.stateless("tools/call", search(), &[version, "Mcp-Method: tools/call", name]);
        assert_eq!(
            (answer.status, &answer.json()["result"]["resultType"]),
            (200, &json!("complete")),
            "{name}"
        );
    }
    for headers in [
        [version, "Mcp-Method: tools/call", "Mcp-Name: show"],
        [version, "Mcp-Method: tools/list", "Mcp-Name: search"],
        ["X-Nothing: 1", "Mcp-Method: tools/call", "Mcp-Name: search"],
    ] {
        let answer = web.stateless("tools/call", search(), &headers);
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (400, &json!(-32020)),
            "{headers:?}"
        );
    }
    let unknown = web.stateless("no/such", json!({}), &[version, "Mcp-Method: no/such"]);
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
}

#[test]
fn a_subscription_is_acknowledged_on_its_stream() {
    let web = Web::start(&[]);
    let params =
        json!({"notifications": {"resourcesListChanged": true}, "_meta": meta("2026-07-28")});
    let listen = request(7, "subscriptions/listen", params).to_string();
    let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"];
    let stream = web.open("POST", &headers, listen.as_bytes());
    let acknowledged = stream.lines().map_while(Result::ok).find(|line| line.starts_with("data: "));
    let event = acknowledged.expect("it is acknowledged");
    assert!(
        event.contains("notifications/subscriptions/acknowledged")
            && event.contains("resourcesListChanged"),
        "{event}"
    );
}

#[test]
fn other_origins_and_what_is_too_long_are_turned_away() {
    let web = Web::start(&[]);
    for (header, status) in [
        ("Origin: http://evil.example", 403),
        ("Host: evil.example", 403),
        ("Origin: http://localhost:1", 200),
    ] {
        assert_eq!(
            web.ask("POST", &[header], &initialize("2025-11-25")).status,
            status,
            "{header}"
        );
    }
    let broken = web.ask_raw("POST", &[], b"{nothing");
    assert_eq!((broken.status, &broken.json()["error"]["code"]), (400, &json!(-32700)));
    let latin = web.ask_raw("POST", &[], b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"caf\xe9\"}");
    assert_eq!((latin.status, latin.json()["id"].as_u64()), (400, Some(7)), "{}", latin.body);
    assert_eq!(web.ask("PUT", &[], &Value::Null).status, 405);
    let long = vec![b' '; 9 << 20];
    let session =
        format!("Mcp-Session-Id: {}", web.ask("POST", &[], &initialize("2025-11-25")).session());
    assert_eq!(web.ask_raw("POST", &[&session], &long).status, 413);
    assert_eq!(
        web.ask_raw("POST", &[], &long[..2 << 20]).status,
        413,
        "what belongs to no session is short"
    );
    assert_eq!(
        web.ask_raw("POST", &[&session], &long[..2 << 20]).status,
        400,
        "it is read, and is nothing"
    );
}

#[test]
fn what_can_be_read_in_two_ways_or_does_not_say_that_it_is_a_message_is_refused() {
    let web = Web::start(&[]);
    let hello = initialize("2025-11-25");
    let local = format!("Host: {}", web.host);
    let token = format!("Authorization: Bearer {}", web.token);
    for (headers, status) in [
        (vec![local.as_str(), "Host: evil.example"], 400),
        (vec![local.as_str(), local.as_str()], 400),
        (vec!["Origin: http://localhost", "Origin: http://evil.example"], 400),
        (vec![token.as_str(), "Authorization: Bearer another-token-of-some-length"], 401),
        (vec!["Content-Type: text/plain"], 415),
        (vec!["Content-Type: text/plain; application/json"], 415),
        (vec!["Content-Type: application/json; charset=utf-8"], 200),
    ] {
        assert_eq!(web.ask("POST", &headers, &hello).status, status, "{headers:?}");
    }
    let mut stream = TcpStream::connect(&web.host).expect("it listens");
    let head = format!(
        "POST http://evil.example/mcp HTTP/1.1\r\n{local}\r\n{token}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers in text");
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[test]
fn what_wants_no_answer_and_who_hangs_up_leaves_no_session() {
    let web = Web::start(&[]);
    let (reported, answered) = (
        json!({"jsonrpc": "2.0", "method": "n"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    );
    for message in [&reported, &answered] {
        for _ in 0..1_000 {
            assert_eq!(web.ask("POST", &["MCP-Protocol-Version: 2026-07-28"], message).status, 202);
        }
    }
    assert_eq!(web.sessions(), 0);
    let array = web.ask("POST", &["MCP-Protocol-Version: 2026-07-28"], &json!([reported]));
    assert_eq!((array.status, &array.json()["error"]["code"]), (400, &json!(-32600)));
    for _ in 0..1_000 {
        drop(web.open("POST", &[], initialize("2025-11-25").to_string().as_bytes()));
    }
    let hello = web.ask("POST", &[], &initialize("2025-11-25"));
    assert_eq!(hello.status, 200, "{}", hello.body);
    assert!(web.sessions() <= 192, "{}", web.sessions());
}

#[test]
fn sessions_whose_clients_do_not_come_back_give_way_and_others_do_not() {
    let web = Web::start(&[]);
    let hello = || web.ask("POST", &[], &initialize("2025-11-25"));
    let kept = hello().session();
    web.call(&kept, "status", json!({}));
    let left = hello().session();
    for number in 0..200 {
        assert_eq!(hello().status, 200, "session {number}");
    }
    let list = request(2, "tools/list", json!({}));
    assert_eq!(web.ask("POST", &[&format!("Mcp-Session-Id: {kept}")], &list).status, 200);
    assert_eq!(web.ask("POST", &[&format!("Mcp-Session-Id: {left}")], &list).status, 404);
    let until = Instant::now() + PATIENCE;
    while web.sessions() > 192 {
        assert!(Instant::now() < until, "{} sessions", web.sessions());
        yield_now();
    }
}

#[test]
fn bodies_under_way_have_one_budget() {
    let web = Web::start(&[]);
    let session =
        format!("Mcp-Session-Id: {}", web.ask("POST", &[], &initialize("2025-11-25")).session());
    let (local, token) = (&web.host, &web.token);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {local}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\n{session}\r\n\
         Content-Length: 8000000\r\n\r\n"
    );
    let part = vec![b' '; 7_000_000];
    let mut held = Vec::new();
    // Ten of them are all that there is room for; each is read before the next one begins, or
    // refused.
    let refused = (0..20).find_map(|_| {
        let mut stream = TcpStream::connect(local).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        stream.write_all(head.as_bytes()).expect("it reads");
        if stream.write_all(&part).is_ok() && held.len() < 12 {
            held.push(stream);
            return None;
        }
        let mut status = String::new();
        BufReader::new(stream).read_line(&mut status).ok().map(|_| status)
    });
    let mut statuses: Vec<String> = refused.into_iter().collect();
    for stream in &held {
        stream.set_nonblocking(true).expect("it is a socket");
        let mut line = [0; 16];
        // One that is being read has no answer yet.
        if let Ok(count) = (&*stream).read(&mut line) {
            statuses.push(String::from_utf8_lossy(&line[..count]).into_owned());
        }
    }
    assert!(statuses.iter().any(|status| status.starts_with("HTTP/1.1 503")), "{statuses:?}");
    drop(held);
    let until = Instant::now() + PATIENCE;
    while web.ask_raw("POST", &[&session], &part).status != 400 {
        assert!(Instant::now() < until, "the budget does not come back");
    }
}

#[test]
fn only_directories_that_the_runtime_was_started_for_can_be_asked_about() {
    let allowed = place(SMALL);
    let web = Web::start_with(&["--allow", allowed.path().to_str().expect("it is text")], &[]);
    let session = web.ask("POST", &[], &initialize("2025-11-25")).session();
    let grep = |root: &Path| web.call(&session, "grep", json!({"pattern": "helper", "root": root}));
    let own = web.place.path().join("repository");
    for root in [own.clone(), allowed.path().join("repository")] {
        assert!(grep(&root).contains("def helper"), "{}", root.display());
    }
    let secret = place(&[("secret", "helper: hidden")]);
    std::os::unix::fs::symlink(secret.path(), own.join("link")).expect("the name is free");
    for root in [
        secret.path(),
        Path::new("/"),
        &own.join(".."),
        &own.join("link"),
        &secret.path().join("missing"),
    ] {
        let answer = grep(root);
        assert!(
            !answer.contains("hidden") && answer.contains("--allow DIR"),
            "{}: {answer}",
            root.display()
        );
    }
    // A client can also say in its first message what it works on.
    let mut hello = initialize("2025-11-25");
    hello["params"]["capabilities"]["experimental"]["cograph"]["root"] = json!(secret.path());
    let web = Web::start(&[]);
    let session = web.ask("POST", &[], &hello).session();
    let answer = web.call(&session, "grep", json!({"pattern": "helper"}));
    assert!(!answer.contains("hidden"), "{answer}");
}

#[test]
fn a_token_is_always_asked_for_and_made_where_none_was_given() {
    const TOKEN: &str = "a-token-is-one-word-of-this-length";
    let hello = initialize("2025-11-25");
    let (given, made) = (Web::start(&[("COGRAPH_TOKEN", TOKEN)]), Web::start(&[]));
    for (web, token) in [(&given, TOKEN), (&made, made.token.as_str())] {
        let shown = format!("Authorization: Bearer {token}");
        for (header, status) in
            [("Authorization:", 401), ("Authorization: Bearer wrong", 401), (shown.as_str(), 200)]
        {
            assert_eq!(web.ask("POST", &[header], &hello).status, status, "{header}");
        }
    }
    let path = made.token_file.as_ref().expect("it was made");
    assert_eq!(path, &made.place.path().join("cache/run/socket.token"));
    assert_eq!(fs::metadata(path).expect("it exists").permissions().mode() & 0o777, 0o600);
    assert!(made.token.len() >= 32 && given.token_file.is_none());
    let place = place(&[]);
    let open = Command::new(env!("CARGO_BIN_EXE_cograph"))
        .args(["serve", "--http", "0.0.0.0:0"])
        .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
        .output()
        .expect("it can be run");
    let said = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(
        open.status.code() == Some(3)
            && said.contains("a token is required")
            && said.contains("--token-file"),
        "{said}"
    );
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
