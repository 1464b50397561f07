//! Parsed requests: what the dispatcher has to do for them.

use crate::jsonrpc::message::RequestId;
use crate::protocol::shape::Purpose;
use crate::protocol::subscriptions::WantedChanges;
use crate::tools::tool::Tool;
use serde_json::{Map, Value};

/// Parsed request.
#[derive(Debug)]
pub(crate) enum Method {
    /// Response that is available at once.
    Answer(String),
    /// Tool call.
    Call(Call),
    /// Subscription until the client cancels.
    Listen(WantedChanges),
}

/// Tool call.
#[derive(Debug)]
pub(crate) struct Call {
    /// Tool.
    pub(crate) tool: &'static Tool,
    /// Arguments, unvalidated.
    pub(crate) arguments: Map<String, Value>,
    /// Kind of the response.
    pub(crate) purpose: Purpose,
    /// Progress token, if the client wants progress.
    pub(crate) progress_token: Option<Value>,
}

pub(crate) fn progress_token(params: &Map<String, Value>) -> Option<Value> {
    let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
    token.filter(|token| RequestId::from_json(token).is_some()).cloned()
}
