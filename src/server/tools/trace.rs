//! `trace`: callers, callees, paths.

mod json;
mod text;

use super::{Handler, QueryContext, certainty, tests};
use crate::query::trace::{Direction, TraceFinding};
use crate::query::{self, ElsewhereSearch, QueryError, Tests, TraceParams};
use crate::server::answers::Answer;
use crate::server::answers::render::elsewhere::Unused;
use crate::server::answers::render::several;
use crate::server::jsonrpc::admission::Class;
use crate::server::tools::arguments::Arguments;
use crate::server::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool};
use crate::store::SymbolKey;
use text::Traced;

pub(in crate::server) static TOOL: Tool =
    Tool {
        name: "trace",
        title: "Trace calls",
        about: "Who calls a symbol, what it calls, or (with `to`) how it reaches another, with the \
            line of every call. \
            Overrides and implementations are followed. In a list `…` is the first line's file, \
            `…/` its directory, `.name` has the \
            container of the name before, or of the file's name, `+n` n more lines.",
        class: Class::Heavy,
        deadline: HEAVY_DEADLINE,
        own: &[
            Parameter::new("symbol", Shape::Text { most: 1024 }, "Where to start")
                .required()
                .also(&["name", "from", "function", "symbol_name", "query", "target"]),
            Parameter::new("direction", Shape::Word(&["callers", "callees"]), "Default callers"),
            Parameter::new("to", Shape::Text { most: 1024 }, "Find the path to this symbol")
                .also(&["end", "destination"]),
            Parameter::new(
                "depth",
                Shape::Integer { least: 1, most: 50 },
                "Steps, default 1; with `to` 12",
            )
            .also(&["levels", "max_depth", "hops"]),
            super::CERTAINTY,
            super::TESTS,
        ],
        output: None,
        handler: RUN,
    };

/// Default maximum length of a path.
const PATH_DEPTH: u32 = 12;

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let defaults = TraceParams::default();
    let to = arguments.text("to").map(str::to_owned);
    let params = TraceParams {
        symbol: arguments.text("symbol").unwrap_or_default().to_owned(),
        direction: if arguments.text("direction") == Some("callees") {
            Direction::Callees
        } else {
            Direction::Callers
        },
        depth: super::depth(arguments, if to.is_some() { PATH_DEPTH } else { defaults.depth }),
        to,
        follow: certainty(arguments, defaults.follow),
        tests: tests(arguments),
        limit: context.entries(24),
        ..defaults
    };
    let found = query::trace_all(context.snapshot, &params, super::MAX_MEANINGS, context.cancel)?;
    let is_about_all = params.direction == Direction::Callers && params.tests == Tests::default();
    let mut search = ElsewhereSearch::new(context.snapshot, context.files, context.cancel);
    several::about(&params.symbol, found, |result| {
        let possible = match &result.finding {
            TraceFinding::Tree(tree) if tree.nodes.is_empty() => Some(tree.root_counts.possible),
            _ => None,
        };
        let symbols: Vec<SymbolKey> =
            result.also.iter().chain([&result.root]).map(|symbol| symbol.key).collect();
        let (symbol, alike) = (result.root.clone(), result.also.len());
        let answer = Traced { params: params.clone(), result };
        let Some(possible) = possible.filter(|_| is_about_all) else {
            return Ok(Box::new(answer));
        };
        let elsewhere = search.of(&symbols)?;
        Ok(Box::new(Unused { what: "callers", symbol, alike, possible, answer, elsewhere }))
    })
}
