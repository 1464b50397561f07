//! Questions to a store: one function each, from a snapshot and parameters to plain data. Renders
//! nothing, writes nothing, knows no protocol.
//!
//! Every question is a `Params` struct with a `Default`, a function and a result struct. Lists are
//! ordered best first, so that a reply with little room can cut them from the end; totals are exact
//! or say [`Total::AtLeast`]. The snapshot that was passed in says of which generation a result
//! speaks.
//!
//! A symbol is named `path::Container.name` or any suffix of that which names only one (`name`,
//! `Container.name`, `file.ext::name`), or by a place, `path:line`. One resolver (`names`) serves
//! all questions.

pub mod complete;
pub mod explore;
mod graph;
pub mod grep;
pub mod locate;
mod names;
pub mod outline;
pub mod overview;
pub mod references;
pub mod search;
pub mod show;
pub mod sql;
pub mod status;
pub mod trace;

use std::fmt;
use std::io;

use crate::model::facts::flags;
use crate::model::{Position, RepoPath, SiteKind, Step, SymbolKind, Verdict, Visibility};
use crate::store::{StoreError, SymbolKey};

pub use complete::{CompleteParams, CompleteResult, complete};
pub use explore::{ExploreParams, ExploreResult, explore};
pub use graph::unread::{Unread, unread};
pub use grep::{GrepParams, GrepResult, grep};
pub use outline::{OutlineParams, OutlineResult, outline};
pub use overview::{OverviewParams, OverviewResult, overview};
pub use references::elsewhere::{Elsewhere, ElsewhereSearch};
pub use references::{ReferencesParams, ReferencesResult, references, references_all};
pub use search::{SearchParams, SearchResult, search, search_in};
pub use show::{ShowParams, ShowResult, show};
pub use sql::{SqlParams, SqlResult, sql};
pub use status::{StatusParams, StatusResult, status};
pub use trace::{TraceParams, TraceResult, trace, trace_all};

/// Gives the bytes of a repository's file as they are now. Supplied by the caller, who knows how
/// files may be read.
pub trait ReadFile: Sync {
    /// The whole content.
    fn read(&self, path: &RepoPath) -> io::Result<Vec<u8>>;
}

/// A symbol with what a reply may want to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolInfo {
    /// Its key in this generation.
    pub key: SymbolKey,
    /// The file it is in.
    pub path: RepoPath,
    /// Its own name.
    pub name: String,
    /// The names of the symbols around it, joined by dots, outermost first; empty at the top of a
    /// file.
    pub container: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The language of its file.
    pub language: String,
    /// First line of its extent.
    pub first_line: u32,
    /// Last line of its extent.
    pub last_line: u32,
    /// Where its name is written.
    pub name_at: Position,
    /// Its header on one line.
    pub signature: String,
    /// First paragraph of its documentation; empty if there is none.
    pub doc: String,
    /// Who may use it.
    pub visibility: Visibility,
    /// Properties, see `model::facts::flags`.
    pub flags: u16,
    /// Number of sites that certainly or likely lead to it.
    pub references: u32,
}

impl SymbolInfo {
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

    /// Whether it is test code.
    pub fn is_test(&self) -> bool {
        self.flags & flags::TEST != 0
    }

    /// Whether it is visible outside its file.
    pub fn is_exported(&self) -> bool {
        self.flags & flags::EXPORTED != 0
    }
}

/// A place where a name is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteInfo {
    /// The file.
    pub path: RepoPath,
    /// Where the name is written.
    pub at: Position,
    /// What the site does with the symbol.
    pub kind: SiteKind,
    /// The name as written.
    pub name: String,
    /// How far its target is known.
    pub verdict: Verdict,
    /// What decided that.
    pub step: Step,
}

/// How sure a statement about a target is. The order is from sure to vague.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// The site was resolved.
    Certain,
    /// A named heuristic chose the target.
    Likely,
    /// The symbol is one of several candidates.
    Possible,
    /// Only the name is the same; what the site means is not known.
    Textual,
}

impl Certainty {
    /// Every value, from sure to vague.
    pub const ALL: [Certainty; 4] =
        [Certainty::Certain, Certainty::Likely, Certainty::Possible, Certainty::Textual];

    /// The word for replies and parameters.
    pub fn word(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
            Self::Textual => "textual",
        }
    }

    /// The value with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|value| value.word() == word)
    }
}

/// Numbers of sites, by how surely they lead to a symbol.
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
    /// The count for one degree.
    pub fn of(&self, certainty: Certainty) -> u64 {
        match certainty {
            Certainty::Certain => self.certain,
            Certainty::Likely => self.likely,
            Certainty::Possible => self.possible,
            Certainty::Textual => self.textual,
        }
    }
}

/// How many there are of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Total {
    /// Exactly so many.
    Exact(u64),
    /// So many were seen before a bound stopped the work.
    AtLeast(u64),
}

impl Total {
    /// The number without its quality.
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

/// What to do with test code.
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
    /// Whether something that is (or is not) test code passes.
    pub fn admits(self, is_test: bool) -> bool {
        match self {
            Self::Include => true,
            Self::Exclude => !is_test,
            Self::Only => is_test,
        }
    }
}

/// What a question says about everything that a name means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meanings<T> {
    /// The answers, best meaning first.
    pub answers: Vec<T>,
    /// The other meanings, for which the question was not answered.
    pub others: Vec<SymbolInfo>,
}

impl<T> Meanings<T> {
    fn of(
        lookup: &graph::lookup::Lookup<'_>,
        name: &str,
        most: usize,
        answer: impl Fn(&names::Meaning) -> Result<T, QueryError>,
    ) -> Result<Self, QueryError> {
        let meanings = names::meanings(lookup, name)?;
        let (first, rest) = meanings.split_at(meanings.len().min(most));
        Ok(Self {
            answers: first.iter().map(answer).collect::<Result<_, _>>()?,
            others: rest
                .iter()
                .map(|meaning| lookup.info(&meaning.symbol))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Why a question has no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum QueryError {
    /// No symbol has the name. `near` holds symbols whose names resemble it, best first.
    #[error("no symbol is named `{name}`")]
    NoSuchSymbol {
        /// The name as given.
        name: String,
        /// Symbols whose names resemble it.
        near: Vec<SymbolInfo>,
    },
    /// Several symbols have the name.
    #[error("`{name}` names {total} symbols; say which")]
    AmbiguousSymbol {
        /// The name as given.
        name: String,
        /// The symbols, best first; as many as are worth listing.
        choices: Vec<SymbolInfo>,
        /// How many there are.
        total: u64,
    },
    /// No file or directory of the store has the path. `near` holds paths that resemble it, best
    /// first.
    #[error("no indexed file or directory is named `{path}`")]
    NoSuchPath {
        /// The path as given.
        path: String,
        /// Paths that resemble it.
        near: Vec<String>,
    },
    /// Several files have the path as their ending.
    #[error("`{path}` names {total} files; say which")]
    AmbiguousPath {
        /// The path as given.
        path: String,
        /// The files; as many as are worth listing.
        choices: Vec<String>,
        /// How many there are.
        total: u64,
    },
    /// A parameter has a value that cannot be used.
    #[error("parameter `{parameter}`: {reason}")]
    InvalidParameter {
        /// Its name.
        parameter: &'static str,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// The statement given to `sql` was refused or failed.
    #[error("SQL: {reason}")]
    Sql {
        /// What SQLite or the guard said.
        reason: String,
    },
    /// A file could not be read.
    #[error("reading {path}: {reason}")]
    Read {
        /// The file.
        path: RepoPath,
        /// What the system said.
        reason: String,
    },
    /// The question was withdrawn.
    #[error("cancelled")]
    Cancelled,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> Self {
        if error.is_cancelled() { Self::Cancelled } else { Self::Store(error) }
    }
}
