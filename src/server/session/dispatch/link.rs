//! Thread of a tool call, and what it reports to the dispatcher: progress, pauses, comparisons of
//! the files, its result.

use crate::jsonrpc::requests::Ticket;
use crate::session::dispatch::event::Event;
use crate::tools::Tools;
use crate::tools::arguments::Arguments;
use crate::tools::tool::Tool;
use crate::tools::tool::reply::Reply;
use crate::workspace::host::{Form, Host};
use crate::workspace::metrics::{ProgressReport, ServerState};
use cograph_faults::{Fault, planted};
use cograph_model::cancel::CancelToken;
use cograph_system::allocator;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Calls slower than this are logged.
const SLOW: Duration = Duration::from_secs(1);

/// Host of a call: connects the call's thread to the dispatcher.
pub(super) struct Link {
    pub(super) ticket: Ticket,
    pub(super) token: CancelToken,
    pub(super) events: Sender<Event>,
    pub(super) wants_progress: bool,
    pub(super) interval: Duration,
    pub(super) last: Cell<Option<Instant>>,
    /// Start of the current pause.
    pub(super) paused: Cell<Option<Instant>>,
    /// Server state, for tools of class `Control`.
    pub(super) state: Option<ServerState>,
    pub(super) times: Times,
    pub(super) form: Form,
}

/// Timings of a call, for the log.
pub(super) struct Times {
    pub(super) arrived: Instant,
    pub(super) started: Instant,
    /// Time without a permit: waiting for an index, and for a permit again.
    pub(super) waited: Cell<Duration>,
    pub(super) statements: Cell<Duration>,
}

impl Times {
    /// Writes a log line. Arguments are never logged.
    fn log(&self, tool: &Tool, outcome: &'static str) {
        let (tool, total) = (tool.name, self.arrived.elapsed());
        let queued_ms = self.started.duration_since(self.arrived).as_millis();
        let (index_ms, sql_ms, total_ms) =
            (self.waited.get().as_millis(), self.statements.get().as_millis(), total.as_millis());
        if total > SLOW {
            tracing::info!(tool, outcome, queued_ms, index_ms, sql_ms, total_ms, "slow call");
        } else {
            tracing::debug!(tool, outcome, queued_ms, index_ms, sql_ms, total_ms, "call");
        }
    }
}

impl Host for Link {
    fn cancel(&self) -> &CancelToken {
        &self.token
    }

    fn progress(&self, report: &ProgressReport) {
        let due = self.last.get().is_none_or(|last| last.elapsed() >= self.interval);
        if self.wants_progress && due {
            self.last.set(Some(Instant::now()));
            // Dropped if the event queue is full.
            let _ = self.events.try_send(Event::Progress(self.ticket, report.clone()));
        }
    }

    fn compares(&self, begins: bool) {
        let event = if begins { Event::Comparing } else { Event::Compared };
        // The send fails only after the dispatcher has ended.
        let _ = self.events.blocking_send(event(self.ticket));
    }

    fn pause(&self) {
        if planted(Fault::IndexHoldsPermit) {
            return;
        }
        self.paused.set(Some(Instant::now()));
        // The send fails only after the dispatcher has ended.
        let _ = self.events.blocking_send(Event::Paused(self.ticket));
    }

    fn resume(&self) -> bool {
        if planted(Fault::IndexHoldsPermit) {
            return true;
        }
        let (permit, granted) = sync_channel(1);
        let goes_on = self.events.blocking_send(Event::Resume(self.ticket, permit)).is_ok()
            && granted.recv().is_ok();
        let since = self.paused.take().unwrap_or_else(Instant::now);
        self.times.waited.set(self.times.waited.get() + since.elapsed());
        goes_on
    }

    fn server(&self) -> Option<&ServerState> {
        self.state.as_ref()
    }

    fn spent_in_statements(&self, time: Duration) {
        self.times.statements.set(time);
    }

    fn form(&self) -> Form {
        self.form
    }
}

/// Runs a call on a thread of its own. A `Finished` event follows in every case, even a panic.
pub(super) fn spawn(
    tool: &'static Tool,
    arguments: Arguments,
    link: Link,
    tools: Arc<dyn Tools>,
) -> std::io::Result<()> {
    let name = format!("{}-{}", tool.class.word(), tool.name);
    std::thread::Builder::new().name(name).spawn(move || {
        allocator::share_arena();
        let outcome = catch_unwind(AssertUnwindSafe(|| tools.call(tool, &arguments, &link)));
        if outcome.is_err() && planted(Fault::DroppedPanic) {
            return;
        }
        let reply = outcome.unwrap_or_else(|_| {
            // The panic message may contain repository text, so it goes to the log only.
            Reply::error(format!(
                "{}: internal error; the call failed, the server goes on",
                tool.name
            ))
        });
        let outcome = match (link.token.is_cancelled(), reply.outcome.is_error()) {
            (true, _) => "given up",
            (false, true) => "error",
            (false, false) => "ok",
        };
        link.times.log(tool, outcome);
        let _ = link.events.blocking_send(Event::Finished(link.ticket, reply));
    })?;
    Ok(())
}
