//! `trace`: callers, callees, paths.

mod json;
mod text;

use super::references::uses_outside;
use crate::answers::Answer;
use crate::answers::render::evidence::{Accounted, Unused};
use crate::answers::render::sources::{FEW, Sources};
use crate::answers::render::{ambiguous, batch};
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::common::{certainty, tests};
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool, common};
use crate::tools::trace::text::traced::Traced;
use cograph_query::trace::{Direction, TraceFinding};
use cograph_query::{
    self as query, ElsewhereSearch, QueryError, ReferencesParams, Tests, TraceParams,
};
use cograph_store::SymbolKey;

pub(crate) static TOOL: Tool = Tool {
    name: "trace",
    title: "Trace calls",
    about: "Who calls a symbol, what it calls, or (with `to`) how it reaches another, with the \
            line of every call. \
            Overrides and implementations are followed. A caller has the lines of its calls, \
            a callee its own line `at` those of the calls.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: Some("callers, callees, paths"),
    own: &[
        Parameter::new("symbol", Shape::Texts { most: 1024, words: Vec::new }, "One or more")
            .with_paths()
            .required()
            .also(&["name", "from", "function", "symbol_name", "query", "target", "symbols"]),
        Parameter::new("direction", Shape::Word(&["callers", "callees"]), "Default callers"),
        Parameter::new("to", Shape::Text { most: 1024 }, "Find the path to this symbol")
            .with_paths()
            .also(&["end", "destination"]),
        Parameter::new("via", Shape::Text { most: 1024 }, "With `to`: pass this symbol")
            .with_paths()
            .also(&["through"]),
        Parameter::new(
            "depth",
            Shape::Integer { least: 1, most: 50 },
            "Steps, default 1; 12 with `to` or tests: only",
        )
        .also(&["levels", "max_depth", "hops"]),
        common::CERTAINTY,
        common::TESTS,
    ],
    output: None,
    handler: RUN,
};

/// Default maximum length of a path.
const PATH_DEPTH: u32 = 12;

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    if arguments.text("via").is_some() && arguments.text("to").is_none() {
        let reason = "it is a symbol on the path to `to`, which is missing".to_owned();
        return Err(QueryError::InvalidParameter { parameter: "via", reason });
    }
    batch::each(TOOL.name, arguments.texts("symbol"), |symbol| one(symbol, arguments, context))
}

fn one(
    symbol: &str,
    arguments: &Arguments,
    context: &QueryContext<'_>,
) -> Result<Box<dyn Answer>, QueryError> {
    let defaults = TraceParams::default();
    let to = arguments.text("to").map(str::to_owned);
    // Tests reach what they test through other code.
    let is_far = to.is_some() || tests(arguments) == Tests::Only;
    let params = TraceParams {
        symbol: symbol.to_owned(),
        direction: if arguments.text("direction") == Some("callees") {
            Direction::Callees
        } else {
            Direction::Callers
        },
        depth: common::depth(arguments, if is_far { PATH_DEPTH } else { defaults.depth }),
        via: arguments.text("via").map(str::to_owned),
        to,
        follow: certainty(arguments).unwrap_or(defaults.follow),
        tests: tests(arguments),
        limit: context.entries(24),
        ..defaults
    };
    let found = query::trace_all(context.snapshot, &params, common::MAX_MEANINGS, context.cancel);
    let is_up = params.direction == Direction::Callers && params.to.is_none();
    let found = match found {
        Err(QueryError::NoSuchSymbol { name, near }) if is_up => {
            let uses = ReferencesParams {
                symbol: params.symbol,
                kinds: params.kinds,
                tests: params.tests,
                limit: params.limit,
                ..ReferencesParams::default()
            };
            return uses_outside(&uses, context, QueryError::NoSuchSymbol { name, near });
        }
        found => found?,
    };
    let is_about_all = is_up && params.tests == Tests::default();
    let mut search = ElsewhereSearch::new(context.snapshot, context.files, context.cancel);
    let is_one = found.is_one();
    let evidence = match found.answers.first() {
        Some(first) if !is_one && is_about_all => Some(search.other_evidence(&[first.root.key])?),
        _ => None,
    };
    ambiguous::about(&params.symbol, found, evidence, |result| {
        let possible = match &result.finding {
            TraceFinding::Tree(tree) if tree.nodes.is_empty() => Some(tree.root_counts.possible),
            _ => None,
        };
        let symbols: Vec<SymbolKey> =
            result.also.iter().chain([&result.root]).map(|symbol| symbol.key).collect();
        let (symbol, alike) = (result.root.clone(), result.also.len());
        let (sources, other_uses) = match &result.finding {
            TraceFinding::Tree(tree) if params.depth == 1 || context.sources > FEW => {
                let sites = tree.nodes.iter().flat_map(|node| &node.sites);
                let sources = Sources::of(context.snapshot, context.files, sites, context.sources)?;
                (sources, tree.other_uses)
            }
            TraceFinding::Tree(tree) => (Sources::default(), tree.other_uses),
            _ => (Sources::default(), 0),
        };
        let answer = Traced { params: params.clone(), result, sources };
        match possible {
            Some(possible) if is_about_all => {
                let elsewhere = search.of(&symbols)?;
                Ok(Box::new(Unused { what: "callers", symbol, alike, possible, answer, elsewhere }))
            }
            None if is_about_all && is_one => {
                let elsewhere = search.other_evidence(&symbols)?;
                Ok(Box::new(Accounted { answer, other_uses, elsewhere }))
            }
            _ => Ok(Box::new(answer)),
        }
    })
}
