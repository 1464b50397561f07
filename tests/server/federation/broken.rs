//! Upstreams whose bytes are not UTF-8, whose messages are cut off, or whose results have another
//! shape than their method: over standard output, a socket, and HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{await_tool, client_of, tools};
use crate::server::client::{Client, PATIENCE, PROMPT, place};

/// Tools of the upstream, with the result of each: `~` is a byte that is not UTF-8, and a text that
/// ends in `^` is cut off there.
const TOOLS: &[(&str, &str)] = &[
    ("latin", r#"{"content":[{"type":"text","text":"caf~"}]}"#),
    ("error", r#"{"content":[{"type":"text","text":"~"}],"isError":true}"#),
    ("outside", r#"{"content":[~]}"#),
    ("member", r#"{"cont~nt":[]}"#),
    ("cut", r#"{"content":[{"type":"text","text":"caf^"#),
    ("surrogate", r#"{"content":[{"type":"text","text":"\ud800"}]}"#),
    ("text", r#""x""#),
    ("number", "5"),
    ("null", "null"),
    ("list", "[]"),
    ("empty", "{}"),
    ("no_list", r#"{"content":{"type":"text","text":"x"}}"#),
    ("no_item", r#"{"content":["x"]}"#),
    ("no_text", r#"{"content":[{"type":"text","text":["x"]}]}"#),
];

/// What the upstream says to a request, as one line without its end.
fn answer(request: &Value) -> Option<Vec<u8>> {
    let id = request.get("id")?;
    let result = match request["method"].as_str().expect("it has a method") {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "caf~", "version": "~"}
        })
        .to_string(),
        "tools/list" => {
            let named = |(name, _): &(&str, &str)| {
                json!({
                    "name": name, "description": "d~", "inputSchema": {
                        "type": "object", "properties": {"a~": {"description": "~"}}
                    }
                })
            };
            let wrong = ("wrong~", "");
            let all: Vec<Value> = TOOLS.iter().chain([&wrong]).map(named).collect();
            json!({"tools": all}).to_string()
        }
        "tools/call" => {
            let name = request["params"]["name"].as_str().expect("it is named");
            let known = TOOLS.iter().find(|(known, _)| *known == name);
            known.expect("it is listed").1.to_owned()
        }
        _ => "{}".to_owned(),
    };
    // The result before the id: what is cut off has none, and then the id is in front.
    let line = match result.strip_suffix('^') {
        Some(cut) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{cut}"#),
        None => format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#),
    };
    Some(line.bytes().map(|byte| if byte == b'~' { 0xe9 } else { byte }).collect())
}

/// The upstream over lines; `~` in a notification in front of every answer too.
fn serve_lines(input: impl Read, mut output: impl Write) {
    for line in BufReader::new(input).lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).expect("it is asked in messages");
        let Some(answer) = answer(&request) else { continue };
        let progress = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":\
                         {\"progressToken\":\"\xe9\",\"message\":\"\xe9\"}}\ncaf\xe9\n";
        // Before the handshake a line that is no message is a refusal.
        let before = if request["method"] == "initialize" { &[][..] } else { &progress[..] };
        // The client has closed the connection.
        drop(output.write_all(&[before, &answer, b"\n"].concat()));
    }
}

/// The upstream on a socket. It serves until the tests end.
fn over_socket(place: &TempDir) -> String {
    let path = place.path().join("socket");
    let listener = UnixListener::bind(&path).expect("the name is free");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let output = stream.try_clone().expect("it is open");
            std::thread::spawn(move || serve_lines(stream, output));
        }
    });
    path.display().to_string()
}

/// The upstream as a program, with a prepared response for each request.
fn over_output(place: &TempDir) -> String {
    let mut script = "while read -r line; do\n  id=${line#*'\"id\":'}; id=${id%%,*}\n  \
                      case $line in\n"
        .to_owned();
    let mut branch = |part: &str, request: &Value| {
        let said = answer(request).expect("it is a request");
        let name = format!("{}/answer-{}", place.path().display(), script.len());
        fs::write(&name, said).expect("files can be written");
        script += &format!("    *'{part}'*) sed \"s/424242/$id/\" {name}; echo ;;\n");
    };
    let request = |method: &str, name: &str| -> Value {
        json!({"id": 424_242, "method": method, "params": {"name": name}})
    };
    for method in ["initialize", "tools/list"] {
        branch(&format!("\"method\":\"{method}\""), &request(method, ""));
    }
    for (name, _) in TOOLS {
        branch(&format!("\"name\":\"{name}\""), &request("tools/call", name));
    }
    script += "  esac\ndone\n";
    let path = place.path().join("upstream.sh");
    fs::write(&path, script).expect("files can be written");
    format!("cmd:env LC_ALL=C sh {}", path.display())
}

/// The upstream over HTTP, with bodies or with streams of events. It serves until the tests end.
fn over_http(is_stream: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address is free");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve_http(stream, is_stream));
        }
    });
    format!("http://{address}/mcp")
}

/// Answers the requests of one connection until it is closed.
fn serve_http(mut stream: TcpStream, is_stream: bool) -> std::io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if input.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
        });
        let mut body = vec![0; length.unwrap_or(0)];
        input.read_exact(&mut body)?;
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (status, kind, said) = match answer(&request) {
            None => (202, "text/plain", Vec::new()),
            Some(answer) if is_stream => {
                let event = [b"id: 1\ndata: \n\ndata: ", &answer[..], b"\n\n"].concat();
                (200, "text/event-stream", event)
            }
            Some(answer) => (200, "application/json", answer),
        };
        write!(
            stream,
            "HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            said.len()
        )?;
        stream.write_all(&said)?;
    }
}

fn check(target: &str) {
    let mut client = client_of(&[format!("up={target}")]);
    await_tool(&mut client, "up__latin");
    let listed = tools(&mut client);
    assert!(!listed.iter().any(|name| name.contains("wrong")), "{target}: {listed:?}");
    let status = client.outcome("status", json!({})).0;
    assert!(status.contains("`wrong\u{fffd}` has other letters"), "{target}: {status}");
    client.request("l", "tools/list", json!({}));
    let listed = client.answer(&json!("l"))["result"].to_string();
    assert!(listed.contains("[up] d\u{fffd}") && listed.contains("\"a\u{fffd}\""), "{listed}");

    assert_eq!(client.ask("up__latin", json!({})), "caf\u{fffd}", "{target}");
    assert_eq!(client.outcome("up__error", json!({})), ("\u{fffd}".to_owned(), true), "{target}");
    for name in ["outside", "cut", "surrogate"] {
        fails_at_once(&mut client, target, name, "the answer cannot be read");
    }
    for name in
        ["member", "text", "number", "null", "list", "empty", "no_list", "no_item", "no_text"]
    {
        fails_at_once(&mut client, target, name, "a result of no known shape");
    }
    assert_eq!(client.ask("up__latin", json!({})), "caf\u{fffd}", "{target}: the connection stays");
    client.ping();
}

fn fails_at_once(client: &mut Client, target: &str, name: &str, why: &str) {
    let begun = Instant::now();
    let (text, is_error) = client.outcome(&format!("up__{name}"), json!({}));
    assert!(is_error && text.contains(why), "{target}: {name}: {text}");
    assert!(begun.elapsed() < PROMPT, "{target}: {name}: {:?}", begun.elapsed());
}

#[test]
fn a_program_that_says_what_is_no_answer_leaves_no_call_waiting() {
    check(&over_output(&place(&[])));
}

#[test]
fn a_server_on_a_socket_that_says_what_is_no_answer_leaves_no_call_waiting() {
    let place = place(&[]);
    check(&over_socket(&place));
}

#[test]
fn a_server_over_http_that_says_what_is_no_answer_leaves_no_call_waiting() {
    check(&over_http(false));
    check(&over_http(true));
}

#[test]
fn an_upstream_whose_list_or_handshake_has_another_shape_is_named_with_the_reason() {
    let scripts = place(&[]);
    for (name, body, why) in [
        (
            "list",
            r#"*'"method":"tools/list"'*) say '[]' ;;"#,
            "the result is a list, not an object",
        ),
        ("none", r#"*'"method":"tools/list"'*) say '{}' ;;"#, "it has no `tools`"),
        (
            "tools",
            r#"*'"method":"tools/list"'*) say '{"tools":{"name":"x"}}' ;;"#,
            "`tools` is an object, not a list",
        ),
    ] {
        await_trouble(&mut client_of(&[super::script(&scripts, name, body)]), why);
    }
    let path = scripts.path().join("hello.sh");
    let hello =
        "while read -r line; do echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"hi\"}'; done\n";
    fs::write(&path, hello).expect("files can be written");
    let mut client = client_of(&[format!("hello=cmd:sh {}", path.display())]);
    await_trouble(&mut client, "`initialize` with a result of no known shape");
}

/// Queries the status until it reports this failure of the only upstream.
fn await_trouble(client: &mut Client, why: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        let text = client.outcome("status", json!({})).0;
        if text.contains("not connected") && text.contains(why) {
            return;
        }
        assert!(Instant::now() < until, "{why}: {text}");
    }
}
