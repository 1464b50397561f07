//! The two eras of the protocol: what a request means in each and what an answer looks like. `initialize` selects a version
//! for the process; a request that carries a version in its `_meta` is served by itself. Touches no store and no tool.

use super::message::{INVALID_PARAMS, METHOD_NOT_FOUND, RequestId, RpcError, UNSUPPORTED_VERSION};
use super::registry;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The version of the stateless era.
const STATELESS: &str = "2026-07-28";
/// The version that a client gets which asks for one that is not known.
const LATEST_NEGOTIATED: &str = "2025-11-25";
/// Versions that `initialize` can select, newest first.
const NEGOTIATED: [&str; 4] = [LATEST_NEGOTIATED, "2025-06-18", WITH_BATCHES, "2024-11-05"];
/// The one version in which a server must take batches.
const WITH_BATCHES: &str = "2025-03-26";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// How long a client may keep a list, in milliseconds. The lists are fixed for the life of the process.
const LIST_TTL_MS: u64 = 3_600_000;

/// The rules under which one request is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Era {
    /// Selected by `initialize`.
    Negotiated,
    /// The request carries everything itself.
    Stateless,
}

/// What `initialize` has settled.
#[derive(Debug, Default)]
pub(super) struct Session {
    version: Option<&'static str>,
}

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Method {
    /// Can be answered at once.
    Answer(String),
    /// A tool is to be called.
    Call(ToolCall),
    /// Notifications of changes are wanted, until the client cancels.
    Listen,
}

/// The parameters of `tools/call`.
#[derive(Debug)]
pub(super) struct ToolCall {
    /// The tool.
    pub(super) tool: &'static registry::Tool,
    /// Its arguments, unchecked.
    pub(super) arguments: Map<String, Value>,
    /// What progress notifications are to be marked with, if they are wanted.
    pub(super) progress_token: Option<Value>,
}

impl Session {
    /// Whether arrays of messages are served.
    pub(super) fn takes_batches(&self) -> bool {
        self.version == Some(WITH_BATCHES)
    }

    /// The era of a request, by its `_meta`. An error if the request belongs to neither.
    pub(super) fn era(&self, method: &str, params: &Map<String, Value>) -> Result<Era, RpcError> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let Some(version) = meta.and_then(|meta| meta.get(VERSION_KEY)) else {
            return if method == "server/discover" || (self.version.is_none() && !matches!(method, "initialize" | "ping")) {
                Err(RpcError::new(
                    INVALID_PARAMS,
                    format!("no session: send `initialize` first, or give `{VERSION_KEY}` and `{CAPABILITIES_KEY}` in `_meta`"),
                ))
            } else {
                Ok(Era::Negotiated)
            };
        };
        if version.as_str() != Some(STATELESS) {
            let mut error = RpcError::new(UNSUPPORTED_VERSION, "protocol version not supported");
            error.data = Some(json!({"supported": supported(), "requested": version}));
            return Err(error);
        }
        if !meta.and_then(|meta| meta.get(CAPABILITIES_KEY)).is_some_and(Value::is_object) {
            return Err(RpcError::new(INVALID_PARAMS, format!("`_meta` must hold `{CAPABILITIES_KEY}`, an object")));
        }
        Ok(Era::Stateless)
    }

    /// What a request asks for; `initialize` selects the version.
    pub(super) fn serve(&mut self, era: Era, method: &str, params: Map<String, Value>) -> Result<Method, RpcError> {
        match (era, method) {
            (Era::Negotiated, "initialize") => self.initialize(&params).map(Method::Answer),
            (Era::Negotiated, "ping") => Ok(Method::Answer("{}".to_owned())),
            (Era::Stateless, "server/discover") => Ok(Method::Answer(DISCOVERED.clone())),
            (_, "tools/list") => tools_list(era, &params).map(Method::Answer),
            (_, "tools/call") => tool_call(params).map(Method::Call),
            (Era::Stateless, "subscriptions/listen") => Ok(Method::Listen),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        }
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Result<String, RpcError> {
        let Some(requested) = params.get("protocolVersion").and_then(Value::as_str) else {
            return Err(RpcError::new(INVALID_PARAMS, "`protocolVersion` must be a string"));
        };
        let version = NEGOTIATED.into_iter().find(|version| *version == requested).unwrap_or(LATEST_NEGOTIATED);
        self.version = Some(version);
        let result = json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": registry::INSTRUCTIONS,
        });
        Ok(result.to_string())
    }
}

/// The result of a tool in the shape of the era.
pub(super) fn tool_result(era: Era, text: &str, is_error: bool) -> String {
    let mut result = json!({"content": [{"type": "text", "text": text}]});
    if is_error {
        result["isError"] = Value::Bool(true);
    }
    shaped(era, result)
}

/// The result that ends a subscription from our side.
pub(super) fn listen_result() -> String {
    shaped(Era::Stateless, json!({}))
}

/// The parameters of the notification that a subscription begins with: of the kinds of change asked for, none ever happens here.
pub(super) fn listen_acknowledged(id: &RequestId) -> Value {
    json!({"_meta": {SUBSCRIPTION_KEY: id.to_json()}, "notifications": {}})
}

/// The id that a `notifications/cancelled` names.
pub(super) fn cancelled_id(params: &Map<String, Value>) -> Option<RequestId> {
    params.get("requestId").and_then(RequestId::from_json)
}

fn supported() -> Vec<&'static str> {
    [STATELESS].into_iter().chain(NEGOTIATED).collect()
}

fn server_info() -> Value {
    json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")})
}

/// Only what is really there: the tools, which never change.
fn capabilities() -> Value {
    json!({"tools": {}})
}

fn shaped(era: Era, mut result: Value) -> String {
    if era == Era::Stateless {
        result["resultType"] = Value::from("complete");
        result["_meta"] = json!({SERVER_KEY: server_info()});
    }
    result.to_string()
}

/// A result that a client may keep.
fn shaped_list(era: Era, mut result: Value) -> String {
    if era == Era::Stateless {
        result["ttlMs"] = Value::from(LIST_TTL_MS);
        result["cacheScope"] = Value::from("public");
    }
    shaped(era, result)
}

static DISCOVERED: LazyLock<String> = LazyLock::new(|| {
    let result = json!({
        "supportedVersions": supported(),
        "capabilities": capabilities(),
        "instructions": registry::INSTRUCTIONS,
    });
    shaped_list(Era::Stateless, result)
});

/// The two forms of the one page that `tools/list` has.
static TOOLS: LazyLock<[String; 2]> =
    LazyLock::new(|| [Era::Negotiated, Era::Stateless].map(|era| shaped_list(era, json!({"tools": registry::listing()}))));

fn tools_list(era: Era, params: &Map<String, Value>) -> Result<String, RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(TOOLS[era as usize].clone()),
        Some(_) => Err(RpcError::new(INVALID_PARAMS, "unknown cursor: the list has one page")),
    }
}

fn tool_call(mut params: Map<String, Value>) -> Result<ToolCall, RpcError> {
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(RpcError::new(INVALID_PARAMS, "`arguments` must be an object")),
    };
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return Err(RpcError::new(INVALID_PARAMS, "`name` must be the name of a tool"));
    };
    let tool = registry::tool(name).ok_or_else(|| RpcError::new(INVALID_PARAMS, registry::unknown_tool(name)))?;
    let progress_token = params
        .get("_meta")
        .and_then(|meta| meta.get("progressToken"))
        .filter(|token| RequestId::from_json(token).is_some())
        .cloned();
    Ok(ToolCall { tool, arguments, progress_token })
}
