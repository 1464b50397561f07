//! `references`: all sites of a symbol.

mod json;
mod text;

use super::{Handler, QueryContext, certainty, kinds, tests};
use crate::model::SiteKind;
use crate::query::{self, ElsewhereSearch, QueryError, ReferencesParams, Tests};
use crate::server::answers::Answer;
use crate::server::answers::render::elsewhere::Unused;
use crate::server::answers::render::several;
use crate::server::jsonrpc::admission::Class;
use crate::server::tools::arguments::Arguments;
use crate::server::tools::tool::{MAX_OFFSET, Parameter, QUERY_DEADLINE, Shape, Tool};
use crate::store::SymbolKey;
use text::FoundReferences;

pub(in crate::server) static TOOL: Tool = Tool {
    name: "references",
    title: "Find references",
    about: "Every place that uses a symbol, by file and kind, and what overrides, implements or \
            derives from it. Use before a change.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    own: &[
        Parameter::new("symbol", Shape::Text { most: 1024 }, "The symbol").required().also(&[
            "name",
            "symbol_name",
            "query",
            "target",
            "function",
        ]),
        Parameter::new(
            "kinds",
            Shape::Texts {
                most: 20,
                words: || SiteKind::ALL.iter().map(|kind| kind.word()).collect(),
            },
            "E.g. call, construct, read, write, type, import, inherit",
        )
        .also(&["kind", "type", "types"]),
        Parameter::new("path", Shape::Text { most: 1024 }, "Only below this path or glob").also(&[
            "file",
            "directory",
            "dir",
            "glob",
        ]),
        super::CERTAINTY,
        super::TESTS,
        Parameter::new("offset", Shape::Integer { least: 0, most: MAX_OFFSET }, "Skip so many")
            .also(&["skip", "start", "cursor", "page"]),
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let defaults = ReferencesParams::default();
    let params = ReferencesParams {
        symbol: arguments.text("symbol").unwrap_or_default().to_owned(),
        kinds: kinds(arguments, SiteKind::from_word),
        path: arguments.text("path").map(str::to_owned),
        tests: tests(arguments),
        list: certainty(arguments, defaults.list),
        offset: super::offset(arguments),
        limit: context.entries(8),
    };
    let found =
        query::references_all(context.snapshot, &params, super::MAX_MEANINGS, context.cancel)?;
    let is_about_all =
        params.kinds.is_empty() && params.path.is_none() && params.tests == Tests::default();
    let mut search = ElsewhereSearch::new(context.snapshot, context.files, context.cancel);
    several::about(&params.symbol, found, |result| {
        let is_unused = result.counts.certain + result.counts.likely == 0;
        let symbols: Vec<SymbolKey> =
            result.declarations.iter().chain([&result.symbol]).map(|symbol| symbol.key).collect();
        let (symbol, possible) = (result.symbol.clone(), result.counts.possible);
        let answer = FoundReferences { params: params.clone(), result };
        if !is_unused || !is_about_all {
            return Ok(Box::new(answer));
        }
        let elsewhere = search.of(&symbols)?;
        let what = "references";
        Ok(Box::new(Unused { what, symbol, alike: 0, possible, answer, elsewhere }))
    })
}
