//! Protocol versions: parsing of requests and shape of responses in both eras. `initialize`
//! negotiates a version for the process; a stateless request carries its version in `_meta`.
//! Touches no store and no tool.

pub(super) mod completion;
pub(super) mod external_tools;
#[cfg(feature = "faults")]
pub(super) mod fixtures;
pub(super) mod prompts;
pub(crate) mod request;
pub(super) mod resources;
mod shape;
pub(super) mod subscriptions;
pub(crate) mod version;

use super::tools::arguments::complete;
use crate::jsonrpc::message::{
    ID_BYTES, INVALID_PARAMS, METHOD_NOT_FOUND, RequestId, RpcError, UNSUPPORTED_VERSION,
};
use crate::page::questions;
use crate::tools::table;
use crate::tools::table::MoreTools;
use crate::workspace::roots::PATH_BYTES;
use cograph_faults::{self as faults, Fault, planted};
use completion::Subject;
use resources::{BadAddress, ResourceQuestion};
use serde_json::{Map, Value, json};
use shape::shaped;
use std::path::PathBuf;
use std::sync::LazyLock;
use subscriptions::{MAX_ADDRESSES, WantedChanges};

pub(super) use request::{Call, Method, progress_token};
pub(super) use shape::{Purpose, listen_result, shaped_for, shaped_list};
pub(super) use version::{
    CAPABILITIES_KEY, Era, PEER_KEY, STATELESS, VERSION_KEY, is_known, is_stateless,
};
use version::{LATEST_NEGOTIATED, NEGOTIATED, WITH_BATCHES, server_info, supported};

/// State negotiated by `initialize`.
#[derive(Debug)]
pub(super) struct Session {
    version: Option<&'static str>,
    /// `notifications/initialized` arrived: notifications may be sent.
    ready: bool,
    /// The client declared the `roots` capability.
    has_roots: bool,
    /// The client runs cograph too and relays calls.
    is_peer: bool,
    /// Default root of such a client.
    root: Option<PathBuf>,
    wanted: WantedChanges,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            version: None,
            ready: false,
            has_roots: false,
            is_peer: false,
            root: None,
            wanted: WantedChanges::negotiated(),
        }
    }
}

impl Session {
    /// Handles `notifications/initialized`; ignored before `initialize`.
    pub(super) fn on_initialized(&mut self) {
        self.ready = self.version.is_some();
    }

    /// True if `roots/list` can be sent.
    pub(super) fn has_roots(&self) -> bool {
        self.ready && self.has_roots
    }

    /// Takes the default root of the last handshake, once.
    pub(super) fn take_root(&mut self) -> Option<PathBuf> {
        self.root.take()
    }

    /// Subscription of the client, if notifications may be sent.
    pub(super) fn wanted(&self) -> Option<&WantedChanges> {
        self.ready.then_some(&self.wanted)
    }

    /// True if batches are allowed.
    pub(super) fn takes_batches(&self) -> bool {
        self.version == Some(WITH_BATCHES)
    }

    /// Era of a request, by its `_meta`. An error if it is valid in neither.
    pub(super) fn era(&self, method: &str, params: &Map<String, Value>) -> Result<Era, RpcError> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let Some(version) = meta.and_then(|meta| meta.get(VERSION_KEY)) else {
            return if method == "server/discover"
                || (self.version.is_none() && !matches!(method, "initialize" | "ping"))
            {
                Err(RpcError::new(
                    INVALID_PARAMS,
                    format!(
                        "no session: send `initialize` first, or give `{VERSION_KEY}` and \
                         `{CAPABILITIES_KEY}` in `_meta`"
                    ),
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
            return Err(RpcError::new(
                INVALID_PARAMS,
                format!("`_meta` must hold `{CAPABILITIES_KEY}`, an object"),
            ));
        }
        Ok(Era::Stateless)
    }

    /// Parses and serves a request; `initialize` negotiates the version.
    pub(super) fn serve(
        &mut self,
        era: Era,
        method: &str,
        params: Map<String, Value>,
        more: Option<&MoreTools>,
    ) -> Result<Method, RpcError> {
        #[cfg(feature = "faults")]
        if let Some(method) = crate::protocol::fixtures::method(era, method, &params) {
            return Ok(method);
        }
        match (era, method) {
            (Era::Negotiated, "initialize") => {
                self.initialize(&params, more.is_some()).map(Method::Answer)
            }
            (Era::Negotiated, "ping") => Ok(Method::Answer("{}".to_owned())),
            (Era::Stateless, "server/discover") => {
                Ok(Method::Answer(DISCOVERED[usize::from(more.is_some())].clone()))
            }
            (_, "tools/list") => TOOLS.page_or(era, &params, more),
            (_, "tools/call") => self.tool_call(params, more),
            (_, "resources/list") => RESOURCES.page(era, &params),
            (_, "resources/templates/list") => TEMPLATES.page(era, &params),
            (_, "prompts/list") => PROMPTS.page(era, &params),
            (_, "prompts/get") => prompt(era, params),
            (Era::Stateless, questions::METHOD) => page_question(params),
            (_, "completion/complete") => complete(era, &params),
            (_, "resources/read") => resource_read(era, &params),
            (Era::Stateless, "subscriptions/listen") => {
                Ok(Method::Listen(WantedChanges::asked(&params, more.is_some())))
            }
            (Era::Negotiated, "resources/subscribe") => self.follow(&params),
            (Era::Negotiated, "resources/unsubscribe") => {
                self.wanted.unfollow(text(&params, "uri", "the address of a resource")?);
                Ok(Method::Answer("{}".to_owned()))
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        }
    }

    fn follow(&mut self, params: &Map<String, Value>) -> Result<Method, RpcError> {
        let uri = text(params, "uri", "the address of a resource")?;
        resources::question(uri).map_err(|bad| bad_address(Era::Negotiated, uri, bad))?;
        if self.wanted.follow(uri) {
            Ok(Method::Answer("{}".to_owned()))
        } else {
            let reason = format!(
                "{MAX_ADDRESSES} resources are followed already: unsubscribe from one first"
            );
            Err(RpcError::new(INVALID_PARAMS, reason))
        }
    }

    fn tool_call(
        &self,
        mut params: Map<String, Value>,
        more: Option<&MoreTools>,
    ) -> Result<Method, RpcError> {
        let arguments = object(&mut params, "arguments")?;
        let name = text(&params, "name", "the name of a tool")?;
        if more.is_some_and(|more| more.has(name)) {
            let (arguments, progress_token) =
                (external_tools::carried(name, arguments), progress_token(&params));
            return Ok(Method::Call(Call {
                tool: &external_tools::TOOL,
                arguments,
                purpose: Purpose::Tool,
                progress_token,
            }));
        }
        let hidden = (self.is_peer && name == complete::TOOL.name).then_some(&complete::TOOL);
        let tool = table::tool(name)
            .or(hidden)
            .ok_or_else(|| RpcError::new(INVALID_PARAMS, table::unknown_tool(name)))?;
        let purpose = if self.is_peer { Purpose::Peer } else { Purpose::Tool };
        Ok(Method::Call(Call { tool, arguments, purpose, progress_token: progress_token(&params) }))
    }

    fn initialize(
        &mut self,
        params: &Map<String, Value>,
        tools_change: bool,
    ) -> Result<String, RpcError> {
        let Some(requested) = params.get("protocolVersion").and_then(Value::as_str) else {
            return Err(RpcError::new(INVALID_PARAMS, "`protocolVersion` must be a string"));
        };
        let version = NEGOTIATED
            .into_iter()
            .find(|version| *version == requested)
            .unwrap_or(LATEST_NEGOTIATED);
        let declared = params.get("capabilities");
        let peer = declared.and_then(|declared| declared.get("experimental")?.get(PEER_KEY));
        let root = peer.and_then(|peer| peer.get("root")?.as_str());
        if root.is_some_and(|root| root.len() > PATH_BYTES) {
            return Err(RpcError::new(
                INVALID_PARAMS,
                format!("`root` is longer than {PATH_BYTES} bytes"),
            ));
        }
        (self.version, self.ready) = (Some(version), false);
        self.has_roots =
            declared.and_then(|declared| declared.get("roots")).is_some_and(Value::is_object);
        self.is_peer = peer.is_some_and(Value::is_object);
        self.root = root.map(PathBuf::from).filter(|root| root.is_absolute());
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": capabilities(tools_change),
            "serverInfo": server_info(),
            "instructions": table::instructions(),
        });
        if self.is_peer {
            result["_meta"] = json!({PEER_KEY: {"build": faults::build(cograph_version::BUILD)}});
        }
        Ok(result.to_string())
    }
}

/// The id in `notifications/cancelled`.
pub(super) fn cancelled_id(params: &Map<String, Value>) -> Option<RequestId> {
    params.get("requestId").and_then(RequestId::from_json)
}

/// Declares only implemented capabilities.
fn capabilities(tools_change: bool) -> Value {
    json!({
        "tools": if tools_change { json!({"listChanged": true}) } else { json!({}) },
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {},
        "completions": {},
    })
}

/// For a constant and for a changing list of tools.
static DISCOVERED: LazyLock<[String; 2]> = LazyLock::new(|| {
    [false, true].map(|tools_change| {
        let result = json!({
            "supportedVersions": supported(),
            "capabilities": capabilities(tools_change),
            "instructions": table::instructions(),
        });
        shaped_list(Era::Stateless, result)
    })
});

/// Constant list: one page, in the shape of each era.
struct List([String; 2]);

impl List {
    fn new(name: &str, items: Value) -> Self {
        Self([Era::Negotiated, Era::Stateless].map(|era| shaped_list(era, json!({name: items}))))
    }

    fn page(&self, era: Era, params: &Map<String, Value>) -> Result<Method, RpcError> {
        match params.get("cursor") {
            None | Some(Value::Null) => Ok(Method::Answer(self.0[era as usize].clone())),
            Some(_) if planted(Fault::CursorRestarts) => {
                Ok(Method::Answer(self.0[era as usize].clone()))
            }
            Some(_) => Err(RpcError::new(INVALID_PARAMS, "unknown cursor: the list has one page")),
        }
    }

    /// The list of tools, with external ones if there are any.
    fn page_or(
        &self,
        era: Era,
        params: &Map<String, Value>,
        more: Option<&MoreTools>,
    ) -> Result<Method, RpcError> {
        let page = self.page(era, params)?;
        Ok(more.map_or(page, |more| Method::Answer(external_tools::page(more, era).to_owned())))
    }
}

static TOOLS: LazyLock<List> = LazyLock::new(|| List::new("tools", table::listing()));
static RESOURCES: LazyLock<List> = LazyLock::new(|| List::new("resources", resources::listing()));
static PROMPTS: LazyLock<List> = LazyLock::new(|| List::new("prompts", prompts::listing()));
static TEMPLATES: LazyLock<List> =
    LazyLock::new(|| List::new("resourceTemplates", resources::templates()));

fn resource_read(era: Era, params: &Map<String, Value>) -> Result<Method, RpcError> {
    let uri = text(params, "uri", "the address of a resource")?;
    let ResourceQuestion { tool, arguments } =
        resources::question(uri).map_err(|bad| bad_address(era, uri, bad))?;
    let purpose = Purpose::Resource(uri.to_owned());
    Ok(Method::Call(Call { tool, arguments, purpose, progress_token: progress_token(params) }))
}

fn prompt(era: Era, mut params: Map<String, Value>) -> Result<Method, RpcError> {
    let arguments = object(&mut params, "arguments")?;
    let name = text(&params, "name", "the name of a prompt")?;
    let result = prompts::prompt(name).and_then(|prompt| prompt.get(arguments)).map_err(invalid)?;
    Ok(Method::Answer(shaped(era, result)))
}

fn complete(era: Era, params: &Map<String, Value>) -> Result<Method, RpcError> {
    match completion::subject(params).map_err(invalid)? {
        Subject::Name(arguments) => Ok(Method::Call(Call {
            tool: &complete::TOOL,
            arguments,
            purpose: Purpose::Completion,
            progress_token: progress_token(params),
        })),
        Subject::Anything => Ok(Method::Answer(shape::completion(
            era,
            json!({"values": [], "total": 0, "hasMore": false}),
        ))),
    }
}

/// A question of the page: each is a tool, most of them without a place in the list.
fn page_question(mut params: Map<String, Value>) -> Result<Method, RpcError> {
    let arguments = object(&mut params, "arguments")?;
    let name = text(&params, "name", "the name of a question")?;
    let tool = questions::question(name)
        .ok_or_else(|| RpcError::new(INVALID_PARAMS, "the page asks no such question"))?;
    let progress_token = progress_token(&params);
    Ok(Method::Call(Call { tool, arguments, purpose: Purpose::Page, progress_token }))
}

fn invalid(message: String) -> RpcError {
    RpcError::new(INVALID_PARAMS, message)
}

fn bad_address(era: Era, uri: &str, bad: BadAddress) -> RpcError {
    match bad {
        BadAddress::Unknown => shape::no_resource(era, uri),
        BadAddress::Invalid => {
            let reason = "not an address inside the repository: a name, or a relative path without \
                          `..`, percent-encoded";
            shape::about(uri, INVALID_PARAMS, reason)
        }
    }
}

fn text<'p>(params: &'p Map<String, Value>, name: &str, what: &str) -> Result<&'p str, RpcError> {
    let found = params.get(name).and_then(Value::as_str);
    found.ok_or_else(|| RpcError::new(INVALID_PARAMS, format!("`{name}` must be {what}")))
}

fn object(params: &mut Map<String, Value>, name: &str) -> Result<Map<String, Value>, RpcError> {
    match params.remove(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members),
        Some(_) => Err(RpcError::new(INVALID_PARAMS, format!("`{name}` must be an object"))),
    }
}

/// A progress token is kept while its call is in flight, so it has the limit of an id.
pub(super) fn check_token(params: &Map<String, Value>) -> Result<(), RpcError> {
    match params.get("_meta").and_then(|meta| meta.get("progressToken")) {
        Some(Value::String(token)) if token.len() > ID_BYTES => Err(RpcError::new(
            INVALID_PARAMS,
            format!("`_meta.progressToken` is longer than {ID_BYTES} bytes"),
        )),
        _ => Ok(()),
    }
}
