//! `explore`: entry point for a task description or a question.

mod json;
mod shared;
mod shown;
mod sources;
mod text;
mod windows;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool, common};
use cograph_query::{self as query, ExploreParams, QueryError};

/// Maximum length of a query, in bytes: an issue with its stack trace.
pub(crate) const QUERY: usize = 32 << 10;

pub(crate) static TOOL: Tool = Tool {
    name: "explore",
    title: "Explore code",
    about: "Use first, for how something works or where it is. Ask in words, with symbol names, or \
            paste a whole issue with code and \
            stack trace: returns the symbols that matter, best first, with source, callers, how \
            they call each other, and their tests.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: Some("how code works"),
    own: &[
        Parameter::new(
            "query",
            Shape::Text { most: QUERY },
            "A question, names, an error, an issue",
        )
        .required()
        .also(&["text", "q", "question", "symbol", "name", "symbols", "task"]),
        common::WITHIN,
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let params = ExploreParams {
        text: arguments.text("query").unwrap_or_default().to_owned(),
        path: arguments.text("path").map(str::to_owned),
        ..ExploreParams::default()
    };
    Ok(Box::new(query::explore(context.snapshot, context.files, &params, context.cancel)?))
}
