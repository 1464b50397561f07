//! JSON of symbols and their relations.

use super::{brief, counts, excerpt, list, path, site, symbol, total, with};
use crate::query::explore::{Explored, Why};
use crate::query::outline::{DirectoryEntry, DirectoryInfo, FileInfo, OutlineNode};
use crate::query::overview::EntryPoint;
use crate::query::trace::{PathStep, TraceEnd, TraceFinding, TraceLink, TraceNode, TraceTree};
use crate::query::{
    Elsewhere, ExploreResult, OutlineResult, OverviewResult, ReferencesResult, TraceResult,
};
use serde_json::{Value, json};

/// Result of `explore`.
pub(in crate::server) fn explore(result: &ExploreResult) -> Value {
    json!({
        "total": total(result.total),
        "symbols": list(&result.symbols, explored),
        "others": list(&result.others, |other| with(brief(&other.symbol), "why", why(&other.why))),
        "connections": list(&result.connections, |connection| {
            list(&connection.chain, |(end, line)| with(brief(end), "call_line", json!(line)))
        }),
        "tests": list(&result.tests, |test| {
            json!({"test": brief(&test.symbol), "covers": test.covers, "distance": test.distance})
        }),
        "test_total": total(result.test_total),
    })
}

fn explored(explored: &Explored) -> Value {
    json!({
        "symbol": symbol(&explored.symbol),
        "why": why(&explored.why),
        "source": explored.source.as_ref().map(excerpt).unwrap_or_else(
            |error| json!({"error": error.to_string()})
        ),
        "callers": list(&explored.callers, brief),
        "caller_total": explored.caller_total,
        "callees": list(&explored.callees, brief),
        "callee_total": explored.callee_total,
        "possible_callers": explored.possible_callers,
    })
}

fn why(why: &Why) -> Value {
    json!({"named": why.is_named, "words": why.words})
}

/// Result of `trace`.
pub(in crate::server) fn trace(result: &TraceResult) -> Value {
    let mut reply = json!({"root": symbol(&result.root), "to": result.to.as_ref().map(symbol)});
    if !result.also.is_empty() {
        reply["also"] = list(&result.also, brief);
    }
    match &result.finding {
        TraceFinding::Tree(tree) => reply["tree"] = trace_tree(tree),
        TraceFinding::Path(steps) => reply["path"] = list(steps, path_step),
        TraceFinding::NoPath { exhausted, visited, not_followed, first } => {
            reply["no_path"] = json!({
                "exhausted": exhausted, "visited": visited, "not_followed": not_followed,
                "first": list(first, site)
            });
        }
    }
    reply
}

fn trace_tree(tree: &TraceTree) -> Value {
    json!({
        "total": total(tree.total),
        "counts": counts(&tree.root_counts),
        "nodes": list(&tree.nodes, trace_node),
        "not_followed": list(
            &tree.not_followed,
            |(at, around)| with(site(at), "enclosing", json!(around.as_ref().map(brief)))
        ),
    })
}

fn trace_node(node: &TraceNode) -> Value {
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
        "sites": list(&node.sites, site),
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
    }
}

/// Result without uses of a symbol, and other evidence of use.
pub(in crate::server) fn unused(answer: Value, elsewhere: &Elsewhere) -> Value {
    let found = json!({
        "values": list(
            &elsewhere.values,
            |value| with(site(&value.site), "enclosing", json!(value.enclosing.as_ref().map(brief)))
        ),
        "lines": list(
            &elsewhere.lines, |(file, line)| json!({"path": file.as_str(), "line": line})
        ),
        "unsearched": elsewhere.unsearched,
        "not_read": elsewhere.not_read,
    });
    with(answer, "elsewhere", found)
}

/// Result of `references`.
pub(in crate::server) fn references(result: &ReferencesResult) -> Value {
    let sites: Vec<Value> = result
        .files
        .iter()
        .flat_map(|file| &file.references)
        .map(|reference| {
            let sure = with(site(&reference.site), "certainty", json!(reference.certainty.word()));
            with(sure, "enclosing", json!(reference.enclosing.as_ref().map(brief)))
        })
        .collect();
    json!({
        "symbol": symbol(&result.symbol),
        "declarations": list(&result.declarations, brief),
        "counts": counts(&result.counts),
        "by_kind": result.by_kind.iter().map(
            |(kind, count)| (kind.word().to_owned(), json!(count))
        ).collect::<serde_json::Map<_, _>>(),
        "reasons": list(&result.reasons, |(certainty, step, count)| {
            json!({"certainty": certainty.word(), "reason": step.word(), "count": count})
        }),
        "files": result.file_count,
        "sites": sites,
        "related": list(&result.related, |related| {
            json!({
                "relation": related.kind.word(), "incoming": related.incoming,
                "symbol": brief(&related.symbol)
            })
        }),
    })
}

/// Result of `outline`.
pub(in crate::server) fn outline(result: &OutlineResult) -> Value {
    match result {
        OutlineResult::File(outline) => json!({
            "file": file(&outline.file),
            "symbols": list(&outline.symbols, outline_node),
            "imports": list(&outline.imports, |import| json!({
                "module": import.module,
                "item": import.item,
                "line": import.line,
                "target": import.target.as_ref().map(path),
            })),
            "problems": list(&outline.problems, |problem| json!({
                "kind": problem.kind.word(), "first_line": problem.first_line,
                "last_line": problem.last_line,
            })),
        }),
        OutlineResult::Directory { info, entries } => {
            with(directory(info), "entries", list(entries, entry))
        }
    }
}

fn outline_node(node: &OutlineNode) -> Value {
    with(symbol(&node.symbol), "children", list(&node.children, outline_node))
}

fn file(file: &FileInfo) -> Value {
    json!({
        "path": file.path.as_str(),
        "language": file.language,
        "lines": file.lines,
        "size": file.size,
        "symbols": file.symbols,
        "skipped": file.skipped.map(|reason| reason.word()),
        "generated": file.generated,
        "test": file.test,
    })
}

fn directory(info: &DirectoryInfo) -> Value {
    json!({
        "directory": info.path, "files": info.files, "lines": info.lines, "symbols": info.symbols
    })
}

fn entry(entry_of: &DirectoryEntry) -> Value {
    match entry_of {
        DirectoryEntry::Directory { info, entries } => {
            with(directory(info), "entries", list(entries, entry))
        }
        DirectoryEntry::File { info, top } => with(file(info), "top", list(top, brief)),
    }
}

/// Result of `overview`.
pub(in crate::server) fn overview(result: &OverviewResult) -> Value {
    json!({
        "languages": list(&result.languages, |share| json!({
            "name": share.name, "tier": share.tier.word(), "files": share.files,
            "lines": share.lines, "symbols": share.symbols,
        })),
        "modules": list(&result.modules, |module| json!({
            "path": module.path, "files": module.files, "lines": module.lines,
            "symbols": module.symbols,
            "used_by": module.used_by, "uses": module.uses,
        })),
        "module_total": result.module_total,
        "dependencies": list(
            &result.dependencies,
            |edge| json!({"from": edge.from, "to": edge.to, "sites": edge.sites})
        ),
        "dependency_total": result.dependency_total,
        "entry_points": list(&result.entry_points, |entry| match entry {
            EntryPoint::Main(main) => brief(main),
            EntryPoint::Root { path, uses } => json!({"file": path.as_str(), "uses": uses}),
        }),
        "entry_point_total": result.entry_point_total,
        "hot_spots": list(&result.hot_spots, symbol),
        "cycles": result.cycles,
        "cycle_total": result.cycle_total,
    })
}
