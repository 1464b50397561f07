//! `around`: a symbol between its callers and its callees, for the page.

use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::sources::Sources;
use crate::answers::reply::{brief, counts, excerpt, list, site, symbol, total, with, with_source};
use crate::base::escape::SafeLine;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool};
use cograph_query::QueryError;
use cograph_query::explore::neighbourhood::{
    AroundParams, AroundResult, RelatedSymbol, SourceSite, around,
};
use cograph_query::trace::{TraceEnd, TraceFinding, TraceLink, TraceNode, TraceResult};
use serde_json::{Value, json};

/// Maximum number of lines of source.
pub(crate) const MAX_LINES: u32 = 400;
/// Maximum number of sites in the source.
pub(crate) const MAX_SITES: usize = 700;
/// Maximum number of callers, and of callees.
pub(crate) const MAX_NEIGHBOURS: usize = 100;
/// Maximum number of sites of a caller or callee.
const MAX_PLACES: usize = 8;
/// Maximum number of source lines of sites.
const MAX_SOURCES: usize = 80;

pub(crate) static TOOL: Tool = Tool {
    name: "around",
    title: "Around a symbol",
    about: "A symbol between its callers and its callees, with its source.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("symbol", Shape::Text { most: 2048 }, "Symbol").required(),
        Parameter::new(
            "line",
            Shape::Integer { least: 1, most: u32::MAX as u64 },
            "Line, of several symbols of the name",
        ),
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

/// Result with the source lines of the calls.
struct Around {
    result: AroundResult,
    sources: Sources,
}

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let params = AroundParams {
        symbol: arguments.text("symbol").unwrap_or_default().to_owned(),
        line: arguments.integer("line").and_then(|line| u32::try_from(line).ok()),
        lines: MAX_LINES,
        limit: MAX_NEIGHBOURS,
    };
    let result = around(context.snapshot, context.files, &params, context.cancel)?;
    let nodes = [&result.callers, &result.callees].into_iter().flat_map(nodes);
    let sites = nodes.flat_map(|node| node.sites.iter().take(MAX_PLACES)).take(MAX_SOURCES);
    let sources = Sources::of(context.snapshot, context.files, sites, MAX_SOURCES)?;
    Ok(Box::new(Around { result, sources }))
}

fn nodes(traced: &TraceResult) -> &[TraceNode] {
    match &traced.finding {
        TraceFinding::Tree(tree) => &tree.nodes,
        TraceFinding::Path(_) | TraceFinding::NoPath { .. } => &[],
    }
}

impl Answer for Around {
    fn render(&self, _page: &mut Page) -> String {
        format!("around {}", SafeLine::new(&self.result.symbol.full_name(), 300))
    }

    fn json(&self) -> Value {
        let result = &self.result;
        json!({
            "symbol": with(symbol(&result.symbol), "name_line", json!(result.symbol.name_at.line)),
            "namesakes": list(&result.namesakes, named),
            "namesake_total": result.namesake_total,
            "source": match &result.source {
                Ok(source) => excerpt(source),
                Err(error) => json!({"error": error.to_string()}),
            },
            "sites": list(&result.sites[..result.sites.len().min(MAX_SITES)], source_site),
            "site_total": result.sites.len(),
            "callers": self.neighbours(&result.callers),
            "callees": self.neighbours(&result.callees),
            "related": list(&result.related, related),
        })
    }
}

impl Around {
    fn neighbours(&self, traced: &TraceResult) -> Value {
        let TraceFinding::Tree(tree) = &traced.finding else { return Value::Null };
        json!({
            "total": total(tree.total),
            "counts": counts(&tree.root_counts),
            "other_uses": tree.other_uses,
            "values": tree.values,
            "nodes": list(&tree.nodes, |node| self.node(node)),
            "not_followed": list(
                &tree.not_followed[..tree.not_followed.len().min(MAX_PLACES)],
                |(at, enclosing)| with(
                    site(at), "enclosing", json!(enclosing.as_ref().map(named))
                )
            ),
        })
    }

    fn node(&self, node: &TraceNode) -> Value {
        let shown = &node.sites[..node.sites.len().min(MAX_PLACES)];
        let end = match &node.end {
            TraceEnd::Symbol(end) => with(json!({}), "symbol", named(end)),
            TraceEnd::File(file) => json!({"file": file.as_str()}),
            TraceEnd::External(name) => json!({"external": name}),
        };
        let node_json = json!({
            "certainty": node.certainty.word(),
            "link": match node.link {
                TraceLink::Sites => "sites",
                TraceLink::Dispatch => "dispatch",
                TraceLink::Value => "value",
                TraceLink::Passed => "passed",
            },
            "through": node.through.as_deref().map(named),
            "test": node.in_tests,
            "sites": list(shown, |at| with_source(site(at), self.sources.text(at))),
            "site_total": node.sites.len(),
        });
        with(node_json, "end", end)
    }
}

/// Identity of a symbol, and the line of its name, by which the page asks for it again.
pub(super) fn named(symbol: &cograph_query::SymbolInfo) -> Value {
    with(brief(symbol), "name_line", json!(symbol.name_at.line))
}

fn source_site(found: &SourceSite) -> Value {
    json!({
        "line": found.site.at.line,
        "column": found.site.at.column,
        "kind": found.site.kind.word(),
        "name": found.site.name,
        "verdict": found.site.verdict.word(),
        "step": found.site.step.word(),
        "targets": list(&found.targets, named),
        "total": found.total,
        "external": found.external,
    })
}

fn related(related: &RelatedSymbol) -> Value {
    json!({
        "kind": related.kind.word(),
        "incoming": related.incoming,
        "symbol": named(&related.symbol),
    })
}
