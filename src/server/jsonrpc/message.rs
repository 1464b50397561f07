//! JSON-RPC messages as MCP restricts them: parses a line. Knows no method and no version.

mod remains;

use cograph_faults::{Fault, planted};
pub(crate) use remains::{Remains, remains};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use std::fmt;

/// Maximum length of an id and of a progress token, in bytes: both are kept while their request is
/// in flight.
pub(crate) const ID_BYTES: usize = 16 << 10;
/// Maximum number of messages in a batch.
pub(crate) const BATCH: usize = 100;
/// Maximum number of JSON values in a message. A value of one byte takes tens of bytes in memory.
pub(crate) const VALUES: usize = 1 << 18;

/// Request id; returned in the response exactly as received.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RequestId {
    /// Integer.
    Integer(Number),
    /// String.
    Text(Box<str>),
}

impl RequestId {
    /// Reads an id; none if the value is no valid id.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(_) if planted(Fault::IdI64) => None,
            Value::String(text) if text.len() > ID_BYTES => None,
            Value::String(text) => Some(Self::Text(text.as_str().into())),
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                Some(Self::Integer(number.clone()))
            }
            _ => None,
        }
    }

    /// True unless bytes of it may have been replaced: such an id is another one.
    fn is_whole(&self) -> bool {
        !matches!(self, Self::Text(text) if text.contains(char::REPLACEMENT_CHARACTER))
    }

    /// The id as JSON.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Integer(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::from(text.as_ref()),
        }
    }
}

/// JSON-RPC error, as opposed to an error result of a tool.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RpcError {
    /// One of the codes below.
    pub(crate) code: i32,
    /// Error message with a hint.
    pub(crate) message: String,
    /// Structured details.
    pub(crate) data: Option<Value>,
}

/// Not valid JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// Valid JSON, but not a valid request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// Unknown method in the protocol version of the request.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// Invalid parameters.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// Internal error: the request is valid but cannot be served.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// Unknown resource, in versions negotiated by `initialize`. Later versions use `INVALID_PARAMS`.
pub(crate) const RESOURCE_NOT_FOUND: i32 = -32002;
/// Unsupported protocol version in a stateless request.
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;

impl RpcError {
    /// Error without data.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// Parsed line.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// Requires exactly one response.
    Request(Request),
    /// Requires no response. Parameters that are not an object are treated as empty.
    Notification {
        /// Method.
        method: Box<str>,
        /// Parameters.
        params: Map<String, Value>,
    },
    /// Response to a request of this side, with the members that could be parsed.
    Response {
        /// Id of the request.
        id: Option<RequestId>,
        /// Result.
        result: Option<Value>,
        /// Error.
        error: Option<Value>,
    },
    /// Invalid message; the error is sent with the id if there is one.
    Invalid(Option<RequestId>, RpcError),
    /// Batch: several messages in one array.
    Batch(Vec<Message>),
}

/// Request.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Request {
    /// Id.
    pub(crate) id: RequestId,
    /// Method.
    pub(crate) method: Box<str>,
    /// Parameters: empty if absent, an error if they are not an object.
    pub(crate) params: Result<Map<String, Value>, RpcError>,
}

/// Members of a message. `RawValue` distinguishes `null` from an absent member and is skipped
/// without recursion, so that nesting cannot exhaust the stack and the id is known even if the
/// parameters are unusable.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Elements of a batch: their number, and the first ones up to the limit.
struct Members<'a> {
    first: Vec<&'a RawValue>,
    count: usize,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut members: A,
            ) -> Result<Members<'de>, A::Error> {
                let (mut first, mut count) = (Vec::new(), 0);
                while let Some(member) = members.next_element::<&RawValue>()? {
                    if count < BATCH {
                        first.push(member);
                    }
                    count += 1;
                }
                Ok(Members { first, count })
            }
        }
        deserializer.deserialize_seq(Collect)
    }
}

/// True if a JSON text exceeds `VALUES`. Counts separators without allocating values.
fn has_too_many_values(json: &str) -> bool {
    // Every value takes at least two bytes, with its separator.
    if json.len() / 2 < VALUES {
        return false;
    }
    let (mut count, mut in_text, mut is_escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count >= VALUES
}

impl Remains {
    /// The id, if it is a valid one.
    pub(crate) fn id(&self) -> Option<RequestId> {
        RequestId::from_json(self.raw_id.as_ref()?)
    }
}

/// Parses a line of a client. What is not UTF-8 is refused: a request with replaced characters
/// would be another request.
pub(crate) fn parse(line: &[u8]) -> Message {
    match std::str::from_utf8(line) {
        Ok(text) => parse_text(text),
        Err(_) => not_unicode(parse_text(&String::from_utf8_lossy(line)), remains(line)),
    }
}

/// Parses a line of an upstream. Bytes that are not UTF-8 become U+FFFD: a response with a mark is
/// worth more than none.
pub(crate) fn parse_lossy(line: &[u8]) -> Message {
    parse_text(&String::from_utf8_lossy(line))
}

/// Refusal of a message whose bytes are not UTF-8, given how it reads with them replaced.
fn not_unicode(message: Message, remains: Option<Remains>) -> Message {
    const WHY: &str = "the message is not UTF-8";
    let refused = |id: Option<RequestId>| {
        Message::Invalid(id.filter(RequestId::is_whole), RpcError::new(PARSE_ERROR, WHY))
    };
    match message {
        Message::Request(request) => refused(Some(request.id)),
        Message::Batch(members) => {
            Message::Batch(members.into_iter().map(|member| not_unicode(member, None)).collect())
        }
        Message::Response { id, .. } => {
            let error = serde_json::json!({"code": PARSE_ERROR, "message": WHY});
            Message::Response { id, result: None, error: Some(error) }
        }
        Message::Notification { .. } => refused(None),
        Message::Invalid(id, _) => {
            let request = remains.filter(|remains| remains.has_method);
            refused(id.or_else(|| request.and_then(|request| request.id())))
        }
    }
}

fn parse_text(text: &str) -> Message {
    let text = text.trim_matches([' ', '\t', '\r']);
    if text.starts_with('[') {
        return match serde_json::from_str::<Members<'_>>(text) {
            Ok(Members { count: 0, .. }) => invalid(None, "an empty batch"),
            Ok(Members { count, .. }) if count > BATCH => invalid(
                None,
                &format!("a batch of {count} messages: none is served, {BATCH} are the most"),
            ),
            Ok(Members { first, .. }) => {
                Message::Batch(first.iter().map(|member| parse_member(member.get())).collect())
            }
            Err(_) => Message::Invalid(None, RpcError::new(PARSE_ERROR, "the message is not JSON")),
        };
    }
    parse_member(text)
}

/// The id of an answer; none of another message. Reads nothing of what it answers, which may be
/// long.
pub(crate) fn answered_id(line: &[u8]) -> Option<RequestId> {
    let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
    if envelope.method.is_some() || envelope.result.or(envelope.error).is_none() {
        return None;
    }
    RequestId::from_json(&serde_json::from_str(envelope.id?.get()).ok()?)
}

fn parse_member(text: &str) -> Message {
    if !text.starts_with('{') {
        return match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => invalid(None, "a message is an object"),
            Err(_) => Message::Invalid(None, RpcError::new(PARSE_ERROR, "the message is not JSON")),
        };
    }
    let envelope: Envelope<'_> = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        Err(error) if error.is_data() => return invalid(None, "a member occurs twice"),
        Err(_) => {
            return Message::Invalid(None, RpcError::new(PARSE_ERROR, "the message is not JSON"));
        }
    };
    let id = envelope.id.map(|id| {
        serde_json::from_str::<Value>(id.get()).ok().and_then(|id| RequestId::from_json(&id))
    });
    if string(envelope.jsonrpc).as_deref() != Some("2.0") {
        return invalid(id.flatten(), "the member `jsonrpc` must be \"2.0\"");
    }
    let Some(method) = envelope.method else {
        return match envelope.result.or(envelope.error) {
            Some(_) => {
                let read = |raw: Option<&RawValue>| {
                    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
                };
                if [envelope.result, envelope.error]
                    .into_iter()
                    .flatten()
                    .any(|raw| has_too_many_values(raw.get()))
                {
                    let why = format!("the answer has more than {VALUES} values");
                    let error = serde_json::json!({"code": INTERNAL_ERROR, "message": why});
                    return Message::Response {
                        id: id.flatten(),
                        result: None,
                        error: Some(error),
                    };
                }
                Message::Response {
                    id: id.flatten(),
                    result: read(envelope.result),
                    error: read(envelope.error),
                }
            }
            None => invalid(id.flatten(), "neither a request nor an answer: `method` is missing"),
        };
    };
    let Some(method) = string(Some(method)) else {
        return invalid(id.flatten(), "the member `method` must be a string");
    };
    let params = envelope.params.map_or_else(|| Ok(Map::new()), read_params);
    match id {
        None => Message::Notification { method: method.into(), params: params.unwrap_or_default() },
        Some(None) if envelope.id.is_some_and(|id| id.get().len() > ID_BYTES) => {
            invalid(None, &format!("the member `id` is longer than {ID_BYTES} bytes"))
        }
        Some(None) => invalid(None, "the member `id` must be a string or an integer"),
        Some(Some(id)) => Message::Request(Request { id, method: method.into(), params }),
    }
}

fn read_params(params: &RawValue) -> Result<Map<String, Value>, RpcError> {
    if has_too_many_values(params.get()) {
        return Err(RpcError::new(
            INVALID_PARAMS,
            format!("the member `params` has more than {VALUES} values"),
        ));
    }
    match serde_json::from_str(params.get()) {
        Ok(Value::Object(params)) => Ok(params),
        Ok(_) => Err(RpcError::new(INVALID_PARAMS, "the member `params` must be an object")),
        Err(_) => Err(RpcError::new(
            INVALID_PARAMS,
            "the member `params` is nested too deeply or holds text that is not Unicode",
        )),
    }
}

fn string(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

fn invalid(id: Option<RequestId>, message: &str) -> Message {
    Message::Invalid(id, RpcError::new(INVALID_REQUEST, message))
}

#[cfg(test)]
mod tests;
