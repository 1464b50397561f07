//! The tools over HTTP and on standard input and output give what the command line gives.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::data::{Data, program};

const TOKEN: &str = "a-token-of-some-length";

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(data: &Data, token: Option<&str>, arguments: &[&str]) -> Self {
        let mut command = program(&["mcp", "--listen", "127.0.0.1:0"]);
        command.args(arguments).arg("--data").arg(data.tables()).stderr(Stdio::piped());
        if let Some(token) = token {
            command.env("COGRAPH_ORG_TOKEN", token);
        }
        let mut child = command.spawn().expect("the program runs");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
        lines.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("serving http://").expect("an address");
        let address = address.strip_suffix("/mcp").expect("a path").parse().expect("an address");
        Self { child, address }
    }

    /// Status and body of a request.
    fn post(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        let body = body.to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: \
             application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: \
             {}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(self.address).expect("connected");
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("received");
        let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = response.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.expect("a status"), body.to_owned())
    }

    /// Text of a tool, and whether it is an error.
    fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> (String, bool) {
        let (status, body) = self.post(headers, &request(tool, arguments));
        assert_eq!(status, 200, "{body}");
        let start = body.find('{').expect("an object");
        let end = body.rfind('}').expect("an object");
        let reply: Value = serde_json::from_str(&body[start..=end]).expect("JSON");
        let result = &reply["result"];
        let text = result["content"][0]["text"].as_str().expect("a text");
        (text.to_owned(), result["isError"] == true)
    }
}

fn request(tool: &str, arguments: Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    })
}

#[test]
fn tools_give_what_the_command_line_gives() {
    let data = Data::exported();
    data.answer(&["compact"]);
    let server = Server::start(&data, None, &[]);
    let statement = "SELECT name, count(*) AS n FROM packages GROUP BY 1 ORDER BY 1";
    for (tool, arguments, command) in [
        ("callers", json!({"name": "flask.jsonify"}), &["callers", "flask.jsonify"][..]),
        (
            "callers",
            json!({"name": "total", "package": "shop", "limit": 1}),
            &["callers", "total", "--package", "shop", "--limit", "1"],
        ),
        ("versions", json!({"package": "flask"}), &["versions", "flask"]),
        ("sql", json!({"query": statement}), &["sql", statement]),
    ] {
        let (text, is_error) = server.call(&[], tool, arguments);
        assert!(!is_error, "{text}");
        assert_eq!(text, data.answer(command));
    }
    let (text, is_error) = server.call(&[], "sql", json!({"query": "DROP TABLE calls"}));
    assert!(is_error && text.contains("hint: "), "{text}");
    let (_, body) = server.post(&[], &request("callers", json!({"nam": "x"})));
    assert!(body.contains("unknown field"), "{body}");
    let (_, list) = server.post(&[], &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    for tool in ["callers", "versions", "sql"] {
        assert!(list.contains(&format!("\"name\":\"{tool}\"")), "{list}");
    }
}

#[test]
fn a_statement_that_exhausts_memory_ends_alone() {
    let data = Data::exported();
    let server = Server::start(&data, None, &["--memory", "16"]);
    for large in [
        "SELECT length(repeat('x', 2000000000))",
        "SELECT value, array_agg(value) OVER () FROM generate_series(1, 30000000)",
    ] {
        let (text, is_error) = server.call(&[], "sql", json!({"query": large}));
        assert!(is_error && text.contains("more memory"), "{text}");
    }
    let (text, is_error) = server.call(&[], "sql", json!({"query": "SELECT 1 AS one"}));
    assert!(!is_error && text.contains("one\n1\n"), "{text}");
}

#[test]
fn a_server_sees_the_next_compaction() {
    let data = Data::exported();
    data.answer(&["compact"]);
    let server = Server::start(&data, None, &[]);
    let arguments = || json!({"name": "total", "package": "shop"});
    let (before, _) = server.call(&[], "callers", arguments());
    assert!(before.contains("2 calls"), "{before}");
    let more = "from shop.sums import total\n\n\ndef more():\n    return total(3)\n";
    data.change("shop", "shop/more.py", more);
    data.answer(&["compact"]);
    let (after, _) = server.call(&[], "callers", arguments());
    assert!(after.contains("3 calls"), "{after}");
}

#[test]
fn a_wrong_token_or_origin_is_refused() {
    let data = Data::exported();
    let origin = ["--allow-origin", "https://tools.example.org:443"];
    let server = Server::start(&data, Some(TOKEN), &origin);
    let ask = || request("versions", json!({"package": "flask"}));
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(server.post(&[], &ask()).0, 401);
    assert_eq!(server.post(&[("authorization", "Bearer wrong-token-of-length")], &ask()).0, 401);
    assert_eq!(server.post(&[("authorization", &bearer)], &ask()).0, 200);
    let with = |origin| [("authorization", bearer.as_str()), ("origin", origin)];
    assert_eq!(server.post(&with("https://evil.example"), &ask()).0, 403);
    assert_eq!(server.post(&with("https://tools.example.org"), &ask()).0, 200);
    let (_, body) = server.post(&[("authorization", "Bearer wrong")], &ask());
    assert!(!body.contains(TOKEN), "{body}");
}

#[test]
fn other_addresses_need_a_token() {
    let data = Data::empty();
    let message = data.error(&["mcp", "--listen", "0.0.0.0:0"]);
    assert!(message.contains("COGRAPH_ORG_TOKEN"), "{message}");
}

#[test]
fn one_client_on_standard_input() {
    let data = Data::exported();
    let mut child = program(&["mcp", "--stdio", "--data"])
        .arg(data.tables())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut input = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let begin = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    });
    writeln!(input, "{begin}").expect("sent");
    lines.next().expect("a reply").expect("UTF-8");
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    writeln!(input, "{begun}").expect("sent");
    writeln!(input, "{}", request("versions", json!({"package": "flask"}))).expect("sent");
    let reply: Value =
        serde_json::from_str(&lines.next().expect("a reply").expect("UTF-8")).expect("JSON");
    assert_eq!(reply["result"]["content"][0]["text"], data.answer(&["versions", "flask"]));
    drop(input);
    assert!(child.wait().expect("ended").success());
}
