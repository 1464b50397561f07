//! `status`: state of the store and of the server.

mod json;
mod text;

pub(in crate::server) use text::process;

use super::{Handler, QueryContext};
use crate::query::{self, QueryError, StatusParams};
use crate::server::answers::Answer;
use crate::server::jsonrpc::admission::Class;
use crate::server::tools::arguments::Arguments;
use crate::server::tools::tool::{CONTROL_DEADLINE, Tool};

pub(in crate::server) static TOOL: Tool = Tool {
    name: "status",
    title: "State of the index",
    about: "How complete and how fresh the index is: files and symbols by language, share of \
            references resolved, what was skipped and why.",
    class: Class::Control,
    deadline: CONTROL_DEADLINE,
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
