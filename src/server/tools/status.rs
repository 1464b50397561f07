//! `status`: state of the store and of the server.

mod json;
mod text;

pub(crate) use text::process;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{CONTROL_DEADLINE, Tool};
use cograph_query::{self as query, QueryError, StatusParams};

pub(crate) static TOOL: Tool = Tool {
    name: "status",
    title: "State of the index",
    about: "How complete and how fresh the index is: files and symbols by language, share of \
            references resolved, what was skipped and why.",
    class: Class::Control,
    deadline: CONTROL_DEADLINE,
    hint: None,
    own: &[],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(_arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let result = query::status(context.snapshot, &StatusParams::default(), context.cancel)?;
    let process =
        context.process.as_ref().map(|(server, activity)| ((*server).clone(), activity.clone()));
    Ok(Box::new(text::StatusAnswer { result, process }))
}
