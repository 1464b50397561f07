//! The client side: one peer that serves the protocol, reached through one connection at a time.
//! `call` attaches when it must, shares the connection with other calls, and says what became of a
//! call whose connection was lost: what only reads is sent once more, what may change something
//! never.
//!
//! - Nothing is connected before the first call, and connecting is nobody's task in particular: a
//!   caller that leaves takes nothing with it (`attach`).
//! - A call is known before its message is sent, so no answer can come too early; answers find
//!   their call by id (`connection`).
//! - No lock is held while anything is read, written or waited for but the lock's own condition.
//! - What a peer says is checked and bounded here, and escaped by whoever shows it.

mod attach;
pub(in crate::server) mod connection;
mod handshake;
pub(in crate::server) mod http;
pub(in crate::server) mod listing;
mod target;
mod wire;

use crate::model::cancel::CancelToken;
use crate::server::peers::{ChildProcess, Started};
use serde_json::{Value, json};
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(in crate::server) use attach::Upstream;
pub use listing::Listing;
pub use target::{Target, TargetError};

/// The version of the protocol that is asked for first: the newest in which a server may ask for
/// roots.
const VERSION: &str = "2025-11-25";
/// How long a peer has to hear that a session is over.
const FAREWELL: Duration = Duration::from_millis(200);
/// How long a peer has for the handshake.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// How long a peer has for it that is perhaps being started.
const START: Duration = Duration::from_secs(20);
/// How long a call tries to reach a peer that was there a moment ago.
const PATIENCE: Duration = Duration::from_secs(3);

/// Who uses an upstream: what a connection needs to know and what it tells.
pub(in crate::server) trait Owner: Send + Sync {
    /// What to declare in the handshake, beyond roots.
    fn experimental(&self) -> Value;
    /// The addresses of the directories that are worked on.
    fn roots(&self) -> Vec<String>;
    /// The peer says that something has changed: the method of its notification.
    fn changed(&self, method: &str);
    /// The connection is gone.
    fn lost(&self) {}
    /// Starts the program that is to be the peer.
    fn start(&self, program: Command) -> io::Result<Started> {
        ChildProcess::start(program)
    }
}

/// What a peer must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::server) enum Expected {
    /// This program, built from the same sources.
    SameBuild,
    /// This program.
    SameProgram,
    /// Anything that speaks the protocol.
    Anyone,
}

impl Expected {
    /// How long the handshake may take: a program has to be started first, and is not always ours.
    fn patience(self) -> Duration {
        match self {
            Self::SameBuild | Self::SameProgram => HANDSHAKE,
            Self::Anyone => START,
        }
    }
}

/// One call, as the connection sees its maker.
pub(in crate::server) trait Caller {
    /// Raised when nobody wants the answer any more.
    fn cancel(&self) -> &CancelToken;
    /// The peer says how far it is: thousandths and text, unchecked.
    fn progress(&self, thousandths: u32, message: &str);
}

/// What to send.
#[derive(Clone, Debug)]
pub(in crate::server) struct UpstreamQuestion {
    /// The method.
    pub(in crate::server) method: &'static str,
    /// Its parameters, an object.
    pub(in crate::server) params: Value,
    /// Whether it only reads, and so can be sent again.
    pub(super) only_reads: bool,
}

/// Why a call has no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(in crate::server) enum UpstreamError {
    /// There is no connection and none can be made.
    #[error("{target} cannot be reached: {why}")]
    Unreachable {
        /// What was tried.
        target: String,
        /// What stood in the way.
        why: String,
    },
    /// It is there, but it is not what it must be.
    #[error("{target} is refused: {why}")]
    Refused {
        /// What was tried.
        target: String,
        /// What is wrong with it.
        why: String,
    },
    /// The connection was lost, once more after the call was sent again.
    #[error("the connection to {target} was lost twice while it worked: {why}")]
    Lost {
        /// To whom.
        target: String,
        /// How.
        why: String,
    },
    /// The connection was lost during a call that may change something.
    #[error(
        "the connection to {target} was lost while it worked ({why}): outcome unknown; the call \
         was not sent again"
    )]
    OutcomeUnknown {
        /// To whom.
        target: String,
        /// How.
        why: String,
    },
    /// The peer answered with an error of the protocol.
    #[error("{target} answers with error {code}: {message}")]
    Answered {
        /// Who.
        target: String,
        /// The code.
        code: i64,
        /// Its message, as it came.
        message: String,
    },
    /// The caller does not want the answer any more.
    #[error("cancelled")]
    Cancelled,
}

/// A peer as it shows itself to somebody who only looks.
#[derive(Clone, PartialEq, Debug)]
pub struct Examined {
    /// Time until the handshake was done.
    pub attached: Duration,
    /// Time until its tools were listed.
    pub listed: Duration,
    /// Its tools, as it describes them, unchecked.
    pub listing: Listing,
}

/// An owner that wants nothing of its peer.
struct Nobody;

impl Owner for Nobody {
    fn experimental(&self) -> Value {
        json!({})
    }
    fn roots(&self) -> Vec<String> {
        Vec::new()
    }
    fn changed(&self, _method: &str) {}
}

/// Attaches to a peer, lists its tools, and leaves.
pub fn examine(target: Target) -> Result<Examined, String> {
    let begun = Instant::now();
    let upstream = Upstream::new(target, Expected::Anyone, Arc::new(Nobody), Box::new(|| Ok(())));
    let cancel = CancelToken::new();
    upstream.answers(&cancel).map_err(|error| error.to_string())?;
    let attached = begun.elapsed();
    let listing = upstream.list_tools(&cancel).map_err(|error| error.to_string())?;
    upstream.close();
    Ok(Examined { attached, listed: begun.elapsed(), listing })
}
