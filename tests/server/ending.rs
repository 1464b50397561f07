//! How the process ends: the end of input, signals, a client that is gone, and that nothing is lost
//! on the way.

use std::time::Duration;

use serde_json::json;

use super::client::{Client, PROMPT};

#[test]
fn the_end_of_input_ends_an_idle_server_at_once() {
    let mut client = Client::connected(&[]);
    client.close_input();
    let (status, elapsed) = client.ended();
    assert!(status.success() && elapsed < PROMPT, "{status} {elapsed:?}");
}

#[test]
fn what_is_in_flight_at_the_end_of_input_is_still_answered() {
    let mut client = Client::connected(&["--delay-ms", "300"]);
    client.call(1, "search", json!({"query": "helper"}));
    client.close_input();
    assert!(client.ended().0.success());
    assert_eq!(client.answers(&json!(1)), 1);
    assert!(client.answer(&json!(1))["result"].get("isError").is_none());
}

#[test]
fn signals_end_the_server_while_the_input_is_open_and_calls_run() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut client = Client::connected(&["--delay-ms", "3600000"]);
        client.call(1, "search", json!({"query": "x"}));
        client.ping();
        client.signal(signal);
        let (_, elapsed) = client.ended();
        assert!(elapsed < PROMPT, "{signal}: {elapsed:?}");
        assert_eq!(client.answers(&json!(1)), 1, "{signal}");
    }
}

#[test]
fn a_signal_ends_a_server_whose_output_is_not_read() {
    let place = super::client::place(super::client::SMALL);
    let mut child =
        super::client::command(place.path()).spawn().expect("the program was built with the tests");
    let mut input = child.stdin.take().expect("it is piped");
    let hello = format!("{}\n", super::client::initialize("2025-11-25"));
    let list: String = (1..200)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n"))
        .collect();
    std::io::Write::write_all(&mut input, (hello + &list).as_bytes()).expect("the server reads");
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill can be run")
            .success()
    );
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let wait = move || sender.send(child.wait().map(|status| (status, child)));
    std::thread::Builder::new().spawn(wait).expect("a thread can be started");
    let ended = receiver.recv_timeout(Duration::from_secs(10));
    assert!(ended.is_ok_and(|result| result.is_ok()), "it goes on although it was told to end");
    drop(input);
}

#[test]
fn a_client_that_is_gone_ends_the_server() {
    let place = super::client::place(super::client::SMALL);
    let mut child =
        super::client::command(place.path()).spawn().expect("the program was built with the tests");
    let mut input = child.stdin.take().expect("it is piped");
    drop(child.stdout.take());
    std::io::Write::write_all(
        &mut input,
        format!("{}\n", super::client::initialize("2025-11-25")).as_bytes(),
    )
    .expect("the server reads");
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let wait = move || sender.send(child.wait());
    std::thread::Builder::new().spawn(wait).expect("a thread can be started");
    let ended = receiver.recv_timeout(Duration::from_secs(10));
    assert!(ended.is_ok_and(|result| result.is_ok_and(|status| status.success())));
    drop(input);
}

#[test]
fn a_large_answer_is_written_whole_before_the_end() {
    let mut client = Client::connected(&[]);
    let requests: String = (1..=500)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n"))
        .collect();
    client.write(requests.as_bytes());
    client.close_input();
    assert!(client.ended().0.success());
    assert!((1..=500).all(|id| client.answers(&json!(id)) == 1));
}

#[test]
fn a_parent_that_is_gone_ends_the_server_though_another_process_holds_its_input_open() {
    let place = super::client::place(super::client::SMALL);
    // The shell is the parent; this test holds both pipes open, as a third process may.
    let script = "exec 3<&0; \"$0\" mcp <&3 & echo '\"started\"'; wait";
    let mut shell = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_cograph")])
        .current_dir(place.path().join("repository"))
        .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("there is a shell");
    let mut input = shell.stdin.take().expect("it is piped");
    let mut output = std::io::BufReader::new(shell.stdout.take().expect("it is piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line)
        .expect("the shell says that it has started");
    std::io::Write::write_all(
        &mut input,
        format!("{}\n", super::client::initialize("2025-11-25")).as_bytes(),
    )
    .expect("it reads");
    line.clear();
    std::io::BufRead::read_line(&mut output, &mut line).expect("the server answers");
    assert!(line.contains("serverInfo"), "{line}");
    shell.kill().and_then(|()| shell.wait()).expect("it is our child");
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let drain = move || sender.send(std::io::Read::read_to_end(&mut output, &mut Vec::new()));
    std::thread::Builder::new().spawn(drain).expect("a thread can be started");
    assert!(
        receiver.recv_timeout(Duration::from_secs(10)).is_ok(),
        "the server has outlived its parent"
    );
    drop(input);
}
