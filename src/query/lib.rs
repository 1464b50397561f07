//! Queries: one function each, from a snapshot and parameters to plain data. Renders nothing,
//! writes nothing, knows no protocol.
//!
//! ```text
//! name or path:line ──> names ──> symbols ──┐
//! Snapshot ─────────────────────────────────┼──> trace, references, show, search, explore, …
//! Params ───────────────────────────────────┘              │
//!                                                 plain result, best first
//! ```
//!
//! Every query has a `Params` struct with a `Default`, a function and a result struct. Lists are
//! ordered best first, so that a response can truncate them; totals are exact or
//! [`Total::AtLeast`]. The snapshot determines the generation of a result.
//!
//! A symbol is named `path::Container.name` or any unambiguous suffix of that (`name`,
//! `Container.name`, `file.ext::name`), or by a position, `path:line`. One resolver (`names`)
//! serves all queries.

pub mod explore;
mod graph;
pub mod grep;
pub mod impact;
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

use cograph_model::facts::flags;
use cograph_model::{Position, RepoPath, SiteKind, Step, SymbolKind, Verdict, Visibility};
use cograph_store::{StoreError, SymbolKey};

pub use explore::{ExploreParams, ExploreResult, explore};
pub use graph::unread::{Unread, unread};
pub use grep::{GrepParams, GrepResult, grep};
pub use impact::{ImpactParams, ImpactResult, impact};
pub use names::complete;
pub use names::complete::{CompleteParams, CompleteResult, complete};
pub use outline::{OutlineParams, OutlineResult, outline};
pub use overview::{OverviewParams, OverviewResult, overview};
pub use references::elsewhere::{Elsewhere, ElsewhereSearch};
pub use references::navigate;
pub use references::outside::outside;
pub use references::{ReferencesParams, ReferencesResult, references, references_all};
pub use search::glance::{Glance, GlanceName, GlanceParams, GlanceUses, glance};
pub use search::{SearchParams, SearchResult, search, search_in};
pub use show::{ShowParams, ShowResult, show, source_lines};
pub use sql::{SqlParams, SqlResult, sql};
pub use status::{StatusParams, StatusResult, status};
pub use trace::{TraceParams, TraceResult, trace, trace_all};

/// Reads files of the repository. Implemented by the caller, which knows the access rules.
pub trait ReadFile: Sync {
    /// Current contents.
    fn read(&self, path: &RepoPath) -> io::Result<Vec<u8>>;

    /// Current contents, with the identity of the bytes on disk.
    fn content(&self, path: &RepoPath) -> io::Result<Content> {
        Ok(Content { text: self.read(path)?, original: None, lossy: false })
    }
}

/// Contents of a file as text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Content {
    /// Text; the bytes of binary data.
    pub text: Vec<u8>,
    /// The bytes on disk, if the text is not those.
    pub original: Option<Original>,
    /// True if bytes that are not UTF-8 were replaced.
    pub lossy: bool,
}

/// Identity of bytes on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Original {
    /// Hash, as in the index.
    pub hash: u128,
    /// Number of bytes.
    pub size: u64,
}

impl Content {
    /// The bytes on disk. Hashes the text, unless it is of another encoding.
    fn original(&self) -> Original {
        self.original.unwrap_or_else(|| Original {
            hash: xxhash_rust::xxh3::xxh3_128(&self.text),
            size: self.text.len() as u64,
        })
    }
}

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

/// Results of a query for all meanings of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meanings<T> {
    /// Results, best meaning first.
    pub answers: Vec<T>,
    /// Further meanings, without a result.
    pub others: Vec<SymbolInfo>,
}

impl<T> Meanings<T> {
    /// True if the name has one meaning.
    pub fn is_one(&self) -> bool {
        self.answers.len() == 1 && self.others.is_empty()
    }

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

/// Why a query failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum QueryError {
    /// No symbol has the name. `near` holds symbols whose names resemble it, best first.
    #[error("no symbol is named `{name}`")]
    NoSuchSymbol {
        /// The given name.
        name: String,
        /// Symbols with similar names.
        near: Vec<SymbolInfo>,
    },
    /// Several symbols have the name.
    #[error("`{name}` names {total} symbols; say which")]
    AmbiguousSymbol {
        /// The given name.
        name: String,
        /// Symbols, best first, up to a limit.
        choices: Vec<SymbolInfo>,
        /// Number of symbols.
        total: u64,
    },
    /// No file or directory in the store has the path. `near` has similar paths, best first.
    #[error("no indexed file or directory is named `{path}`")]
    NoSuchPath {
        /// The given path.
        path: String,
        /// Similar paths.
        near: Vec<String>,
    },
    /// Several files match the path as a suffix.
    #[error("`{path}` names {total} files; say which")]
    AmbiguousPath {
        /// The given path.
        path: String,
        /// Files, up to a limit.
        choices: Vec<String>,
        /// Number of files.
        total: u64,
    },
    /// Invalid value of a parameter.
    #[error("parameter `{parameter}`: {reason}")]
    InvalidParameter {
        /// Parameter.
        parameter: &'static str,
        /// Error, with a correction.
        reason: String,
    },
    /// The statement given to `sql` was denied or failed.
    #[error("SQL: {reason}")]
    Sql {
        /// Message of SQLite or of the sandbox.
        reason: String,
    },
    /// A change cannot be read.
    #[error("{reason}")]
    Change {
        /// Cause.
        reason: String,
    },
    /// Reading a file failed.
    #[error("reading {path}: {reason}")]
    Read {
        /// File.
        path: RepoPath,
        /// Cause.
        reason: String,
    },
    /// The query was cancelled.
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
