//! `grep`: text search with enclosing symbols.

mod json;
mod text;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool, common};
use cograph_query::{self as query, GrepParams, QueryError};

pub(crate) static TOOL: Tool = Tool {
    name: "grep",
    title: "Search text",
    about: "Search text or a regular expression in all indexed files as they are now; hits come \
            with the symbol around them and exact totals.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("pattern", Shape::Text { most: 4000 }, "Text or, with `regex`, a pattern")
            .required()
            .also(&["query", "q", "text", "expression"]),
        Parameter::new("regex", Shape::Flag, "Default false").also(&["is_regex"]),
        Parameter::new("ignore_case", Shape::Flag, "Default false")
            .also(&["case_insensitive", "i"]),
        Parameter::new("word", Shape::Flag, "Whole words only").also(&["whole_word"]),
        common::WITHIN,
        Parameter::new(
            "context",
            Shape::Integer { least: 0, most: 50 },
            "Lines around each hit, default 0",
        )
        .also(&["lines"]),
        common::OFFSET,
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let params = GrepParams {
        pattern: arguments.text("pattern").unwrap_or_default().to_owned(),
        regex: arguments.flag("regex"),
        ignore_case: arguments.flag("ignore_case"),
        word: arguments.flag("word"),
        path: arguments.text("path").map(str::to_owned),
        context: u32::try_from(arguments.integer("context").unwrap_or(0)).unwrap_or(u32::MAX),
        offset: common::offset(arguments),
        limit: context.entries(12),
        ..GrepParams::default()
    };
    let result = query::grep(context.snapshot, context.files, &params, context.cancel)?;
    Ok(Box::new(text::FoundText { params, result }))
}
