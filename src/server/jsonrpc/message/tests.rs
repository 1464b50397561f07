//! Parsing of messages: ids, batches, nesting, and their limits.

use super::*;

fn error_of(line: &str) -> (Option<Value>, i32) {
    match parse(line.as_bytes()) {
        Message::Invalid(id, error) => (id.map(|id| id.to_json()), error.code),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn ids_keep_their_kind_and_value() {
    for id in ["0", "-1", "9007199254740993", "9223372036854775807", "\"0\"", "\"\"", "\"é\\n\""] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let Message::Request(request) = parse(line.as_bytes()) else { panic!("{line}") };
        let expected: Value = serde_json::from_str(id).expect("the ids above are JSON");
        assert_eq!(request.id.to_json(), expected);
        assert_eq!(request.params, Ok(Map::new()));
    }
    assert_ne!(RequestId::from_json(&Value::from(7)), RequestId::from_json(&Value::from("7")));
}

#[test]
fn what_is_no_request_gets_the_code_of_its_fault() {
    for (line, id, code) in [
        ("text", None, PARSE_ERROR),
        ("{\"a\":", None, PARSE_ERROR),
        ("[1,", None, PARSE_ERROR),
        ("\0\0", None, PARSE_ERROR),
        ("[]", None, INVALID_REQUEST),
        ("42", None, INVALID_REQUEST),
        ("{}", None, INVALID_REQUEST),
        (r#"{"id":1,"method":"m"}"#, Some(Value::from(1)), INVALID_REQUEST),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Some(Value::from(1)), INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Some(Value::from(1)), INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, None, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, None, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"m"}"#, None, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, None, INVALID_REQUEST),
    ] {
        assert_eq!(error_of(line), (id, code), "{line}");
    }
    assert!(matches!(
        parse(b"\xff\xfe{}"),
        Message::Invalid(None, RpcError { code: PARSE_ERROR, .. })
    ));
}

#[test]
fn unusable_parameters_leave_the_id_known() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"x":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    for line in [
        deep.as_str(),
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"\ud800"}}"#,
    ] {
        let Message::Request(request) = parse(line.as_bytes()) else { panic!("{}", &line[..60]) };
        assert_eq!(request.id.to_json(), Value::from(7));
        assert_eq!(request.params.expect_err("they cannot be used").code, INVALID_PARAMS);
    }
}

#[test]
fn notifications_answers_and_batches() {
    assert!(matches!(
        parse(br#"{"jsonrpc":"2.0","method":"n","params":[1]}"#),
        Message::Notification { .. }
    ));
    let id = RequestId::from_json(&Value::from(9));
    let answer = parse(br#"{"jsonrpc":"2.0","id":9,"result":{"a":1}}"#);
    assert_eq!(
        answer,
        Message::Response {
            id: id.clone(),
            result: Some(serde_json::json!({"a": 1})),
            error: None
        }
    );
    let answer = parse(br#"{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}}"#);
    assert_eq!(
        answer,
        Message::Response {
            id,
            result: None,
            error: Some(serde_json::json!({"code": 1, "message": "x"}))
        }
    );
    let Message::Batch(members) = parse(br#" [{"jsonrpc":"2.0","id":1,"method":"m"}, 5]"#) else {
        panic!("a batch")
    };
    assert!(matches!(members[..], [Message::Request(_), Message::Invalid(None, _)]));
}

#[test]
fn the_id_of_an_oversize_message_is_found_when_it_stands_in_front() {
    let find = |prefix: &str| remains(prefix.as_bytes())?.id().map(|id| id.to_json());
    assert_eq!(
        find(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":"yyy"#),
        Some(Value::from("a"))
    );
    assert_eq!(find(r#"{"method":"m","id":3,"params":{"x":"yyy"#), Some(Value::from(3)));
    assert_eq!(
        find(r#"{"method":"m","params":{"id":4,"x":"yyy"#),
        None,
        "an id inside the parameters is another one"
    );
    assert_eq!(find("xxxxxxxx"), None);
    assert_eq!(find(r#"{"id":1"#), None, "a number may go on behind the cut");
}

fn batch(members: usize) -> String {
    format!("[{}]", vec![r#"{"jsonrpc":"2.0","method":"n"}"#; members].join(","))
}

#[test]
fn a_batch_has_a_bound_and_one_beyond_it_is_refused_as_a_whole() {
    assert!(
        matches!(parse(batch(BATCH).as_bytes()), Message::Batch(members) if members.len() == BATCH)
    );
    let Message::Invalid(None, error) = parse(batch(BATCH + 1).as_bytes()) else {
        panic!("it is too long")
    };
    assert_eq!(
        (error.code, error.message.as_str()),
        (INVALID_REQUEST, "a batch of 101 messages: none is served, 100 are the most")
    );
    assert_eq!(
        error_of(&format!("{}]", batch(BATCH + 1))),
        (None, PARSE_ERROR),
        "what is no JSON is still no JSON"
    );
}

#[test]
fn an_id_has_a_bound_and_is_not_repeated_beyond_it() {
    let line = |length: usize| {
        format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "i".repeat(length))
    };
    assert!(matches!(parse(line(ID_BYTES).as_bytes()), Message::Request(_)));
    let Message::Invalid(None, error) = parse(line(ID_BYTES + 1).as_bytes()) else {
        panic!("it is too long")
    };
    assert_eq!(
        (error.code, error.message.as_str()),
        (INVALID_REQUEST, "the member `id` is longer than 16384 bytes")
    );
}

#[test]
fn the_values_of_a_message_are_counted_before_they_are_made() {
    let request = |params: &str| {
        parse(
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"x":{params}}}}}"#)
                .as_bytes(),
        )
    };
    let refused = |message: Message| {
        matches!(
            message,
            Message::Request(Request { params: Err(error), .. }) if error.code == INVALID_PARAMS
        )
    };
    let numbers = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    // Two values are the array and the object around it.
    assert!(!refused(request(&numbers(VALUES - 2))) && refused(request(&numbers(VALUES))));
    let text = format!(r#""{}\"{}""#, ",[{".repeat(VALUES), ",".repeat(VALUES));
    assert!(!refused(request(&text)), "signs within a text are no values");
    let answer =
        parse(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, numbers(VALUES)).as_bytes());
    assert!(matches!(answer, Message::Response { id: Some(_), result: None, error: Some(_) }));
}

#[test]
fn a_message_of_a_client_that_is_not_utf8_is_refused_by_its_id() {
    let of = |line: &[u8]| match parse(line) {
        Message::Invalid(id, RpcError { code: PARSE_ERROR, message, .. }) => {
            assert_eq!(message, "the message is not UTF-8");
            id.map(|id| id.to_json())
        }
        other => panic!("{other:?}"),
    };
    let seven = Some(Value::from(7));
    for line in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{\"x\":\"caf\xe9\"}}"[..],
        b"{\"jsonrpc\":\"2.0\",\"method\":\"m\xff\",\"id\":7}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\xff\"id\":7}",
        b"{\"jsonrpc\":\"2.0\",\"meth\xffod\":\"m\",\"id\":7}",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{\"x\":\"\xed\xa0\x80\"}}",
    ] {
        assert_eq!(of(line), seven, "{}", String::from_utf8_lossy(line));
    }
    for line in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":\"a\xff\",\"method\":\"m\"}"[..],
        b"{\"jsonrpc\":\"2.0\",\"method\":\"n\xff\"}",
        b"{\"jsonrpc\":\"2.0\",\"result\":{\xff\"a\":1},\"id\":7}",
        b"\xffnoise",
    ] {
        assert_eq!(of(line), None, "{}", String::from_utf8_lossy(line));
    }
    let batch = b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\xff\"},\
                  {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"m\"}]";
    let Message::Batch(members) = parse(batch) else { panic!("a batch") };
    let ids = members.iter().map(|member| match member {
        Message::Invalid(Some(id), _) => id.to_json(),
        other => panic!("{other:?}"),
    });
    assert_eq!(ids.collect::<Vec<_>>(), [1, 2], "none of it is served");
    assert!(matches!(
        parse(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"\xff\"}}"),
        Message::Response { id: Some(_), result: None, error: Some(_) }
    ));
}

#[test]
fn a_message_of_an_upstream_that_is_not_utf8_keeps_what_can_be_read() {
    let answer = parse_lossy(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"caf\xe9\"}}");
    let Message::Response { result: Some(result), error: None, .. } = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(result["x"], "caf\u{fffd}");
}

#[test]
fn what_is_left_of_a_broken_message_says_whose_it_is() {
    let of = |line: &[u8]| {
        let found = remains(line).expect("it begins as an object");
        (found.id().map(|id| id.to_json()), found.is_response())
    };
    let seven = Some(Value::from(7));
    for line in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"te"[..],
        b"{\"result\":{\"id\":1,\"x\":[\xff]},\"jsonrpc\":\"2.0\",\"id\": 7 }",
        b"{\"result\":\"\\\"id\\\":1,\",\xff,\"id\":7}",
        b"{\"id\":7,\"error\":{\"method\":1,\xff}}",
    ] {
        assert_eq!(of(line), (seven.clone(), true), "{}", String::from_utf8_lossy(line));
    }
    assert_eq!(of(b"{\"jsonrpc\":\"2.0\",\"result\":{\"id\":7"), (None, true));
    assert!(!of(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",").1);
    assert_eq!(of(b"{\"level\":\"info\",\"id\":7,"), (seven, false), "output of another kind");
    assert_eq!(remains(b"starting \xff {\"id\":7}"), None);
}
