//! External tools, listed after the own ones. A call of one passes the dispatcher as a call of an
//! unlisted own tool that carries name and arguments. Independent of where the tools come from.

use crate::jsonrpc::admission::Class;
use crate::protocol::version::Era;
use crate::tools::table::MoreTools;
use crate::tools::tool::context::Handler;
use crate::tools::tool::{Parameter, Shape, Tool};
use cograph_query::QueryError;
use serde_json::{Map, Value};
use std::time::Duration;

/// Cache lifetime of the list at clients, in milliseconds: it can change at any time.
const LIST_TTL_MS: u64 = 5_000;
/// Deadline of a call.
const DEADLINE: Duration = Duration::from_secs(60);

/// Parameter with the name of the tool.
pub(crate) const TOOL_NAME: &str = "tool";
/// Parameter with its arguments, as JSON.
pub(crate) const ARGUMENTS: &str = "arguments";

/// Carrier tool of external calls.
pub(crate) static TOOL: Tool = Tool {
    name: "foreign_tool",
    title: "Call a tool of an upstream",
    about: "Passes a call on to the upstream whose tool it is.",
    class: Class::Heavy,
    deadline: DEADLINE,
    hint: None,
    own: &[
        Parameter::new(TOOL_NAME, Shape::Text { most: 128 }, "The tool").required(),
        Parameter::new(ARGUMENTS, Shape::Text { most: 8 << 20 }, "Its arguments").required(),
    ],
    output: None,
    handler: NOWHERE,
};

/// External tools do not run on a repository.
const NOWHERE: Handler = |_, _| {
    Err(QueryError::InvalidParameter {
        parameter: TOOL_NAME,
        reason: "it belongs to an upstream, and there is none".to_owned(),
    })
};

/// Arguments of the carrier tool.
pub(super) fn carried(name: &str, arguments: Map<String, Value>) -> Map<String, Value> {
    let arguments = Value::Object(arguments).to_string();
    Map::from_iter([
        (TOOL_NAME.to_owned(), Value::from(name)),
        (ARGUMENTS.to_owned(), Value::from(arguments)),
    ])
}

/// The whole list, own tools first, in the shape of the protocol version.
pub(super) fn page(more: &MoreTools, era: Era) -> &str {
    more.page(era as usize, |tools| super::shaped_for(era, tools, LIST_TTL_MS, "private"))
}
