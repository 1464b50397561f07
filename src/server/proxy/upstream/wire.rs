//! A connection before anything is said: two directions, whatever lies between, or why there are
//! none.

use crate::server::peers::ChildProcess;
use crate::server::transport::Stream;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// A connection before anything is said.
pub(super) struct Wire {
    /// Its two directions.
    pub(super) stream: Stream,
    /// Ends both.
    pub(super) end: Box<dyn FnOnce() + Send>,
    /// The process at the other end, if it is ours.
    pub(super) process: Option<Arc<ChildProcess>>,
}

/// Why there is no connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoWire {
    /// It may come.
    Unreachable(String),
    /// It would be the wrong one.
    Refused(String),
}

impl From<io::Error> for NoWire {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

/// The wire over a socket.
pub(super) fn wire_of(stream: UnixStream) -> Result<Wire, NoWire> {
    let (input, output) = (stream.try_clone()?.into(), stream.try_clone()?.into());
    // A socket that is shut down already has ended.
    let end = Box::new(move || drop(stream.shutdown(Shutdown::Both)));
    Ok(Wire { stream: Stream { input, output }, end, process: None })
}
