//! `references`: every site of a symbol, by kind and file, with what overrides or implements it.

use super::{Certainty, Counts, QueryError, SiteInfo, SymbolInfo, Tests};
use crate::model::cancel::CancelToken;
use crate::model::{RelationKind, RepoPath, SiteKind};
use crate::store::Snapshot;

/// Whose references.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReferencesParams {
    /// The symbol.
    pub symbol: String,
    /// Only sites of these kinds; empty for all.
    pub kinds: Vec<SiteKind>,
    /// Only files below this path, or that match this glob.
    pub path: Option<String>,
    /// What to do with sites in test code.
    pub tests: Tests,
    /// The vaguest sites that are listed. Vaguer ones are counted only.
    pub list: Certainty,
    /// So many sites are skipped.
    pub offset: usize,
    /// At most so many sites are listed.
    pub limit: usize,
}

impl Default for ReferencesParams {
    fn default() -> Self {
        Self {
            symbol: String::new(),
            kinds: Vec::new(),
            path: None,
            tests: Tests::default(),
            list: Certainty::Likely,
            offset: 0,
            limit: 500,
        }
    }
}

/// A site with what surrounds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The site.
    pub site: SiteInfo,
    /// How surely it means the symbol.
    pub certainty: Certainty,
    /// The symbol around it; none at the top of a file.
    pub enclosing: Option<SymbolInfo>,
}

/// The sites of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileReferences {
    /// The file.
    pub path: RepoPath,
    /// The sites, in order of place.
    pub references: Vec<Reference>,
}

/// A symbol that stands in a relation to the one asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// The relation.
    pub kind: RelationKind,
    /// Whether the other one is at its start (it overrides, derives, implements, defines the one asked about).
    pub incoming: bool,
    /// The other one.
    pub symbol: SymbolInfo,
}

/// The answer of `references`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReferencesResult {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// Declarations of the same thing (prototypes and the like), whose sites are included.
    pub declarations: Vec<SymbolInfo>,
    /// Sites that pass the filters, by certainty.
    pub counts: Counts,
    /// Certain and likely sites that pass the filters, by kind, most first.
    pub by_kind: Vec<(SiteKind, u64)>,
    /// Files with certain or likely sites that pass the filters.
    pub file_count: u64,
    /// The sites: surest first, then by file and place. One file may appear once for each certainty.
    pub files: Vec<FileReferences>,
    /// What overrides, implements or derives from it, and what it overrides, implements or derives from.
    pub related: Vec<Related>,
}

/// Finds the sites of a symbol.
pub fn references(snapshot: &Snapshot, params: &ReferencesParams, cancel: &CancelToken) -> Result<ReferencesResult, QueryError> {
    super::pending(snapshot, params, cancel)
}
