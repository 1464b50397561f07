//! `references`: all sites of a symbol.

mod json;
mod outside;
mod text;

use crate::answers::Answer;
use crate::answers::render::evidence::{Accounted, Unused};
use crate::answers::render::sources::Sources;
use crate::answers::render::{ambiguous, batch};
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::common::{certainty, kinds, tests};
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool, common};
use cograph_model::SiteKind;
use cograph_query::{
    self as query, ElsewhereSearch, QueryError, ReferencesParams, SymbolInfo, Tests,
};
use cograph_store::SymbolKey;
use text::FoundReferences;

pub(crate) static TOOL: Tool = Tool {
    name: "references",
    title: "Find references",
    about: "Every place that uses a symbol, by file and kind, and what overrides, implements or \
            derives from it. Use before a change.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("symbol", Shape::Texts { most: 1024, words: Vec::new }, "One or more")
            .with_paths()
            .required()
            .also(&["name", "symbol_name", "query", "target", "function", "symbols"]),
        Parameter::new(
            "kinds",
            Shape::Texts {
                most: 20,
                words: || SiteKind::ALL.iter().map(|kind| kind.word()).collect(),
            },
            "E.g. call, construct, read, write, type, import, inherit",
        )
        .also(&["kind", "type", "types"]),
        common::WITHIN,
        common::CERTAINTY,
        common::TESTS,
        common::OFFSET,
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    batch::each(TOOL.name, arguments.texts("symbol"), |symbol| one(symbol, arguments, context))
}

fn one(
    symbol: &str,
    arguments: &Arguments,
    context: &QueryContext<'_>,
) -> Result<Box<dyn Answer>, QueryError> {
    let params = ReferencesParams {
        symbol: symbol.to_owned(),
        kinds: kinds(arguments, SiteKind::from_word),
        path: arguments.text("path").map(str::to_owned),
        tests: tests(arguments),
        list: certainty(arguments),
        offset: common::offset(arguments),
        limit: context.entries(8),
    };
    let found =
        query::references_all(context.snapshot, &params, common::MAX_MEANINGS, context.cancel);
    let found = match found {
        Err(QueryError::NoSuchSymbol { name, near }) => {
            return uses_outside(&params, context, QueryError::NoSuchSymbol { name, near });
        }
        found => found?,
    };
    let asked = params.symbol.trim().trim_matches('`');
    // A key of a data file that names a package represents what is used of it. A place is no name.
    let names_package = |symbol: &SymbolInfo| symbol.is_data() && symbol.name == asked;
    if found.answers.iter().all(|found| names_package(&found.symbol) && found.counts.certain == 0)
        && let Some(uses) = query::outside(context.snapshot, &params, context.cancel)?
        && uses.entities.iter().any(|entity| entity.name.starts_with(&uses.name))
    {
        return Ok(Box::new(uses));
    }
    let is_of_all_files = params.path.is_none() && params.tests == Tests::default();
    let is_about_all = is_of_all_files && params.kinds.is_empty();
    let mut search = ElsewhereSearch::new(context.snapshot, context.files, context.cancel);
    let is_one = found.is_one();
    let evidence = match found.answers.first() {
        Some(first) if !is_one && is_about_all => Some(search.other_evidence(&[first.symbol.key])?),
        _ => None,
    };
    ambiguous::about(&params.symbol, found, evidence, |result| {
        let is_unused = result.counts.certain + result.counts.likely == 0;
        let symbols: Vec<SymbolKey> =
            result.declarations.iter().chain([&result.symbol]).map(|symbol| symbol.key).collect();
        let (symbol, possible) = (result.symbol.clone(), result.counts.possible);
        let sites = result.files.iter().flat_map(|file| &file.references);
        let sites = sites.map(|reference| &reference.site);
        let sources = Sources::of(context.snapshot, context.files, sites, context.sources)?;
        let answer = FoundReferences { params: params.clone(), result, sources };
        if !is_unused && is_one && is_of_all_files {
            let (other_uses, elsewhere) =
                (answer.result.of_other_kinds, search.other_evidence(&symbols)?);
            return Ok(Box::new(Accounted { answer, other_uses, elsewhere }));
        }
        if !is_unused || !is_about_all {
            return Ok(Box::new(answer));
        }
        let elsewhere = search.of(&symbols)?;
        let what = "references";
        Ok(Box::new(Unused { what, symbol, alike: 0, possible, answer, elsewhere }))
    })
}

/// Answer about a name that no symbol of the repository has: the uses of what is outside, or the
/// error.
pub(super) fn uses_outside(
    params: &ReferencesParams,
    context: &QueryContext<'_>,
    error: QueryError,
) -> Result<Box<dyn Answer>, QueryError> {
    match query::outside(context.snapshot, params, context.cancel)? {
        Some(uses) => Ok(Box::new(uses)),
        None => Err(error),
    }
}
