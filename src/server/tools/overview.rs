//! `overview`: architecture of the repository.

mod json;
mod text;

use super::{Handler, QueryContext};
use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool};
use cograph_query::{self as query, OverviewParams, QueryError};

pub(crate) static TOOL: Tool = Tool {
    name: "overview",
    title: "Overview",
    about: "The architecture of the repository or a directory: languages, modules and what they \
            depend on, entry points, \
            most used symbols, cycles. Use when the code is new to you.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("path", Shape::Text { most: 1024 }, "Only this directory")
            .with_paths()
            .also(&["file", "directory", "dir"]),
        Parameter::new(
            "depth",
            Shape::Integer { least: 1, most: 20 },
            "Levels of directories that count as modules",
        )
        .also(&["levels"]),
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let defaults = OverviewParams::default();
    let params = OverviewParams {
        path: super::directory(arguments.text("path").unwrap_or_default()),
        depth: super::depth(arguments, defaults.depth),
        ..defaults
    };
    Ok(Box::new(query::overview(context.snapshot, &params, context.cancel)?))
}
