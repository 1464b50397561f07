//! Parameters and result of `explore`.

use crate::graph::answer::{SymbolInfo, Total};
use crate::graph::error::QueryError;
use crate::show::answer::Excerpt;

/// Parameters of `explore`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExploreParams {
    /// Words, symbol names, or a text with code and stack traces.
    pub text: String,
    /// Path prefix or glob of the files to include.
    pub path: Option<String>,
    /// Maximum number of symbols with source and neighbours.
    pub limit: usize,
    /// Maximum number of further symbols without source.
    pub others: usize,
    /// Maximum number of further functions by name only.
    pub functions: usize,
    /// Maximum number of further symbols whose source is read.
    pub sources: usize,
    /// Maximum length of a call path between two symbols.
    pub depth: u32,
    /// Maximum number of source lines for each symbol; a truncated excerpt reports the number of
    /// lines.
    pub lines_per_symbol: u32,
}

impl Default for ExploreParams {
    fn default() -> Self {
        Self {
            text: String::new(),
            path: None,
            limit: 4,
            others: 15,
            functions: 60,
            sources: 4,
            depth: 3,
            lines_per_symbol: 2_000,
        }
    }
}

/// Relevant symbol.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Reason for the inclusion.
    pub why: Why,
    /// Source, possibly truncated, or the error.
    pub source: Result<Source, QueryError>,
    /// Symbols with a certain or likely call or use of it: non-test code first, of each those that
    /// are not among the symbols themselves, then by number of references, which are compared for
    /// the first [`MAX_COMPARED`](crate::explore::MAX_COMPARED). At most `limit`.
    pub callers: Vec<SymbolInfo>,
    /// Number of callers.
    pub caller_total: u64,
    /// Symbols with a certain or likely call from it, in order of first call. At most `limit`.
    pub callees: Vec<SymbolInfo>,
    /// Number of callees.
    pub callee_total: u64,
    /// Number of ambiguous call sites with it as a candidate.
    pub possible_callers: u64,
}

/// Source of a symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Lines.
    pub excerpt: Excerpt,
    /// For each line the words of the question in it, as positions in
    /// [`ExploreResult::word_weights`].
    pub words: Vec<Vec<u16>>,
}

/// Reason for the inclusion of a symbol.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Why {
    /// True if the question names the symbol or a line of it.
    pub is_named: bool,
    /// Words of the question that it matches, by descending inverse document frequency.
    pub words: Vec<String>,
}

/// Word of the question that is in no file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnmatchedWord {
    /// Word.
    pub word: String,
    /// Similar names of symbols in the best files.
    pub similar: Vec<String>,
}

/// Call path between two of the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connection {
    /// Symbols from the first to the last, inclusive, with the line of the call of the next one (0
    /// for the last and for dispatch).
    pub chain: Vec<(SymbolInfo, u32)>,
}

/// Test that reaches some of the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoveringTest {
    /// Test.
    pub symbol: SymbolInfo,
    /// Symbols that it reaches, as positions in `symbols`.
    pub covers: Vec<usize>,
    /// Number of calls to the nearest of them.
    pub distance: u32,
}

/// Result of `explore`.
#[derive(Clone, Debug)]
pub struct ExploreResult {
    /// Symbols, best first.
    pub symbols: Vec<Explored>,
    /// Further candidates, best first, with scores close to that of the best.
    pub others: Vec<OtherSymbol>,
    /// Number of matching symbols.
    pub total: Total,
    /// Call paths between them, shortest first.
    pub connections: Vec<Connection>,
    /// Tests that reach them, by number of symbols covered, then by distance. At most `limit` times
    /// 2.
    pub tests: Vec<CoveringTest>,
    /// Number of tests found within `depth` calls.
    pub test_total: Total,
    /// Further functions of the best files, best first; those of `others` included.
    pub functions: Vec<SymbolInfo>,
    /// Words of the question that are in no file.
    pub unmatched: Vec<UnmatchedWord>,
    /// Weight of each word of the question.
    pub word_weights: Vec<f64>,
}

/// Further candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherSymbol {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Reason for the inclusion.
    pub why: Why,
    /// Source of the first ones.
    pub source: Option<Source>,
}
