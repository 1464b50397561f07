//! Parameters and result of `search`.

use crate::graph::answer::{SymbolInfo, Tests, Total};
use cograph_model::SymbolKind;

/// Interpretation of the search text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchMode {
    /// Words: a name, a prefix or a substring of one, or several words in any order, ignoring case
    /// and with typo tolerance.
    #[default]
    Words,
    /// Exact name (`Container.name` and `path::name` as well).
    Name,
    /// Substring of a name, ignoring case.
    Substring,
    /// Regular expression on the name.
    Regex,
}

/// Parameters of `search`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchParams {
    /// Text.
    pub text: String,
    /// Interpretation of the text.
    pub mode: SearchMode,
    /// Kinds of symbols to include; empty for all.
    pub kinds: Vec<SymbolKind>,
    /// Path prefix or glob of the files to include.
    pub path: Option<String>,
    /// Language of the files to include.
    pub language: Option<String>,
    /// Visibility outside the file, if only one is included.
    pub exported: Option<bool>,
    /// Treatment of test code.
    pub tests: Tests,
    /// Number of hits to skip.
    pub offset: usize,
    /// Maximum number of hits to return.
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

/// Quality of a match, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Match {
    /// Equal.
    Exact,
    /// Equal, ignoring case.
    IgnoringCase,
    /// Prefix.
    Prefix,
    /// Whole words of the name (`camelCase`, `snake_case`).
    Words,
    /// Substring.
    Substring,
    /// Some of the words in the name, the containers, the path, the documentation or the source;
    /// see `search_in`.
    Text,
    /// All of the words, some of them in the names of containers or in the path. Only if names
    /// alone do not fill the list; for a single name only if no name matches.
    Around,
    /// Some of the words. Only if there is no better match.
    SomeWords,
    /// Name with one or two typos. Only if there is no better match.
    Fuzzy,
    /// Regular expression.
    Regex,
}

/// Hit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchHit {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Quality of the match.
    pub matched: Match,
    /// Number of further files with an equal key, for a key of a data file.
    pub same_in: u64,
}

/// Result of `search`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchResult {
    /// Hits, best first.
    pub hits: Vec<SearchHit>,
    /// Number of matching symbols.
    pub total: Total,
}
