//! Property test of the dispatcher: random interleavings of calls, results, pauses, cancellations,
//! deadlines and shutdown. Exactly one response per request that was not cancelled, none for a
//! cancelled one, and no permit leaked.

use super::*;
use crate::jsonrpc::admission::LaneState;
use crate::jsonrpc::message::RequestId;
use crate::tools::arguments::Arguments;
use crate::tools::tool::Tool;
use crate::tools::tool::reply::Reply;
use crate::transport::writer;
use crate::{
    tools::{Marks, Outcome},
    workspace::host::Host,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver as Permit, TryRecvError, sync_channel};

/// Returns at once: the test decides when the dispatcher receives the result.
struct Immediate;

impl Tools for Immediate {
    fn call(&self, _: &'static Tool, _: &Arguments, _: &dyn Host) -> Reply {
        Reply {
            text: "done".to_owned(),
            outcome: Outcome::Found,
            structured: None,
            marks: Marks::default(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The client calls a tool; the id may be in use.
    Call(u64, &'static str),
    Cancel(u64),
    /// The dispatcher receives the result of a call.
    Finish(usize),
    /// The dispatcher receives a pause or resume event.
    Pause(usize),
    Resume(usize),
    /// The dispatcher receives that a call begins to compare the files, or has compared them.
    Compare(usize, bool),
    /// A deadline expires, with all earlier ones.
    Deadline(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let call = (0..8u64, prop_oneof![Just("search"), Just("trace"), Just("status")]);
    prop_oneof![
        4 => call.prop_map(|(id, tool)| Step::Call(id, tool)),
        2 => (0..8u64).prop_map(Step::Cancel),
        3 => (0..8usize).prop_map(Step::Finish),
        1 => (0..8usize).prop_map(Step::Pause),
        1 => (0..8usize).prop_map(Step::Resume),
        1 => (0..8usize, any::<bool>()).prop_map(|(at, begins)| Step::Compare(at, begins)),
        1 => (0..4usize).prop_map(Step::Deadline),
    ]
}

/// Thread of a call, as known to the dispatcher.
struct Thread {
    ticket: Ticket,
    end: Event,
    /// Paused, without a permit.
    paused: bool,
    /// Waits for a permit.
    permit: Option<Permit<()>>,
}

struct Stage {
    dispatcher: Dispatcher,
    threads: Vec<Thread>,
    sent: BTreeMap<u64, usize>,
    cancelled: BTreeMap<u64, usize>,
}

fn id(number: u64) -> RequestId {
    RequestId::from_json(&Value::from(number)).expect("an integer is an id")
}

impl Stage {
    /// A session that has begun, and what it sends.
    fn start(limits: Limits) -> (Self, std::io::PipeReader) {
        let (read_end, write_end) = std::io::pipe().expect("a pipe can be made");
        let output =
            writer::start(write_end.into(), limits.output_bytes).expect("a thread can be started");
        let (_, input) = tokio::sync::mpsc::channel(1);
        let (event_sender, events) = tokio::sync::mpsc::channel(1_000);
        let process = Process { permits: Permits::of_one(&limits), parent: Parent::now() };
        let channels = Channels { input, events, event_sender, output };
        let dispatcher = Dispatcher::new(limits, Arc::new(Immediate), channels, process);
        let (sent, cancelled) = (BTreeMap::new(), BTreeMap::new());
        let mut stage = Self { dispatcher, threads: Vec::new(), sent, cancelled };
        stage.line(&serde_json::json!({
            "jsonrpc": "2.0", "id": "hello", "method": "initialize",
            "params": {"protocolVersion": "2025-11-25"},
        }));
        (stage, read_end)
    }

    fn line(&mut self, message: &Value) {
        self.dispatcher.on_piece(Piece::Line(message.to_string().into_bytes()));
    }

    /// Receives the results of all started threads without delivering them.
    fn gather(&mut self) {
        let in_table = self
            .dispatcher
            .requests
            .all()
            .filter(|(_, work)| matches!(work, Work::Call(call) if call.has_thread()));
        let alive = in_table.count() + self.dispatcher.lingering.len();
        while self.threads.len() < alive {
            let end =
                self.dispatcher.events.blocking_recv().expect("the dispatcher keeps a sender");
            let Event::Finished(ticket, _) = end else {
                unreachable!("these tools do nothing but end")
            };
            self.threads.push(Thread { ticket, end, paused: false, permit: None });
        }
        assert_eq!(
            self.threads.len(),
            alive,
            "every thread is known to the dispatcher until it has ended"
        );
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Call(number, tool) => {
                let arguments = match tool {
                    "search" => serde_json::json!({"query": "x"}),
                    "trace" => serde_json::json!({"symbol": "x"}),
                    _ => serde_json::json!({}),
                };
                *self.sent.entry(number).or_default() += 1;
                let params = serde_json::json!({"name": tool, "arguments": arguments});
                self.line(&serde_json::json!({
                    "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params
                }));
            }
            Step::Cancel(number) => {
                if self.dispatcher.requests.ticket(&id(number)).is_some() {
                    *self.cancelled.entry(number).or_default() += 1;
                }
                let params = serde_json::json!({"requestId": number});
                self.line(&serde_json::json!({
                    "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params
                }));
            }
            Step::Finish(at) => {
                self.gather();
                // A thread waiting for a permit ends when it gets the permit or the channel closes.
                let is_free = |thread: &Thread| match &thread.permit {
                    Some(permit) => permit.try_recv() != Err(TryRecvError::Empty),
                    None => !thread.paused,
                };
                let free: Vec<usize> =
                    (0..self.threads.len()).filter(|&at| is_free(&self.threads[at])).collect();
                if let Some(&chosen) = free.get(at % free.len().max(1)) {
                    let thread = self.threads.swap_remove(chosen);
                    self.dispatcher.on_event(thread.end);
                }
            }
            Step::Pause(at) => {
                self.gather();
                let count = self.threads.len().max(1);
                if let Some(thread) =
                    self.threads.get_mut(at % count).filter(|thread| !thread.paused)
                {
                    thread.paused = true;
                    self.dispatcher.on_event(Event::Paused(thread.ticket));
                }
            }
            Step::Resume(at) => {
                let mut waiting: Vec<&mut Thread> = self
                    .threads
                    .iter_mut()
                    .filter(|thread| thread.paused && thread.permit.is_none())
                    .collect();
                let count = waiting.len().max(1);
                if let Some(thread) = waiting.get_mut(at % count) {
                    let (sender, permit) = sync_channel(1);
                    thread.permit = Some(permit);
                    self.dispatcher.on_event(Event::Resume(thread.ticket, sender));
                }
            }
            Step::Compare(at, begins) => {
                self.gather();
                let count = self.threads.len().max(1);
                if let Some(Thread { ticket, .. }) = self.threads.get(at % count) {
                    let event = if begins { Event::Comparing } else { Event::Compared };
                    self.dispatcher.on_event(event(*ticket));
                }
            }
            Step::Deadline(nth) => {
                if let Some((at, _)) = self.dispatcher.deadlines.iter().nth(nth).copied() {
                    self.dispatcher.on_deadlines(at);
                }
            }
        }
    }

    /// Lets every started call finish.
    fn finish_calls(&mut self) {
        for _ in 0..1_000 {
            self.gather();
            if self.threads.is_empty() {
                return;
            }
            self.take(Step::Resume(0));
            self.take(Step::Finish(0));
        }
        panic!("{} threads never end", self.threads.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn each_request_has_one_answer_unless_it_was_cancelled_and_nothing_is_held_at_the_end(
        steps in proptest::collection::vec(step(), 1..60),
        ends_in_the_middle in any::<bool>(),
    ) {
        let limits = Limits {
            control_permits: 1, query_permits: 2, heavy_permits: 1, queued_calls: 3,
            lingering_calls: 5, ..Limits::default()
        };
        let (mut stage, sent_lines) = Stage::start(limits);
        for step in &steps {
            stage.take(*step);
            let busy = |lane: &LaneState| lane.running <= lane.permits;
            prop_assert!(stage.dispatcher.admission.state().iter().all(busy), "more run than may");
        }
        if ends_in_the_middle {
            stage.dispatcher.close_all();
        }
        stage.finish_calls();
        stage.dispatcher.close_all();
        let Stage { dispatcher, sent, cancelled, .. } = stage;
        prop_assert_eq!(
            (dispatcher.requests.len(), dispatcher.lingering.len(), dispatcher.deadlines.len()),
            (0, 0, 0)
        );
        prop_assert!(
            dispatcher.admission.state().iter().all(|lane| lane.running == 0 && lane.waiting == 0)
        );
        dispatcher.output.finish(Duration::from_secs(20));
        let mut answers: BTreeMap<u64, usize> = BTreeMap::new();
        for line in BufReader::new(sent_lines).lines() {
            let message: Value = serde_json::from_str(
                &line.expect("the pipe can be read")
            ).expect("messages are JSON");
            if let Some(number) = message["id"].as_u64() {
                *answers.entry(number).or_default() += 1;
            }
        }
        for (number, sent) in sent {
            let cancelled = cancelled.get(&number).copied().unwrap_or(0);
            prop_assert_eq!(answers.get(&number).copied().unwrap_or(0), sent - cancelled, "id \
                {}", number);
        }
    }
}

#[test]
fn a_call_gives_back_what_the_comparison_of_the_files_did_not_need() {
    let limits = Limits::default();
    let (mut stage, _) = Stage::start(limits);
    let since = Instant::now();
    stage.take(Step::Call(1, "search"));
    let deadline = |stage: &Stage| stage.dispatcher.deadlines.first().expect("of the call").0;
    let before = deadline(&stage);
    for _ in 0..2 {
        let earlier = deadline(&stage) - before;
        stage.take(Step::Compare(0, true));
        assert_eq!(deadline(&stage) - before, Limits::default().index_wait);
        stage.take(Step::Compare(0, false));
        let kept = deadline(&stage) - before;
        assert!(kept >= earlier && kept <= since.elapsed(), "{kept:?}");
    }
    stage.finish_calls();
}
