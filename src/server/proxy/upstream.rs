//! Client of an MCP server, over one connection at a time. `call` connects on demand, multiplexes
//! calls over the connection, and handles connection loss: a read-only request is retried once, any
//! other request fails.
//!
//! - The first call connects, on a thread of its own: cancelling that call does not abort the
//!   attempt for other callers (`attach`).
//! - A call is registered before its request is sent, so a response cannot precede it; responses
//!   are matched by id (`connection`).
//! - No lock is held during I/O or while waiting for anything but the lock's own condition.
//! - Messages of the peer are validated and bounded here, and escaped where they are shown.

mod attach;
pub(crate) mod connection;
mod handshake;
pub(crate) mod http;
pub(crate) mod listing;
pub(crate) mod question;
mod result;
mod target;
mod wire;

use cograph_model::cancel::CancelToken;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use attach::Upstream;
pub use listing::Listing;
pub(crate) use question::{Expected, Owner};
pub use target::{Target, TargetError};

/// Result of probing a peer.
#[derive(Clone, PartialEq, Debug)]
pub struct Examined {
    /// Time until the handshake was complete.
    pub attached: Duration,
    /// Time until the tools were listed.
    pub listed: Duration,
    /// Its tools, unvalidated.
    pub listing: Listing,
}

/// Owner without capabilities, roots or event handlers.
struct NoOwner;

impl Owner for NoOwner {
    fn experimental(&self) -> Value {
        json!({})
    }
    fn roots(&self) -> Vec<String> {
        Vec::new()
    }
    fn changed(&self, _method: &str) {}
}

/// Connects to a peer, lists its tools, and disconnects.
pub fn examine(target: Target) -> Result<Examined, String> {
    let begun = Instant::now();
    let upstream = Upstream::new(target, Expected::Anyone, Arc::new(NoOwner), Box::new(|| Ok(())));
    let cancel = CancelToken::new();
    upstream.answers(&cancel).map_err(|error| error.to_string())?;
    let attached = begun.elapsed();
    let listing = upstream.list_tools(&cancel).map_err(|error| error.to_string())?;
    upstream.close();
    Ok(Examined { attached, listed: begun.elapsed(), listing })
}
