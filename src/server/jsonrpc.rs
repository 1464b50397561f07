//! JSON-RPC: framing of lines, messages, the table of requests in flight, and admission.

pub(super) mod admission;
pub(super) mod framing;
pub(super) mod message;
pub(super) mod requests;
