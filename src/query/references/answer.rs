//! Parameters and result of `references`.

use crate::graph::answer::{Certainty, Counts, SiteInfo, SymbolInfo, Tests};
use cograph_model::{RelationKind, RepoPath, SiteKind, Step};

/// Parameters of `references`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReferencesParams {
    /// Symbol.
    pub symbol: String,
    /// Kinds of references to include; empty for all.
    pub kinds: Vec<SiteKind>,
    /// Path prefix or glob of the files to include.
    pub path: Option<String>,
    /// Treatment of test code.
    pub tests: Tests,
    /// Lowest certainty that is listed if there are certain or likely references; without one,
    /// likely, or any if few are vaguer. Others are only counted.
    pub list: Option<Certainty>,
    /// Number of references to skip.
    pub offset: usize,
    /// Maximum number of references to list.
    pub limit: usize,
}

impl Default for ReferencesParams {
    fn default() -> Self {
        Self {
            symbol: String::new(),
            kinds: Vec::new(),
            path: None,
            tests: Tests::default(),
            list: None,
            offset: 0,
            limit: 500,
        }
    }
}

/// Reference with its context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Site.
    pub site: SiteInfo,
    /// Certainty of the target.
    pub certainty: Certainty,
    /// Enclosing symbol; `None` at the top level of a file.
    pub enclosing: Option<SymbolInfo>,
}

/// References of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileReferences {
    /// File.
    pub path: RepoPath,
    /// References in order of position.
    pub references: Vec<Reference>,
}

/// Symbol related to the requested one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Kind of the relation.
    pub kind: RelationKind,
    /// True if the other symbol is its source (it overrides, derives from, implements or defines
    /// the requested one).
    pub incoming: bool,
    /// Other symbol.
    pub symbol: SymbolInfo,
}

/// Result of `references`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReferencesResult {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Declarations of the same entity (prototypes and the like), whose references are included.
    pub declarations: Vec<SymbolInfo>,
    /// Numbers of references that pass the filters, by certainty.
    pub counts: Counts,
    /// Certain and likely references that pass the filters, by kind, most frequent first.
    pub by_kind: Vec<(SiteKind, u64)>,
    /// Number of certain and likely references that only the filter by kind leaves out.
    pub of_other_kinds: u64,
    /// Steps of possible and textual references with their numbers, by certainty, then by number.
    pub reasons: Vec<(Certainty, Step, u64)>,
    /// Lowest certainty that is listed: any if none is certain or likely.
    pub listed: Certainty,
    /// Number of files with references that pass the filters, of the certainties that are listed.
    pub file_count: u64,
    /// References of the certainties that are listed, by directory, most first.
    pub by_directory: Vec<(String, u64)>,
    /// References: by certainty, then by file and position. A file may appear once for each
    /// certainty.
    pub files: Vec<FileReferences>,
    /// Symbols that override, implement or derive from it, transitively, and those that it
    /// overrides, implements or derives from itself.
    pub related: Vec<Related>,
}
