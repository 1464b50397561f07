//! `trace`: who calls a symbol, what it calls, and how one symbol reaches another.

mod path;
mod seen;

use self::seen::Seen;
use super::names;
use super::{Certainty, Counts, Meanings, QueryError, SiteInfo, SymbolInfo, Tests, Total};
use crate::model::cancel::CancelToken;
use crate::model::{RepoPath, SiteKind};
use crate::query::graph::calls::{CallGraph, Edge, End, Through, Unresolved};
use crate::query::graph::lookup::Lookup;
use crate::store::{SiteRow, Snapshot, SymbolKey};

/// Nodes after which the rest of a tree is no longer counted.
const MAX_NODES: usize = 100_000;

/// Calls that are listed of those that were not followed on the way to a path.
pub const MOST_NOT_FOLLOWED: usize = 20;

/// Which way to walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// Towards those who call.
    #[default]
    Callers,
    /// Towards what is called.
    Callees,
}

/// What to trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceParams {
    /// Where to start.
    pub symbol: String,
    /// Which way. With `to`, the path runs from `symbol` to `to` along calls, whatever stands here.
    pub direction: Direction,
    /// How many steps. With `to`, the longest path considered.
    pub depth: u32,
    /// The other end, if a path is wanted.
    pub to: Option<String>,
    /// Kinds of sites that are followed.
    pub kinds: Vec<SiteKind>,
    /// Whether a call of a method also reaches the methods that override or implement it.
    pub dispatch: bool,
    /// The vaguest sites that are followed. Vaguer ones are counted, and listed at the root.
    pub follow: Certainty,
    /// What to do with test code.
    pub tests: Tests,
    /// At most so many nodes are returned.
    pub limit: usize,
}

impl Default for TraceParams {
    fn default() -> Self {
        Self {
            symbol: String::new(),
            direction: Direction::default(),
            depth: 1,
            to: None,
            kinds: vec![SiteKind::Call, SiteKind::Construct, SiteKind::Decorate],
            dispatch: true,
            follow: Certainty::Likely,
            tests: Tests::default(),
            limit: 500,
        }
    }
}

/// What stands at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceEnd {
    /// A symbol.
    Symbol(Box<SymbolInfo>),
    /// The top of a file, outside every symbol.
    File(RepoPath),
    /// Something outside the repository, by qualified name.
    External(String),
}

/// How a node hangs on its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceLink {
    /// By sites.
    Sites,
    /// By dispatch: the call names a method that this one overrides or implements (or the other way
    /// round).
    Dispatch,
    /// By a value: the call names a variable or field that the function is put into.
    Value,
}

/// A node of the tree. Nodes are in breadth-first order, so that cutting the list from its end
/// keeps a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceNode {
    /// What stands here.
    pub end: TraceEnd,
    /// Its parent: a position in the list; none for children of the root.
    pub parent: Option<usize>,
    /// Steps from the root, from 1.
    pub depth: u32,
    /// How it hangs on its parent.
    pub link: TraceLink,
    /// What the sites name, where the link is dispatch or a value.
    pub through: Option<Box<SymbolInfo>>,
    /// The surest of its sites.
    pub certainty: Certainty,
    /// Every site that makes the connection, in order of place.
    pub sites: Vec<SiteInfo>,
    /// Whether the walk goes on from here elsewhere: the same symbol has an earlier node, whose
    /// children are not repeated.
    pub repeated: bool,
    /// Sites one step further that were not followed because they are too vague. Zero where the
    /// walk ended by depth.
    pub not_followed: Counts,
}

/// A tree of callers or callees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceTree {
    /// The nodes, breadth first; siblings: surest first, then by place.
    pub nodes: Vec<TraceNode>,
    /// How many nodes there are within the depth.
    pub total: Total,
    /// Sites at the root, by certainty, followed or not.
    pub root_counts: Counts,
    /// Sites at the root that were not followed because they are too vague, with the symbol around
    /// each (callers only; for callees, with the name that is called). At most `limit`.
    pub not_followed: Vec<(SiteInfo, Option<SymbolInfo>)>,
}

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathStep {
    /// The symbol reached.
    pub symbol: SymbolInfo,
    /// How it is reached from the step before; none for the first.
    pub link: Option<TraceLink>,
    /// The surest of the sites.
    pub certainty: Certainty,
    /// The sites in the symbol of the step before.
    pub sites: Vec<SiteInfo>,
}

/// What a trace found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceFinding {
    /// A tree of callers or callees.
    Tree(TraceTree),
    /// A shortest path, from the start to the end.
    Path(Vec<PathStep>),
    /// There is no path within the depth, along calls that are followed.
    NoPath {
        /// Everything that can be reached along such calls was seen.
        exhausted: bool,
        /// Symbols that were seen.
        visited: u64,
        /// Calls in them that were not followed because their target is not known: a path may lead
        /// through any of them.
        not_followed: u64,
        /// The first of those, nearest to the start first; at most [`MOST_NOT_FOLLOWED`].
        first: Vec<SiteInfo>,
    },
}

/// The answer of `trace`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceResult {
    /// Where the walk started.
    pub root: SymbolInfo,
    /// What counts as the same and was walked from too: overloads, implementations.
    pub also: Vec<SymbolInfo>,
    /// The other end, if a path was asked for.
    pub to: Option<SymbolInfo>,
    /// What was found.
    pub finding: TraceFinding,
}

/// Walks calls from a symbol.
pub fn trace(
    snapshot: &Snapshot,
    params: &TraceParams,
    cancel: &CancelToken,
) -> Result<TraceResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let start = names::symbol(&lookup, &params.symbol)?;
    let graph =
        CallGraph::new(&lookup, &params.kinds, params.dispatch, params.follow, params.tests);
    let Some(end) = &params.to else {
        return from(&lookup, &graph, &names::Meaning { symbol: start, also: Vec::new() }, params);
    };
    let root = lookup.info(&start)?;
    let end = names::symbol(&lookup, end)?;
    let finding = path::shortest(&lookup, &graph, start.key, end.key, params.depth)?;
    Ok(TraceResult { root, also: Vec::new(), to: Some(lookup.info(&end)?), finding })
}

/// Walks calls from everything that the name means, best first; `most` of them are walked from. A
/// path needs one start.
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
    let graph =
        CallGraph::new(&lookup, &params.kinds, params.dispatch, params.follow, params.tests);
    Meanings::of(&lookup, &params.symbol, most, |meaning| from(&lookup, &graph, meaning, params))
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
        finding: TraceFinding::Tree(tree(lookup, graph, &meaning.keys(), params)?),
    })
}

/// A node before it is turned into what a result holds.
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
        total: Total::Exact(0),
        root_counts: first.counts,
        not_followed: not_followed(lookup, &first.vague, params)?,
    };
    let mut seen = Seen::default();
    for root in roots {
        seen.insert(*root);
    }
    let mut nodes = Vec::new();
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
        add_level(&mut nodes, &mut seen, neighbours.edges, Some(place), depth + 1);
    }
    let total = nodes.len() as u64;
    tree.total = if is_complete { Total::Exact(total) } else { Total::AtLeast(total) };
    nodes.truncate(params.limit);
    tree.nodes = nodes.iter().map(|node| full_node(lookup, node)).collect::<Result<_, _>>()?;
    Ok(tree)
}

fn add_level(
    nodes: &mut Vec<LightNode>,
    seen: &mut Seen,
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
        repeated: node.repeated,
        not_followed: node.not_followed,
    })
}

fn link_of(edge: &Edge) -> TraceLink {
    match edge.through {
        None => TraceLink::Sites,
        Some(Through::Method(_)) => TraceLink::Dispatch,
        Some(Through::Holder(_)) => TraceLink::Value,
    }
}

fn sites(lookup: &Lookup<'_>, rows: &[SiteRow]) -> Result<Vec<SiteInfo>, QueryError> {
    rows.iter().map(|site| lookup.site(site)).collect()
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
