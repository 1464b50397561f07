//! Versions of the protocol, the two eras of requests, and keys of metadata.

use crate::jsonrpc::message::Message;
use cograph_faults as faults;
use serde_json::{Value, json};

/// Version of the stateless era.
pub(crate) const STATELESS: &str = "2026-07-28";

/// Negotiated version for clients that request an unknown one.
pub(crate) const LATEST_NEGOTIATED: &str = "2025-11-25";

/// Versions that `initialize` can negotiate, newest first.
pub(crate) const NEGOTIATED: [&str; 4] =
    [LATEST_NEGOTIATED, "2025-06-18", WITH_BATCHES, "2024-11-05"];

/// The one version with batches.
pub(crate) const WITH_BATCHES: &str = "2025-03-26";

/// Metadata key of the version in a stateless request.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Key of the experimental capability by which cograph instances recognize each other, pass the
/// default root, and get the outcome of a call.
pub(crate) const PEER_KEY: &str = "cograph";

pub(crate) const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Protocol era of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    /// Version negotiated by `initialize`.
    Negotiated,
    /// Stateless: the request carries its own metadata.
    Stateless,
}

/// True if a message carries stateless metadata.
pub(crate) fn is_stateless(message: &Message) -> bool {
    let Message::Request(request) = message else { return false };
    let params = request.params.as_ref().ok();
    params.and_then(|params| params.get("_meta")?.get(VERSION_KEY)).is_some()
}

/// True for a supported version.
pub(crate) fn is_known(version: &str) -> bool {
    supported().contains(&version)
}

pub(crate) fn supported() -> Vec<&'static str> {
    [STATELESS].into_iter().chain(NEGOTIATED).collect()
}

pub(crate) fn server_info() -> Value {
    json!({"name": cograph_version::NAME, "version": faults::version()})
}
