//! One session over standard input and output, until its end.

use crate::base::limits::Limits;
use crate::jsonrpc::admission::Permits;
use crate::session::Session;
use crate::session::dispatch::Process;
use crate::session::dispatch::event::Event;
use crate::session::shutdown::Parent;
use crate::{session, tools, transport};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;

pub(crate) fn run(
    limits: Limits,
    tools: impl FnOnce(&Sender<Event>) -> Arc<dyn tools::Tools>,
) -> io::Result<()> {
    let stream = transport::stdio::take()?;
    let session = Session::new();
    session::shutdown::on_signal(session.events.clone(), || Event::Terminate, limits.signal_grace)?;
    let tools = tools(&session.events);
    let owned = Arc::clone(&tools);
    let grace = limits.signal_grace;
    let process = Process { permits: Permits::of_one(&limits), parent: Parent::now() };
    session.run(stream, limits, tools, process)?;
    // Dropping the last owner of the tools cancels index runs and waits for them; the watchdog
    // bounds that.
    session::shutdown::watchdog(grace);
    owned.close();
    drop(owned);
    Ok(())
}
