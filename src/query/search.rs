//! `search`: symbols by name, words, part of a name or regular expression, ranked.

use super::{QueryError, SymbolInfo, Tests, Total};
use crate::model::SymbolKind;
use crate::model::cancel::CancelToken;
use crate::store::Snapshot;

/// How the text of a search is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchMode {
    /// Words: a name, the beginning or a part of one, several words in any order, with forgiveness for case and typing errors.
    #[default]
    Words,
    /// A whole name, letter by letter (`Container.name` and `path::name` work too).
    Name,
    /// A part of a name, ignoring case.
    Substring,
    /// A regular expression on the name.
    Regex,
}

/// What to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchParams {
    /// The text.
    pub text: String,
    /// How it is meant.
    pub mode: SearchMode,
    /// Only symbols of these kinds; empty for all.
    pub kinds: Vec<SymbolKind>,
    /// Only files below this path, or that match this glob.
    pub path: Option<String>,
    /// Only files of this language.
    pub language: Option<String>,
    /// Only symbols that are (or are not) visible outside their file.
    pub exported: Option<bool>,
    /// What to do with test code.
    pub tests: Tests,
    /// So many hits are skipped.
    pub offset: usize,
    /// At most so many hits are returned.
    pub limit: usize,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self {
            text: String::new(),
            mode: SearchMode::default(),
            kinds: Vec::new(),
            path: None,
            language: None,
            exported: None,
            tests: Tests::default(),
            offset: 0,
            limit: 50,
        }
    }
}

/// How well a name fits, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Match {
    /// The name itself.
    Exact,
    /// The name in other case.
    IgnoringCase,
    /// The beginning of the name.
    Prefix,
    /// Whole words of the name (`camelCase`, `snake_case`).
    Words,
    /// A part of the name.
    Substring,
    /// The name but for one or two letters.
    Fuzzy,
    /// The regular expression.
    Regex,
}

/// A symbol that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchHit {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// How well it fits.
    pub matched: Match,
}

/// The answer of `search`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchResult {
    /// The symbols, best first.
    pub hits: Vec<SearchHit>,
    /// How many symbols fit, however many are returned.
    pub total: Total,
}

/// Finds symbols. Order: how well the name fits, then number of references, then code before tests, then path and line.
pub fn search(snapshot: &Snapshot, params: &SearchParams, cancel: &CancelToken) -> Result<SearchResult, QueryError> {
    super::pending(snapshot, params, cancel)
}
