//! One client from its first byte to its last: the threads at the two ends of its stream and the
//! dispatcher between them. Knows nothing of where the stream comes from: standard input and
//! output, a socket, or one end of a pair inside the process.

pub(super) mod dispatch;
pub(super) mod shutdown;

use super::tools::Tools;
use crate::server::base::limits::Limits;
use crate::server::transport::{Stream, reader, writer};
use dispatch::{Channels, Dispatcher, Ending, Event, Process};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Messages from signals and tools that may wait for the dispatcher. A sender waits when it is
/// full; the dispatcher never does.
pub(in crate::server) const EVENTS: usize = 1024;

/// A session that has not begun.
pub(super) struct Session {
    /// Tells the session's dispatcher of what happens elsewhere.
    pub(super) events: Sender<Event>,
    received: Receiver<Event>,
}

impl Session {
    /// Before anything is known but that there will be one.
    pub(super) fn new() -> Self {
        let (events, received) = channel(EVENTS);
        Self { events, received }
    }

    /// Serves the client on this thread until the session ends.
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
