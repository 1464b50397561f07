//! 32 to 35, 13 and 17 once more: clients that own nothing, the runtime that they share, and peers
//! that are not one.

use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::super::client::{PROMPT, SMALL, place};
#[cfg(feature = "faults")]
use super::harness::Gate;
use super::harness::runtime::{Runtime, WAYS, hold, peer, socket, thin, thin_before};
use super::harness::{BURST, assert_prompt, milliseconds, within};

pub(super) fn search() -> Value {
    json!({"query": "helper"})
}

/// Processes that serve a socket.
fn runtimes_at(path: &str) -> Vec<u32> {
    let serves = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("\0serve\0") && line.contains(path)
    };
    let processes = std::fs::read_dir("/proc")
        .expect("it exists")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(serves).collect()
}

#[test]
fn t32_clients_that_come_at_once_get_one_runtime() {
    let place = place(SMALL);
    let path = socket(place.path());
    std::fs::create_dir_all(path.parent().expect("it has one")).expect("directories can be made");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(path.parent().expect("it has one"), private).expect("it is ours");
    drop(UnixListener::bind(&path).expect("the name is free"));
    let mut clients: Vec<_> =
        (0..20).map(|_| thin_before(&place, &["--upstream", "auto", "--start"], &[])).collect();
    for client in &mut clients {
        let start = Instant::now();
        client.write(BURST.as_bytes());
        client.answer(&json!(1));
        assert_prompt(start.elapsed(), 1_000, "the start of a client");
    }
    for client in &mut clients {
        client.call(2, "search", search());
    }
    for client in &mut clients {
        let (text, is_error) = client.outcome_of(2);
        assert!(!is_error && text.contains("helper"), "{text}");
    }
    let path = path.to_str().expect("a plain name");
    within(milliseconds(5_000), "one runtime is left", || runtimes_at(path).len() == 1);
    for client in &mut clients {
        client.close_input();
        assert!(client.ended().0.success());
    }
    let [left] = runtimes_at(path)[..] else { panic!("it outlives its clients") };
    assert!(
        Command::new("kill").arg(left.to_string()).status().expect("kill can be run").success()
    );
    within(milliseconds(5_000), "it ends", || runtimes_at(path).is_empty());
}

#[test]
fn t32_a_client_answers_while_its_runtime_says_nothing() {
    let place = place(SMALL);
    let stalled = peer(place.path(), hold);
    let mut client =
        thin_before(&place, &["--upstream", stalled.to_str().expect("a plain name")], &[]);
    let start = Instant::now();
    client.write(BURST.as_bytes());
    client.answer(&json!(1));
    // Less than the peer has for its side of the handshake, on any machine.
    assert!(start.elapsed() < PROMPT, "the list of tools took {:?}", start.elapsed());
    client.call(2, "search", search());
    client.ping();
    let (text, is_error) = client.outcome_of(2);
    assert!(
        is_error && text.contains("cannot be reached") && text.contains("does not answer"),
        "{text}"
    );
}

#[test]
fn t32_without_a_runtime_calls_are_served_or_refused_with_the_way_out() {
    let place = place(SMALL);
    // The directory of the socket is open to others: no runtime can start there.
    std::fs::create_dir_all(place.path().join("cache/run")).expect("directories can be made");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path().join("cache/run"), open).expect("it is ours");
    let mut client = thin(&place, &["--upstream", "auto", "--start"], &[]);
    assert!(client.ask("search", search()).contains("helper"), "it is served by the client itself");
    let mut client = thin(&place, &["--upstream", "/no/such/socket"], &[]);
    let (text, is_error) = client.outcome("search", search());
    assert!(
        is_error && text.contains("/no/such/socket") && text.contains("cograph serve"),
        "{text}"
    );
}

#[test]
#[cfg(feature = "faults")]
fn t33_a_call_whose_runtime_is_killed_is_answered_once() {
    for way in WAYS {
        let place = place(SMALL);
        let gate = Gate::shut(&place, "gate");
        let mut first = Runtime::start(place.path(), way, &[gate.at("work search")]);
        let mut client = thin(&place, &["--upstream", &first.target], &[]);
        client.call(1, "search", search());
        first.announced("work search", 1);
        first.kill();
        let again = again(&first.target, way);
        let _second = Runtime::start(
            place.path(),
            &again.iter().map(String::as_str).collect::<Vec<_>>(),
            &[],
        );
        let (text, is_error) = client.outcome_of(1);
        assert!(!is_error && text.contains("helper"), "{text}");
        assert!(!client.outcome("show", json!({"targets": ["helper"]})).1, "later calls work");
        client.ping();
        assert_eq!(client.answers(&json!(1)), 1);
    }
}

#[test]
#[cfg(feature = "faults")]
fn t33_a_call_that_a_runtime_stops_at_its_end_is_sent_to_the_next_one() {
    for way in WAYS {
        let place = place(SMALL);
        let gate = Gate::shut(&place, "gate");
        let mut first = Runtime::start(place.path(), way, &[gate.at("work search")]);
        let mut client = thin(&place, &["--upstream", &first.target], &[]);
        client.call(1, "search", search());
        first.announced("work search", 1);
        first.signal("TERM");
        assert!(first.ended().success(), "it ends in order");
        let again = again(&first.target, way);
        let _second = Runtime::start(
            place.path(),
            &again.iter().map(String::as_str).collect::<Vec<_>>(),
            &[],
        );
        let (text, is_error) = client.outcome_of(1);
        assert!(!is_error && text.contains("helper"), "{text}");
        client.ping();
        assert_eq!(client.answers(&json!(1)), 1);
    }
}

/// The arguments with which a runtime has the address of one before.
#[cfg(feature = "faults")]
fn again(target: &str, way: &[&str]) -> Vec<String> {
    let address = target.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    way.iter()
        .map(|word| {
            if word.starts_with("127.") { address.unwrap_or(word) } else { word }.to_string()
        })
        .collect()
}

#[test]
#[cfg(feature = "faults")]
fn t33_a_call_that_may_change_something_is_never_sent_again() {
    for way in WAYS {
        let place = place(SMALL);
        let gate = Gate::shut(&place, "gate");
        let mut first = Runtime::start(place.path(), way, &[gate.at("work search")]);
        let mut client =
            thin(&place, &["--upstream", &first.target], &["changes:search=".to_owned()]);
        client.call(1, "search", search());
        first.announced("work search", 1);
        first.kill();
        let again = again(&first.target, way);
        let mut second = Runtime::start(
            place.path(),
            &again.iter().map(String::as_str).collect::<Vec<_>>(),
            &[],
        );
        let (text, is_error) = client.outcome_of(1);
        assert!(is_error && text.contains("outcome unknown"), "{text}");
        assert!(!client.outcome("show", json!({"targets": ["helper"]})).1, "later calls work");
        assert_eq!((second.announcements("call search"), client.answers(&json!(1))), (0, 1));
    }
}

#[test]
#[cfg(feature = "faults")]
fn t34_a_session_does_not_feel_what_another_does() {
    for way in WAYS {
        let place = place(SMALL);
        let mut gate = Gate::shut(&place, "gate");
        let mut runtime = Runtime::start(
            place.path(),
            &[&["--permits", "2"], way].concat(),
            &[gate.at("work search")],
        );
        let mut flooding = thin(&place, &["--upstream", &runtime.target], &[]);
        let mut other = thin(&place, &["--upstream", &runtime.target], &[]);
        for id in 1..=200 {
            flooding.call(id, "search", search());
        }
        // Those that have begun are held; the others wait behind them.
        runtime.announced("work search", 2);
        let start = Instant::now();
        other.call(1, "show", json!({"targets": ["helper"]}));
        let (text, is_error) = other.outcome_of(1);
        assert!(!is_error && text.contains("return value + 1"), "{text}");
        assert_prompt(start.elapsed(), 1_000, "a call beside a flood");
        other.call(2, "outline", json!({}));
        flooding.cancel(2);
        assert!(!other.outcome_of(2).1, "an id means the same client's request only");
        flooding.close_input();
        flooding.ended();
        assert!(!other.outcome("outline", json!({})).1);
        gate.open();
        other.at_rest();
        within(milliseconds(5_000), "the session ends with its client", || {
            runtime.threads("session-") == 1
        });
    }
}

#[test]
#[cfg(feature = "faults")]
fn t34_an_index_run_is_made_once_and_survives_the_session_that_began_it() {
    for way in WAYS {
        let place = place(SMALL);
        let mut gate = Gate::shut(&place, "gate");
        let mut runtime = Runtime::start(place.path(), way, &[gate.at("index repository")]);
        let mut first = thin(&place, &["--upstream", &runtime.target], &[]);
        let mut second = thin(&place, &["--upstream", &runtime.target], &[]);
        first.call(1, "search", search());
        runtime.announced("index repository", 1);
        second.call(1, "search", search());
        runtime.announced("call search", 2);
        first.close_input();
        first.ended();
        within(milliseconds(10_000), "the first session ends", || runtime.threads("session-") == 1);
        gate.open();
        let (text, is_error) = second.outcome_of(1);
        assert!(!is_error && text.contains("helper"), "{text}");
        assert_eq!(runtime.announcements("index repository"), 1);
    }
}

#[test]
fn t34_changes_are_reported_to_their_subscribers() {
    let place = place(SMALL);
    let runtime = Runtime::start(place.path(), &[], &[]);
    let mut notified = thin(&place, &["--upstream", &runtime.target], &[]);
    let mut silent = thin_before(&place, &["--upstream", &runtime.target], &[]);
    silent.write(
        BURST.lines().next().map(|line| format!("{line}\n")).expect("it has lines").as_bytes(),
    );
    silent.answer(&json!(0));
    for client in [&mut notified, &mut silent] {
        client.ask("search", search());
    }
    std::fs::write(place.path().join("repository/b.py"), "def another_helper():\n    pass\n")
        .expect("files can be written");
    assert!(notified.ask("search", json!({"query": "another_helper"})).contains("b.py"));
    notified.wait_for("a change", |message| {
        message["method"] == "notifications/resources/list_changed"
    });
    assert!(silent.ask("search", json!({"query": "another_helper"})).contains("b.py"));
    silent.ping();
    assert!(
        silent.seen.iter().all(|message| message.get("method").is_none()),
        "it has not said that it is ready"
    );
}

#[test]
#[cfg(feature = "faults")]
fn t35_another_build_or_user_is_refused_by_name() {
    let version = env!("CARGO_PKG_VERSION");
    for (gate, said) in [
        ("version:=0.0.1", ["0.0.1", version]),
        ("build:=of-yesterday", ["another build", version]),
        ("peer-uid:=4242", ["user 4242", "user "]),
    ] {
        let place = place(SMALL);
        let runtime = Runtime::start(place.path(), &[], &[gate.to_owned()]);
        let mut client = thin(&place, &["--upstream", &runtime.target], &[]);
        let start = Instant::now();
        let (text, is_error) = client.outcome("search", search());
        assert!(
            is_error && text.contains("refused") && said.iter().all(|part| text.contains(part)),
            "{text}"
        );
        assert_prompt(start.elapsed(), 1_000, "the refusal");
    }
}

#[test]
#[cfg(feature = "faults")]
fn t35_next_to_a_runtime_of_another_build_calls_are_served_here() {
    let place = place(SMALL);
    let _runtime = Runtime::start(place.path(), &[], &["build:=of-yesterday".to_owned()]);
    let mut client = thin(&place, &["--upstream", "auto"], &[]);
    assert!(client.ask("search", search()).contains("helper"), "it is served by the client itself");
}

#[test]
fn t35_what_speaks_something_else_is_refused() {
    let place = place(SMALL);
    let garbage = peer(place.path(), |mut stream| {
        // A client that is gone misses it.
        let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        hold(stream);
    });
    let mut client = thin(&place, &["--upstream", garbage.to_str().expect("a plain name")], &[]);
    let start = Instant::now();
    let (text, is_error) = client.outcome("search", search());
    assert!(
        is_error && text.contains("refused") && text.contains("not a JSON-RPC message"),
        "{text}"
    );
    assert_prompt(start.elapsed(), 1_000, "the refusal");
}

#[test]
fn t35_an_index_that_another_process_has_made_is_seen() {
    let place = place(SMALL);
    let runtime = Runtime::start(place.path(), &[], &[]);
    let mut client = thin(&place, &["--upstream", &runtime.target], &[]);
    assert!(client.ask("search", search()).contains("up to date"));
    std::fs::write(place.path().join("repository/b.py"), "def another_helper():\n    pass\n")
        .expect("files can be written");
    let indexed = Command::new(env!("CARGO_BIN_EXE_cograph"))
        .arg("index")
        .arg(place.path().join("repository"))
        .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("it can be run");
    assert!(indexed.success());
    let start = Instant::now();
    let text = client.ask("search", json!({"query": "another_helper"}));
    assert!(text.contains("· up to date") && text.contains("b.py"), "{text}");
    assert_prompt(start.elapsed(), 2_000, "the new generation");
}

#[test]
fn t17_a_signal_ends_a_client_and_a_runtime_whatever_they_wait_for() {
    let place = place(SMALL);
    let stalled = peer(place.path(), hold);
    for way in WAYS {
        let mut runtime = Runtime::start(place.path(), way, &[]);
        for target in [runtime.target.as_str(), stalled.to_str().expect("a plain name")] {
            let mut client = thin(&place, &["--upstream", target], &[]);
            client.call(1, "search", search());
            client.ping();
            client.signal("TERM");
            let (status, elapsed) = client.ended();
            assert!(status.success(), "{status}");
            assert_prompt(elapsed, 2_000, "the end of a client");
        }
        let mut client = thin(&place, &["--upstream", &runtime.target], &[]);
        client.ask("search", search());
        let start = Instant::now();
        runtime.signal("TERM");
        assert!(runtime.ended().success());
        assert_prompt(start.elapsed(), 2_000, "the end of a runtime");
        assert!(!socket(place.path()).exists());
    }
}
