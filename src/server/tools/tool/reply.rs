//! Reply to a call, and its outcome.

use cograph_query::QueryError;
use serde_json::Value;

/// Result of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Response or error text.
    pub text: String,
    /// Outcome.
    pub outcome: Outcome,
    /// Structured output, within the same limit, for tools that declare it.
    pub(crate) structured: Option<Value>,
    /// Metadata of the response.
    pub(crate) marks: Marks,
}

/// Metadata of a response, all of which is visible in its text too.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks {
    /// Number of escaped characters.
    pub(crate) sanitized: u64,
    /// True if entries were left out; the text has the rest and how to get it.
    pub(crate) truncated: bool,
    /// Staleness of the response; the text lists the first files.
    pub(crate) stale: Option<String>,
}

/// Outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Success.
    Found,
    /// Success with an empty result.
    Nothing,
    /// The first index is in progress; the text has the progress.
    NotYet,
    /// The symbol, file or repository does not exist.
    Missing,
    /// Invalid arguments.
    Refused,
    /// Internal error.
    Failed,
    /// Aborted by the shutdown of the server; may be retried elsewhere.
    Stopped,
}

impl Outcome {
    /// True if the text is an error message.
    pub(crate) fn is_error(self) -> bool {
        matches!(self, Self::Missing | Self::Refused | Self::Failed | Self::Stopped)
    }
}

impl Outcome {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Found, "found"),
        (Self::Nothing, "nothing"),
        (Self::NotYet, "not-yet"),
        (Self::Missing, "missing"),
        (Self::Refused, "refused"),
        (Self::Failed, "failed"),
        (Self::Stopped, "stopped"),
    ];

    /// Stable name.
    pub(crate) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(outcome, _)| *outcome == self).map_or("failed", |(_, word)| word)
    }

    /// The outcome of this name.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(outcome, _)| *outcome)
    }
}

impl Reply {
    /// Reply to invalid arguments.
    pub(crate) fn refusal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            outcome: Outcome::Refused,
            structured: None,
            marks: Marks::default(),
        }
    }

    /// Reply with an internal error.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            outcome: Outcome::Failed,
            structured: None,
            marks: Marks::default(),
        }
    }
}

impl Outcome {
    /// Outcome of several responses together.
    pub(crate) fn merged(outcomes: &[Self]) -> Self {
        let order = [Self::Found, Self::NotYet, Self::Nothing, Self::Missing, Self::Refused];
        order.into_iter().find(|wanted| outcomes.contains(wanted)).unwrap_or(Self::Failed)
    }

    /// True if the question was answered, though perhaps with nothing.
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Found | Self::Nothing)
    }
}

impl From<&QueryError> for Outcome {
    fn from(error: &QueryError) -> Self {
        match error {
            QueryError::NoSuchSymbol { .. } | QueryError::NoSuchPath { .. } => Self::Missing,
            QueryError::AmbiguousSymbol { .. }
            | QueryError::AmbiguousPath { .. }
            | QueryError::InvalidParameter { .. }
            | QueryError::Sql { .. } => Self::Refused,
            QueryError::Change { .. }
            | QueryError::Read { .. }
            | QueryError::Cancelled
            | QueryError::Store(_) => Self::Failed,
        }
    }
}
