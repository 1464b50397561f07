//! What answers are made of: symbols, sites, certainty, counts and totals.

use cograph_model::facts::flags;
use cograph_model::{Position, RepoPath, SiteKind, Step, SymbolKind, Verdict, Visibility};
use cograph_store::SymbolKey;
use std::fmt;

/// Symbol with the columns for rendering.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolInfo {
    /// Key in this generation.
    pub key: SymbolKey,
    /// File.
    pub path: RepoPath,
    /// Unqualified name.
    pub name: String,
    /// Names of the enclosing symbols, joined by dots, outermost first; empty at the top level.
    pub container: String,
    /// Kind.
    pub kind: SymbolKind,
    /// Language of the file.
    pub language: String,
    /// First line of its extent.
    pub first_line: u32,
    /// Last line of its extent.
    pub last_line: u32,
    /// Position of the name.
    pub name_at: Position,
    /// Declaration header on one line.
    pub signature: String,
    /// First paragraph of the documentation; may be empty.
    pub doc: String,
    /// Visibility.
    pub visibility: Visibility,
    /// Flags, see `model::facts::flags`.
    pub flags: u32,
    /// Number of resolved and likely sites.
    pub references: u32,
}

impl SymbolInfo {
    /// True for a key of a data file.
    pub fn is_data(&self) -> bool {
        self.kind == SymbolKind::Field && cograph_grammar::has_data(&self.language)
    }

    /// `Container.name`.
    pub fn qualified_name(&self) -> String {
        if self.container.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.container, self.name)
        }
    }

    /// `path::Container.name`.
    pub fn full_name(&self) -> String {
        format!("{}::{}", self.path, self.qualified_name())
    }

    /// True for test code.
    pub fn is_test(&self) -> bool {
        self.flags & flags::TEST != 0
    }
}

/// Use of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteInfo {
    /// File.
    pub path: RepoPath,
    /// Position of the name.
    pub at: Position,
    /// Kind of the reference.
    pub kind: SiteKind,
    /// The name as written.
    pub name: String,
    /// Verdict: certainty of the target.
    pub verdict: Verdict,
    /// Step that decided the verdict.
    pub step: Step,
}

/// Certainty of an edge, in descending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// The site was resolved.
    Certain,
    /// A named heuristic chose the target.
    Likely,
    /// The symbol is one of several candidates.
    Possible,
    /// The name is the same; the target is unknown.
    Textual,
}

impl Certainty {
    /// Every value, most certain first.
    pub const ALL: [Certainty; 4] =
        [Certainty::Certain, Certainty::Likely, Certainty::Possible, Certainty::Textual];

    /// Word for responses and parameters.
    pub fn word(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
            Self::Textual => "textual",
        }
    }

    /// True if it is a use: certain, or chosen by a heuristic.
    pub fn is_sure(self) -> bool {
        self <= Self::Likely
    }

    /// The value with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|value| value.word() == word)
    }
}

/// Numbers of sites of a symbol, by certainty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Resolved.
    pub certain: u64,
    /// Chosen by a heuristic.
    pub likely: u64,
    /// Ambiguous, with the symbol among the candidates.
    pub possible: u64,
    /// Unresolved, with the same name.
    pub textual: u64,
}

impl Counts {
    /// Count of one certainty.
    pub fn of(&self, certainty: Certainty) -> u64 {
        match certainty {
            Certainty::Certain => self.certain,
            Certainty::Likely => self.likely,
            Certainty::Possible => self.possible,
            Certainty::Textual => self.textual,
        }
    }
}

/// Total number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Total {
    /// Exact number.
    Exact(u64),
    /// Lower bound: a limit stopped the count.
    AtLeast(u64),
}

impl Total {
    /// The number, exact or not.
    pub fn number(self) -> u64 {
        match self {
            Self::Exact(number) | Self::AtLeast(number) => number,
        }
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(number) => write!(f, "{number}"),
            Self::AtLeast(number) => write!(f, ">={number}"),
        }
    }
}

/// Handling of test code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tests {
    /// Treat it like other code.
    #[default]
    Include,
    /// Leave it out.
    Exclude,
    /// Leave everything else out.
    Only,
}

impl Tests {
    /// True if code passes, given whether it is test code.
    pub(crate) fn admits(self, is_test: bool) -> bool {
        match self {
            Self::Include => true,
            Self::Exclude => !is_test,
            Self::Only => is_test,
        }
    }
}
