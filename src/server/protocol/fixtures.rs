//! Test hook (feature `faults`): replaces tools, resources and prompts behind the same event loop,
//! so that a conformance suite can be run with its own fixtures.

use crate::jsonrpc::admission::Class;
use crate::protocol::request::{Call, Method, progress_token};
use crate::protocol::shape::{Purpose, shaped_list};
use crate::protocol::version::Era;
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool};
use crate::workspace::host::Host;
use cograph_query::QueryError;
use serde_json::{Map, Value, json};
use std::sync::{Arc, OnceLock};

/// Served instead of the product's own lists.
pub trait Fixtures: Send + Sync {
    /// Items of a list: `tools`, `resources`, `resourceTemplates` or `prompts`.
    fn list(&self, name: &str) -> Value;

    /// Result of `tools/call`, `resources/read`, `prompts/get` or `completion/complete`, computed
    /// on the thread of the call.
    fn answer(
        &self,
        method: &str,
        params: &Map<String, Value>,
        host: &dyn Host,
    ) -> Result<Value, FixtureError>;
}

/// JSON-RPC error.
#[derive(Clone, Debug)]
pub struct FixtureError {
    /// Error code.
    pub code: i32,
    /// Error message.
    pub message: String,
    /// Structured details.
    pub data: Option<Value>,
}

pub(crate) static SERVED: OnceLock<Arc<dyn Fixtures>> = OnceLock::new();

/// Carrier tool of all fixture calls; its one argument is the request.
static TOOL: Tool = Tool {
    name: "fixture",
    title: "Fixture",
    about: "A call of something that a test serves in place of a tool.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    own: &[
        Parameter::new("request", Shape::Text { most: 1 << 20 }, "The request as JSON").required()
    ],
    output: None,
    hint: None,
    handler: |_, _| Err(QueryError::Cancelled),
};

/// The method, if fixtures are served and handle it.
pub(crate) fn method(era: Era, method: &str, params: &Map<String, Value>) -> Option<Method> {
    let fixtures = SERVED.get()?;
    let list =
        |name: &str| Some(Method::Answer(shaped_list(era, json!({name: fixtures.list(name)}))));
    match method {
        "tools/list" => list("tools"),
        "resources/list" => list("resources"),
        "resources/templates/list" => list("resourceTemplates"),
        "prompts/list" => list("prompts"),
        "resources/subscribe" | "resources/unsubscribe" if era == Era::Negotiated => {
            Some(Method::Answer("{}".to_owned()))
        }
        "tools/call" | "resources/read" | "prompts/get" | "completion/complete" => {
            let request = json!({"method": method, "params": params}).to_string();
            let arguments = Map::from_iter([("request".to_owned(), Value::from(request))]);
            let purpose = Purpose::Fixture;
            Some(Method::Call(Call {
                tool: &TOOL,
                arguments,
                purpose,
                progress_token: progress_token(params),
            }))
        }
        _ => None,
    }
}
