//! Edges of the call graph: what a call leads to or comes from, and how certain that is.

use crate::graph::answer::{Certainty, Counts};
use cograph_faults::{Fault, planted};
use cograph_model::Verdict;
use cograph_store::{FileKey, NameKey, SiteRow, SiteTarget, SymbolKey};
use smallvec::SmallVec;

/// End of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum End {
    /// Symbol.
    Symbol(SymbolKey),
    /// Top level of a file.
    File(FileKey),
    /// External name.
    External(NameKey),
}

/// Indirection of an edge: the symbol named by its sites instead of the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Through {
    /// Method that overrides or implements the end, or is overridden or implemented by it.
    Method(SymbolKey),
    /// Variable or field that holds the function.
    Holder(SymbolKey),
    /// The end itself, which the sites name without a call: it is passed or stored, to be called
    /// elsewhere.
    Passed(SymbolKey),
}

impl Through {
    /// Symbol named by the sites.
    pub(crate) fn symbol(self) -> SymbolKey {
        match self {
            Self::Method(symbol) | Self::Holder(symbol) | Self::Passed(symbol) => symbol,
        }
    }
}

/// Edge with all its sites.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// Other end.
    pub(crate) end: End,
    /// Indirection, if the sites name another symbol.
    pub(crate) through: Option<Through>,
    /// Highest certainty of the sites.
    pub(crate) certainty: Certainty,
    /// True if the end is test code (callers only).
    pub(crate) in_tests: bool,
    /// Sites in order of position. Most of the thousands of callers of a common function have one.
    pub(crate) sites: SmallVec<[SiteRow; 1]>,
}

/// Edges one step from a symbol.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// Edges of sufficient certainty: by certainty, direct ones before dispatch, callers in tests
    /// last, then by position.
    pub(crate) edges: Vec<Edge>,
    /// Sites of insufficient certainty, in order of position.
    pub(crate) vague: Vec<(SiteRow, Certainty)>,
    /// Number of unresolved sites with the name that are not listed in `vague`.
    pub(crate) unlisted: u64,
    /// Number of sites by certainty, followed or not, without dispatch.
    pub(crate) counts: Counts,
}

/// Certainty of a site. External calls are certain, and so are calls of a held value, with respect
/// to the variable or field.
pub(crate) fn certainty(site: &SiteRow) -> Certainty {
    match site.verdict {
        Verdict::Unresolved if site.target != SiteTarget::None => Certainty::Certain,
        Verdict::Resolved | Verdict::External => Certainty::Certain,
        Verdict::Likely => Certainty::Likely,
        Verdict::Ambiguous if planted(Fault::PossibleIsCertain) => Certainty::Certain,
        Verdict::Ambiguous | Verdict::Possible => Certainty::Possible,
        Verdict::Unresolved => Certainty::Textual,
    }
}
