//! Parameters and result of `trace`.

use crate::graph::answer::{Certainty, Counts, SiteInfo, SymbolInfo, Tests, Total};
use cograph_model::{RepoPath, SiteKind};

/// Maximum number of listed calls that were not followed during a search for a path.
pub const MAX_NOT_FOLLOWED: usize = 20;

/// Direction of the traversal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// To callers.
    #[default]
    Callers,
    /// To callees.
    Callees,
}

/// Parameters of `trace`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceParams {
    /// Start.
    pub symbol: String,
    /// Direction. Ignored with `to`: a path runs from `symbol` to `to` along calls.
    pub direction: Direction,
    /// Maximum number of steps. With `to`, the maximum length of the path.
    pub depth: u32,
    /// Symbol that a path passes.
    pub via: Option<String>,
    /// End of a path.
    pub to: Option<String>,
    /// Kinds of sites that are followed.
    pub kinds: Vec<SiteKind>,
    /// True if a call of a method also reaches the methods that override or implement it.
    pub dispatch: bool,
    /// Lowest certainty that is followed. Other sites are counted, and listed at the root.
    pub follow: Certainty,
    /// Test code to list. With several steps all code is followed, whatever is listed.
    pub tests: Tests,
    /// Maximum number of nodes.
    pub limit: usize,
    /// Maximum number of references that are read to find the callers of a symbol.
    pub references: usize,
}

impl Default for TraceParams {
    fn default() -> Self {
        Self {
            symbol: String::new(),
            direction: Direction::default(),
            depth: 1,
            via: None,
            to: None,
            kinds: vec![SiteKind::Call, SiteKind::Construct, SiteKind::Decorate],
            dispatch: true,
            follow: Certainty::Likely,
            tests: Tests::default(),
            limit: 500,
            references: usize::MAX,
        }
    }
}

/// Subject of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceEnd {
    /// Symbol.
    Symbol(Box<SymbolInfo>),
    /// Top level of a file.
    File(RepoPath),
    /// External entity, by qualified name.
    External(String),
}

/// Link of a node to its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceLink {
    /// Direct sites.
    Sites,
    /// Dispatch: the call names a method that this one overrides or implements, or the reverse.
    Dispatch,
    /// Function value: the call names a variable or field that the function is assigned to.
    Value,
    /// The function is named without a call: it is passed or stored. Only in paths.
    Passed,
}

/// Node of the tree. Nodes are in breadth-first order, so that a truncated list is a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceNode {
    /// Subject.
    pub end: TraceEnd,
    /// Parent, as a position in the list; `None` for children of the root.
    pub parent: Option<usize>,
    /// Distance from the root, from 1.
    pub depth: u32,
    /// Link to the parent.
    pub link: TraceLink,
    /// Symbol named by the sites, if the link is dispatch or a value.
    pub through: Option<Box<SymbolInfo>>,
    /// Highest certainty of its sites.
    pub certainty: Certainty,
    /// All sites of the link, in order of position.
    pub sites: Vec<SiteInfo>,
    /// True for a caller that is test code.
    pub in_tests: bool,
    /// True if an earlier node has the same symbol; the children are not repeated.
    pub repeated: bool,
    /// Numbers of sites of the next step that were not followed because of their certainty. Zero at
    /// the maximum depth.
    pub not_followed: Counts,
}

/// Tree of callers or callees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceTree {
    /// Nodes, breadth first; siblings by certainty, then by position.
    pub nodes: Vec<TraceNode>,
    /// True for a list of what several steps reach, without what the filter leaves out: nearest
    /// first, each once, without parents.
    pub is_list: bool,
    /// Number of nodes within the depth.
    pub total: Total,
    /// Number of distinct ends of these nodes.
    pub distinct: Total,
    /// Numbers of sites at the root by certainty, followed or not.
    pub root_counts: Counts,
    /// Number of references to a function at the root that are no calls, if there are callers: what
    /// takes the value may call it.
    pub values: u64,
    /// Number of certain and likely references to the root of the kinds that are not followed, if
    /// there are callers.
    pub other_uses: u64,
    /// Followed sites at the root by directory, most first.
    pub by_directory: Vec<(String, u64)>,
    /// Sites at the root that were not followed because of their certainty, with the enclosing
    /// symbol of each (callers only; for callees, with the called name). At most `limit`.
    pub not_followed: Vec<(SiteInfo, Option<SymbolInfo>)>,
    /// Number of functions without a known caller at which a search for tests ended: a test may
    /// reach what calls them.
    pub ends: u64,
    /// First of these, nearest to the root first.
    pub first_ends: Vec<SymbolInfo>,
}

/// Step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathStep {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Link to the previous step; `None` for the first.
    pub link: Option<TraceLink>,
    /// Highest certainty of the sites.
    pub certainty: Certainty,
    /// Sites in the symbol of the previous step.
    pub sites: Vec<SiteInfo>,
}

/// Result of the traversal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceFinding {
    /// Tree of callers or callees.
    Tree(TraceTree),
    /// Shortest path from the start to the end.
    Path(Vec<PathStep>),
    /// No path within the depth, along followed calls.
    NoPath {
        /// True if everything reachable along such calls was visited.
        exhausted: bool,
        /// Number of visited symbols.
        visited: u64,
        /// Number of calls in them that were not followed because their target is unknown: each may
        /// be part of a path.
        not_followed: u64,
        /// First of these, nearest to the start first; at most [`MAX_NOT_FOLLOWED`].
        first: Vec<SiteInfo>,
        /// Number of visited symbols with a body of which nothing, or not all, was recorded.
        unread: u64,
        /// First of these.
        first_unread: Option<Box<SymbolInfo>>,
    },
}

/// Result of `trace`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceResult {
    /// Start.
    pub root: SymbolInfo,
    /// Equivalent symbols that the traversal started from as well: overloads, implementations.
    pub also: Vec<SymbolInfo>,
    /// End of the path, if one was requested.
    pub to: Option<SymbolInfo>,
    /// Number of further symbols that the name of the end means, if there is no path to any.
    pub also_to: u64,
    /// Tree or path.
    pub finding: TraceFinding,
}
