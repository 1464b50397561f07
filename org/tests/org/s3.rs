//! The same over the protocol of S3, and over a web server that has no lists.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Command;

use cograph_s3_test::{USER, serve};

use super::data::{Data, Ran, program, without_state};

const URL: &str = "s3://graph/tables";

fn over_s3(data: &Data, user: Option<(&str, &str)>, arguments: &[&str]) -> Ran {
    let mut command: Command = program(arguments);
    let server = serve(&data.buckets());
    command
        .args(["--data", URL])
        .env("AWS_ENDPOINT", format!("http://{server}"))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1");
    if let Some((name, secret)) = user {
        command.env("AWS_ACCESS_KEY_ID", name).env("AWS_SECRET_ACCESS_KEY", secret);
    }
    command.output().expect("the program runs").into()
}

#[test]
fn questions_over_s3() {
    let data = Data::exported();
    let question = ["callers", "flask.jsonify"];
    let local = data.answer(&question);
    let before = over_s3(&data, Some(USER), &question);
    assert_eq!(before.out, local, "{}", before.err);
    let compacted = over_s3(&data, Some(USER), &["compact"]);
    assert!(compacted.is_success, "{}", compacted.err);
    let after = over_s3(&data, Some(USER), &["callers", "flask.jsonify", "--reads"]);
    assert_eq!(without_state(&after.out), local, "{}", after.err);
    let read = after.err.strip_prefix("read ").and_then(|text| text.split(' ').next());
    let read: u64 = read.and_then(|bytes| bytes.parse().ok()).expect("a number of bytes");
    assert!(read < 50_000, "{read} bytes were read");
    let again = over_s3(&data, Some(USER), &["compact"]);
    assert!(again.out.contains(": 0 written"), "{} {}", again.out, again.err);
}

#[test]
fn wrong_credentials_are_refused_and_not_shown() {
    let data = Data::exported();
    for user in [None, Some((USER.0, "another secret")), Some(("unknown", "x-secret-x"))] {
        let ran = over_s3(&data, user, &["versions", "flask"]);
        assert!(!ran.is_success, "{}", ran.out);
        assert!(
            ran.err.starts_with("error: ") && ran.err.contains("s3://graph/tables"),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("secret"), "{}", ran.err);
    }
}

/// A web server: ranges of files, and no lists.
fn web(directory: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let serving = std::thread::Builder::new().name("web".to_owned()).spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let reader = BufReader::new(stream.try_clone().expect("a connection"));
            let lines = reader.lines().map(|line| line.expect("UTF-8").to_ascii_lowercase());
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
            let range = head.iter().find_map(|line| line.strip_prefix("range: bytes="));
            let Ok(bytes) = std::fs::read(directory.join(path.trim_start_matches('/'))) else {
                let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
                continue;
            };
            let total = bytes.len();
            let (first, last) = match range.and_then(|range| range.split_once('-')) {
                Some(("", suffix)) => {
                    let suffix: usize = suffix.parse().expect("a number");
                    (total.saturating_sub(suffix), total)
                }
                Some((first, last)) => {
                    let last = last.parse::<usize>().map_or(total, |last| total.min(last + 1));
                    (first.parse().expect("a number"), last)
                }
                None => (0, total),
            };
            let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-range: bytes \
                 {first}-{}/{total}\r\nlast-modified: Mon, 02 Nov 2026 08:00:00 GMT\r\n\
                 connection: close\r\n\r\n",
                last - first,
                last.saturating_sub(1),
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&bytes[first..last]);
        }
    });
    serving.expect("a thread starts");
    address
}

#[test]
fn compacted_tables_over_a_web_server() {
    let data = Data::exported();
    let url = format!("http://{}", web(data.tables()));
    let question = ["callers", "flask.jsonify", "--data", &url];
    let before: Ran = program(&question).output().expect("the program runs").into();
    assert!(before.err.contains("there are no tables at"), "{}", before.err);
    data.answer(&["compact"]);
    let after: Ran = program(&question).output().expect("the program runs").into();
    let local = data.answer(&question[..2]);
    assert_eq!(without_state(&after.out), without_state(&local), "{}", after.err);
    let ran: Ran = program(&["compact", "--data", &url]).output().expect("the program runs").into();
    assert!(ran.err.contains("it can only be read"), "{}", ran.err);
}
