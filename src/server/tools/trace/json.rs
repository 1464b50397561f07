//! JSON of the answers of `trace`: totals, symbols, places.

use crate::answers::render::sources::Sources;
use crate::answers::reply::{brief, counts, list, site, symbol, total, with, with_source};
use cograph_query::trace::{
    Direction, PathStep, TraceEnd, TraceFinding, TraceLink, TraceNode, TraceTree,
};
use cograph_query::{TraceParams, TraceResult};
use serde_json::{Value, json};

/// Result of `trace`.
pub(super) fn trace(params: &TraceParams, result: &TraceResult, sources: &Sources) -> Value {
    let mut reply = json!({"root": symbol(&result.root), "to": result.to.as_ref().map(symbol)});
    if !result.also.is_empty() {
        reply["also"] = list(&result.also, brief);
    }
    match &result.finding {
        TraceFinding::Tree(tree) => reply["tree"] = trace_tree(params, tree, sources),
        TraceFinding::Path(steps) => reply["path"] = list(steps, path_step),
        TraceFinding::NoPath { exhausted, visited, not_followed, first, unread, first_unread } => {
            reply["no_path"] = json!({
                "exhausted": exhausted, "visited": visited, "not_followed": not_followed,
                "first": list(first, site), "unread": unread,
                "first_unread": first_unread.as_deref().map(brief)
            });
        }
    }
    reply
}

fn trace_tree(params: &TraceParams, tree: &TraceTree, sources: &Sources) -> Value {
    let direction = match params.direction {
        Direction::Callers => "callers",
        Direction::Callees => "callees",
    };
    json!({
        "direction": direction,
        "total": total(tree.total),
        "distinct": total(tree.distinct),
        "list": tree.is_list,
        "counts": counts(&tree.root_counts),
        "values": tree.values,
        "other_uses": tree.other_uses,
        "ends": tree.ends,
        "first_ends": list(&tree.first_ends, brief),
        "by_directory": list(
            &tree.by_directory, |(path, count)| json!({"path": path, "count": count})
        ),
        "nodes": list(&tree.nodes, |node| trace_node(node, sources)),
        "not_followed": list(
            &tree.not_followed,
            |(at, around)| with(site(at), "enclosing", json!(around.as_ref().map(brief)))
        ),
    })
}

fn trace_node(node: &TraceNode, sources: &Sources) -> Value {
    let end = match &node.end {
        TraceEnd::Symbol(end) => brief(end),
        TraceEnd::File(file) => json!({"file": file.as_str()}),
        TraceEnd::External(name) => json!({"external": name}),
    };
    json!({
        "end": end,
        "parent": node.parent,
        "depth": node.depth,
        "link": link(node.link),
        "through": node.through.as_deref().map(brief),
        "certainty": node.certainty.word(),
        "sites": list(&node.sites, |at| with_source(site(at), sources.text(at))),
        "repeated": node.repeated,
        "not_followed": counts(&node.not_followed),
    })
}

fn path_step(step: &PathStep) -> Value {
    json!({
        "symbol": brief(&step.symbol),
        "link": step.link.map(link),
        "certainty": step.certainty.word(),
        "sites": list(&step.sites, site),
    })
}

fn link(link: TraceLink) -> &'static str {
    match link {
        TraceLink::Sites => "sites",
        TraceLink::Dispatch => "dispatch",
        TraceLink::Value => "value",
        TraceLink::Passed => "passed",
    }
}
