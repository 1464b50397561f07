//! `complete`: completions of symbols or paths. Called by `completion/complete`, so it is not
//! listed; otherwise a tool like the others.

mod text;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::values::Arguments;
use crate::tools::tool::{CONTROL_DEADLINE, Parameter, Shape, Tool};
use cograph_query::complete::Wanted;
use cograph_query::{self as query, CompleteParams, QueryError};

/// Maximum number of completions in one response, from the protocol.
const MAX_VALUES: usize = 100;
/// Kind: paths.
pub(crate) const PATH: &str = "path";
/// Kind: symbols.
pub(crate) const SYMBOL: &str = "symbol";

pub(crate) static TOOL: Tool = Tool {
    name: "complete",
    title: "Complete a name",
    about: "The symbols or paths that begin like what was typed.",
    // Interactive: waits neither for an index nor behind queries.
    class: Class::Control,
    deadline: CONTROL_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("wanted", Shape::Word(&[SYMBOL, PATH]), "What is typed").required(),
        Parameter::new("typed", Shape::Text { most: 1024 }, "What was typed so far"),
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let params = CompleteParams {
        wanted: if arguments.text("wanted") == Some(PATH) { Wanted::Path } else { Wanted::Symbol },
        typed: arguments.text("typed").unwrap_or_default().to_owned(),
        limit: MAX_VALUES,
    };
    Ok(Box::new(query::complete(context.snapshot, &params, context.cancel)?))
}
