//! `show`: the source of symbols, lines and files.

pub(crate) mod text;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool};
use cograph_query::{self as query, QueryError, ShowParams};

pub(crate) static TOOL: Tool = Tool {
    name: "show",
    title: "Show source",
    about: "Print the source of symbols, lines or files, several at once, with line numbers.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new(
            "targets",
            Shape::Texts { most: 1024, words: Vec::new },
            "Symbols, `path:10-20`, `path:10` or paths",
        )
        .with_paths()
        .required()
        .also(&["target", "symbols", "symbol", "name", "names", "path", "file"]),
        Parameter::new(
            "context",
            Shape::Integer { least: 0, most: 1000 },
            "Lines around each, default 0",
        )
        .also(&["lines"]),
        Parameter::new("calls", Shape::Flag, "Only signature, control flow and calls"),
        Parameter::new("around", Shape::Text { most: 200 }, "Only lines around this name"),
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let params = ShowParams {
        targets: arguments.texts("targets").to_vec(),
        context: u32::try_from(arguments.integer("context").unwrap_or(0)).unwrap_or(u32::MAX),
        calls: arguments.flag("calls"),
        around: arguments.text("around").map(str::to_owned),
    };
    let result = query::show(context.snapshot, context.files, &params, context.cancel)?;
    match &result.items[..] {
        // An error of one item does not fail the others; the error of a single item fails the call.
        [item] if let Err(error) = &item.outcome => Err(error.clone()),
        _ => Ok(Box::new(result)),
    }
}
