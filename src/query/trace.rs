//! `trace`: who calls a symbol, what it calls, and how one symbol reaches another.

use super::{Certainty, Counts, QueryError, SiteInfo, SymbolInfo, Tests, Total};
use crate::model::cancel::CancelToken;
use crate::model::{RepoPath, SiteKind};
use crate::store::Snapshot;

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
    /// By dispatch: the call names a method that this one overrides or implements (or the other way round).
    Dispatch,
}

/// A node of the tree. Nodes are in breadth-first order, so that cutting the list from its end keeps a tree.
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
    /// The surest of its sites.
    pub certainty: Certainty,
    /// Every site that makes the connection, in order of place.
    pub sites: Vec<SiteInfo>,
    /// Whether the walk goes on from here elsewhere: the same symbol has an earlier node, whose children are not repeated.
    pub repeated: bool,
    /// Sites of vaguer kind at this node that were not followed.
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
    /// Sites at the root that were not followed because they are too vague, with the symbol around each (callers only;
    /// for callees, with the name that is called). At most `limit`.
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
    /// There is no path within the depth. `exhausted` says that there is none at any depth.
    NoPath {
        /// Everything that can be reached was seen.
        exhausted: bool,
        /// Symbols that were seen.
        visited: u64,
    },
}

/// The answer of `trace`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceResult {
    /// Where the walk started.
    pub root: SymbolInfo,
    /// The other end, if a path was asked for.
    pub to: Option<SymbolInfo>,
    /// What was found.
    pub finding: TraceFinding,
}

/// Walks calls from a symbol.
pub fn trace(snapshot: &Snapshot, params: &TraceParams, cancel: &CancelToken) -> Result<TraceResult, QueryError> {
    super::pending(snapshot, params, cancel)
}
