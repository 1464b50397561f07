//! Open transport before the handshake: two byte streams, or the reason for a failure.

use crate::transport::Stream;
use cograph_config::process::ChildProcess;
use cograph_system::sockets::LocalStream;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;

/// Open transport before the handshake.
pub(super) struct Wire {
    /// Input and output.
    pub(super) stream: Stream,
    /// Closes both directions.
    pub(super) end: Box<dyn FnOnce() + Send>,
    /// Child process at the other end, if this process started it.
    pub(super) process: Option<Arc<ChildProcess>>,
}

/// Why there is no transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoWire {
    /// Retrying can help.
    Unreachable(String),
    /// Retrying cannot help: the peer is the wrong one.
    Refused(String),
}

impl From<io::Error> for NoWire {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

/// Wire over a socket.
pub(super) fn wire_of(stream: LocalStream) -> Result<Wire, NoWire> {
    let (input, output) = (stream.try_clone()?.into(), stream.try_clone()?.into());
    // `shutdown` fails if the socket is already shut down.
    let end = Box::new(move || drop(stream.shutdown(Shutdown::Both)));
    Ok(Wire { stream: Stream { input, output }, end, process: None })
}
