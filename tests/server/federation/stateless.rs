//! Upstreams that know no handshake: programs, and peers over HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use super::{await_tool, client_of, script};
use crate::server::client::place;

/// An upstream that knows no handshake, and takes only requests that say by themselves what one
/// would have settled.
const STATELESS_ONLY: &str = r#"*'"method":"initialize"'*) ;;
    *'"method":"notifications'*) ;;
    *'io.modelcontextprotocol/protocolVersion":"2026-07-28"'*'clientCapabilities'*)
      case $line in
        *'"method":"server/discover"'*) say '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"modern","version":"1"}}}' ;;
        *'"method":"subscriptions/listen"'*) echo listening >> "$here/heard" ;;
        *'"method":"tools/list"'*) say '{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}}]}' ;;
        *'"name":"ask"'*) say '{"resultType":"input_required","inputRequests":{}}' ;;
        *'"method":"tools/call"'*) say '{"resultType":"complete","content":[{"type":"text","text":"heard"}]}' ;;
      esac ;;
    *) say '{"content":[{"type":"text","text":"what it says of itself is missing"}]}' ;;"#;

#[test]
fn an_upstream_that_knows_no_handshake_is_reached_too() {
    let place = place(&[]);
    let upstream = script(&place, "modern", STATELESS_ONLY);
    let path = place.path().join("modern.sh");
    let text = fs::read_to_string(&path).expect("it was written");
    // It refuses the handshake that the others take.
    let refusing = text.replacen(
        "*'\"method\":\"initialize\"'*) say",
        "*'\"method\":\"initialize\"'*) echo \
         \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"error\\\":{\\\"code\\\":-32022,\
         \\\"message\\\":\\\"2026-07-28 only\\\"}}\" ;;\n    never) say",
        1,
    );
    assert_ne!(text, refusing, "the script was changed");
    fs::write(&path, refusing).expect("written");
    let mut client = client_of(&[upstream]);
    await_tool(&mut client, "modern__echo");
    assert_eq!(client.ask("modern__echo", json!({})), "heard");
    let (text, is_error) = client.outcome("modern__ask", json!({}));
    assert!(is_error && text.contains("asks its caller for more"), "{text}");
    assert_eq!(
        fs::read_to_string(place.path().join("heard")).expect("it was asked to tell"),
        "listening\n"
    );
}

/// The answer of a peer over HTTP that takes a request only if its headers say what its body says.
fn answer(head: &str, request: &Value) -> Option<(u16, Value)> {
    let method = request["method"].as_str().expect("it has a method");
    let id = request.get("id")?;
    let header = |name: &str| {
        let line =
            head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")))?;
        line.split_once(": ").map(|(_, value)| value.trim())
    };
    let is_modern = header("mcp-protocol-version") == Some("2026-07-28")
        && header("mcp-method") == Some(method)
        && header("mcp-name") == request["params"]["name"].as_str()
        && request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28";
    let result = match method {
        "server/discover" if is_modern => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        }
        "tools/list" if is_modern => {
            json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" if is_modern => json!({"content": [{"type": "text", "text": "heard"}]}),
        _ => {
            let error = json!({
                "code": -32022, "message": "2026-07-28 only", "data": {"supported": ["2026-07-28"]}
            });
            return Some((400, json!({"jsonrpc": "2.0", "id": id, "error": error})));
        }
    };
    let mut complete = result;
    complete["resultType"] = json!("complete");
    Some((200, json!({"jsonrpc": "2.0", "id": id, "result": complete})))
}

/// Answers the requests of one connection until it is closed.
fn serve(mut stream: TcpStream) -> std::io::Result<()> {
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
        let (status, text) = match answer(&head, &request) {
            Some((status, answer)) => (status, answer.to_string()),
            None => (202, String::new()),
        };
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             \r\n{text}"
        )?;
    }
}

#[test]
fn a_peer_over_http_that_knows_no_handshake_is_reached_too() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address is free");
    let address = listener.local_addr().expect("it is bound");
    // It serves until the tests end.
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve(stream));
        }
    });
    let mut client = client_of(&[format!("modern=http://{address}/mcp")]);
    await_tool(&mut client, "modern__echo");
    assert_eq!(client.ask("modern__echo", json!({})), "heard");
}
