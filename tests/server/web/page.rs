//! The page of a runtime: its document without the token, its questions only with it.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::Web;

const VERSION: &str = "MCP-Protocol-Version: 2026-07-28";
const METHOD: &str = "cograph/page";

/// Head and body of a request for the document.
fn document(web: &Web, request: &str, host: &str) -> (String, String) {
    let mut stream = TcpStream::connect(&web.host).expect("it listens");
    write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers in text");
    let (head, body) = text.split_once("\r\n\r\n").expect("there is a head");
    (head.to_owned(), body.to_owned())
}

fn asked(web: &Web, name: &str, arguments: Value) -> Value {
    let method = format!("Mcp-Method: {METHOD}");
    let params = json!({"name": name, "arguments": arguments});
    web.stateless(METHOD, params, &[VERSION, &method]).json()
}

#[test]
fn the_document_needs_no_token_and_admits_nothing_else() {
    let web = Web::start(&[]);
    let (head, body) = document(&web, "GET /", &web.host);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    for line in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    let policy = head.lines().find_map(|line| line.strip_prefix("content-security-policy: "));
    let policy = policy.expect("there is a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
    assert_eq!(body, cograph::page::served());
    assert!(!body.contains(&web.token));
    // A name that leads here from elsewhere, and other requests, are what they were.
    assert!(document(&web, "GET /", "evil.example").0.starts_with("HTTP/1.1 403 "));
    for request in ["GET /other", "GET /mcp", "POST /"] {
        let (head, _) = document(&web, request, &web.host);
        assert!(head.starts_with("HTTP/1.1 401 "), "{request}: {head}");
    }
}

#[test]
fn a_question_of_the_page_is_answered_in_json_to_who_has_the_token() {
    let web = Web::start(&[]);
    let around = asked(&web, "around", json!({"symbol": "helper"}));
    let answer = &around["result"]["answer"];
    assert_eq!(answer["symbol"]["name"], json!("helper"), "{around}");
    let callers = answer["callers"]["nodes"].as_array().expect("a list");
    assert_eq!(callers.len(), 1, "{around}");
    let caller = callers[0]["end"]["symbol"]["symbol"].as_str().expect("a name");
    assert!(caller.ends_with("::main"), "{caller}");
    assert!(!answer["source"]["lines"].as_array().expect("a list").is_empty());
    let found = asked(&web, "find", json!({"query": "helper"}));
    let first = found["result"]["answer"]["symbols"][0]["symbol"].as_str();
    assert!(first.is_some_and(|name| name.ends_with("::helper")), "{found}");
    for name in ["map", "matrix", "overview"] {
        let answer = asked(&web, name, json!({}));
        assert!(answer["result"]["answer"].is_object(), "{name}: {answer}");
    }
    let method = format!("Mcp-Method: {METHOD}");
    let params = json!({"name": "find", "arguments": {"query": "helper"}});
    for token in ["Authorization: Bearer wrong-token-of-16", "Authorization: Basic x"] {
        let answer = web.stateless(METHOD, params.clone(), &[VERSION, &method, token]);
        assert_eq!(answer.status, 401, "{token}");
    }
}

#[test]
fn other_questions_are_refused() {
    let web = Web::start(&[]);
    for (name, arguments, message) in [
        ("sql", json!({"statement": "SELECT 1"}), "the page asks no such question"),
        ("around", json!({}), "around: `symbol` is missing: Symbol"),
        ("around", json!({"symbol": "no_such_thing"}), "no symbol is named `no_such_thing`"),
        ("map", json!({"path": "nowhere"}), "no indexed file or directory is named `nowhere`"),
        ("map", json!({"colour": "mauve"}), "colour"),
        ("uses", json!({"from": "a", "to": "b"}), "no indexed file or directory is named `a`"),
    ] {
        let answer = asked(&web, name, arguments);
        let error = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(error.contains(message), "{name}: {error}");
        assert_eq!(answer["error"]["code"], json!(-32602), "{name}");
    }
    // They are no tools, and the method is of the stateless era only.
    let call = json!({"name": "around", "arguments": {"symbol": "helper"}});
    let headers = [VERSION, "Mcp-Method: tools/call", "Mcp-Name: around"];
    let answer = web.stateless("tools/call", call, &headers).json();
    assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains("unknown tool")));
}
