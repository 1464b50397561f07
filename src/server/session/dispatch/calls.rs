//! Lifecycle of a tool call: admission, thread, deadline, progress, result. A permit belongs to the
//! request, not to the thread: a thread that does not stop blocks no other call.

use super::link::{Link, Times, spawn};
use super::{Dispatcher, Work};
use crate::jsonrpc::admission::{Class, Verdict};
use crate::jsonrpc::requests::{self, Ticket};
use crate::protocol::version::Era;
use crate::protocol::{self, Purpose};
use crate::tools::arguments::Arguments;
use crate::tools::tool::Tool;
use crate::tools::tool::reply::{Outcome, Reply};
use crate::workspace::metrics::{CallState, ProgressReport, ServerState, memory};
use cograph_faults::{self as faults, Fault, planted};
use cograph_model::cancel::CancelToken;
use serde_json::{Value, json};
use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Comparisons of the files that take longer than this are reported.
const LONG: Duration = Duration::from_secs(1);

/// Error for a call that exceeds the queue limit.
const BUSY: &str = "busy: too many calls are waiting; try again later";

/// Tool call in flight.
#[derive(Debug)]
pub(super) struct Call {
    era: Era,
    purpose: Purpose,
    tool: &'static Tool,
    token: CancelToken,
    arrived: Instant,
    started: Option<Instant>,
    deadline: Instant,
    /// What the deadline was extended by, of the allowance for waiting.
    extended: Duration,
    /// Since when the files are compared, and what the deadline was extended by for it.
    comparing: Option<(Instant, Duration)>,
    progress_token: Option<Value>,
    /// Last progress value sent to the client.
    progress: u32,
    stage: Stage,
}

#[cfg(test)]
impl Call {
    /// True once the call has a thread.
    pub(super) fn has_thread(&self) -> bool {
        !matches!(self.stage, Stage::Queued(_))
    }
}

#[derive(Debug)]
enum Stage {
    /// Waits for its first permit; the call's arguments.
    Queued(Arguments),
    /// Has a permit and a thread.
    Running,
    /// Has a thread that waits, and no permit.
    Paused,
    /// Has a thread that waits for a permit.
    Resuming(SyncSender<()>),
}

impl Stage {
    fn word(&self) -> &'static str {
        match self {
            Self::Queued(_) => "queued",
            Self::Running => "running",
            Self::Paused => "waiting for an index",
            Self::Resuming(_) => "queued again",
        }
    }
}

impl Dispatcher {
    /// Validates the arguments, then starts, queues or rejects the call.
    pub(super) fn on_call(&mut self, ticket: Ticket, era: Era, call: protocol::Call) {
        let protocol::Call { tool, arguments, purpose, progress_token } = call;
        let bytes: usize = arguments.iter().map(|(name, value)| name.len() + weight(value)).sum();
        let arguments = match Arguments::check(tool, arguments) {
            Ok(arguments) => arguments,
            Err(error) => return self.answer(ticket, purpose.answer(era, Reply::refusal(error))),
        };
        if arguments.text("root").is_none() {
            self.needs_roots();
        }
        let now = Instant::now();
        let allowed = faults::deadline(tool.name, self.limits.deadline.unwrap_or(tool.deadline));
        let deadline =
            now + if planted(Fault::NoDeadline) { Duration::from_secs(86_400) } else { allowed };
        let call = Call {
            era,
            purpose,
            tool,
            token: CancelToken::new(),
            arrived: now,
            started: None,
            deadline,
            extended: Duration::ZERO,
            comparing: None,
            progress_token,
            progress: 0,
            stage: Stage::Queued(arguments),
        };
        self.set_work(ticket, Work::Call(Box::new(call)));
        if self.lingering.len() >= self.limits.lingering_calls {
            return self.fail(
                ticket,
                "busy: too many earlier calls have not stopped yet; try again later",
            );
        }
        if self.requests.len() > self.limits.in_flight() {
            return self.fail(ticket, BUSY);
        }
        self.deadlines.insert((deadline, ticket));
        match self.admission.admit(tool.class, ticket, bytes) {
            Verdict::Run => self.start_or_resume(ticket),
            Verdict::Wait => {}
            Verdict::Busy => self.fail(ticket, BUSY),
        }
    }

    /// Starts or resumes a call that has acquired a permit.
    pub(super) fn start_or_resume(&mut self, ticket: Ticket) {
        let is_control = matches!(
            self.requests.work(ticket), Some(Work::Call(call)) if call.tool.class == Class::Control
        );
        let state = is_control.then(|| self.state(ticket));
        let Some(Work::Call(call)) = self.requests.work(ticket) else {
            unreachable!("a call that is answered or cancelled leaves the queue");
        };
        match std::mem::replace(&mut call.stage, Stage::Running) {
            Stage::Queued(arguments) => {
                let now = Instant::now();
                call.started = Some(now);
                if planted(Fault::DeadlineAfterAdmission) {
                    self.deadlines.remove(&(call.deadline, ticket));
                    call.deadline += call.arrived.elapsed();
                    self.deadlines.insert((call.deadline, ticket));
                }
                let link = Link {
                    times: Times {
                        arrived: call.arrived,
                        started: now,
                        waited: Cell::default(),
                        statements: Cell::default(),
                    },
                    ticket,
                    token: call.token.clone(),
                    events: self.event_sender.clone(),
                    wants_progress: call.progress_token.is_some(),
                    interval: self.limits.progress_interval,
                    last: Cell::new(None),
                    paused: Cell::new(None),
                    state,
                    form: call.purpose.form(),
                };
                if let Err(error) = spawn(call.tool, arguments, link, Arc::clone(&self.tools)) {
                    tracing::error!(%error, "cannot start a thread for a call");
                    self.fail(ticket, "busy: the system gives no more threads; try again later");
                    self.lingering.remove(&ticket);
                }
            }
            // The send fails if the thread has ended: its result is the next event.
            Stage::Resuming(permit) => drop(permit.try_send(())),
            Stage::Running | Stage::Paused => {
                unreachable!("only a call in the queue is given a permit")
            }
        }
    }

    /// Removes a request: frees its permit, its place in the queue, and cancels its thread.
    pub(super) fn stop(&mut self, ticket: Ticket, work: Work) {
        let Work::Call(call) = work else { return };
        self.deadlines.remove(&(call.deadline, ticket));
        if !planted(Fault::CancelKeepsWorking) {
            call.token.cancel();
        }
        let class = call.tool.class;
        match call.stage {
            Stage::Queued(_) => self.admission.forget(class, ticket),
            Stage::Running => {
                self.lingering.insert(ticket);
                self.release(class);
            }
            Stage::Paused => drop(self.lingering.insert(ticket)),
            Stage::Resuming(_) => {
                self.lingering.insert(ticket);
                self.admission.forget(class, ticket);
            }
        }
    }

    fn release(&mut self, class: Class) {
        if let Some(next) = self.admission.release(class) {
            self.start_or_resume(next);
        }
    }

    pub(super) fn on_finished(&mut self, ticket: Ticket, reply: Reply) {
        if let Some(Work::Call(call)) = self.requests.work(ticket) {
            let answer = call.purpose.answer(call.era, reply);
            self.answer(ticket, answer);
        }
        // The thread of an answered or lingering call has ended.
        self.lingering.remove(&ticket);
    }

    pub(super) fn on_progress(&mut self, ticket: Ticket, report: ProgressReport) {
        let Some(Work::Call(call)) = self.requests.work(ticket) else { return };
        let Some(token) = &call.progress_token else { return };
        // Progress must increase; notifications are dropped under output backpressure.
        if report.thousandths <= call.progress || !self.output.has_room() {
            return;
        }
        call.progress = report.thousandths;
        let params = json!({
            "progressToken": token, "progress": report.thousandths, "total": 1000,
            "message": report.message,
        });
        self.output.send(requests::notification("notifications/progress", params));
    }

    pub(super) fn on_paused(&mut self, ticket: Ticket) {
        let Some(Work::Call(call)) = self.requests.work(ticket) else { return };
        call.stage = Stage::Paused;
        let class = call.tool.class;
        self.extend(ticket);
        self.release(class);
    }

    /// Extends the deadline by what is left of the allowance for waiting, which it returns.
    fn extend(&mut self, ticket: Ticket) -> Duration {
        let Some(Work::Call(call)) = self.requests.work(ticket) else { return Duration::ZERO };
        let granted = self.limits.index_wait.saturating_sub(call.extended);
        self.deadlines.remove(&(call.deadline, ticket));
        call.extended += granted;
        call.deadline += granted;
        self.deadlines.insert((call.deadline, ticket));
        granted
    }

    /// The comparison of all files takes as long as there are files, whatever the question is.
    pub(super) fn on_comparing(&mut self, ticket: Ticket) {
        let granted = self.extend(ticket);
        let Some(Work::Call(call)) = self.requests.work(ticket) else { return };
        call.comparing = Some((Instant::now(), granted));
    }

    /// Takes back what the comparison did not need.
    pub(super) fn on_compared(&mut self, ticket: Ticket) {
        let Some(Work::Call(call)) = self.requests.work(ticket) else { return };
        let Some((since, granted)) = call.comparing.take() else { return };
        let unused = granted.saturating_sub(since.elapsed());
        self.deadlines.remove(&(call.deadline, ticket));
        call.extended -= unused;
        call.deadline -= unused;
        self.deadlines.insert((call.deadline, ticket));
    }

    /// For a call that is no longer in flight, dropping `permit` ends its thread.
    pub(super) fn on_resume(&mut self, ticket: Ticket, permit: SyncSender<()>) {
        let Some(Work::Call(call)) = self.requests.work(ticket) else { return };
        call.stage = Stage::Resuming(permit);
        if self.admission.readmit(call.tool.class, ticket) == Verdict::Run {
            self.start_or_resume(ticket);
        }
    }

    /// Reports comparisons that take longer than usual, so that a proxy waits for them as well.
    pub(super) fn report_comparisons(&mut self) {
        let is_long =
            |call: &Call| call.comparing.is_some_and(|(since, _)| since.elapsed() >= LONG);
        let calls = self
            .requests
            .all()
            .filter(|(_, work)| matches!(work, Work::Call(call) if is_long(call)));
        let long: Vec<Ticket> = calls.map(|(ticket, _)| ticket).collect();
        for ticket in long {
            let message = "comparing the files with the index".to_owned();
            self.on_progress(ticket, ProgressReport { thousandths: 1, message });
        }
    }

    pub(super) fn on_deadlines(&mut self, now: Instant) {
        while let Some((at, ticket)) = self.deadlines.first().copied()
            && at <= now
        {
            self.deadlines.pop_first();
            if let Some(Work::Call(call)) = self.requests.work(ticket) {
                if planted(Fault::DeadlineAfterAdmission) && matches!(call.stage, Stage::Queued(_))
                {
                    continue;
                }
                let queued =
                    call.started.map_or(at, |started| started).duration_since(call.arrived);
                tracing::warn!(
                    tool = call.tool.name,
                    queued_ms = queued.as_millis(),
                    "a call has timed out"
                );
                let after = at.duration_since(call.arrived).as_secs_f32();
                let text = match call.stage {
                    Stage::Queued(_) => {
                        format!(
                            "timed out after {after:.0} s, before it could run: the server is \
                             busy; try again later"
                        )
                    }
                    _ if call.comparing.is_some() => {
                        format!(
                            "timed out after {after:.0} s, while the files were compared with the \
                             index: the system is busy; try again later"
                        )
                    }
                    _ => format!(
                        "timed out after {after:.0} s; ask for less (a narrower path, a smaller \
                         depth)"
                    ),
                };
                self.fail(ticket, &text);
            }
        }
    }

    /// Answers a call with an error result.
    pub(super) fn fail(&mut self, ticket: Ticket, text: &str) {
        self.end_with(ticket, Outcome::Failed, text);
    }

    /// Answers a call that is aborted by the server's shutdown.
    pub(super) fn give_up(&mut self, ticket: Ticket) {
        self.end_with(ticket, Outcome::Stopped, "the server is ending; the call was stopped");
    }

    fn end_with(&mut self, ticket: Ticket, outcome: Outcome, text: &str) {
        let Some(Work::Call(call)) = self.requests.work(ticket) else { return };
        let reply = Reply { outcome, ..Reply::error(format!("{}: {text}", call.tool.name)) };
        let answer = call.purpose.answer(call.era, reply);
        self.answer(ticket, answer);
    }

    /// Server state for `status`, as seen by the call `asking`.
    fn state(&self, asking: Ticket) -> ServerState {
        let now = Instant::now();
        let mut calls: Vec<CallState> = self
            .requests
            .all()
            .filter_map(|(ticket, work)| match work {
                Work::Call(call) if ticket != asking => Some(CallState {
                    tool: call.tool.name,
                    stage: call.stage.word(),
                    age: now.saturating_duration_since(call.arrived),
                }),
                Work::Call(_) | Work::Nothing | Work::Changes(..) => None,
            })
            .collect();
        calls.sort_by_key(|call| Reverse(call.age));
        ServerState {
            uptime: self.started.elapsed(),
            in_flight: self.requests.len(),
            calls,
            memory: memory(),
            lanes: self.admission.state(),
            lingering: self.lingering.len(),
        }
    }
}

/// Estimated memory of an argument, in bytes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| name.len() + weight(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
