//! The dispatcher over pipes, with misbehaving tools: one panics, one never returns.

use super::*;
use crate::tools::arguments::Arguments;
use crate::tools::tool::Tool;
use crate::tools::tool::reply::Reply;
use crate::transport::writer;
use crate::workspace::metrics::ProgressReport;
use crate::{
    tools::{Marks, Outcome},
    workspace::host::Host,
};
use parking_lot::Mutex;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver as Gate, SyncSender as Opener, sync_channel};

/// `search` panics, `trace` and `references` ignore cancellation until the gate opens: they wait
/// and compare files, `grep` sends decreasing progress; the others return.
struct Misbehaving(Mutex<Gate<()>>);

impl Tools for Misbehaving {
    fn call(&self, tool: &'static Tool, _: &Arguments, host: &dyn Host) -> Reply {
        match tool.name {
            "search" => panic!("a defect, with text of a repository: \u{1b}[31m"),
            "trace" => {
                host.pause();
                // The lock is held until the end of the test.
                let _ = self.0.lock().recv();
                Reply::error("too late")
            }
            "references" => {
                host.compares(true);
                host.compares(false);
                host.compares(true);
                // The lock is held until the end of the test.
                let _ = self.0.lock().recv();
                Reply::error("too late")
            }
            "grep" => {
                for thousandths in [10, 5, 10, 20, 900, 900, 30, 901] {
                    host.progress(&ProgressReport { thousandths, message: "further".to_owned() });
                }
                Reply::error("done")
            }
            _ => Reply {
                text: "fine".to_owned(),
                outcome: Outcome::Found,
                structured: None,
                marks: Marks::default(),
            },
        }
    }
}

/// More than the capacity of a pipe on supported systems.
const PIPE: usize = 1 << 20;

#[test]
fn requests_of_one_read_wait_for_room_in_the_output() {
    let limits = Limits { output_bytes: 64 << 10, ..Limits::default() };
    let (read_end, write_end) = std::io::pipe().expect("a pipe can be made");
    let (input_sender, input) = tokio::sync::mpsc::channel(2);
    let (event_sender, events) = tokio::sync::mpsc::channel(64);
    let output =
        writer::start(write_end.into(), limits.output_bytes).expect("a thread can be started");
    let waiting = output.waiting();
    let list = |id: usize| {
        Piece::Line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#).into_bytes())
    };
    let count = 1_000;
    let pieces =
        std::iter::once(Piece::Line(hello().into_bytes())).chain((1..=count).map(list)).collect();
    input_sender.try_send(Input::Pieces(pieces)).expect("there is room");
    input_sender.try_send(Input::End).expect("there is room");
    let channels = Channels { input, events, event_sender, output };
    let process = Process { permits: Permits::of_one(&limits), parent: Parent::none_watched() };
    let (_opener, gate): (Opener<()>, _) = sync_channel(0);
    let dispatcher =
        Dispatcher::new(limits, Arc::new(Misbehaving(Mutex::new(gate))), channels, process);
    let serving = std::thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime can be built");
        runtime.block_on(dispatcher.run())
    });
    let mut lines = BufReader::new(read_end).lines();
    let (mut answered, mut most, mut largest) = (0, 0, 0);
    while answered <= count {
        // A slow reader: at each read, the queue is within its limit plus one response.
        most = most.max(waiting());
        let line = lines.next().expect("there is more").expect("the pipe can be read");
        (answered, largest) = (answered + 1, largest.max(line.len()));
    }
    assert!(count * largest > PIPE, "all answers are more than a pipe takes");
    assert!(most <= (64 << 10) + largest + 1, "{most} bytes wait");
    assert_eq!(
        serving.expect("a thread can be started").join().expect("it does not panic"),
        Ending::InputEnded
    );
}

/// Runs the dispatcher on these lines, then end of input. Returns its messages and why it ended.
fn run(limits: Limits, lines: &[String]) -> (Vec<Value>, Ending) {
    run_after(Vec::new(), limits, lines)
}

/// The same, after these events.
fn run_after(happened: Vec<Event>, limits: Limits, lines: &[String]) -> (Vec<Value>, Ending) {
    let (opener, gate): (Opener<()>, _) = sync_channel(0);
    let (read_end, write_end) = std::io::pipe().expect("a pipe can be made");
    let (input_sender, input) = tokio::sync::mpsc::channel(1 + lines.len());
    let (event_sender, events) = tokio::sync::mpsc::channel(64);
    for event in happened {
        event_sender.try_send(event).expect("there is room");
    }
    let output =
        writer::start(write_end.into(), limits.output_bytes).expect("a thread can be started");
    for line in lines {
        input_sender
            .try_send(Input::Pieces(vec![Piece::Line(line.clone().into_bytes())]))
            .expect("there is room");
    }
    input_sender.try_send(Input::End).expect("there is room");
    let channels = Channels { input, events, event_sender, output };
    let process = Process { permits: Permits::of_one(&limits), parent: Parent::now() };
    let dispatcher =
        Dispatcher::new(limits, Arc::new(Misbehaving(Mutex::new(gate))), channels, process);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    let ending = runtime.block_on(dispatcher.run());
    drop(opener);
    let messages = BufReader::new(read_end)
        .lines()
        .map(|line| {
            serde_json::from_str(&line.expect("the pipe can be read")).expect("messages are JSON")
        })
        .collect();
    (messages, ending)
}

fn hello() -> String {
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#
        .to_owned()
}

fn call(id: u64, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// Texts and error flags of all responses to an id.
fn answers(messages: &[Value], id: u64) -> Vec<(String, bool)> {
    let of_id = messages.iter().filter(|message| message["id"] == id);
    of_id
        .map(|message| {
            let result = &message["result"];
            (
                result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
                result["isError"] == Value::Bool(true),
            )
        })
        .collect()
}

#[test]
fn a_tool_that_panics_is_one_failed_call() {
    let lines =
        [hello(), call(1, "search", r#"{"query":"x"}"#), call(2, "show", r#"{"targets":["x"]}"#)];
    let (messages, ending) = run(Limits::default(), &lines);
    assert_eq!(ending, Ending::InputEnded);
    assert_eq!(answers(&messages, 2), [("fine".to_owned(), false)]);
    let failed = answers(&messages, 1);
    assert!(
        failed.len() == 1 && failed[0].1 && failed[0].0.contains("internal error"),
        "{failed:?}"
    );
    assert!(!failed[0].0.contains("repository"), "the message of a panic may hold anything");
}

#[test]
fn a_tool_that_never_returns_gives_its_place_back_at_the_deadline() {
    let limits = Limits {
        heavy_permits: 1,
        deadline: Some(Duration::from_millis(60)),
        index_wait: Duration::from_millis(40),
        end_grace: Duration::from_secs(20),
        ..Limits::default()
    };
    let lines = [
        hello(),
        call(1, "trace", r#"{"symbol":"x"}"#),
        call(2, "trace", r#"{"symbol":"x"}"#),
        call(3, "overview", "{}"),
    ];
    let (messages, ending) = run(limits, &lines);
    assert_eq!(ending, Ending::InputEnded);
    for id in [1, 2] {
        let timed_out = answers(&messages, id);
        assert!(
            timed_out.len() == 1 && timed_out[0].1 && timed_out[0].0.contains("timed out"),
            "{id}: {timed_out:?}"
        );
    }
    assert_eq!(
        answers(&messages, 3),
        [("fine".to_owned(), false)],
        "a paused call keeps no other waiting"
    );
}

#[test]
fn the_comparison_of_the_files_has_a_time_of_its_own() {
    let limits = Limits {
        deadline: Some(Duration::from_millis(60)),
        index_wait: Duration::from_millis(1940),
        housekeeping: Duration::from_millis(20),
        end_grace: Duration::from_secs(20),
        ..Limits::default()
    };
    let began = Instant::now();
    let references = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"references","arguments":{"symbol":"x"},"_meta":{"progressToken":7}}}"#;
    let (messages, _) = run(limits, &[hello(), references.to_owned()]);
    let timed_out = answers(&messages, 1);
    let said = "references: timed out after 2 s, while the files were compared with the index";
    assert!(timed_out[0].1 && timed_out[0].0.starts_with(said), "{timed_out:?}");
    assert!(began.elapsed() >= Duration::from_secs(2));
    // A proxy waits as long as its runtime reports something.
    let sent: Vec<&Value> =
        messages.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert_eq!(sent.len(), 1, "{messages:?}");
    assert_eq!(sent[0]["params"]["message"], "comparing the files with the index");
}

#[test]
fn progress_only_grows_is_not_too_frequent_and_ends_with_the_answer() {
    let grep = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"x"},"_meta":{"progressToken":7}}}"#;
    for (interval, expected) in
        [(Duration::ZERO, &[10, 20, 900, 901][..]), (Duration::from_secs(3600), &[10])]
    {
        let limits = Limits { progress_interval: interval, ..Limits::default() };
        let (messages, _) = run(limits, &[hello(), grep.to_owned()]);
        let answered =
            messages.iter().position(|message| message["id"] == 1).expect("it was answered");
        let sent: Vec<(u64, &Value, bool)> = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message["method"] == "notifications/progress")
            .map(|(at, message)| {
                let params = &message["params"];
                (
                    params["progress"].as_u64().expect("it is a number"),
                    &params["progressToken"],
                    at < answered,
                )
            })
            .collect();
        let token = Value::from(7);
        assert_eq!(sent, expected.iter().map(|&value| (value, &token, true)).collect::<Vec<_>>());
    }
}

#[test]
fn several_changes_in_a_row_are_reported_once() {
    let limits = Limits {
        change_interval: Duration::from_millis(20),
        deadline: Some(Duration::from_millis(100)),
        index_wait: Duration::from_millis(100),
        end_grace: Duration::from_secs(20),
        ..Limits::default()
    };
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    // The call that does not return keeps the session open past the notification delay.
    let lines = [hello(), ready, call(1, "trace", r#"{"symbol":"x"}"#)];
    let (messages, _) = run_after((0..5).map(|_| Event::Published).collect(), limits, &lines);
    let sent = messages
        .iter()
        .filter(|message| message["method"] == "notifications/resources/list_changed")
        .count();
    assert_eq!(sent, 1, "{messages:?}");
}

#[test]
fn what_does_not_end_in_the_grace_is_answered_all_the_same() {
    let limits = Limits { end_grace: Duration::from_millis(30), ..Limits::default() };
    let (messages, _) = run(limits, &[hello(), call(1, "trace", r#"{"symbol":"x"}"#)]);
    let ended = answers(&messages, 1);
    assert!(ended.len() == 1 && ended[0].1 && ended[0].0.contains("ending"), "{ended:?}");
}

#[test]
fn complaints_come_to_rest_and_begin_again() {
    let mut complaints = Complaints::default();
    let start = Instant::now();
    let admitted = (0..100).filter(|_| complaints.admit(start)).count();
    assert_eq!(admitted, COMPLAINTS_PER_SECOND as usize);
    assert!(complaints.admit(start + Duration::from_secs(1)));
}

#[test]
fn calls_that_wait_without_a_permit_are_bounded_too() {
    let limits = Limits {
        queued_calls: 1,
        control_permits: 1,
        query_permits: 1,
        heavy_permits: 1,
        deadline: Some(Duration::from_millis(60)),
        index_wait: Duration::from_millis(40),
        end_grace: Duration::from_secs(20),
        ..Limits::default()
    };
    let most = limits.in_flight();
    let lines: Vec<String> = [hello()]
        .into_iter()
        .chain((1..=20).map(|id| call(id, "trace", r#"{"symbol":"x"}"#)))
        .collect();
    let (messages, _) = run(limits, &lines);
    let all: Vec<(String, bool)> = (1..=20).flat_map(|id| answers(&messages, id)).collect();
    assert_eq!(all.len(), 20);
    let served = all.iter().filter(|(text, _)| text.contains("timed out")).count();
    let refused = all.iter().filter(|(text, _)| text.contains("busy")).count();
    assert!(
        (1..=most).contains(&served) && served + refused == 20,
        "{served} served, {refused} refused"
    );
}

#[test]
fn calls_that_do_not_stop_are_bounded_although_their_permits_are_free() {
    let limits =
        Limits { lingering_calls: 1, end_grace: Duration::from_secs(20), ..Limits::default() };
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#
            .to_owned();
    let lines =
        [hello(), call(1, "trace", r#"{"symbol":"x"}"#), cancelled, call(2, "overview", "{}")];
    let (messages, _) = run(limits, &lines);
    let refused = answers(&messages, 2);
    assert!(
        refused.len() == 1 && refused[0].1 && refused[0].0.contains("have not stopped yet"),
        "{refused:?}"
    );
    assert_eq!(answers(&messages, 1), [], "it was cancelled");
}

#[test]
fn answers_that_wait_for_the_rest_of_their_array_are_bounded() {
    let limits = Limits {
        output_bytes: 32 << 10,
        deadline: Some(Duration::from_millis(60)),
        index_wait: Duration::from_millis(40),
        end_grace: Duration::from_secs(20),
        ..Limits::default()
    };
    let list = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    // The first call runs until its deadline, so the others are queued.
    let members: Vec<String> =
        [call(1, "trace", r#"{"symbol":"x"}"#)].into_iter().chain((2..=20).map(list)).collect();
    let lines =
        [hello().replace("2025-11-25", "2025-03-26"), format!("[{}]", members.join(",")), list(21)];
    let (messages, _) = run(limits, &lines);
    let array = messages.iter().find_map(Value::as_array).expect("it is answered in an array");
    assert_eq!(array.len(), 20, "each has its answer");
    let served = array.iter().filter(|answer| answer["result"]["tools"].is_array()).count();
    let refused = array.iter().filter(|answer| {
        answer["error"]["message"].as_str().is_some_and(|text| text.contains("too large"))
    });
    assert!(served > 0 && served + refused.count() == 19, "{served} of 19 are served");
    assert!(served < 15, "{served}");
    assert!(
        messages.iter().any(|message| message["id"] == 21 && message["result"].is_object()),
        "others go on"
    );
}
