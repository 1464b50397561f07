//! Federation of several upstream servers behind one client. A query is sent to all upstreams that
//! run cograph, concurrently, and the responses are concatenated, each under the name of its
//! upstream. Tools of other programs are listed with the upstream's name as a prefix.
//!
//! `registry` owns the upstreams and their connections, `tools` validates and renames the listed
//! tools, `answers` merges responses. Text from an upstream is escaped and truncated before it is
//! relayed.

mod answers;
pub(crate) mod registry;
pub(crate) mod tools;

pub use registry::{Name, RegistryError};

use super::runtime_proxy::{self, ClientRoots};
use super::upstream::{Listing, Target, Upstream};
use crate::base::escape::SafeLine;
use crate::peers::Programs;
use crate::protocol::external_tools;
use crate::protocol::version::PEER_KEY;
use crate::proxy::federation::registry::view::{MAX_UPSTREAMS, Peer, Serving};
use crate::proxy::federation::registry::wakeup::EventSink;
use crate::proxy::upstream::question::{Caller, Expected, Owner, UpstreamError, UpstreamQuestion};
use crate::session::dispatch::event::Event;
use crate::tools::arguments::Arguments;
use crate::tools::table::MoreTools;
use crate::tools::tool::reply::Reply;
use crate::tools::tool::{DEFAULT_BUDGET, Tool};
use crate::{
    tools::Tools,
    tools::arguments::complete,
    workspace::{host::Host, metrics::ProgressReport},
};
use answers::Answered;
use cograph_config::process::Started;
use cograph_faults as faults;
use cograph_model::cancel::CancelToken;
use parking_lot::Mutex;
use registry::Registry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Timeout of the first calls for the first connection attempts.
const FIRST_CONNECT_TIMEOUT: Duration = Duration::from_millis(1500);
/// Timeout for the remaining upstreams after the first one has answered.
const STRAGGLER_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of each step of ending the child processes at shutdown.
const SHUTDOWN_STEP: Duration = Duration::from_millis(80);
/// Concurrent calls per upstream: a slow upstream cannot hold all permits.
pub(crate) const CALLS_PER_UPSTREAM: usize = 4;

/// Concurrent calls of external tools, over all upstreams.
pub(crate) const MAX_CALLS: usize = CALLS_PER_UPSTREAM * MAX_UPSTREAMS;

/// Upstreams with validated names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upstreams(Vec<(Name, Target)>);

impl Upstreams {
    /// Validates the names (syntax, uniqueness) and the number of upstreams.
    pub fn new(given: Vec<(String, Target)>) -> Result<Self, RegistryError> {
        let mut known: Vec<(Name, Target)> = Vec::new();
        for (name, target) in given {
            let name = Name::new(&name)?;
            if known.iter().any(|(other, _)| *other == name) {
                return Err(RegistryError::Known(name));
            }
            known.push((name, target));
        }
        if known.len() > MAX_UPSTREAMS { Err(RegistryError::Full) } else { Ok(Self(known)) }
    }

    /// All upstreams with their names.
    pub fn all(&self) -> impl Iterator<Item = (&Name, &Target)> {
        self.0.iter().map(|(name, target)| (name, target))
    }
}

/// Tool set over all connected upstreams. See the module.
pub(crate) struct Federation {
    registry: Registry,
    place: Arc<ClientRoots>,
    /// Child processes started as upstreams, in any state.
    programs: Arc<Programs>,
    /// External tools, cached per registry generation.
    more: Mutex<(u64, Arc<MoreTools>)>,
    /// Number of calls in flight, by upstream.
    busy: Mutex<BTreeMap<String, usize>>,
}

/// Receives the notifications of one connection.
struct ConnectionEvents {
    sink: EventSink,
    place: Arc<ClientRoots>,
    programs: Arc<Programs>,
}

impl Owner for ConnectionEvents {
    fn experimental(&self) -> Value {
        json!({PEER_KEY: {}})
    }

    fn roots(&self) -> Vec<String> {
        self.place.roots()
    }

    fn changed(&self, method: &str) {
        match method {
            "notifications/tools/list_changed" => self.sink.tools_changed(),
            _ => self.place.changed(method),
        }
    }

    fn lost(&self) {
        self.sink.lost();
    }

    fn start(&self, program: Command) -> io::Result<Started> {
        self.programs.start(program)
    }
}

impl Peer for Upstream {
    fn list(&self, cancel: &CancelToken) -> Result<Listing, UpstreamError> {
        self.list_tools(cancel)
    }

    fn call(
        &self,
        question: &UpstreamQuestion,
        caller: &dyn Caller,
    ) -> Result<Value, UpstreamError> {
        Upstream::call(self, question, caller)
    }

    fn title(&self) -> Option<String> {
        self.peer_name()
    }

    fn send_notification(&self, method: &str) {
        self.notify(method, json!({}));
    }

    fn close(&self) {
        Upstream::close(self);
    }
}

impl Federation {
    /// Registers the upstreams and starts their connection threads.
    pub(crate) fn new(
        upstreams: Upstreams,
        place: Arc<ClientRoots>,
        events: Sender<Event>,
    ) -> Self {
        let programs = Arc::<Programs>::default();
        let (roots_of, started_by) = (Arc::clone(&place), Arc::clone(&programs));
        let connector = move |target: &Target, sink: EventSink| {
            let owner = Arc::new(ConnectionEvents {
                sink,
                place: Arc::clone(&roots_of),
                programs: Arc::clone(&started_by),
            });
            Arc::new(Upstream::new(target.clone(), Expected::Anyone, owner, Box::new(|| Ok(()))))
                as Arc<dyn Peer>
        };
        // The send fails only after the dispatcher has ended.
        let on_change = move || drop(events.blocking_send(Event::ToolsChanged));
        let registry = Registry::new(Box::new(connector), Box::new(on_change));
        for (name, target) in upstreams.0 {
            // Names were validated by `Upstreams::new`: the error here is a failed thread creation.
            if let Err(error) = registry.add(&name, target) {
                tracing::error!(%error, "an upstream is left out");
            }
        }
        Self { registry, place, programs, more: Mutex::default(), busy: Mutex::default() }
    }

    /// Sends a query to every upstream that runs cograph, or to the named one.
    fn ask(&self, tool: &'static Tool, arguments: &Arguments, host: &dyn Host) -> Reply {
        self.registry.wait_for_attempts(FIRST_CONNECT_TIMEOUT);
        let view = self.registry.view();
        let (asked, directory) = match answers::chosen(&view, arguments.text("root")) {
            Ok(chosen) => chosen,
            Err(why) => return Reply::refusal(format!("{}: {why}", tool.name)),
        };
        if tool.output.is_some() && asked.len() > 1 {
            let names = answers::names(asked.iter().map(|(name, _)| name));
            return Reply::refusal(format!(
                "{}: name one upstream with `root`: {names}",
                tool.name
            ));
        }
        let mut params = arguments.to_json();
        if let Value::Object(params) = &mut params {
            params.remove("root");
            params.extend(directory.map(|directory| ("root".to_owned(), Value::from(directory))));
        }
        let budget = arguments.integer("budget").unwrap_or(DEFAULT_BUDGET);
        let room = answers::share(budget, asked.len());
        if tool.parameters().any(|parameter| parameter.name == "budget")
            && tool.name != complete::TOOL.name
        {
            params["budget"] = Value::from(room);
        }
        let question = UpstreamQuestion {
            method: "tools/call",
            params: json!({"name": tool.name, "arguments": params}),
            only_reads: faults::only_reads(tool.name),
        };
        let answered = ask_all(&asked, &question, host);
        match tool.name == complete::TOOL.name {
            true => answers::completed(answered),
            false => answers::merged(tool.name, answered, &view, room),
        }
    }

    /// Calls an external tool.
    fn pass_on(&self, arguments: &Arguments, host: &dyn Host) -> Reply {
        let name = arguments.text(external_tools::TOOL_NAME).unwrap_or_default();
        let view = self.registry.view();
        let Some((serving, place)) = view.tools.get(name) else {
            return Reply::error(format!(
                "{}: its upstream does not have it any more",
                SafeLine::new(name, 80)
            ));
        };
        let tool = &serving.tools[*place];
        let Some(_turn) = self.turn(name) else {
            return Reply::error(format!(
                "{name}: busy: {CALLS_PER_UPSTREAM} calls of this upstream are under way; \
                 try again later"
            ));
        };
        let given = arguments
            .text(external_tools::ARGUMENTS)
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        let params = json!({"name": tool.name, "arguments": given.unwrap_or_else(|| json!({}))});
        let question =
            UpstreamQuestion { method: "tools/call", params, only_reads: tool.only_reads };
        let call = runtime_proxy::Call::new(host);
        let result = serving.peer.call(&question, &call);
        match result {
            Ok(result) if call.resume() => answers::foreign(&result),
            Ok(_) => Reply::error("cancelled"),
            Err(error) => {
                Reply::error(format!("{name}: {}", SafeLine::new(&error.to_string(), 600)))
            }
        }
    }

    /// Permit for a call to the upstream of `tool`; released on drop.
    fn turn(&self, tool: &str) -> Option<Turn<'_>> {
        let upstream =
            tool.split_once(tools::BETWEEN).map_or(tool, |(upstream, _)| upstream).to_owned();
        let mut busy = self.busy.lock();
        let calls = busy.entry(upstream.clone()).or_default();
        (*calls < CALLS_PER_UPSTREAM).then(|| {
            *calls += 1;
            Turn { busy: &self.busy, upstream }
        })
    }
}

impl Drop for Federation {
    fn drop(&mut self) {
        // Before the registry: its connection threads may block on output of these processes.
        self.programs.end_all(SHUTDOWN_STEP);
    }
}

struct Turn<'a> {
    busy: &'a Mutex<BTreeMap<String, usize>>,
    upstream: String,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(calls) = self.busy.lock().get_mut(&self.upstream) {
            *calls -= 1;
        }
    }
}

impl Tools for Federation {
    fn asks_client(&self) -> bool {
        self.place.asks_client()
    }

    fn client_got_request(&self, until: Instant) {
        self.place.client_got_request(until);
    }

    fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        let changed = self.place.set_client(directories);
        if changed {
            for serving in
                self.registry.view().upstreams.iter().filter_map(|seen| seen.serving.as_ref())
            {
                serving.peer.send_notification("notifications/roots/list_changed");
            }
        }
        changed
    }

    /// A call that does not return must not keep a child process alive.
    fn close(&self) {
        self.programs.end_all(SHUTDOWN_STEP);
    }

    fn more(&self) -> Option<Arc<MoreTools>> {
        let view = self.registry.view();
        let mut more = self.more.lock();
        if more.0 != view.generation {
            let tools =
                view.tools.values().map(|(serving, place)| serving.tools[*place].listing.clone());
            *more = (view.generation, Arc::new(MoreTools::new(tools.collect())));
        }
        Some(Arc::clone(&more.1))
    }

    fn call(&self, tool: &'static Tool, arguments: &Arguments, host: &dyn Host) -> Reply {
        if tool.name == external_tools::TOOL.name {
            return self.pass_on(arguments, host);
        }
        self.place.await_client();
        self.ask(tool, arguments, host)
    }
}

/// Progress or response of one of several concurrent requests.
enum PeerEvent {
    Progress(usize, u32, String),
    Answered(usize, Result<Value, UpstreamError>),
}

/// One of several concurrent requests, as seen by its upstream connection.
struct OneOfSeveral<'a> {
    place: usize,
    cancel: &'a CancelToken,
    peer_events: SyncSender<PeerEvent>,
}

impl Caller for OneOfSeveral<'_> {
    fn cancel(&self) -> &CancelToken {
        self.cancel
    }

    fn progress(&self, thousandths: u32, message: &str) {
        // If the channel is full, the receiver already has progress to report.
        let _ = self.peer_events.try_send(PeerEvent::Progress(
            self.place,
            thousandths,
            message.to_owned(),
        ));
    }
}

/// Sends a request to several upstreams concurrently. After the first response the others have
/// `STRAGGLER_TIMEOUT` to answer.
fn ask_all(
    asked: &[(Name, Arc<Serving>)],
    question: &UpstreamQuestion,
    host: &dyn Host,
) -> Vec<(Name, Answered)> {
    let all = CancelToken::new();
    let stop = all.clone();
    let _hook = host.cancel().on_cancel(move || stop.cancel());
    let (sender, peer_events) = sync_channel(4 * asked.len().max(1));
    let mut answers: Vec<Option<Answered>> = asked.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for (place, (name, serving)) in asked.iter().enumerate() {
            let caller = OneOfSeveral { place, cancel: &all, peer_events: sender.clone() };
            let ask = move || {
                let answer = serving.peer.call(question, &caller);
                // The receiver is gone if this response came after the timeout.
                let _ = caller.peer_events.send(PeerEvent::Answered(place, answer));
            };
            if std::thread::Builder::new()
                .name(format!("ask-{name}"))
                .spawn_scoped(scope, ask)
                .is_err()
            {
                answers[place] = Some(Answered::Not("the system gives no thread".to_owned()));
            }
        }
        drop(sender);
        collect(&peer_events, asked, &mut answers, host);
        // Cancels the requests still in flight, so that the scope can join their threads.
        all.cancel();
        drop(peer_events);
    });
    let late = || {
        Answered::Not(format!(
            "no answer within {} s of the first one",
            STRAGGLER_TIMEOUT.as_secs()
        ))
    };
    asked
        .iter()
        .zip(answers)
        .map(|((name, _), answer)| (name.clone(), answer.unwrap_or_else(late)))
        .collect()
}

fn collect(
    peer_events: &Receiver<PeerEvent>,
    asked: &[(Name, Arc<Serving>)],
    answers: &mut [Option<Answered>],
    host: &dyn Host,
) {
    let (mut until, mut is_paused, mut furthest) = (None::<Instant>, false, 0);
    while answers.iter().any(Option::is_none) && !host.cancel().is_cancelled() {
        let received = match until {
            None => peer_events.recv().ok(),
            Some(until) => {
                peer_events.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
            }
        };
        match received {
            None => break,
            Some(PeerEvent::Progress(place, thousandths, message)) => {
                // An upstream waits for an index or compares the files, so the deadline of this
                // call is paused too.
                if !std::mem::replace(&mut is_paused, true) {
                    host.pause();
                }
                furthest = thousandths.max(furthest);
                let message = format!("{}: {}", asked[place].0, SafeLine::new(&message, 200));
                host.progress(&ProgressReport { thousandths: furthest, message });
            }
            Some(PeerEvent::Answered(place, answer)) => {
                if answer.is_ok() {
                    until.get_or_insert_with(|| Instant::now() + STRAGGLER_TIMEOUT);
                }
                answers[place] = Some(match answer {
                    Ok(result) => Answered::With(runtime_proxy::reply(&result)),
                    Err(error) => Answered::Not(SafeLine::new(&error.to_string(), 400).to_string()),
                });
            }
        }
    }
    if is_paused {
        // A cancelled call ends too: its next check sees the token.
        host.resume();
    }
}
