//! Tools of others that stand in the list beside ours, and how a call of one goes through the
//! dispatcher: as a call of a tool of ours that is in no list. Knows nothing of where they come
//! from.

use crate::query::QueryError;
use crate::server::jsonrpc::admission::Class;
use crate::server::protocol::Era;
use crate::server::tools::tool::{Parameter, Shape, Tool};
use crate::server::tools::{Handler, MoreTools};
use serde_json::{Map, Value};
use std::time::Duration;

/// How long a client may keep the list, in milliseconds: it can become another one at any time.
const LIST_TTL_MS: u64 = 5_000;
/// When a call is answered at the latest.
const DEADLINE: Duration = Duration::from_secs(60);

/// The parameter with the name of the tool.
pub(in crate::server) const TOOL_NAME: &str = "tool";
/// The parameter with its arguments, as JSON.
pub(in crate::server) const ARGUMENTS: &str = "arguments";

/// What carries a call.
pub(in crate::server) static TOOL: Tool = Tool {
    name: "foreign_tool",
    title: "Call a tool of an upstream",
    about: "Passes a call on to the upstream whose tool it is.",
    class: Class::Heavy,
    deadline: DEADLINE,
    own: &[
        Parameter::new(TOOL_NAME, Shape::Text { most: 128 }, "The tool").required(),
        Parameter::new(ARGUMENTS, Shape::Text { most: 8 << 20 }, "Its arguments").required(),
    ],
    output: None,
    handler: NOWHERE,
};

/// There is no repository in which somebody else's tool can be run.
const NOWHERE: Handler = |_, _| {
    Err(QueryError::InvalidParameter {
        parameter: TOOL_NAME,
        reason: "it belongs to an upstream, and there is none".to_owned(),
    })
};

/// The arguments of the tool that carries a call.
pub(super) fn carried(name: &str, arguments: Map<String, Value>) -> Map<String, Value> {
    let arguments = Value::Object(arguments).to_string();
    Map::from_iter([
        (TOOL_NAME.to_owned(), Value::from(name)),
        (ARGUMENTS.to_owned(), Value::from(arguments)),
    ])
}

/// The whole list, ours first, in the shape of the era.
pub(super) fn page(more: &MoreTools, era: Era) -> &str {
    more.page(era as usize, |tools| super::shaped_for(era, tools, LIST_TTL_MS, "private"))
}
