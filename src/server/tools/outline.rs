//! `outline`: symbols of a file or files of a directory.

mod json;
mod text;

use crate::answers::Answer;
use crate::answers::render::batch;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool, common};
use cograph_query::{self as query, OutlineParams, QueryError};

pub(crate) static TOOL: Tool = Tool {
    name: "outline",
    title: "Outline",
    about: "List the symbols of a file as a tree with signatures and lines, or the files of a \
            directory with their main symbols.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("path", Shape::Texts { most: 1024, words: Vec::new }, "Default the root")
            .with_paths()
            .also(&["file", "directory", "dir", "target", "paths"]),
        Parameter::new(
            "depth",
            Shape::Integer { least: 1, most: 20 },
            "Levels of directories, default 1",
        )
        .also(&["levels"]),
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let root = [String::new()];
    let paths = match arguments.texts("path") {
        [] => &root,
        paths => paths,
    };
    batch::each(TOOL.name, paths, |path| {
        let params = OutlineParams {
            path: common::directory(path),
            depth: common::depth(arguments, OutlineParams::default().depth),
            ..OutlineParams::default()
        };
        Ok(Box::new(query::outline(context.snapshot, &params, context.cancel)?))
    })
}
