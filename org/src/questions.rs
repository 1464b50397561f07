//! The questions, and their answers as text and as JSON.

pub(crate) mod callees;
pub(crate) mod callers;
pub(crate) mod rows;
pub(crate) mod sql;
mod text;
pub(crate) mod versions;
mod wanted;

use serde_json::Value;

/// Rows of an answer where none are named.
pub(crate) const DEFAULT_ROWS: usize = 100;
/// Maximum number of rows of an answer.
pub(crate) const MAX_ROWS: usize = 10_000;

/// Answer to a question.
pub(crate) struct Answer {
    /// For a reader, with a line end.
    pub(crate) text: String,
    /// For a program.
    pub(crate) json: Value,
}

/// Number of rows that is permitted.
pub(crate) fn rows(wanted: Option<usize>) -> usize {
    wanted.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_ROWS)
}
