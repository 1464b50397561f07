//! Shape of responses by protocol version: envelope members of results, and the conversion of a
//! call's outcome to a result or a JSON-RPC error.

use crate::base::escape::SafeLine;
use crate::jsonrpc::message::{
    INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RequestId, RpcError,
};
use crate::jsonrpc::requests::Answer;
use crate::protocol::resources::MIME_TYPE;
use crate::protocol::subscriptions;
use crate::protocol::version::{Era, PEER_KEY, SERVER_KEY, server_info};
use crate::tools::tool::reply::{Outcome, Reply};
use crate::workspace::host::Form;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Cache lifetime of constant lists at clients, in milliseconds.
const LIST_TTL_MS: u64 = 3_600_000;

/// Kind of the response to a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Result of `tools/call`. An error of the tool is a result too: the model reads it.
    Tool,
    /// Result of `tools/call` for a peer that runs cograph: includes the outcome, from which it
    /// builds its own response.
    Peer,
    /// Contents of the resource with this URI. An error is a JSON-RPC error.
    Resource(String),
    /// Result of `completion/complete`. An error is a JSON-RPC error.
    Completion,
    /// Result of the page's method: the answer as JSON. An error is a JSON-RPC error.
    Page,
    /// Result of a test fixture.
    #[cfg(feature = "faults")]
    Fixture,
}

impl Purpose {
    /// Format of the answer.
    pub(crate) fn form(&self) -> Form {
        if *self == Self::Page { Form::Json } else { Form::Text }
    }

    /// Response to a finished call.
    pub(crate) fn answer(&self, era: Era, reply: Reply) -> Answer {
        match self {
            Self::Tool => Ok(shaped(era, tool_result(&reply))),
            Self::Peer => {
                let mut result = tool_result(&reply);
                result["_meta"][PEER_KEY] = Value::from(reply.outcome.word());
                Ok(shaped(era, result))
            }
            #[cfg(feature = "faults")]
            Self::Fixture => unpack(&reply).map(|result| match result.get("resultType") {
                Some(_) => result.to_string(),
                None => shaped(era, result),
            }),
            Self::Resource(uri) => match reply.outcome {
                Outcome::Found | Outcome::Nothing => Ok(contents(era, uri, &reply.text)),
                Outcome::Missing => Err(no_resource(era, uri)),
                // Names of the repository stay out of errors: `completion/complete` lists them.
                Outcome::Refused => Err(about(
                    uri,
                    INVALID_PARAMS,
                    "no single thing has this name: put more of its path before it",
                )),
                Outcome::NotYet | Outcome::Failed | Outcome::Stopped => {
                    Err(about(uri, INTERNAL_ERROR, reply.text))
                }
            },
            Self::Page => match reply.outcome {
                // The text is the JSON of the answer; that of a proxy, whose upstream answers in
                // words, is not.
                Outcome::Found | Outcome::Nothing => {
                    match serde_json::from_str::<&RawValue>(&reply.text) {
                        Ok(answer) => {
                            Ok(format!(r#"{{"resultType":"complete","answer":{answer}}}"#))
                        }
                        Err(_) => Err(RpcError::new(
                            INTERNAL_ERROR,
                            "the page is served by the process that has the index",
                        )),
                    }
                }
                Outcome::NotYet => Ok(shaped(era, json!({"wait": reply.text}))),
                Outcome::Missing | Outcome::Refused => {
                    Err(RpcError::new(INVALID_PARAMS, reply.text))
                }
                Outcome::Failed | Outcome::Stopped => {
                    Err(RpcError::new(INTERNAL_ERROR, reply.text))
                }
            },
            Self::Completion => match reply.outcome {
                Outcome::Refused => Err(RpcError::new(INVALID_PARAMS, reply.text)),
                Outcome::Failed | Outcome::Stopped => {
                    Err(RpcError::new(INTERNAL_ERROR, reply.text))
                }
                // Without an index the list is incomplete.
                _ => Ok(completion(
                    era,
                    reply.structured.unwrap_or_else(|| json!({"values": [], "hasMore": true})),
                )),
            },
        }
    }
}

/// Error for an unknown URI.
pub(super) fn no_resource(era: Era, uri: &str) -> RpcError {
    let code = if era == Era::Stateless { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
    about(uri, code, "resource not found")
}

/// Error about a URI.
pub(super) fn about(uri: &str, code: i32, message: impl Into<String>) -> RpcError {
    let mut error = RpcError::new(code, message);
    error.data = Some(json!({"uri": SafeLine::new(uri, 300).as_str()}));
    error
}

fn tool_result(reply: &Reply) -> Value {
    let mut result = json!({"content": [{"type": "text", "text": reply.text}]});
    if let Some(structured) = &reply.structured {
        result["structuredContent"] = structured.clone();
    }
    if reply.marks.sanitized > 0 {
        result["_meta"]["sanitized"] = Value::from(reply.marks.sanitized);
    }
    if let Some(stale) = &reply.marks.stale {
        result["_meta"]["stale"] = Value::from(stale.as_str());
    }
    if reply.marks.truncated {
        result["_meta"]["truncated"] = Value::Bool(true);
    }
    if reply.outcome.is_error() {
        result["isError"] = Value::Bool(true);
    }
    result
}

fn contents(era: Era, uri: &str, text: &str) -> String {
    let mut result = json!({"contents": [{"uri": uri, "mimeType": MIME_TYPE, "text": text}]});
    if era == Era::Stateless {
        // Not cacheable: the files may change, and they are private to the user.
        result["ttlMs"] = Value::from(0);
        result["cacheScope"] = Value::from("private");
    }
    shaped(era, result)
}

/// Result of `completion/complete`.
pub(super) fn completion(era: Era, completion: Value) -> String {
    shaped(era, json!({"completion": completion}))
}

/// Result that ends a subscription from the server's side.
pub(crate) fn listen_result(id: &RequestId) -> String {
    let mut meta = subscriptions::meta(id);
    meta[SERVER_KEY] = server_info();
    json!({"resultType": "complete", "_meta": meta}).to_string()
}

/// Result in the shape of the protocol version.
pub(super) fn shaped(era: Era, mut result: Value) -> String {
    if era == Era::Stateless {
        result["resultType"] = Value::from("complete");
        result["_meta"][SERVER_KEY] = server_info();
    }
    result.to_string()
}

/// Cacheable list.
pub(crate) fn shaped_list(era: Era, result: Value) -> String {
    shaped_for(era, result, LIST_TTL_MS, "public")
}

/// Result with a cache lifetime in milliseconds and a cache scope.
pub(crate) fn shaped_for(era: Era, mut result: Value, ttl_ms: u64, scope: &str) -> String {
    if era == Era::Stateless {
        result["ttlMs"] = Value::from(ttl_ms);
        result["cacheScope"] = Value::from(scope);
    }
    shaped(era, result)
}

/// Unpacks the result or error of a fixture.
#[cfg(feature = "faults")]
fn unpack(reply: &Reply) -> Result<Value, RpcError> {
    let value: Value = serde_json::from_str(&reply.text)
        .unwrap_or_else(|_| json!({"code": -32603, "message": reply.text}));
    if !reply.outcome.is_error() {
        return Ok(value);
    }
    let code = value["code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(-32603);
    let mut error = RpcError::new(code, value["message"].as_str().unwrap_or_default());
    error.data = value.get("data").cloned();
    Err(error)
}
