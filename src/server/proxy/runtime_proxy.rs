//! Proxy tool set: forwards every tool call to a runtime (daemon) and relays its response. The
//! dispatcher answers requests that need no repository locally, whether a runtime is reachable or
//! not.

use super::upstream::{Target, Upstream};
use crate::base::escape;
use crate::protocol::version::PEER_KEY;
use crate::proxy::upstream::question::{Caller, Expected, Owner, UpstreamError, UpstreamQuestion};
use crate::session::dispatch::event::Event;
use crate::tools::arguments::Arguments;
use crate::tools::tool::Tool;
use crate::tools::tool::reply::{Marks, Outcome, Reply};
use crate::{
    tools::Tools,
    workspace::{host::Host, metrics::ProgressReport},
};
use cograph_faults as faults;
use cograph_model::cancel::CancelToken;
use cograph_system::names;
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::Sender;

/// Maximum length of a response text accepted from a runtime, in bytes; larger than any tool
/// response.
pub(crate) const LONGEST: usize = 64 << 10;
/// Maximum length of a progress message, in bytes.
const MESSAGE: usize = 200;

/// Proxy to one runtime, with an optional embedded tool set as a fallback.
pub(crate) struct RuntimeProxy {
    upstream: Upstream,
    place: Arc<ClientRoots>,
    /// Fallback tool set while no runtime is reachable; none if the fallback is disabled.
    embedded: Option<Arc<dyn Tools>>,
}

/// Workspace roots of the client, forwarded to the runtime.
pub(crate) struct ClientRoots {
    /// Default root of calls without a `root` argument, from the command line.
    root: Option<PathBuf>,
    /// Working directory in which the client started this process.
    started_in: Option<PathBuf>,
    state: Mutex<ProxyState>,
    roots_received: Condvar,
    events: Sender<Event>,
}

#[derive(Default)]
struct ProxyState {
    /// Roots from the client's `roots/list` response.
    client: Vec<PathBuf>,
    asked_until: Option<Instant>,
    is_embedded: bool,
}

impl ClientRoots {
    /// `root` is the directory given by the user, `started_in` the fallback.
    pub(crate) fn new(
        root: Option<PathBuf>,
        started_in: Option<PathBuf>,
        events: Sender<Event>,
    ) -> Arc<Self> {
        Arc::new(Self {
            root,
            started_in,
            state: Mutex::default(),
            roots_received: Condvar::new(),
            events,
        })
    }

    /// True if the client declared the `roots` capability.
    pub(crate) fn asks_client(&self) -> bool {
        self.root.is_none()
    }

    /// Records that `roots/list` was sent; its response is awaited until `until`.
    pub(crate) fn client_got_request(&self, until: Instant) {
        self.state().asked_until = Some(until);
    }

    /// Sets the client's roots. Returns true if they changed.
    pub(crate) fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        let changed = {
            let mut state = self.state();
            state.asked_until = None;
            std::mem::replace(&mut state.client, directories.clone()) != directories
        };
        self.roots_received.notify_all();
        changed
    }

    /// Blocks until the pending `roots/list` response arrives or its timeout expires.
    pub(crate) fn await_client(&self) {
        let mut state = self.state();
        while let Some(left) =
            state.asked_until.and_then(|until| until.checked_duration_since(Instant::now()))
        {
            self.roots_received.wait_for(&mut state, left);
        }
        state.asked_until = None;
    }

    fn state(&self) -> MutexGuard<'_, ProxyState> {
        self.state.lock()
    }
}

impl Owner for ClientRoots {
    fn experimental(&self) -> Value {
        let root = self.root.as_ref().and_then(|root| root.to_str());
        json!({PEER_KEY: root.map_or_else(|| json!({}), |root| json!({"root": root}))})
    }

    fn roots(&self) -> Vec<String> {
        let client = self.state().client.clone();
        client.iter().chain(&self.started_in).map(|directory| address(directory)).collect()
    }

    fn changed(&self, _method: &str) {
        // A full event queue drops the notification; the next change sends it again.
        let _ = self.events.try_send(Event::Published);
    }
}

impl RuntimeProxy {
    /// Creates a proxy to `target` that falls back to `embedded` while the target is unreachable.
    pub(crate) fn new(
        target: Target,
        expected: Expected,
        place: Arc<ClientRoots>,
        prepare: impl Fn() -> Result<(), String> + Send + Sync + 'static,
        embedded: Option<Arc<dyn Tools>>,
    ) -> Self {
        let owner: Arc<dyn Owner> = Arc::clone(&place) as Arc<dyn Owner>;
        Self {
            upstream: Upstream::new(target, expected, owner, Box::new(prepare)),
            place,
            embedded,
        }
    }

    /// Connects before the first call, which a client of a runtime must not do: a planted fault.
    pub(crate) fn attach(&self) {
        let _ = self.upstream.answers(&CancelToken::new());
    }

    /// The fallback tool set for the next call. Chosen at the first call and when the runtime
    /// disconnects, then fixed: a session does not switch while its current tool set works.
    fn fallback(&self, host: &dyn Host) -> Option<&Arc<dyn Tools>> {
        let embedded = self.embedded.as_ref()?;
        if !self.place.state().is_embedded {
            if self.upstream.answers(host.cancel()).is_ok() {
                return None;
            }
            tracing::info!("no runtime answers: calls are served here");
            self.place.state().is_embedded = true;
        }
        Some(embedded)
    }

    fn ask(
        &self,
        tool: &'static Tool,
        arguments: &Arguments,
        host: &dyn Host,
    ) -> Result<Reply, UpstreamError> {
        let question = UpstreamQuestion {
            method: "tools/call",
            params: json!({"name": tool.name, "arguments": arguments.to_json()}),
            only_reads: faults::only_reads(tool.name),
        };
        let call = Call::new(host);
        let result = self.upstream.call(&question, &call);
        if !call.resume() {
            return Err(UpstreamError::Cancelled);
        }
        Ok(reply(&result?))
    }
}

impl Tools for RuntimeProxy {
    fn asks_client(&self) -> bool {
        self.place.asks_client()
    }

    fn client_got_request(&self, until: Instant) {
        self.place.client_got_request(until);
        if let Some(embedded) = &self.embedded {
            embedded.client_got_request(until);
        }
    }

    fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        let changed = self.place.set_client(directories.clone());
        if changed {
            self.upstream.notify("notifications/roots/list_changed", json!({}));
        }
        self.embedded.as_ref().is_some_and(|embedded| embedded.set_client(directories)) || changed
    }

    fn close(&self) {
        self.upstream.close();
    }

    fn call(&self, tool: &'static Tool, arguments: &Arguments, host: &dyn Host) -> Reply {
        if arguments.text("root").is_none() {
            self.place.await_client();
        }
        if let Some(embedded) = self.fallback(host) {
            return embedded.call(tool, arguments, host);
        }
        match (self.ask(tool, arguments, host), &self.embedded) {
            (Ok(reply), _) => reply,
            (
                Err(UpstreamError::Unreachable { .. } | UpstreamError::Refused { .. }),
                Some(embedded),
            ) => {
                self.place.state().is_embedded = true;
                embedded.call(tool, arguments, host)
            }
            (Err(error), _) => {
                let hint = match &error {
                    UpstreamError::Unreachable { .. } => {
                        "; `cograph serve` starts one, then ask again"
                    }
                    _ => "",
                };
                Reply::error(format!(
                    "{}: {}{hint}",
                    tool.name,
                    escape::SafeLine::new(&error.to_string(), 600)
                ))
            }
        }
    }
}

/// Adapter: the host of a call, in the form the upstream connection needs.
pub(crate) struct Call<'a> {
    host: &'a dyn Host,
    paused: Cell<bool>,
}

impl<'a> Call<'a> {
    /// Creates the adapter of `host`.
    pub(crate) fn new(host: &'a dyn Host) -> Self {
        Self { host, paused: Cell::new(false) }
    }

    /// Ends the call and resumes its deadline. Returns false if the call was cancelled.
    pub(crate) fn resume(&self) -> bool {
        !self.paused.get() || self.host.resume()
    }
}

impl Caller for Call<'_> {
    fn cancel(&self) -> &CancelToken {
        self.host.cancel()
    }

    fn progress(&self, thousandths: u32, message: &str) {
        // A runtime sends progress only while it waits for an index or compares the files, so the
        // deadline is paused.
        if !self.paused.replace(true) {
            self.host.pause();
        }
        let message = escape::SafeLine::new(message, MESSAGE).to_string();
        self.host.progress(&ProgressReport { thousandths, message });
    }
}

/// Converts the runtime's response to a reply, escaped and truncated.
pub(crate) fn reply(result: &Value) -> Reply {
    let (reply, sanitized) = escape::counting(|| {
        let texts = result["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| item["text"].as_str());
        let text = escape::block(&texts.collect::<Vec<_>>().join("\n"), LONGEST);
        let reported = result["_meta"][PEER_KEY].as_str().and_then(Outcome::from_word);
        let is_error = result["isError"] == Value::Bool(true);
        let outcome = reported.filter(|reported| reported.is_error() == is_error);
        let outcome = outcome.unwrap_or(if is_error { Outcome::Failed } else { Outcome::Found });
        let structured =
            result.get("structuredContent").filter(|value| value.to_string().len() <= LONGEST);
        let stale = result["_meta"]["stale"]
            .as_str()
            .map(|stale| escape::SafeLine::new(stale, MESSAGE).to_string());
        let marks = Marks {
            truncated: result["_meta"]["truncated"] == Value::Bool(true),
            stale,
            ..Marks::default()
        };
        Reply {
            text,
            outcome,
            structured: structured.map(|value| escape::value(value, LONGEST)),
            marks,
        }
    });
    let before = result["_meta"]["sanitized"].as_u64().unwrap_or_default();
    Reply { marks: Marks { sanitized: before.saturating_add(sanitized), ..reply.marks }, ..reply }
}

/// The `file://` URI of a directory.
fn address(directory: &Path) -> String {
    format!("file://{}", names::percent_encoded(&names::to_address(directory)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_escaped_and_bounded_whatever_the_runtime_says() {
        let hostile = json!({
            "content": [
                {"type": "text", "text": "a\u{1b}[31m\r\n\tb"}, {"type": "image", "data": "x"},
                {"type": "text", "text": "c"}
            ],
            "structuredContent": {"k\u{202e}": ["\u{200b}", 1]},
            "isError": true,
            "_meta": {"cograph": "missing", "sanitized": 2, "stale": "1 file\u{1b} pending: \
                indexing: parse 1 of 2 files"},
        });
        let reply = reply(&hostile);
        assert_eq!(reply.text, "a\\u{1b}[31m\\u{d}\n\tb\nc");
        assert_eq!((reply.outcome, reply.marks.sanitized), (Outcome::Missing, 7));
        assert_eq!(
            reply.marks.stale.as_deref(),
            Some("1 file\\u{1b} pending: indexing: parse 1 of 2 files")
        );
        assert_eq!(reply.structured, Some(json!({"k\\u{202e}": ["\\u{200b}", 1]})));
        let long = json!({
            "content": [{"type": "text", "text": "x".repeat(1 << 20)}],
            "_meta": {"cograph": "failed"}
        });
        let reply = super::reply(&long);
        assert!(reply.text.len() < LONGEST + 40 && reply.text.ends_with(')'));
        assert_eq!(reply.outcome, Outcome::Found, "a word does not make an error of what is none");
    }

    #[test]
    fn addresses_name_their_directory_whatever_its_name() {
        assert_eq!(address(Path::new("/a b/é%#?")), "file:///a%20b/%C3%A9%25%23%3F");
    }
}
