//! Session of one client: reader thread, writer thread and dispatcher. Independent of the
//! transport: stdio, a socket, or one end of a socket pair within the process.

pub(super) mod dispatch;
#[cfg(feature = "faults")]
pub(crate) mod fixtures;
pub(super) mod shutdown;
pub(crate) mod stdio;

use super::tools::Tools;
use crate::base::limits::Limits;
use crate::session::dispatch::event::Event;
use crate::transport::{Stream, reader, writer};
use dispatch::{Channels, Dispatcher, Ending, Process};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Capacity of the event queue. A sender blocks when it is full; the dispatcher never does.
pub(crate) const EVENTS: usize = 1024;

/// Session before it runs.
pub(super) struct Session {
    /// Events for the session's dispatcher.
    pub(super) events: Sender<Event>,
    received: Receiver<Event>,
}

impl Session {
    /// Creates the event queue.
    pub(super) fn new() -> Self {
        let (events, received) = channel(EVENTS);
        Self { events, received }
    }

    /// Runs the session on this thread until it ends.
    pub(super) fn run(
        self,
        stream: Stream,
        limits: Limits,
        tools: Arc<dyn Tools>,
        process: Process,
    ) -> io::Result<Ending> {
        let output = writer::start(stream.output, limits.output_bytes)?;
        let input = reader::start(stream.input, limits.line_bytes)?;
        let channels = Channels { input, events: self.received, event_sender: self.events, output };
        let dispatcher = Dispatcher::new(limits, tools, channels, process);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        Ok(runtime.block_on(dispatcher.run()))
    }
}
