//! `sql`: read-only SQL over the store's views.

mod json;
mod kept;
mod text;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool};
use cograph_query::{self as query, QueryError, SqlParams};

pub(crate) static TOOL: Tool = Tool {
    name: "sql",
    title: "Query with SQL",
    about: "One read-only SQLite SELECT for counts and lists that the other tools do not give. \
            Views: files, symbols(id, name, kind, path, \
            line, container, signature, refs), refs(path, line, kind, name, verdict, from_id, \
            to_id), calls(caller, callee, path, line), imports.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[Parameter::new("statement", Shape::Text { most: 20_000 }, "The SELECT")
        .required()
        .also(&["query", "sql", "q"])],
    output: Some(json::sql_shape),
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let params = SqlParams {
        statement: arguments.text("statement").unwrap_or_default().to_owned(),
        max_rows: context.entries(4),
        ..SqlParams::default()
    };
    let load = |view: &str| kept::load(context, view);
    Ok(Box::new(query::sql(context.snapshot, &params, &load, context.cancel)?))
}
