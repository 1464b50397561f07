//! Test hook (feature `faults`): replaces tools, resources and prompts behind the same event loop,
//! so that a conformance suite can be run with its own fixtures.

use crate::protocol::{Call, Era, Method, Purpose, progress_token, shaped_list};
use crate::tools::arguments::Arguments;
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool};
use crate::{Class, Limits};
use crate::{
    tools::{Marks, Outcome, Reply, Tools},
    workspace::host::Host,
};
use cograph_query::QueryError;
use serde_json::{Map, Value, json};
use std::io;
use std::path::PathBuf;
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

static SERVED: OnceLock<Arc<dyn Fixtures>> = OnceLock::new();

/// Serves fixtures over stdio, otherwise like `run_stdio`.
pub fn run_fixtures(fixtures: Arc<dyn Fixtures>, limits: Limits) -> io::Result<()> {
    let served = Served(Arc::clone(&fixtures));
    // A second call in one process would keep the first fixtures.
    if SERVED.set(fixtures).is_err() {
        return Err(io::Error::other("fixtures are served already"));
    }
    crate::run(limits, |_| Arc::new(served))
}

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

struct Served(Arc<dyn Fixtures>);

impl Tools for Served {
    fn asks_client(&self) -> bool {
        false
    }

    fn set_client(&self, _: Vec<PathBuf>) -> bool {
        false
    }

    fn call(&self, _: &'static Tool, arguments: &Arguments, host: &dyn Host) -> Reply {
        let request: Value =
            serde_json::from_str(arguments.text("request").unwrap_or_default()).unwrap_or_default();
        let params = request["params"].as_object().cloned().unwrap_or_default();
        match self.0.answer(request["method"].as_str().unwrap_or_default(), &params, host) {
            Ok(result) => Reply {
                text: result.to_string(),
                outcome: Outcome::Found,
                structured: None,
                marks: Marks::default(),
            },
            Err(FixtureError { code, message, data }) => {
                let mut error = json!({"code": code, "message": message});
                if let Some(data) = data {
                    error["data"] = data;
                }
                Reply::error(error.to_string())
            }
        }
    }
}
