//! Connections to peers that send requests without reading responses, or send lines over the limit.

use super::super::NoOwner;
use super::super::wire::wire_of;
use super::*;
use cograph_system::sockets::{LocalStream, pair};
use std::io::{BufRead, BufReader, Write};

/// A connection, and the peer's end of it.
fn connected() -> (Arc<Connection>, LocalStream) {
    let (ours, theirs) = pair().expect("a pair of sockets can be made");
    theirs.set_write_timeout(Some(Duration::from_secs(60))).expect("it is a socket");
    (
        Connection::start(wire_of(ours).expect("it is open"), Arc::new(NoOwner))
            .expect("threads can be started"),
        theirs,
    )
}

fn why_lost(connection: &Connection) -> Option<String> {
    connection.await_end(Duration::from_secs(60));
    connection.state().lost.clone()
}

#[test]
fn a_peer_that_asks_and_does_not_read_is_left_when_its_answers_wait_for_too_long() {
    let (connection, mut peer) = connected();
    let question = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"ping\"}}\n",
        "i".repeat(message::ID_BYTES)
    );
    let many = question.repeat(64);
    // The connection is closed long before the loop ends: a response is as long as its request.
    let sent = (0..4 * WAITING / many.len())
        .take_while(|_| peer.write_all(many.as_bytes()).is_ok())
        .count()
        * many.len();
    assert_eq!(why_lost(&connection).as_deref(), Some(OUTPUT_FULL));
    assert!((WAITING / 2..2 * WAITING).contains(&sent), "{sent}");
}

/// Results of this many requests after the handshake, with ids from 2, to a peer that sends this
/// once it has received all of them, and nothing more.
fn ends_of(count: u64, said: &[u8]) -> Vec<Result<Value, NoResult>> {
    let (connection, peer) = connected();
    let question = UpstreamQuestion { method: "tools/call", params: json!({}), only_reads: true };
    let until = Instant::now() + Duration::from_secs(20);
    std::thread::scope(|scope| {
        let mut lines = BufReader::new(&peer).lines();
        let mut asked = Vec::new();
        let hello = || connection.request(&question, None, until);
        let hello = std::thread::Builder::new().spawn_scoped(scope, hello).expect("a thread");
        lines.next().expect("it gets a request").expect("it can be read");
        writeln!(&peer, "{}", json!({"jsonrpc": "2.0", "id": 1, "result": {}})).expect("open");
        hello.join().expect("nothing panics").expect("it is answered");
        for _ in 0..count {
            let ask = || connection.request(&question, None, until);
            asked.push(std::thread::Builder::new().spawn_scoped(scope, ask).expect("a thread"));
            lines.next().expect("it gets a request").expect("it can be read");
        }
        (&peer).write_all(said).expect("it is open");
        let ends = asked.into_iter().map(|thread| thread.join().expect("nothing panics"));
        let ends = ends.collect();
        connection.close();
        ends
    })
}

#[test]
fn bytes_that_are_not_utf8_are_shown_with_a_mark() {
    let ends = ends_of(1, b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"x\":\"caf\xe9\"}}\n");
    assert_eq!(ends, [Ok(json!({"x": "caf\u{fffd}"}))]);
    let ends = ends_of(
        1,
        b"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-1,\"message\":\"\xff!\"}}\n",
    );
    assert_eq!(ends, [Err(NoResult::Answered { code: -1, message: "\u{fffd}!".to_owned() })]);
}

#[test]
fn a_broken_response_fails_its_request_alone() {
    for broken in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"te\n"[..],
        b"{\"result\":{\xff},\"jsonrpc\":\"2.0\",\"id\":3}\n",
        b"{\"id\":3,\"result\":{}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"resu\xfflt\":{}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"x\":\"\\ud800\"}}\n",
    ] {
        let others = b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}\n\
                       {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":3}\n";
        let ends = ends_of(3, &[broken, others].concat());
        let name = String::from_utf8_lossy(broken);
        assert_eq!((&ends[0], &ends[2]), (&Ok(json!(1)), &Ok(json!(3))), "{name}");
        assert!(
            matches!(&ends[1], Err(NoResult::Answered { message, .. }) if message.contains("read")),
            "{name}: {ends:?}"
        );
    }
}

#[test]
fn a_broken_response_without_an_id_fails_all_requests() {
    let oversize =
        [b"{\"jsonrpc\":\"2.0\",\"result\":\"", &vec![b'x'; LINE + 1][..], b"\n"].concat();
    for broken in [b"{\"jsonrpc\":\"2.0\",\"result\":{\"x\":\"cut\n", &oversize[..]] {
        let ends = ends_of(2, broken);
        assert!(ends.iter().all(|end| matches!(end, Err(NoResult::Answered { .. }))), "{ends:?}");
    }
}

#[test]
fn output_that_is_no_response_fails_no_request() {
    let noise = b"{\"level\":\"info\",\"id\":2}\n{'id': 2, \xff}\ncaf\xe9\n\
                  {\"jsonrpc\":\"2.0\",\"method\":\"notifications/\xff\"}\n\
                  {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\xff}\n\
                  {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\xff}\n";
    let answer = b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":2}\n";
    let first = b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}\n";
    let ends = ends_of(2, &[&noise[..], answer, first].concat());
    assert_eq!(ends, [Ok(json!(1)), Ok(json!(2))]);
}

/// Records change notifications.
struct Listener(std::sync::mpsc::SyncSender<String>);

impl Owner for Listener {
    fn experimental(&self) -> Value {
        Value::Null
    }

    fn roots(&self) -> Vec<String> {
        Vec::new()
    }

    fn changed(&self, method: &str) {
        // The send fails after the test has ended.
        drop(self.0.send(method.to_owned()));
    }
}

#[test]
fn a_refusal_before_the_handshake_ends_the_handshake() {
    let (ours, mut theirs) = pair().expect("a pair of sockets can be made");
    let (sender, changes) = std::sync::mpsc::sync_channel(100);
    let connection =
        Connection::start(wire_of(ours).expect("it is open"), Arc::new(Listener(sender)))
            .expect("threads can be started");
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    write!(theirs, "HTTP/1.1 400 Bad Request\n{notification}\n").expect("it is open");
    changes.recv_timeout(Duration::from_secs(60)).expect("the lines were read");
    let question =
        || UpstreamQuestion { method: "initialize", params: json!({}), only_reads: true };
    let until = Instant::now() + Duration::from_secs(60);
    let end = connection.request(&question(), None, until);
    assert!(
        matches!(&end, Err(NoResult::Answered { message, .. }) if message.contains("JSON-RPC")),
        "{end:?}"
    );
    let second = connection.request(&question(), None, Instant::now());
    assert_eq!(second, Err(NoResult::TimedOut), "only the first request is refused");
    connection.close();
}

#[test]
fn a_peer_is_not_asked_more_when_it_reads_nothing() {
    let (connection, _peer) = connected();
    let params = json!({"x": "y".repeat(1 << 20)});
    let question = UpstreamQuestion { method: "tools/call", params, only_reads: true };
    let ends: Vec<_> =
        (0..32).map(|_| connection.request(&question, None, Instant::now())).collect();
    assert_eq!(ends.first(), Some(&Err(NoResult::TimedOut)), "it was sent");
    assert_eq!(ends.last(), Some(&answered(OUTPUT_FULL)));
    connection.close();
}

#[test]
fn questions_whose_ids_are_too_long_are_no_messages() {
    let (connection, mut peer) = connected();
    let question =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"ping\"}}\n", "i".repeat(1 << 20));
    let taken = (0..2 * MAX_INVALID_LINES)
        .take_while(|_| peer.write_all(question.as_bytes()).is_ok())
        .count();
    assert!(why_lost(&connection).is_some_and(|why| why.contains("not JSON-RPC messages")));
    assert!(taken <= MAX_INVALID_LINES + 2, "{taken}");
    assert_eq!(BufReader::new(&peer).lines().map_while(Result::ok).count(), 0, "none is answered");
}

#[test]
fn the_text_of_an_error_is_kept_as_far_as_it_can_matter() {
    let NoResult::Answered { code: -1, message } =
        error_of(&json!({"code": -1, "message": "é".repeat(MESSAGE)}))
    else {
        panic!("it is an error")
    };
    assert_eq!(message, "é".repeat(MESSAGE / 2));
}
