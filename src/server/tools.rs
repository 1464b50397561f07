//! Execution of a tool call: opens the repository, runs the query, renders the result. The same for
//! the dispatcher and the command line, which differ in their `Host`.

pub(super) mod arguments;
pub(crate) mod explore;
pub(super) mod grep;
pub(super) mod impact;
pub(super) mod outline;
pub(super) mod overview;
pub(super) mod references;
pub(super) mod search;
pub(super) mod show;
pub(super) mod sql;
pub(super) mod status;
pub(super) mod table;
pub(super) mod tool;
pub(super) mod trace;

use crate::answers::budget::Page;
use crate::answers::render::sources::{FEW, MANY};
use crate::answers::{failure, render, reply};
use crate::base::escape;
use crate::jsonrpc::admission::Class;
use crate::workspace::host::{Form, Host};
use crate::workspace::repositories::{
    OpenRepository, QueryHints, Readiness, Repositories, Unavailable,
};
use arguments::{Arguments, paths};
use cograph_faults as faults;
use cograph_model::SiteKind;
use cograph_query::{self as query, Unread};
use cograph_store::Snapshot;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub(crate) use table::MoreTools;
pub(super) use tool::context::QueryContext;
use tool::members::{self, ALL_NAMES, Followed, Run};
pub(super) use tool::reply::Marks;
pub use tool::reply::{Outcome, Reply};
use tool::{DEFAULT_BUDGET, Tool};

/// Set of callable tools: local, proxy or federation.
pub(super) trait Tools: Send + Sync {
    /// True if the client's roots can decide the default repository.
    fn asks_client(&self) -> bool {
        false
    }

    /// Records that `roots/list` was sent: calls that depend on it wait for its response until
    /// then.
    fn client_got_request(&self, _until: Instant) {}

    /// Sets the default root of the client. Does not block.
    fn set_root(&self, _root: PathBuf) {}

    /// External tools to list; none if there never are any. Does not block.
    fn more(&self) -> Option<Arc<MoreTools>> {
        None
    }

    /// Sets the client's roots. Returns true if the default repository may differ from that of
    /// earlier responses. Does not block.
    fn set_client(&self, _directories: Vec<PathBuf>) -> bool {
        false
    }

    /// Shutdown: no further calls follow.
    fn close(&self) {}

    /// Runs a call on the calling thread.
    fn call(&self, tool: &'static Tool, arguments: &Arguments, host: &dyn Host) -> Reply;
}

/// Runs a tool for a host. Entry point of the command line.
pub fn call(
    tool: &'static Tool,
    arguments: &Arguments,
    repositories: &Repositories,
    host: &dyn Host,
    form: Form,
) -> Reply {
    let (mut reply, sanitized) =
        escape::counting(|| match repositories.members(arguments.text("root")) {
            Ok(None) => run(tool, arguments, repositories, host, form),
            Ok(Some(members)) => {
                let stays = not_followed(tool, arguments);
                let how = (answered as Run, followed(tool, arguments), stays);
                members::answer(tool, arguments, &members, repositories, host, form, how)
            }
            Err(error) => {
                let budget = arguments.integer("budget").unwrap_or(DEFAULT_BUDGET);
                without_store(tool, budget, Err(error), repositories, host)
            }
        });
    reply.marks.sanitized = sanitized;
    reply
}

fn run(
    tool: &'static Tool,
    arguments: &Arguments,
    repositories: &Repositories,
    host: &dyn Host,
    form: Form,
) -> Reply {
    // With concurrent clients, a tool of class `Control` does not wait for an index.
    let waits = tool.class != Class::Control || host.server().is_none();
    let budget = arguments.integer("budget").unwrap_or(DEFAULT_BUDGET);
    let about = QueryHints::texts(arguments.free_texts(tool));
    let mut is_again = false;
    loop {
        let opening = tracing::trace_span!("open repository").entered();
        let opened = match repositories.open(arguments.text("root"), waits, &about, host) {
            Ok(Readiness::Ready(opened)) => opened,
            not_ready => return without_store(tool, budget, not_ready, repositories, host),
        };
        drop(opening);
        let reply = answered(tool, arguments, &opened, repositories, host, form);
        host.spent_in_statements(opened.snapshot.time_in_statements());
        // Once, so that a file that changes continuously does not block the response.
        if !std::mem::replace(&mut is_again, true) && repositories.rests_on_changes(&opened, host) {
            continue;
        }
        if reply.outcome.is_answer() {
            repositories.was_answered(&opened);
        }
        return reply;
    }
}

/// Answer of one repository that is open.
fn answered(
    tool: &'static Tool,
    arguments: &Arguments,
    opened: &OpenRepository,
    repositories: &Repositories,
    host: &dyn Host,
    form: Form,
) -> Reply {
    let budget = arguments.integer("budget").unwrap_or(DEFAULT_BUDGET);
    let freshness = opened.freshness();
    let place = opened.place().unwrap_or_default();
    let mut page = Page::new(budget).with_head_of(ALL_NAMES.len() + place.len() + freshness.len());
    let process = host.server().map(|server| (server, repositories.activity()));
    let context = QueryContext {
        snapshot: &opened.snapshot,
        files: &opened.files,
        cancel: host.cancel(),
        room: page.room(),
        sources: if form == Form::Json { MANY } else { FEW },
        process,
    };
    faults::call_works(tool.name);
    let root = opened.root();
    let below = arguments.clone().with_paths(tool, |text| paths::below(root, text));
    let query = tracing::trace_span!("query").entered();
    let result = (tool.handler)(&below, &context);
    drop(query);
    let _span = tracing::trace_span!("render").entered();
    let stale = opened.stale().map(|stale| stale.to_string());
    match result {
        Ok(answer) => {
            let outcome = if answer.is_empty() { Outcome::Nothing } else { Outcome::Found };
            if form == Form::Json {
                let json = answer.json_within(&mut page);
                let text = reply::with(json, "index", reply::state(opened)).to_string();
                return Reply { text, outcome, structured: None, marks: Marks::default() };
            }
            let structured = answer.structured(page.room(), &freshness);
            let head = answer.render(&mut page);
            let head =
                if answer.is_empty() { head + &unread(tool, &opened.snapshot) } else { head };
            // Once per session, unless the response contains it anyway.
            let content =
                if place.is_empty() || head.contains("not instructions") { "" } else { ALL_NAMES };
            let head = format!("{head} · {content}{place}{freshness}");
            let marks = Marks { truncated: page.is_cut(), stale, ..Marks::default() };
            let text = faults::answer(tool.name, page.finish(&head));
            Reply { text, outcome, structured, marks }
        }
        Err(error) => {
            // A missing symbol may be in a file that is not indexed yet.
            let reserve = (!opened.is_up_to_date()).then_some(freshness.as_str());
            let outcome = Outcome::from(&error);
            let nothing = if outcome == Outcome::Missing {
                unread(tool, &opened.snapshot)
            } else {
                String::new()
            };
            let text = failure::reply(tool.name, &error, reserve, page) + &nothing;
            let marks = Marks { stale, ..Marks::default() };
            Reply { text, outcome, structured: None, marks }
        }
    }
}

/// What a tool follows from one repository of a workspace to another.
fn followed(tool: &Tool, arguments: &Arguments) -> Option<Followed> {
    let is_up = arguments.text("direction") != Some("callees") && arguments.text("to").is_none();
    match tool.name {
        "trace" if is_up => {
            let kinds = vec![SiteKind::Call, SiteKind::Construct, SiteKind::Decorate];
            Some(Followed { what: "call", of: "of", kinds })
        }
        "references" => Some(Followed { what: "reference", of: "to", kinds: Vec::new() }),
        _ => None,
    }
}

/// What a call does not follow from one repository of a workspace to another; empty for nothing.
fn not_followed(tool: &Tool, arguments: &Arguments) -> &'static str {
    if tool.name != "trace" {
        return "";
    }
    let is_deep = arguments.integer("depth").is_some_and(|depth| depth > 1);
    match arguments.text("to") {
        Some(_) => "a path stays within one repository",
        None if arguments.text("direction") == Some("callees") => {
            "callees stay within one repository: calls into another are not followed"
        }
        None if is_deep => {
            "calls from other repositories are direct ones: callers of those are not followed"
        }
        None => "",
    }
}

/// Addition to an empty result in a repository without a supported language.
fn unread(tool: &Tool, snapshot: &Snapshot) -> String {
    match query::unread(snapshot) {
        Ok(Some(Unread { files, languages })) if tool.name != grep::TOOL.name => format!(
            "; none of the {} is in a language that is read ({}): `grep` searches their text",
            render::plural(files, "file"),
            languages.join(", ")
        ),
        _ => String::new(),
    }
}

/// Reply without a usable store. The server's own state is available all the same.
fn without_store(
    tool: &'static Tool,
    budget: u64,
    readiness: Result<Readiness, Unavailable>,
    repositories: &Repositories,
    host: &dyn Host,
) -> Reply {
    let text = |text: &str| {
        let mut page = Page::new(budget);
        if let Some(server) = host.server() {
            status::process(server, &repositories.activity(), &mut page);
        }
        page.finish(text)
    };
    match readiness {
        // There is no structured output yet.
        Ok(Readiness::Working(so_far)) if tool.output.is_some() => {
            Reply::error(text(&so_far.text()))
        }
        Ok(Readiness::Working(so_far)) => {
            let text = text(&so_far.text());
            Reply { text, outcome: Outcome::NotYet, structured: None, marks: Marks::default() }
        }
        Ok(Readiness::Ready(_)) => unreachable!("it can be asked"),
        Err(Unavailable { what, hint }) => {
            Reply::error(text(&format!("{}: {what}; {hint}", tool.name)))
        }
    }
}

/// Tools over local repositories.
pub(super) struct Toolbox {
    repositories: Repositories,
    /// Delays every call, for tests of clients.
    delay: Option<Duration>,
}

impl Toolbox {
    /// Creates the tool set of these repositories.
    pub(super) fn new(repositories: Repositories, delay: Option<Duration>) -> Self {
        Self { repositories, delay }
    }
}

impl Tools for Toolbox {
    fn asks_client(&self) -> bool {
        self.repositories.asks_client()
    }

    fn client_got_request(&self, until: Instant) {
        self.repositories.client_got_request(until);
    }

    fn set_root(&self, root: PathBuf) {
        self.repositories.set_root(root);
    }

    fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        self.repositories.set_client(directories)
    }

    fn call(&self, tool: &'static Tool, arguments: &Arguments, host: &dyn Host) -> Reply {
        faults::call_starts(tool.name);
        if self.delay.is_some_and(|delay| host.cancel().wait(delay)) {
            return Reply::error("cancelled");
        }
        call(tool, arguments, &self.repositories, host, host.form())
    }
}
