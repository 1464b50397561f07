//! `explore`: from a question to the few symbols that matter, how they connect, their source and
//! the tests that cover them, and what else the question may be about.

mod connect;

use std::cmp::{Ordering, Reverse};

use super::locate::{self, Located};
use super::show::{Excerpt, excerpt};
use super::{Certainty, QueryError, ReadFile, SymbolInfo, Tests, Total};
use crate::model::SiteKind;
use crate::model::cancel::CancelToken;
use crate::query::graph::calls::{CallGraph, End, Neighbours, Unresolved};
use crate::query::graph::filter::FileFilter;
use crate::query::graph::lookup::Lookup;
use crate::store::{Snapshot, SymbolKey, SymbolRow};

/// What to explore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExploreParams {
    /// Words, names of symbols, or a text with code and stack traces in it.
    pub text: String,
    /// Only files below this path, or that match this glob.
    pub path: Option<String>,
    /// At most so many symbols with their source and neighbours.
    pub limit: usize,
    /// At most so many more symbols, without.
    pub others: usize,
    /// Longest chain of calls that is looked for between two symbols.
    pub depth: u32,
    /// At most so many lines of source for each symbol; an excerpt says how many lines the symbol
    /// has.
    pub lines_per_symbol: u32,
}

impl Default for ExploreParams {
    fn default() -> Self {
        Self {
            text: String::new(),
            path: None,
            limit: 4,
            others: 15,
            depth: 3,
            lines_per_symbol: 60,
        }
    }
}

/// A symbol that matters.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// Why it is here.
    pub why: Why,
    /// Its source, possibly its first lines only; or why there is none.
    pub source: Result<Excerpt, QueryError>,
    /// Symbols that certainly or likely call or use it, those outside tests and with most
    /// references first. At most `limit`.
    pub callers: Vec<SymbolInfo>,
    /// How many there are.
    pub caller_total: u64,
    /// Symbols that it certainly or likely calls, in order of first call. At most `limit`.
    pub callees: Vec<SymbolInfo>,
    /// How many there are.
    pub callee_total: u64,
    /// Ambiguous sites that may call it.
    pub possible_callers: u64,
}

/// Why a symbol is in the answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Why {
    /// Whether the question names it, or a line of it.
    pub is_named: bool,
    /// Words of the question that it has, the most telling first.
    pub words: Vec<String>,
}

/// A symbol that may matter too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherSymbol {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// Why it is here.
    pub why: Why,
}

/// A chain of calls between two of the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connection {
    /// The symbols from the first to the last, both included, with the line of the call that leads
    /// to the next (0 for the last and for dispatch).
    pub chain: Vec<(SymbolInfo, u32)>,
}

/// A test that reaches some of the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoveringTest {
    /// The test.
    pub symbol: SymbolInfo,
    /// The symbols it reaches: positions in `symbols`.
    pub covers: Vec<usize>,
    /// Calls between the test and the nearest of them.
    pub distance: u32,
}

/// The answer of `explore`.
#[derive(Clone, Debug)]
pub struct ExploreResult {
    /// The symbols, best first.
    pub symbols: Vec<Explored>,
    /// What comes next, best first: as many as come near to the best of them.
    pub others: Vec<OtherSymbol>,
    /// How many symbols fit the text.
    pub total: Total,
    /// How they connect, shortest first.
    pub connections: Vec<Connection>,
    /// Tests that reach them, those that cover most and are nearest first. At most `limit` times 2.
    pub tests: Vec<CoveringTest>,
    /// How many tests were found within `depth` calls.
    pub test_total: Total,
}

/// Kinds of sites by which one symbol runs another.
const CALLS: [SiteKind; 3] = [SiteKind::Call, SiteKind::Construct, SiteKind::Decorate];

/// Kinds of sites by which one symbol needs another.
const USES: [SiteKind; 8] = [
    SiteKind::Call,
    SiteKind::Construct,
    SiteKind::Decorate,
    SiteKind::Read,
    SiteKind::Write,
    SiteKind::Type,
    SiteKind::Inherit,
    SiteKind::Implement,
];

/// Explores.
pub fn explore(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &ExploreParams,
    cancel: &CancelToken,
) -> Result<ExploreResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let filter = FileFilter::new(&lookup, params.path.as_deref(), None)?;
    if params.text.trim().is_empty() {
        let reason = "it is empty: give words or names of symbols".to_owned();
        return Err(QueryError::InvalidParameter { parameter: "text", reason });
    }
    let found =
        locate::locate(&lookup, files, &filter, &params.text, params.limit + params.others)?;
    let (first, rest) = found.symbols.split_at(found.symbols.len().min(params.limit));
    let keys: Vec<SymbolKey> = first.iter().map(|located| located.key).collect();
    let uses = CallGraph::new(&lookup, &USES, true, Certainty::Likely, Tests::Include);
    let graph = CallGraph::new(&lookup, &CALLS, true, Certainty::Likely, Tests::Include);
    let mut symbols = Vec::with_capacity(first.len());
    for located in first {
        let row = lookup.symbol(located.key)?;
        symbols.push(Explored {
            why: why(located),
            ..describe(&lookup, &uses, &graph, files, &row, params)?
        });
    }
    let other = |located: &Located| {
        Ok(OtherSymbol { symbol: lookup.info_of(located.key)?, why: why(located) })
    };
    let others = rest.iter().map(other).collect::<Result<_, QueryError>>()?;
    let connections = connect::connections(&lookup, &graph, &keys, params.depth)?;
    let (mut tests, test_total) = connect::covering_tests(&lookup, &graph, &keys, params.depth)?;
    tests.truncate(params.limit * 2);
    let total =
        if found.is_partial { Total::AtLeast(found.total) } else { Total::Exact(found.total) };
    Ok(ExploreResult { symbols, others, total, connections, tests, test_total })
}

fn why(located: &Located) -> Why {
    Why { is_named: located.is_named, words: located.words.clone() }
}

fn describe(
    lookup: &Lookup<'_>,
    uses: &CallGraph<'_, '_>,
    calls: &CallGraph<'_, '_>,
    files: &dyn ReadFile,
    symbol: &SymbolRow,
    params: &ExploreParams,
) -> Result<Explored, QueryError> {
    let info = lookup.info(symbol)?;
    let (first, last) = (info.first_line, info.last_line);
    let shown = last.min(first.saturating_add(params.lines_per_symbol.saturating_sub(1)));
    let source = excerpt(files, &*lookup.file(symbol.file)?, None, first, shown);
    let calling = uses.callers(symbol.key, Unresolved::Counted)?;
    let mut callers = symbols_at(lookup, &calling, symbol.key)?;
    let rank = |caller: &SymbolInfo| (caller.is_test(), Reverse(caller.references));
    callers.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| by_place(one, other)));
    let mut callees = symbols_at(lookup, &calls.callees(symbol.key)?, symbol.key)?;
    let (caller_total, callee_total) = (callers.len() as u64, callees.len() as u64);
    callers.truncate(params.limit);
    callees.truncate(params.limit);
    Ok(Explored {
        symbol: info,
        why: Why::default(),
        source,
        callers,
        caller_total,
        callees,
        callee_total,
        possible_callers: calling.counts.possible,
    })
}

/// The order of path and position. Within a file keys follow positions.
fn by_place(one: &SymbolInfo, other: &SymbolInfo) -> Ordering {
    one.path.cmp(&other.path).then(one.key.cmp(&other.key))
}

/// The symbols among neighbours, each once, without the symbol itself.
fn symbols_at(
    lookup: &Lookup<'_>,
    neighbours: &Neighbours,
    itself: SymbolKey,
) -> Result<Vec<SymbolInfo>, QueryError> {
    let mut keys: Vec<SymbolKey> = Vec::new();
    for edge in &neighbours.edges {
        if let End::Symbol(key) = edge.end
            && key != itself
            && !keys.contains(&key)
        {
            keys.push(key);
        }
    }
    keys.into_iter().map(|key| lookup.info_of(key)).collect()
}
