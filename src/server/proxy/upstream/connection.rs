//! JSON-RPC connection to a peer: pending requests by id, requests of the peer, and a keep-alive.
//! After a connection is lost it is not reused; every pending request fails exactly once.

mod broken;

use super::wire::Wire;
use crate::base::escape::SafeLine;
use crate::jsonrpc::framing::Piece;
use crate::jsonrpc::message::{self, METHOD_NOT_FOUND, Message, Request, RequestId, RpcError};
use crate::jsonrpc::requests;
use crate::protocol::version::{CAPABILITIES_KEY, PEER_KEY, STATELESS, VERSION_KEY};
use crate::proxy::upstream::question::{Caller, Owner, UpstreamQuestion};
use crate::tools::tool::reply::Outcome;
use crate::transport::reader::Input;
use crate::transport::writer::Output;
use crate::transport::{reader, writer};
use cograph_config::process::ChildProcess;
use cograph_faults::{self as faults, Fault, planted};
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Maximum length of a line from a peer, in bytes.
pub(crate) const LINE: usize = 8 << 20;
/// Maximum size of the output queue, in bytes. A peer that does not read its responses is
/// disconnected.
pub(crate) const WAITING: usize = 16 << 20;
/// Keep-alive interval: a silent peer gets a ping, and is disconnected after a second interval.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Number of invalid lines after which a connection is closed.
pub(crate) const MAX_INVALID_LINES: usize = 100;
/// Maximum length of the peer's text in an error, in bytes.
pub(crate) const QUOTED: usize = 300;
/// Error for a peer that does not read (backpressure limit reached).
const OUTPUT_FULL: &str = "it does not read its input: 16 MB are queued";
/// Error for a result that no value can hold.
const UNREADABLE: &str =
    "the answer cannot be read: it is nested too deeply or holds text that is not Unicode";
/// Maximum length of a JSON-RPC error message, in bytes.
pub(crate) const MESSAGE: usize = 4 << 10;

/// JSON-RPC connection. See the module.
pub(super) struct Connection {
    output: Output,
    state: Mutex<ConnectionState>,
    /// Signals the connection's thread to stop.
    ending: Notify,
    /// Signalled when the connection is lost.
    gone: Condvar,
    pub(super) owner: Arc<dyn Owner>,
    /// Child process at the other end, if this process started it.
    process: Option<Arc<ChildProcess>>,
}

#[derive(Default)]
struct ConnectionState {
    next: u64,
    calls: HashMap<u64, Arc<PendingCall>>,
    lost: Option<String>,
    /// Error response received before any request was sent: the result of the first request.
    refusal: Option<NoResult>,
    /// The peer announced its shutdown: no further requests are sent.
    draining: bool,
    /// Server name from the handshake.
    peer: Option<String>,
    /// Stateless protocol without a handshake: every request carries its own metadata.
    is_stateless: bool,
}

/// Pending request.
#[derive(Default)]
struct PendingCall {
    progress_state: Mutex<CallProgress>,
    changed: Condvar,
}

#[derive(Default)]
struct CallProgress {
    progress: Option<(u32, String)>,
    cancelled: bool,
    end: Option<Result<Value, NoResult>>,
}

/// Classification of a line from the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LineKind {
    /// JSON-RPC message.
    Message,
    /// Not a JSON-RPC message.
    Invalid,
    /// Request of the peer whose response does not fit the output queue.
    OutputFull,
}

/// Why a request has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoResult {
    /// The connection was lost; `sent` if the request may have reached the peer.
    Lost { why: String, sent: bool },
    /// JSON-RPC error response.
    Answered { code: i64, message: String },
    /// Cancelled by the caller.
    Cancelled,
    /// Timeout.
    TimedOut,
}

impl PendingCall {
    fn update(&self, change: impl FnOnce(&mut CallProgress)) {
        change(&mut self.progress_state.lock());
        self.changed.notify_all();
    }

    /// Completes the request; later results are ignored.
    fn end(&self, end: Result<Value, NoResult>) {
        self.update(|progress_state| {
            progress_state.end.get_or_insert(end);
        });
    }
}

impl Connection {
    /// Starts the connection's threads. Sends nothing.
    pub(super) fn start(wire: Wire, owner: Arc<dyn Owner>) -> io::Result<Arc<Self>> {
        let output = writer::start(wire.stream.output, WAITING)?;
        let mut input = reader::start(wire.stream.input, LINE)?;
        let Wire { end, process, .. } = wire;
        let (state, ending, gone) = (Mutex::default(), Notify::new(), Condvar::new());
        let connection = Arc::new(Self { output, state, ending, gone, owner, process });
        let own = Arc::clone(&connection);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        std::thread::Builder::new().name("upstream".to_owned()).spawn(move || {
            let why = runtime.block_on(own.listen(&mut input));
            if own.process.is_none() {
                end();
                return own.fail_all(why);
            }
            // The callers are released first, because ending a process takes time.
            own.fail_all(why);
            // Drains the output of the process, which may otherwise block on a full pipe and never
            // exit.
            let drains = std::thread::Builder::new().name("upstream-drain".to_owned());
            drop(drains.spawn(move || while let Some(Input::Pieces(_)) = input.blocking_recv() {}));
            end();
        })?;
        Ok(connection)
    }

    /// True until the connection is known to be lost.
    pub(super) fn is_open(&self) -> bool {
        let state = self.state();
        state.lost.is_none() && !state.draining
    }

    /// Records the result of the handshake.
    pub(super) fn introduce(&self, name: Option<String>, is_stateless: bool) {
        let mut state = self.state();
        (state.peer, state.is_stateless) = (name, is_stateless);
    }

    /// Server name from the handshake.
    #[cfg(feature = "federation")]
    pub(super) fn peer_name(&self) -> Option<String> {
        self.state().peer.clone()
    }

    /// Closes the connection.
    pub(super) fn close(&self) {
        self.ending.notify_one();
    }

    /// Waits for the graceful close, at most this long.
    pub(super) fn await_end(&self, at_most: Duration) {
        let mut state = self.state();
        // The result is irrelevant: after the timeout the caller proceeds.
        self.gone.wait_while_for(&mut state, |state| state.lost.is_none(), at_most);
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: Value) {
        self.output.send(requests::notification(method, params));
    }

    /// Subscribes to tool list changes of a stateless peer, for the lifetime of the connection.
    pub(super) fn listen_for_changes(&self) {
        let params = json!({"notifications": {"toolsListChanged": true}, "_meta": stateless()});
        // The response ends the subscription; no request waits for it.
        let message = json!({
            "jsonrpc": "2.0", "id": "changes", "method": "subscriptions/listen", "params": params
        });
        self.output.send(format!("{message}\n").into_bytes());
    }

    /// Sends a request and waits for its response.
    pub(super) fn request(
        &self,
        question: &UpstreamQuestion,
        caller: Option<&dyn Caller>,
        until: Instant,
    ) -> Result<Value, NoResult> {
        let pending = Arc::new(PendingCall::default());
        if !self.output.has_room() {
            return answered(OUTPUT_FULL);
        }
        let id = self.add_pending(&pending)?;
        let mut params = question.params.clone();
        if self.state().is_stateless {
            params["_meta"] = stateless();
        }
        if caller.is_some() {
            params["_meta"]["progressToken"] = Value::from(id);
        }
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": question.method, "params": params});
        self.output.send(format!("{message}\n").into_bytes());
        let woken = Arc::clone(&pending);
        let _hook = caller.map(|caller| {
            caller
                .cancel()
                .on_cancel(move || woken.update(|progress_state| progress_state.cancelled = true))
        });
        let end = wait(&pending, caller, until);
        self.state().calls.remove(&id);
        if matches!(end, Err(NoResult::Cancelled | NoResult::TimedOut)) {
            self.notify("notifications/cancelled", json!({"requestId": id}));
        }
        end
    }

    /// Registers a pending request. From here on it always completes.
    fn add_pending(&self, pending: &Arc<PendingCall>) -> Result<u64, NoResult> {
        let mut state = self.state();
        let ending = || state.draining.then(|| "it is ending".to_owned());
        if let Some(why) = state.lost.clone().or_else(ending) {
            return Err(NoResult::Lost { why, sent: false });
        }
        state.next += 1;
        if let Some(refusal) = state.refusal.take() {
            return Err(refusal);
        }
        let id = state.next;
        state.calls.insert(id, Arc::clone(pending));
        Ok(id)
    }

    /// Handles messages of the peer until the connection ends; returns the reason.
    async fn listen(&self, input: &mut tokio::sync::mpsc::Receiver<Input>) -> String {
        let (mut last_received, mut is_pinged, mut invalid_lines) = (Instant::now(), false, 0);
        loop {
            let deadline = last_received + if is_pinged { 2 * KEEP_ALIVE } else { KEEP_ALIVE };
            tokio::select! {
                biased;
                () = self.ending.notified() => return "closed".to_owned(),
                received = input.recv() => {
                    (last_received, is_pinged) = (Instant::now(), false);
                    let Some(Input::Pieces(pieces)) = received else { return "it has closed the \
                        connection".to_owned() };
                    for piece in pieces {
                        match self.take(piece) {
                            LineKind::Message => {}
                            LineKind::Invalid => invalid_lines += 1,
                            LineKind::OutputFull => return OUTPUT_FULL.to_owned(),
                        }
                    }
                    if invalid_lines > MAX_INVALID_LINES {
                        return "it sends lines that are not JSON-RPC messages".to_owned();
                    }
                }
                () = tokio::time::sleep_until(deadline.into()) => {
                    if is_pinged {
                        return format!("it was silent for {} s", (2 * KEEP_ALIVE).as_secs());
                    }
                    is_pinged = true;
                    // Any response proves liveness, so the id matches no pending request.
                    let ping = json!({"jsonrpc": "2.0", "id": "alive", "method": "ping"});
                    self.output.send(format!("{ping}\n").into_bytes());
                }
            }
        }
    }

    /// Handles one line.
    fn take(&self, piece: Piece) -> LineKind {
        let line = match piece {
            Piece::Line(line) => line,
            Piece::Oversize(prefix) => {
                return self.broken_line(
                    &prefix,
                    None,
                    "the answer is longer than a message may be",
                );
            }
        };
        match message::parse_lossy(&line) {
            // Error response without an id: the peer refuses the connection.
            Message::Response { id: None, error: Some(error), .. } => self.refused(&error),
            Message::Response { id, result, error } => {
                // Late responses and responses to pings match no pending request.
                if let Some(pending) = id.and_then(|id| self.remove_pending(&id)) {
                    pending.end(match (result, error) {
                        (Some(result), _) if is_stopped(&result) => {
                            self.state().draining = true;
                            Err(NoResult::Lost { why: "it is ending".to_owned(), sent: true })
                        }
                        (Some(result), _) if result["resultType"] == "input_required" => {
                            answered("it asks its caller for more, which cannot be passed on")
                        }
                        (Some(result), _) => Ok(result),
                        (None, Some(error)) => Err(error_of(&error)),
                        (None, None) => answered(UNREADABLE),
                    });
                }
            }
            Message::Request(_) if !self.output.has_room() => return LineKind::OutputFull,
            Message::Request(request) => self.answer(&request),
            Message::Notification { method, params } => match &*method {
                "notifications/progress" => self.on_progress(&Value::Object(params)),
                _ if method.ends_with("_changed") || method.ends_with("/updated") => {
                    self.owner.changed(&method)
                }
                _ => {}
            },
            Message::Invalid(id, error) => {
                let is_json = error.code != message::PARSE_ERROR;
                // Whole JSON without an id is other output, which says nothing of any request.
                if is_json && id.is_none() {
                    return self.invalid_line();
                }
                let why = format!("the answer cannot be read: {}", error.message);
                return self.broken_line(&line, id, &why);
            }
            Message::Batch(_) => return self.invalid_line(),
        }
        LineKind::Message
    }

    /// Counts an invalid line; one during the handshake fails the connection at once.
    fn invalid_line(&self) -> LineKind {
        // A program may print a banner to standard output before it serves.
        if self.process.is_none() {
            self.refused(&json!({"code": message::PARSE_ERROR, "message": "it sent a line that \
                is not a JSON-RPC message"}));
        }
        LineKind::Invalid
    }

    /// Fails the pending handshake, the first request. A peer may refuse a connection before the
    /// handshake is sent.
    fn refused(&self, error: &Value) {
        let mut state = self.state();
        if state.next == 0 {
            state.refusal.get_or_insert(error_of(error));
        }
        let first = state.calls.remove(&1);
        drop(state);
        if let Some(pending) = first {
            pending.end(Err(error_of(error)));
        }
    }

    fn on_progress(&self, params: &Value) {
        let id = params["progressToken"].as_u64();
        let pending = id.and_then(|id| self.state().calls.get(&id).cloned());
        let (done, total) =
            (params["progress"].as_f64().unwrap_or(0.0), params["total"].as_f64().unwrap_or(0.0));
        let share = if total > 0.0 { (done / total).clamp(0.0, 0.999) } else { 0.0 };
        if let Some(pending) = pending {
            let message =
                params["message"].as_str().unwrap_or_default().chars().take(QUOTED).collect();
            pending.update(|progress_state| {
                progress_state.progress = Some(((share * 1000.0) as u32, message))
            });
        }
    }

    /// Responds to a request of the peer.
    fn answer(&self, request: &Request) {
        let answer = match &*request.method {
            "ping" => Ok("{}".to_owned()),
            "roots/list" => {
                let roots: Vec<Value> =
                    self.owner.roots().into_iter().map(|uri| json!({"uri": uri})).collect();
                Ok(json!({"roots": roots}).to_string())
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        };
        self.output.send(requests::answer_line(&request.id, answer));
    }

    /// Removes the pending request with this id. Own ids are integers; others match nothing.
    fn remove_pending(&self, id: &RequestId) -> Option<Arc<PendingCall>> {
        let mut state = self.state();
        if planted(Fault::AnswersInOrder) {
            let first = state.calls.keys().min().copied()?;
            return state.calls.remove(&first);
        }
        id.to_json().as_u64().and_then(|id| state.calls.remove(&id))
    }

    /// Closes the connection and fails every pending request.
    fn fail_all(&self, why: String) {
        let calls = {
            let mut state = self.state();
            state.lost = Some(why.clone());
            std::mem::take(&mut state.calls)
        };
        self.gone.notify_all();
        for pending in calls.into_values() {
            pending.end(Err(NoResult::Lost { why: why.clone(), sent: true }));
        }
        self.owner.lost();
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock()
    }
}

/// Quotes text of a peer for an error message, escaped and truncated.
pub(super) fn quoted(text: &str) -> SafeLine {
    SafeLine::new(text, QUOTED)
}

/// True if the runtime reports that it stopped the call because of its own shutdown.
fn is_stopped(result: &Value) -> bool {
    result["_meta"][PEER_KEY].as_str().and_then(Outcome::from_word) == Some(Outcome::Stopped)
}

fn error_of(error: &Value) -> NoResult {
    let message = error["message"].as_str().unwrap_or_default();
    let end = message.floor_char_boundary(MESSAGE);
    NoResult::Answered {
        code: error["code"].as_i64().unwrap_or_default(),
        message: message[..end].to_owned(),
    }
}

fn answered(message: &str) -> Result<Value, NoResult> {
    Err(NoResult::Answered {
        code: i64::from(message::INTERNAL_ERROR),
        message: message.to_owned(),
    })
}

/// Waits for the result of a request, and relays progress meanwhile.
fn wait(
    pending: &PendingCall,
    caller: Option<&dyn Caller>,
    until: Instant,
) -> Result<Value, NoResult> {
    let mut progress_state = pending.progress_state.lock();
    loop {
        if let Some(end) = progress_state.end.take() {
            return end;
        }
        if progress_state.cancelled {
            return Err(NoResult::Cancelled);
        }
        if let (Some((thousandths, message)), Some(caller)) =
            (progress_state.progress.take(), caller)
        {
            drop(progress_state);
            caller.progress(thousandths, &message);
            progress_state = pending.progress_state.lock();
            continue;
        }
        let Some(left) =
            until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        else {
            return Err(NoResult::TimedOut);
        };
        pending.changed.wait_for(&mut progress_state, left);
    }
}

/// Request metadata (`_meta`) of the stateless protocol.
fn stateless() -> Value {
    let us = json!({"name": cograph_version::NAME, "version": faults::version()});
    json!({VERSION_KEY: STATELESS, CAPABILITIES_KEY: {}, "io.modelcontextprotocol/clientInfo": us})
}

#[cfg(test)]
mod tests;
