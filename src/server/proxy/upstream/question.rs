//! Requests to an upstream: who sends them, what the peer has to be, and what can fail.

use cograph_config::process::{ChildProcess, Started};
use cograph_model::cancel::CancelToken;
use serde_json::Value;
use std::io;
use std::process::Command;
use std::time::Duration;

/// Protocol version of the first handshake: the newest in which a server may request roots.
pub(crate) const VERSION: &str = "2025-11-25";

/// Timeout of a graceful close.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Handshake timeout.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(3);

/// Handshake timeout of a peer that may have to be started first.
pub(crate) const START: Duration = Duration::from_secs(20);

/// How long a call retries a peer that was connected a moment ago.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// Owner of an upstream: configures its connections and receives their events.
pub(crate) trait Owner: Send + Sync {
    /// Client capabilities to declare in the handshake, besides roots.
    fn experimental(&self) -> Value;
    /// URIs of the workspace roots.
    fn roots(&self) -> Vec<String>;
    /// The peer sent a change notification with this method.
    fn changed(&self, method: &str);
    /// The connection was lost.
    fn lost(&self) {}
    /// Starts the peer's process.
    fn start(&self, program: Command) -> io::Result<Started> {
        ChildProcess::start(program)
    }
}

/// Requirement on the peer's implementation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    /// cograph built from the same sources.
    SameBuild,
    /// cograph of any build.
    SameProgram,
    /// Any MCP server.
    Anyone,
}

impl Expected {
    /// Handshake timeout: an external program has to be started first.
    pub(crate) fn patience(self) -> Duration {
        match self {
            Self::SameBuild | Self::SameProgram => HANDSHAKE,
            Self::Anyone => START,
        }
    }
}

/// Caller of a request, as seen by the connection.
pub(crate) trait Caller {
    /// Cancellation of the request.
    fn cancel(&self) -> &CancelToken;
    /// Progress of the request: thousandths and text, unescaped.
    fn progress(&self, thousandths: u32, message: &str);
}

/// Request to send.
#[derive(Clone, Debug)]
pub(crate) struct UpstreamQuestion {
    /// Method.
    pub(crate) method: &'static str,
    /// Parameters, an object.
    pub(crate) params: Value,
    /// True if the request is read-only and can be retried.
    pub(crate) only_reads: bool,
}

/// Why a request has no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// Connecting failed.
    #[error("{target} cannot be reached: {why}")]
    Unreachable {
        /// Target of the connection.
        target: String,
        /// Cause.
        why: String,
    },
    /// The peer does not meet the requirement, or violates the protocol.
    #[error("{target} is refused: {why}")]
    Refused {
        /// Target of the connection.
        target: String,
        /// Violation.
        why: String,
    },
    /// The connection was lost, and lost again after the request was retried.
    #[error("the connection to {target} was lost twice while it worked: {why}")]
    Lost {
        /// Target of the connection.
        target: String,
        /// Cause.
        why: String,
    },
    /// The connection was lost during a request that is not read-only.
    #[error(
        "the connection to {target} was lost while it worked ({why}): outcome unknown; the call \
         was not sent again"
    )]
    OutcomeUnknown {
        /// Target of the connection.
        target: String,
        /// Cause.
        why: String,
    },
    /// The peer returned a JSON-RPC error.
    #[error("{target} answers with error {code}: {message}")]
    Answered {
        /// Target of the connection.
        target: String,
        /// Error code.
        code: i64,
        /// Error message, unescaped.
        message: String,
    },
    /// The result does not have the shape of its method.
    #[error("{target} answers `{method}` with a result of no known shape: {why}")]
    Malformed {
        /// Target of the connection.
        target: String,
        /// Method of the request.
        method: &'static str,
        /// Violation.
        why: String,
    },
    /// The request was cancelled.
    #[error("cancelled")]
    Cancelled,
}
