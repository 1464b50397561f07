//! `explore`: from words or names to the few symbols that matter, how they connect, their source and the tests that cover them.

use super::show::Excerpt;
use super::{QueryError, ReadFile, SymbolInfo, Total};
use crate::model::cancel::CancelToken;
use crate::store::Snapshot;

/// What to explore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExploreParams {
    /// Words, or names of symbols.
    pub text: String,
    /// Only files below this path, or that match this glob.
    pub path: Option<String>,
    /// At most so many symbols.
    pub limit: usize,
    /// Longest chain of calls that is looked for between two symbols.
    pub depth: u32,
    /// At most so many lines of source for each symbol; an excerpt says how many lines the symbol has.
    pub lines_per_symbol: u32,
}

impl Default for ExploreParams {
    fn default() -> Self {
        Self { text: String::new(), path: None, limit: 6, depth: 3, lines_per_symbol: 60 }
    }
}

/// A symbol that matters.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// Its source, possibly its first lines only; or why there is none.
    pub source: Result<Excerpt, QueryError>,
    /// Symbols that certainly or likely call or use it, those outside tests and with most references first. At most `limit`.
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

/// A chain of calls between two of the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connection {
    /// The symbols from the first to the last, both included, with the line of the call that leads to the next (0 for the last and for dispatch).
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
    /// How many symbols fit the text.
    pub total: Total,
    /// How they connect, shortest first.
    pub connections: Vec<Connection>,
    /// Tests that reach them, those that cover most and are nearest first. At most `limit` times 2.
    pub tests: Vec<CoveringTest>,
    /// How many tests were found within `depth` calls.
    pub test_total: Total,
}

/// Explores.
pub fn explore(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &ExploreParams,
    cancel: &CancelToken,
) -> Result<ExploreResult, QueryError> {
    let _ = files;
    super::pending(snapshot, params, cancel)
}
