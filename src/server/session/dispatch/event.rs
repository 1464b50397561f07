//! What other threads tell the dispatcher of a session.

use crate::jsonrpc::requests::Ticket;
use crate::tools::tool::reply::Reply;
use crate::workspace::metrics::ProgressReport;
use std::sync::mpsc::SyncSender;
use tokio::sync::mpsc::Sender;

/// Event sent to the dispatcher by another thread.
#[derive(Debug)]
pub(crate) enum Event {
    /// A signal requests the end of the process.
    Terminate,
    /// End the session as after end of input.
    Drain,
    /// A tool call has a result.
    Finished(Ticket, Reply),
    /// A tool call reports progress.
    Progress(Ticket, ProgressReport),
    /// A tool call begins to compare the files with the index.
    Comparing(Ticket),
    /// A tool call has compared the files.
    Compared(Ticket),
    /// A tool call waits and releases its permit.
    Paused(Ticket),
    /// A paused tool call requests a permit, which is sent through the channel.
    Resume(Ticket, SyncSender<()>),
    /// The session's repository has a new generation.
    Published,
    /// The list of tools has changed.
    #[cfg(feature = "federation")]
    ToolsChanged,
}

/// Sends a session the event of a new generation.
pub(crate) fn publish_events(events: &Sender<Event>) -> impl Fn() + Send + Sync + 'static {
    let events = events.clone();
    // The send fails only after the dispatcher has ended.
    move || drop(events.blocking_send(Event::Published))
}
