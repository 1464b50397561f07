//! 40: peers that misbehave: a runtime or an upstream that answers in any order, or without an end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use cograph::server::{Target, examine};
use serde_json::{Value, json};

use super::super::client::{SMALL, place};
use super::harness::runtime::{hold, introduction, messages, peer, result, thin, web_peer};
use super::harness::{milliseconds, within};
use super::shared::search;

#[test]
fn t40_answers_find_their_questions_whatever_comes_between() {
    let place = place(SMALL);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    // Answers the second call first, then the first, with noise before, between and after.
    let confusing = peer(place.path(), move |stream| {
        let (messages, mut say) = messages(&stream);
        let mut calls = Vec::new();
        for message in messages {
            match message["method"].as_str() {
                Some("initialize") => say(introduction(&message["id"])),
                Some("tools/call") => calls.push(message),
                Some(_) => {}
                None => keep.lock().expect("nothing panics").push(message),
            }
            if let [first, second] = &calls[..] {
                let name = |call: &Value| {
                    call["params"]["arguments"]["query"].as_str().unwrap_or_default().to_owned()
                };
                say(json!({"jsonrpc": "2.0", "id": first["id"], "method": "ping"}));
                say(json!({
                    "jsonrpc": "2.0", "method": "notifications/message",
                    "params": {"id": first["id"]}
                }));
                say(result(&json!(first["id"].to_string()), "an answer to text"));
                say(result(&json!(999), "an answer to nobody"));
                say(result(&second["id"], &name(second)));
                say(json!({
                    "jsonrpc": "2.0", "id": first["id"], "method": "sampling/createMessage",
                    "params": {}
                }));
                say(result(&first["id"], &name(first)));
                say(result(&first["id"], "an answer that was given before"));
                calls.clear();
            }
        }
    });
    let mut client = thin(&place, &["--upstream", confusing.to_str().expect("a plain name")], &[]);
    for round in 0..10 {
        let names = [format!("first {round}"), format!("second {round}")];
        for name in &names {
            client.call(name.as_str(), "search", json!({"query": name}));
        }
        for name in &names {
            assert_eq!(client.outcome_of(name.as_str()), (name.clone(), false));
        }
    }
    let answers = || kept.lock().expect("nothing panics").len();
    within(milliseconds(5_000), "its questions are answered", || answers() >= 20);
    let answered = kept.lock().expect("nothing panics").clone();
    let errors = answered.iter().filter(|answer| answer["error"]["code"] == -32601).count();
    assert_eq!(
        (answered.len(), errors),
        (20, 10),
        "its own questions are answered as such: {answered:?}"
    );
}

#[test]
fn t40_answers_over_http_find_their_questions_whatever_comes_between() {
    let place = place(SMALL);
    let (calls, answered) =
        ((Mutex::new(Vec::<Value>::new()), Condvar::new()), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&answered);
    let name =
        |call: &Value| call["params"]["arguments"]["query"].as_str().unwrap_or_default().to_owned();
    // The first of two calls is held until the second has come, whose stream carries the answers to
    // both, with noise between and one of them twice; its own carries none.
    let confusing = web_peer(move |message| match message["method"].as_str() {
        Some("initialize") => vec![introduction(&message["id"])],
        Some("tools/call") => {
            let (waiting, changed) = &calls;
            let mut waiting = waiting.lock().expect("nothing panics");
            if let Some(first) = waiting.pop() {
                changed.notify_all();
                return vec![
                    json!({"jsonrpc": "2.0", "id": first["id"], "method": "ping"}),
                    json!({
                        "jsonrpc": "2.0", "method": "notifications/message",
                        "params": {"id": first["id"]}
                    }),
                    result(&json!(first["id"].to_string()), "an answer to text"),
                    result(&json!(999), "an answer to nobody"),
                    result(&first["id"], &name(&first)),
                    json!({
                        "jsonrpc": "2.0", "id": message["id"], "method": "sampling/createMessage",
                        "params": {}
                    }),
                    result(&message["id"], &name(&message)),
                    result(&first["id"], "an answer that was given before"),
                ];
            }
            waiting.push(message.clone());
            drop(changed.wait_while(waiting, |waiting| {
                waiting.iter().any(|call| call["id"] == message["id"])
            }));
            vec![json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})]
        }
        Some(_) => Vec::new(),
        None => {
            count.fetch_add(1, Ordering::SeqCst);
            Vec::new()
        }
    });
    let mut client = thin(&place, &["--upstream", &confusing], &[]);
    for round in 0..10 {
        let names = [format!("first {round}"), format!("second {round}")];
        for name in &names {
            client.call(name.as_str(), "search", json!({"query": name}));
        }
        for name in &names {
            assert_eq!(client.outcome_of(name.as_str()), (name.clone(), false));
        }
    }
    within(milliseconds(5_000), "its questions are answered", || {
        answered.load(Ordering::SeqCst) >= 20
    });
}

#[test]
fn t40_a_list_without_an_end_is_left_over_http_too() {
    for (fresh, pages, why) in
        [(true, 100, "it has more than 100 pages"), (false, 2, "a page was named twice")]
    {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let endless = web_peer(move |message| match message["method"].as_str() {
            Some("initialize") => vec![introduction(&message["id"])],
            Some("tools/list") => {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let cursor = if fresh { format!("c{number}") } else { "same".to_owned() };
                let page = json!({"tools": [{"name": "tool"}], "nextCursor": cursor});
                vec![json!({"jsonrpc": "2.0", "id": message["id"], "result": page})]
            }
            _ => Vec::new(),
        });
        let found =
            examine(Target::parse(&endless, None).expect("it is an address")).expect("it answers");
        assert_eq!(
            (found.listing.tools.len(), found.listing.incomplete.as_deref()),
            (pages, Some(why))
        );
        assert_eq!(asked.load(Ordering::SeqCst), pages);
    }
}

#[test]
fn t40_a_list_without_an_end_is_left() {
    for (fresh, pages, why) in
        [(true, 100, "it has more than 100 pages"), (false, 2, "a page was named twice")]
    {
        let place = place(SMALL);
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let endless = peer(place.path(), move |stream| {
            let (messages, mut say) = messages(&stream);
            for message in messages {
                if message["method"] == "initialize" {
                    say(introduction(&message["id"]));
                } else if message["method"] == "tools/list" {
                    let number = count.fetch_add(1, Ordering::SeqCst);
                    let cursor = if fresh { format!("c{number}") } else { "same".to_owned() };
                    let page = json!({"tools": [{"name": "tool"}], "nextCursor": cursor});
                    say(json!({"jsonrpc": "2.0", "id": message["id"], "result": page}));
                }
            }
        });
        let found = examine(Target::Socket(endless)).expect("it answers");
        assert_eq!(
            (found.listing.tools.len(), found.listing.incomplete.as_deref()),
            (pages, Some(why))
        );
        assert_eq!(asked.load(Ordering::SeqCst), pages);
    }
}

#[test]
fn t40_a_message_without_an_end_takes_no_memory() {
    let place = place(SMALL);
    let flooding = peer(place.path(), |mut stream| {
        let (mut messages, mut say) = messages(&stream);
        if let Some(hello) = messages.next() {
            say(introduction(&hello["id"]));
        }
        let chunk = vec![b'x'; 1 << 20];
        let long = |stream: &mut std::os::unix::net::UnixStream| {
            (0..256).try_for_each(|_| std::io::Write::write_all(stream, &chunk))
        };
        if messages.any(|message| message["method"] == "tools/call") && long(&mut stream).is_ok() {
            hold(stream);
        }
    });
    let mut client = thin(
        &place,
        &["--upstream", flooding.to_str().expect("a plain name"), "--deadline-ms", "3000"],
        &[],
    );
    client.ping();
    let before = client.memory("VmHWM");
    let (text, is_error) = client.outcome("search", search());
    assert!(is_error, "{text}");
    let after = client.memory("VmHWM");
    assert!(after < before + (64 << 20), "{before} -> {after}");
    client.ping();
}
