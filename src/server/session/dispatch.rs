//! Dispatcher: the event loop of a session. One task handles messages, results, signals and timers,
//! and never blocks on work. It answers cheap requests itself; tools run on threads of their own
//! (`calls`). It owns all session state, so nothing here needs a lock.

mod calls;
pub(crate) mod event;
mod link;
pub(crate) mod notices;

use super::shutdown::Parent;
use crate::base::limits::Limits;
use crate::jsonrpc::admission::{Admission, Permits};
use crate::jsonrpc::framing::Piece;
use crate::jsonrpc::message::{
    self, INTERNAL_ERROR, INVALID_REQUEST, Message, PARSE_ERROR, Request, RequestId, RpcError,
};
use crate::jsonrpc::requests::{Answer, BatchId, Requests, Ticket};
use crate::protocol::request::Method;
use crate::protocol::subscriptions::WantedChanges;
use crate::protocol::version::Era;
use crate::protocol::{self, Session};
use crate::tools::Tools;
use crate::transport::reader::Input;
use crate::transport::writer::Output;
use crate::workspace::roots::Roots;
use calls::Call;
use cograph_faults::{Fault, planted};
pub(crate) use event::Event;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::MissedTickBehavior;

/// Rate limit of error responses to invalid lines. Further ones are ignored, so that two programs
/// that reject each other's errors do not loop.
const COMPLAINTS_PER_SECOND: u32 = 10;

/// Why the dispatcher ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// End of input; every request was answered or the drain timeout expired.
    InputEnded,
    /// A signal, or the end of the parent process.
    Terminated,
    /// The client closed its end of the output.
    ClientGone,
}

/// Event loop of one session. See the module.
pub(super) struct Dispatcher {
    limits: Limits,
    session: Session,
    requests: Requests<Work>,
    admission: Admission,
    /// Deadlines of the calls in flight.
    deadlines: BTreeSet<(Instant, Ticket)>,
    /// Calls that were answered or cancelled while their threads still run.
    lingering: BTreeSet<Ticket>,
    complaints: Complaints,
    tools: Arc<dyn Tools>,
    parent: Parent,
    started: Instant,
    /// Drain deadline, set at end of input.
    end_by: Option<Instant>,
    /// When the pending change notification is due.
    notify_at: Option<Instant>,
    /// A resource change notification is pending.
    resources_pending: bool,
    /// A tool list notification was held back by output backpressure.
    tools_pending: bool,
    roots: Roots,
    input: Receiver<Input>,
    /// Lines held back by output backpressure. No input is read until it is empty.
    deferred: VecDeque<Piece>,
    events: Receiver<Event>,
    /// Cloned for the threads of calls.
    event_sender: Sender<Event>,
    output: Output,
}

/// What a request in flight waits for.
#[derive(Debug)]
enum Work {
    /// Nothing: it is answered by the current handler.
    Nothing,
    /// Changes, until the client cancels the subscription; the id of the request.
    Changes(RequestId, WantedChanges),
    /// Tool call.
    Call(Box<Call>),
}

/// Channel ends of the dispatcher.
pub(super) struct Channels {
    /// From the reader thread.
    pub(crate) input: Receiver<Input>,
    /// From signals and tool threads.
    pub(crate) events: Receiver<Event>,
    /// Sender of `events`.
    pub(crate) event_sender: Sender<Event>,
    /// To the writer thread.
    pub(crate) output: Output,
}

/// Process-wide state of a session.
pub(crate) struct Process {
    /// Permits, shared with other sessions.
    pub(crate) permits: Permits,
    /// Parent process whose end ends the session.
    pub(crate) parent: Parent,
}

impl Dispatcher {
    /// Creates a dispatcher.
    pub(crate) fn new(
        limits: Limits,
        tools: Arc<dyn Tools>,
        channels: Channels,
        process: Process,
    ) -> Self {
        let Channels { input, events, event_sender, output } = channels;
        Self {
            admission: Admission::new(&limits, &process.permits),
            limits,
            session: Session::default(),
            requests: Requests::new(),
            deadlines: BTreeSet::new(),
            lingering: BTreeSet::new(),
            complaints: Complaints::default(),
            tools,
            parent: process.parent,
            started: Instant::now(),
            end_by: None,
            notify_at: None,
            resources_pending: false,
            tools_pending: false,
            roots: Roots::default(),
            input,
            deferred: VecDeque::new(),
            events,
            event_sender,
            output,
        }
    }

    /// Runs until there is a reason to end, then answers the requests in flight and flushes the
    /// output.
    pub(crate) async fn run(mut self) -> Ending {
        let ending = self.serve().await;
        tracing::debug!(?ending, in_flight = self.requests.len(), "ending");
        self.close_all();
        match ending {
            Ending::InputEnded => self.output.finish(self.limits.output_stall),
            Ending::Terminated => self.output.finish(self.limits.signal_grace / 3),
            Ending::ClientGone => {}
        }
        ending
    }

    async fn serve(&mut self) -> Ending {
        let mut housekeeping = tokio::time::interval(self.limits.housekeeping);
        housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // Backpressure: one read can hold a thousand requests, so each waits until the output
            // queue has capacity.
            while self.output.has_room()
                && let Some(piece) = self.deferred.pop_front()
            {
                self.on_piece(piece);
            }
            if self.end_by.is_some_and(|end_by| !self.has_calls() || end_by <= Instant::now()) {
                return Ending::InputEnded;
            }
            let next = self
                .deadlines
                .first()
                .map(|(at, _)| *at)
                .into_iter()
                .chain(self.end_by)
                .chain(self.notify_at)
                .min();
            let is_serial = planted(Fault::SerialDispatch) && self.has_calls();
            let takes_input = self.end_by.is_none()
                && self.deferred.is_empty()
                && self.output.has_room()
                && !is_serial;
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => {
                    if self.on_event(event) {
                        return Ending::Terminated;
                    }
                }
                ticket = self.admission.turn() => self.start_or_resume(ticket),
                () = until(next), if next.is_some() => {
                    self.on_deadlines(Instant::now());
                    self.send_change_notifications();
                }
                input = self.input.recv(), if takes_input => match input {
                    Some(Input::Pieces(pieces)) => self.deferred.extend(pieces),
                    Some(Input::End) | None => {
                        if self.output.is_abandoned() || planted(Fault::EofDropsQueued) {
                            return Ending::ClientGone;
                        }
                        self.end_by = Some(Instant::now() + self.end_grace());
                    }
                },
                () = self.output.changed() => {
                    if self.output.is_broken() {
                        return Ending::ClientGone;
                    }
                }
                _ = housekeeping.tick() => {
                    self.report_comparisons();
                    if self.parent.is_gone() {
                        return Ending::Terminated;
                    }
                    if self.output.is_abandoned() {
                        return Ending::ClientGone;
                    }
                }
            }
        }
    }

    fn end_grace(&self) -> Duration {
        if planted(Fault::EndlessGrace) { Duration::from_secs(3600) } else { self.limits.end_grace }
    }

    /// Handles an event. Returns true if the process must end.
    fn on_event(&mut self, event: Event) -> bool {
        match event {
            Event::Terminate => return true,
            Event::Drain => {
                self.end_by = self.end_by.or_else(|| Some(Instant::now() + self.end_grace()))
            }
            Event::Finished(ticket, reply) => self.on_finished(ticket, reply),
            Event::Progress(ticket, report) => self.on_progress(ticket, report),
            Event::Comparing(ticket) => self.on_comparing(ticket),
            Event::Compared(ticket) => self.on_compared(ticket),
            Event::Paused(ticket) => self.on_paused(ticket),
            Event::Resume(ticket, permit) => self.on_resume(ticket, permit),
            Event::Published => self.on_published(),
            #[cfg(feature = "federation")]
            Event::ToolsChanged => self.send_tools_notification(),
        }
        false
    }

    fn on_piece(&mut self, piece: Piece) {
        match piece {
            Piece::Line(line) => match message::parse(&line) {
                Message::Batch(members) if self.session.takes_batches() => {
                    let batch = self.requests.open_batch();
                    members.into_iter().for_each(|member| self.on_message(member, Some(batch)));
                    let frame = self.requests.close_batch(batch);
                    self.send(frame);
                }
                Message::Batch(_) => {
                    self.refuse(
                        None,
                        None,
                        RpcError::new(
                            INVALID_REQUEST,
                            "arrays of messages belong to version 2025-03-26 only",
                        ),
                    );
                }
                message => self.on_message(message, None),
            },
            Piece::Oversize(prefix) => {
                let text = format!("the message is longer than {} bytes", self.limits.line_bytes);
                self.refuse(
                    message::remains(&prefix).and_then(|remains| remains.id()).as_ref(),
                    None,
                    RpcError::new(INVALID_REQUEST, text),
                );
            }
        }
    }

    fn on_message(&mut self, message: Message, batch: Option<BatchId>) {
        match message {
            Message::Request(request) => self.on_request(request, batch),
            Message::Notification { method, params } => self.on_notification(&method, &params),
            Message::Response { id, result, .. } => self.on_response(id.as_ref(), result.as_ref()),
            Message::Invalid(id, error) => {
                // A request is answered in any case.
                let is_noise = error.code == PARSE_ERROR && id.is_none();
                if !is_noise || self.complaints.admit(Instant::now()) {
                    self.refuse(id.as_ref(), batch, error);
                }
            }
            Message::Batch(_) => unreachable!("a member that is an array is invalid"),
        }
    }

    fn on_request(&mut self, request: Request, batch: Option<BatchId>) {
        let Request { id, method, params } = request;
        if batch.is_some() && self.requests.batched_bytes() >= self.limits.output_bytes {
            let why = "the answers that wait for the rest of their arrays are too large together: \
                       send fewer in one";
            self.refuse(Some(&id), batch, RpcError::new(INTERNAL_ERROR, why));
            return;
        }
        let Ok(ticket) = self.requests.open(id.clone(), batch, Work::Nothing) else {
            self.refuse(
                Some(&id),
                batch,
                RpcError::new(INVALID_REQUEST, "a request with this id is in flight"),
            );
            return;
        };
        match self.understand(&method, params) {
            Ok((_, Method::Answer(result))) => {
                if let Some(root) = self.session.take_root() {
                    self.tools.set_root(root);
                }
                self.answer(ticket, Ok(result));
            }
            Ok((era, Method::Call(call))) => self.on_call(ticket, era, call),
            Ok((_, Method::Listen(wanted))) => self.on_listen(ticket, id, wanted),
            Err(error) => self.answer(ticket, Err(error)),
        }
    }

    fn understand(
        &mut self,
        method: &str,
        params: Result<Map<String, Value>, RpcError>,
    ) -> Result<(Era, Method), RpcError> {
        let params = params?;
        protocol::check_token(&params)?;
        let era = self.session.era(method, &params)?;
        let more = self.tools.more();
        Ok((era, self.session.serve(era, method, params, more.as_deref())?))
    }

    fn on_notification(&mut self, method: &str, params: &Map<String, Value>) {
        match method {
            "notifications/initialized" => self.session.on_initialized(),
            "notifications/roots/list_changed" => self.on_roots_changed(),
            "notifications/cancelled" => self.on_cancelled(params),
            _ => {}
        }
    }

    fn on_cancelled(&mut self, params: &Map<String, Value>) {
        let Some(ticket) = protocol::cancelled_id(params).and_then(|id| self.requests.ticket(&id))
        else {
            return;
        };
        if planted(Fault::CancelAnswered) {
            return self.answer(ticket, Err(RpcError::new(-32800, "cancelled")));
        }
        if let Some(closed) = self.requests.cancel(ticket) {
            self.stop(ticket, closed.work);
            self.send(closed.frame);
        }
    }

    /// Answers a request. The only way to do so.
    fn answer(&mut self, ticket: Ticket, answer: Answer) {
        if let Some(closed) = self.requests.answer(ticket, answer) {
            self.stop(ticket, closed.work);
            self.send(closed.frame);
        }
    }

    fn refuse(&mut self, id: Option<&message::RequestId>, batch: Option<BatchId>, error: RpcError) {
        let frame = self.requests.refuse(id, batch, error);
        self.send(frame);
    }

    fn send(&self, frame: Option<Vec<u8>>) {
        if let Some(frame) = frame {
            self.output.send(frame);
        }
    }

    fn set_work(&mut self, ticket: Ticket, work: Work) {
        if let Some(slot) = self.requests.work(ticket) {
            *slot = work;
        }
    }

    fn has_calls(&self) -> bool {
        self.requests.all().any(|(_, work)| matches!(work, Work::Call(_)))
    }

    /// Fails every request in flight, so that no client waits for an ended process.
    fn close_all(&mut self) {
        let open: Vec<(Ticket, Option<RequestId>)> = self
            .requests
            .all()
            .map(|(ticket, work)| match work {
                Work::Changes(id, _) => (ticket, Some(id.clone())),
                Work::Nothing | Work::Call(_) => (ticket, None),
            })
            .collect();
        for (ticket, subscription) in open {
            match subscription {
                Some(id) => self.answer(ticket, Ok(protocol::listen_result(&id))),
                None => self.give_up(ticket),
            }
        }
    }
}

/// Resolves at the given time; never for none.
pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// Rate limiter of error responses to invalid lines.
#[derive(Debug, Default)]
struct Complaints {
    since: Option<Instant>,
    count: u32,
}

impl Complaints {
    fn admit(&mut self, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.duration_since(since) >= Duration::from_secs(1)) {
            *self = Self { since: Some(now), count: 0 };
        }
        self.count += 1;
        self.count <= COMPLAINTS_PER_SECOND || planted(Fault::EchoStorm)
    }
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
