//! Random input for what reads bytes of peers: lines on standard input and heads of HTTP requests,
//! on the program itself. Whatever comes, it answers what is a request, promptly and within a bound
//! of memory, and admits no unauthorized client.
//!
//! `PROPTEST_CASES=100000` runs longer. What has failed once is kept in `random/*.seeds` and tried
//! first; `random/lines` and `random/heads` are inputs that were nasty somewhere, all of which are
//! tried every time.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::FileFailurePersistence;
use serde_json::json;

use super::client::{Client, PROMPT, initialize};
use super::web::Web;

/// What any input may take: of time until something that comes after it is answered, and of memory
/// at the most.
const TIME: Duration = PROMPT;
const MEMORY_KIB: usize = 256 << 10;

/// Fewer cases than of tests that start no process.
fn settings(seeds: &'static str) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let failure_persistence = Some(Box::new(FileFailurePersistence::Direct(seeds)) as Box<_>);
    ProptestConfig {
        cases: usual.cases.div_ceil(4),
        failure_persistence,
        max_shrink_iters: 200,
        ..usual
    }
}

/// The inputs of a directory, with their names.
fn corpus(directory: &str) -> Vec<(String, Vec<u8>)> {
    let directory =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/random").join(directory);
    let entries = fs::read_dir(directory)
        .expect("it is part of the project")
        .map(|entry| entry.expect("it can be listed"));
    entries
        .map(|entry| {
            (
                entry.file_name().into_string().expect("it is text"),
                fs::read(entry.path()).expect("it can be read"),
            )
        })
        .collect()
}

/// The most memory that a process has had, in KiB.
fn peak(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system says it");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}

/// Writes something, then asks something; the answer comes in time, and everything that was a
/// request in between was answered once.
fn survives(client: &mut Client, input: &[u8], requests: usize) {
    client.seen.clear();
    client.write(input);
    let begun = Instant::now();
    client.write(b"\n");
    client.ping();
    assert!(begun.elapsed() < TIME, "{:?}", begun.elapsed());
    for number in 0..requests {
        assert_eq!(
            client.answers(&json!(format!("asked-{number}"))),
            1,
            "{number}: {:?}",
            client.seen
        );
    }
    assert!(peak(client.pid()) < MEMORY_KIB, "{} KiB", peak(client.pid()));
}

/// A part of a stream of lines.
#[derive(Clone, Debug)]
enum Part {
    /// Anything.
    Bytes(Vec<u8>),
    /// A whole request on a line of its own.
    Request,
}

/// Words that JSON-RPC is made of, in no order.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "null",
    "true",
    "-0",
    "1e9",
    "\"jsonrpc\"",
    "\"2.0\"",
    "\"id\"",
    "\"method\"",
    "\"params\"",
    "\"result\"",
    "\"error\"",
    "\"ping\"",
    "\"tools/call\"",
    "\"initialize\"",
    "\"_meta\"",
    "\"progressToken\"",
    "\u{feff}",
    "\u{2028}",
    "\"notifications/cancelled\"",
    "{\"jsonrpc\":\"2.0\",\"id\":7,",
    "\"method\":\"ping\"}",
    "\\ud800",
    "é",
    " ",
];

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => proptest::collection::vec(select(WORDS), 0..60).prop_map(
            |words| Part::Bytes(words.concat().into_bytes())
        ),
        2 => proptest::collection::vec(any::<u8>(), 0..200).prop_map(Part::Bytes),
        1 => (select(WORDS), 0usize..50_000).prop_map(
            |(word, times)| Part::Bytes(word.repeat(times).into_bytes())
        ),
        2 => Just(Part::Request),
    ]
}

#[test]
fn lines_that_were_nasty_somewhere_cost_nothing() {
    let mut client = Client::connected(&[]);
    for (name, input) in corpus("lines") {
        // The output of a test that fails says which one.
        println!("{name}");
        survives(&mut client, &input, 0);
    }
}

proptest! {
    #![proptest_config(settings("tests/server/random/framing.seeds"))]
    #[test]
    fn any_stream_leaves_its_requests_answered(
        parts in proptest::collection::vec(part(), 0..12),
        version in select(&["2025-03-26", "2025-11-25"][..]),
    ) {
        let mut client = Client::connected_as(version, &[]);
        let (mut stream, mut requests) = (Vec::new(), 0);
        for part in parts {
            match part {
                Part::Bytes(bytes) => stream.extend(bytes),
                Part::Request => {
                    stream.extend(format!("\n\
                                           {{\"jsonrpc\":\"2.0\",\"id\":\"asked-{requests}\",\
                                           \"method\":\"ping\"}}\n").bytes());
                    requests += 1;
                }
            }
        }
        survives(&mut client, &stream, requests);
    }
}

/// Sends bytes on a connection of their own, and gives the status of what comes back; none if it is
/// closed without a word.
fn status_of(web: &Web, bytes: &[u8]) -> Option<u16> {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(&web.host).expect("it listens");
    stream.set_read_timeout(Some(10 * TIME)).expect("it is a socket");
    // One that has answered already may have closed it.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut part) {
        answer.extend_from_slice(&part[..count]);
    }
    assert!(begun.elapsed() < TIME, "{:?}", begun.elapsed());
    let text = String::from_utf8_lossy(&answer);
    text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok())
}

/// An honest request is still served.
fn serves(web: &Web) {
    assert_eq!(web.ask("POST", &[], &initialize("2025-11-25")).status, 200);
    assert!(peak(web.pid()) < MEMORY_KIB, "{} KiB", peak(web.pid()));
}

#[test]
fn heads_that_were_attacks_elsewhere_are_refused() {
    let web = Web::start(&[]);
    for (name, head) in corpus("heads") {
        let status = status_of(&web, &head);
        assert!(
            status.is_none_or(|status| (400..500).contains(&status) || status == 505),
            "{name}: {status:?}"
        );
    }
    serves(&web);
}

#[test]
fn any_head_is_answered_or_closed_and_none_gets_in_without_the_token() {
    let web = Web::start(&[]);
    let words = &[
        "POST ",
        "GET ",
        "/mcp",
        " HTTP/1.1",
        "\r\n",
        "\n",
        "\r",
        "Host: localhost",
        "Host: ",
        "Content-Length: 3",
        "Transfer-Encoding: chunked",
        "Authorization: Bearer ",
        "Origin: http://localhost",
        ": ",
        "\0",
        "\u{7f}",
        "é",
        "3\r\nabc\r\n",
        "\r\n\r\n",
        "Content-Type: application/json",
    ][..];
    let word = proptest::collection::vec(select(words), 0..40)
        .prop_map(|words| words.concat().into_bytes());
    let head = prop_oneof![word, proptest::collection::vec(any::<u8>(), 0..400)];
    proptest!(settings("tests/server/random/heads.seeds"), |(head in head)| {
        let status = status_of(&web, &head);
        prop_assert!(
            status.is_none_or(|status| (400..500).contains(&status) || status == 505), "{:?}",
            status
        );
    });
    serves(&web);
}

#[test]
fn a_request_gets_in_by_one_host_one_token_and_no_foreign_origin_only() {
    let web = Web::start(&[]);
    let (own, bearer) = (web.host.clone(), format!("Bearer {}", web.token));
    let some = |values: &[&str]| {
        proptest::collection::vec(
            select(values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>()),
            0..3,
        )
    };
    let parts = (
        some(&[&own, &own, "localhost", "evil.example", "127.0.0.1.evil.example", ""]),
        some(&["http://localhost:3000", "http://evil.example", "null"]),
        some(&[&bearer, &bearer, "Bearer wrong"]),
        some(&["application/json", "Application/Json; charset=utf-8", "text/plain"]),
        select(vec![
            "/mcp".to_owned(),
            "/mcp".to_owned(),
            format!("http://{own}/mcp"),
            "http://evil.example/mcp".to_owned(),
            "/".to_owned(),
        ]),
    );
    let local = |name: &str| name == own || name.starts_with("localhost");
    proptest!(settings("tests/server/random/requests.seeds"), |(
        (hosts, origins, tokens, kinds, target) in parts
    )| {
        let body = initialize("2025-11-25").to_string();
        let headers = [
            ("Host", &hosts), ("Origin", &origins), ("Authorization", &tokens),
            ("Content-Type", &kinds)
        ];
        let lines: String = headers.iter().flat_map(
            |(name, values)| values.iter().map(move |value| format!("{name}: {value}\r\n"))
        ).collect();
        let head = format!("POST {target} HTTP/1.1\r\n{lines}Accept: application/json\r\n\
                            Connection: close\r\nContent-Length: {}\r\n\r\n", body.len());
        let one_host = hosts.len() == 1 && local(&hosts[0]);
        let one_origin = origins.is_empty() || (
            origins.len() == 1 && origins[0].starts_with("http://localhost")
        );
        let is_mcp = target == "/mcp" || (
            target == format!("http://{own}/mcp") && hosts == [own.clone()]
        );
        let is_json = kinds.len() == 1 && kinds[0].to_lowercase().starts_with("application/json");
        let gets_in = one_host && one_origin && tokens == [bearer.clone()] && is_json && is_mcp;
        let status = ask(&web, &(head + &body));
        prop_assert_eq!(status == 200, gets_in, "{} {:?}", status, &lines);
        prop_assert!(status == 200 || (400..500).contains(&status), "{}", status);
    });
    serves(&web);
}

/// Sends a whole request and gives the status of its answer.
fn ask(web: &Web, request: &str) -> u16 {
    let mut stream = TcpStream::connect(&web.host).expect("it listens");
    stream.set_read_timeout(Some(10 * TIME)).expect("it is a socket");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("it answers");
    String::from_utf8_lossy(&head[9..]).parse().expect("it has a status")
}
