//! Tools of others that stand in the list beside ours, and how a call of one goes through the dispatcher: as a call of a tool of
//! ours that is in no list. Knows nothing of where they come from.

use crate::query::QueryError;
use crate::server::jsonrpc::admission::Class;
use crate::server::protocol::Era;
use crate::server::tools::Handler;
use crate::server::tools::table::{self, Parameter, Shape, Tool};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

/// How long a client may keep the list, in milliseconds: it can become another one at any time.
const LIST_TTL_MS: u64 = 5_000;
/// When a call is answered at the latest.
const DEADLINE: Duration = Duration::from_secs(60);

/// The tools of others, of one generation.
#[derive(Debug, Default)]
pub(in crate::server) struct MoreTools {
    listing: Vec<Value>,
    names: BTreeSet<String>,
    pages: [OnceLock<String>; 2],
}

impl MoreTools {
    /// These, as they are to be listed.
    pub(in crate::server) fn new(listing: Vec<Value>) -> Self {
        let names = listing.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
        Self { listing, names, pages: Default::default() }
    }

    /// Whether one of them has this name.
    pub(in crate::server) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The whole list, ours first, in the shape of the era.
    pub(in crate::server) fn page(&self, era: Era) -> &str {
        self.pages[era as usize].get_or_init(|| {
            let mut tools = table::listing();
            if let Value::Array(tools) = &mut tools {
                tools.extend(self.listing.iter().cloned());
            }
            crate::server::protocol::shaped_for(era, json!({"tools": tools}), LIST_TTL_MS, "private")
        })
    }
}

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
    Err(QueryError::InvalidParameter { parameter: TOOL_NAME, reason: "it belongs to an upstream, and there is none".to_owned() })
};

/// The arguments of the tool that carries a call.
pub(super) fn carried(name: &str, arguments: Map<String, Value>) -> Map<String, Value> {
    let arguments = Value::Object(arguments).to_string();
    Map::from_iter([(TOOL_NAME.to_owned(), Value::from(name)), (ARGUMENTS.to_owned(), Value::from(arguments))])
}
