//! Connections without the bearer token: the challenge, and that they exclude no other client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Web, request};
use crate::server::client::{PATIENCE, initialize};

#[test]
fn a_request_without_the_token_gets_a_hint_how_to_send_it() {
    let web = Web::start(&[]);
    let challenge = |headers: &[&str]| {
        let answer = web.ask("POST", headers, &initialize("2025-11-25"));
        let line = answer.head.lines().find_map(|line| line.strip_prefix("www-authenticate: "));
        (answer.status, line.map(str::to_owned))
    };
    let (mut stream, mut head) =
        (TcpStream::connect(&web.host).expect("it listens"), String::new());
    write!(stream, "GET /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", web.host)
        .expect("it reads");
    stream.read_to_string(&mut head).expect("it answers in text");
    assert!(head.starts_with("HTTP/1.1 401 "), "{head}");
    assert!(head.contains("\r\nwww-authenticate: Bearer realm=\"cograph\"\r\n"), "{head}");
    let wrong = Some("Bearer realm=\"cograph\", error=\"invalid_token\"".to_owned());
    assert_eq!(challenge(&["Authorization: Bearer wrong"]), (401, wrong));
    assert_eq!(challenge(&[]), (200, None));
    assert_eq!(challenge(&["Origin: http://evil.example"]), (403, None));
}

/// Sends a request on a connection that stays open; gives the status line of the response.
fn status(stream: &TcpStream, web: &Web, session: &str) -> String {
    let body = request(3, "tools/list", json!({})).to_string();
    let (host, token, length) = (&web.host, &web.token, body.len());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nAccept: \
         application/json\r\nContent-Type: application/json\r\nMcp-Session-Id: {session}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let mut writer = stream;
    writer.write_all(head.as_bytes()).expect("it reads");
    let mut reader = BufReader::new(stream);
    let mut answer = String::new();
    while !answer.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut answer).expect("it answers") > 0, "{answer}");
    }
    let length = answer.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.expect("it has one").parse().expect("a number")];
    reader.read_exact(&mut body).expect("the rest comes");
    let listed: Value = serde_json::from_slice(&body).expect("it is JSON");
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn silent_connections_keep_no_client_out() {
    /// Connections without a token that are kept.
    const MAX_SILENT: usize = 64;
    let web = Web::start(&[]);
    let session = web.ask("POST", &[], &initialize("2025-11-25")).session();
    let known = TcpStream::connect(&web.host).expect("it listens");
    known.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    assert_eq!(status(&known, &web, &session), "HTTP/1.1 200 OK");
    let silent: Vec<TcpStream> =
        (0..600).map(|_| TcpStream::connect(&web.host).expect("it listens")).collect();
    // The last of these is closed when all have been accepted: none comes in behind the client.
    for mut old in &silent[..600 - MAX_SILENT] {
        old.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        assert_eq!(old.read(&mut [0]).expect("it is closed"), 0);
    }
    for _ in 0..20 {
        assert_eq!(web.ask("POST", &[], &initialize("2025-11-25")).status, 200);
    }
    assert_eq!(status(&known, &web, &session), "HTTP/1.1 200 OK", "it has shown the token");
}

#[test]
fn a_connection_that_does_not_show_the_token_is_closed_soon() {
    let web = Web::start(&[]);
    let begun = Instant::now();
    let mut slow = TcpStream::connect(&web.host).expect("it listens");
    slow.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    write!(slow, "POST /mcp HTTP/1.1\r\nHost: {}\r\n", web.host).expect("it reads");
    let mut said = Vec::new();
    slow.read_to_end(&mut said).expect("it is closed");
    assert!(said.is_empty(), "{said:?}");
    let elapsed = begun.elapsed();
    assert!((Duration::from_secs(4)..Duration::from_secs(25)).contains(&elapsed), "{elapsed:?}");
}
