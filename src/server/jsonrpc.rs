//! JSON-RPC: line framing, messages, the table of requests in flight, and admission control.

pub(super) mod admission;
pub(super) mod framing;
pub(super) mod message;
pub(super) mod requests;
