//! `trace`: callers or callees of a symbol as a tree, or a path from one symbol to another.

mod answer;
mod path;
mod sites;
mod visited;

use self::visited::VisitedSymbols;
use super::names;
use crate::graph::answer::{Certainty, Counts, SiteInfo, SymbolInfo, Tests, Total};
use crate::graph::calls::edge::{Edge, End};
use crate::graph::calls::{CallGraph, Unresolved};
use crate::graph::error::QueryError;
use crate::graph::filter::directories;
use crate::graph::lookup::{Lookup, is_call_or_import};
use crate::names::Meanings;
use crate::trace::sites::graph;
pub use answer::{
    Direction, MAX_NOT_FOLLOWED, PathStep, TraceEnd, TraceFinding, TraceLink, TraceNode,
    TraceParams, TraceResult, TraceTree,
};
use cograph_model::cancel::CancelToken;
use cograph_store::{FileKey, SiteKey, SiteRow, Snapshot, SymbolKey, SymbolRow};
use rustc_hash::{FxHashMap, FxHashSet};
use sites::{link_of, sites};
use std::rc::Rc;

/// Maximum number of counted nodes of a tree.
const MAX_NODES: usize = 100_000;

/// Maximum number of named functions at which a search for tests ended.
const MAX_ENDS: usize = 3;

/// Traverses calls from a symbol, which must be one unless a path is looked for.
pub fn trace(
    snapshot: &Snapshot,
    params: &TraceParams,
    cancel: &CancelToken,
) -> Result<TraceResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let graph = graph(&lookup, params);
    if let Some(end) = &params.to {
        return path::between(&lookup, &graph, end, params);
    }
    let start = names::symbol(&lookup, &params.symbol)?;
    from(&lookup, &graph, &names::Meaning { symbol: start, also: Vec::new() }, params)
}

/// Traverses calls from every meaning of the name, best first, at most `most` meanings. A path is
/// one answer: the shortest between any two meanings.
pub fn trace_all(
    snapshot: &Snapshot,
    params: &TraceParams,
    most: usize,
    cancel: &CancelToken,
) -> Result<Meanings<TraceResult>, QueryError> {
    if params.to.is_some() {
        return Ok(Meanings {
            answers: vec![trace(snapshot, params, cancel)?],
            others: Vec::new(),
        });
    }
    let lookup = Lookup::new(snapshot, cancel)?;
    let graph = graph(&lookup, params);
    Meanings::of(&lookup, &params.symbol, most, |meaning| from(&lookup, &graph, meaning, params))
}

/// Traverses calls from one symbol.
pub(crate) fn from_symbol(
    lookup: &Lookup<'_>,
    symbol: &Rc<SymbolRow>,
    params: &TraceParams,
) -> Result<TraceResult, QueryError> {
    let meaning = names::Meaning { symbol: Rc::clone(symbol), also: Vec::new() };
    from(lookup, &graph(lookup, params), &meaning, params)
}

fn from(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    meaning: &names::Meaning,
    params: &TraceParams,
) -> Result<TraceResult, QueryError> {
    Ok(TraceResult {
        root: lookup.info(&meaning.symbol)?,
        also: meaning.also.iter().map(|symbol| lookup.info(symbol)).collect::<Result<_, _>>()?,
        to: None,
        also_to: 0,
        finding: TraceFinding::Tree(tree(lookup, graph, &meaning.keys(), params)?),
    })
}

/// Node before its conversion to a result.
struct LightNode {
    edge: Edge,
    parent: Option<usize>,
    depth: u32,
    repeated: bool,
    not_followed: Counts,
}

fn tree(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    roots: &[SymbolKey],
    params: &TraceParams,
) -> Result<TraceTree, QueryError> {
    let step = |symbols: &[SymbolKey], unresolved| match params.direction {
        Direction::Callers => graph.callers_of(symbols, unresolved),
        Direction::Callees => graph.callees_of(symbols),
    };
    let first = step(roots, Unresolved::Listed)?;
    let mut tree = TraceTree {
        nodes: Vec::new(),
        is_list: false,
        total: Total::Exact(0),
        distinct: Total::Exact(0),
        root_counts: first.counts,
        values: 0,
        other_uses: 0,
        by_directory: by_directory(lookup, &first.edges)?,
        not_followed: not_followed(lookup, &first.vague, params)?,
        ends: 0,
        first_ends: Vec::new(),
    };
    if params.direction == Direction::Callers && !first.edges.is_empty() {
        (tree.values, tree.other_uses) = other_uses(lookup, roots, params)?;
    }
    let mut seen = VisitedSymbols::default();
    for root in roots {
        seen.insert(*root);
    }
    let looks_for_tests = params.direction == Direction::Callers && params.tests == Tests::Only;
    let (mut nodes, mut ends) = (Vec::new(), Vec::new());
    let mut is_complete = true;
    if params.depth > 0 {
        add_level(&mut nodes, &mut seen, first.edges, None, 1);
    }
    let mut next = 0;
    while next < nodes.len() {
        let node: &LightNode = &nodes[next];
        let (depth, place) = (node.depth, next);
        next += 1;
        let End::Symbol(symbol) = node.edge.end else { continue };
        if node.repeated || depth >= params.depth {
            continue;
        }
        if nodes.len() >= MAX_NODES {
            is_complete = false;
            break;
        }
        let neighbours = step(&[symbol], Unresolved::Counted)?;
        nodes[place].not_followed.textual += neighbours.unlisted;
        for (_, degree) in &neighbours.vague {
            nodes[place].not_followed.add(*degree);
        }
        if looks_for_tests && neighbours.edges.is_empty() {
            ends.push(symbol);
        }
        add_level(&mut nodes, &mut seen, neighbours.edges, Some(place), depth + 1);
    }
    for end in ends {
        let row = lookup.symbol(end)?;
        if !lookup.is_test(&row)? {
            tree.ends += 1;
            if tree.first_ends.len() < MAX_ENDS {
                tree.first_ends.push(lookup.info(&row)?);
            }
        }
    }
    if params.depth > 1 && params.tests != Tests::Include {
        tree.is_list = admitted(lookup, &mut nodes, params.tests)?;
    }
    let total = |number| if is_complete { Total::Exact(number) } else { Total::AtLeast(number) };
    (tree.total, tree.distinct) = (total(nodes.len() as u64), total(distinct(&nodes)));
    nodes.truncate(params.limit);
    tree.nodes = nodes.iter().map(|node| full_node(lookup, node)).collect::<Result<_, _>>()?;
    Ok(tree)
}

/// Keeps the nodes that pass the filter: code as a tree if that leaves out whole branches of tests
/// only, otherwise as a list of the first node of each end. Returns whether it is a list.
fn admitted(
    lookup: &Lookup<'_>,
    nodes: &mut Vec<LightNode>,
    tests: Tests,
) -> Result<bool, QueryError> {
    let all = std::mem::take(nodes);
    let mut admits = Vec::with_capacity(all.len());
    for node in &all {
        lookup.check()?;
        let is_test = match node.edge.end {
            End::Symbol(symbol) => lookup.is_test(&*lookup.symbol(symbol)?)?,
            End::File(file) => lookup.place(file)?.test,
            End::External(_) => false,
        };
        admits.push(tests.admits(is_test));
    }
    let is_below = |(node, admits): (&LightNode, &bool), all: &[bool]| {
        !*admits || node.parent.is_none_or(|parent| all[parent])
    };
    let is_tree =
        tests == Tests::Exclude && all.iter().zip(&admits).all(|pair| is_below(pair, &admits));
    let (mut seen, mut places) = (FxHashSet::default(), vec![None; all.len()]);
    for (at, node) in all.into_iter().enumerate().filter(|(at, _)| admits[*at]) {
        if is_tree {
            places[at] = Some(nodes.len());
            let parent = node.parent.and_then(|parent| places[parent]);
            nodes.push(LightNode { parent, ..node });
        } else if !node.repeated && seen.insert(node.edge.end) {
            nodes.push(LightNode { parent: None, ..node });
        }
    }
    Ok(!is_tree)
}

/// Returns the number of distinct ends.
fn distinct(nodes: &[LightNode]) -> u64 {
    nodes.iter().map(|node| node.edge.end).collect::<FxHashSet<End>>().len() as u64
}

/// Returns the number of references to functions that take them as a value, and of those of kinds
/// that are not followed, among the first `params.references` to each.
fn other_uses(
    lookup: &Lookup<'_>,
    roots: &[SymbolKey],
    params: &TraceParams,
) -> Result<(u64, u64), QueryError> {
    let (mut values, mut others, mut seen) = (0, 0, FxHashSet::default());
    for &root in roots {
        let is_callable = lookup.symbol(root)?.kind.is_callable();
        for key in lookup.same_entity(root)? {
            if !seen.insert(key) {
                continue;
            }
            let mut left = params.references;
            lookup.snapshot.visit_sites_to(key, |site| {
                values += u64::from(is_callable && !is_call_or_import(site.kind));
                others += u64::from(!params.kinds.contains(&site.kind));
                left = left.saturating_sub(1);
                left > 0
            })?;
        }
    }
    Ok((values, others))
}

/// Returns the sites of edges by directory of the file, most first.
fn by_directory(lookup: &Lookup<'_>, edges: &[Edge]) -> Result<Vec<(String, u64)>, QueryError> {
    let mut sites: FxHashMap<SiteKey, FileKey> = FxHashMap::default();
    for edge in edges {
        sites.extend(edge.sites.iter().map(|site| (site.key, site.file)));
    }
    let mut files: FxHashMap<FileKey, u64> = FxHashMap::default();
    sites.into_values().for_each(|file| *files.entry(file).or_default() += 1);
    let paths = files.into_iter().map(|(file, count)| Ok((lookup.place(file)?, count)));
    let paths = paths.collect::<Result<Vec<_>, QueryError>>()?;
    Ok(directories(paths.iter().map(|(place, count)| (&place.path, *count))))
}

fn add_level(
    nodes: &mut Vec<LightNode>,
    seen: &mut VisitedSymbols,
    edges: Vec<Edge>,
    parent: Option<usize>,
    depth: u32,
) {
    nodes.reserve(edges.len());
    for edge in edges {
        let repeated = match edge.end {
            End::Symbol(symbol) => !seen.insert(symbol),
            End::File(_) | End::External(_) => false,
        };
        nodes.push(LightNode { edge, parent, depth, repeated, not_followed: Counts::default() });
    }
}

fn full_node(lookup: &Lookup<'_>, node: &LightNode) -> Result<TraceNode, QueryError> {
    let edge = &node.edge;
    Ok(TraceNode {
        end: match edge.end {
            End::Symbol(symbol) => TraceEnd::Symbol(Box::new(lookup.info_of(symbol)?)),
            End::File(file) => TraceEnd::File(lookup.place(file)?.path.clone()),
            End::External(name) => TraceEnd::External(lookup.name(name)?.to_string()),
        },
        parent: node.parent,
        depth: node.depth,
        link: link_of(edge),
        through: edge
            .through
            .map(|through| lookup.info_of(through.symbol()).map(Box::new))
            .transpose()?,
        certainty: edge.certainty,
        sites: sites(lookup, &edge.sites)?,
        in_tests: edge.in_tests,
        repeated: node.repeated,
        not_followed: node.not_followed,
    })
}

fn not_followed(
    lookup: &Lookup<'_>,
    vague: &[(SiteRow, Certainty)],
    params: &TraceParams,
) -> Result<Vec<(SiteInfo, Option<SymbolInfo>)>, QueryError> {
    let mut listed = Vec::new();
    for (site, _) in vague.iter().take(params.limit) {
        let enclosing = site.enclosing.filter(|_| params.direction == Direction::Callers);
        listed.push((lookup.site(site)?, enclosing.map(|key| lookup.info_of(key)).transpose()?));
    }
    Ok(listed)
}
