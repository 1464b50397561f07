//! Errors: what was attempted, on which object, why it failed, and what the user can do.

use std::time::Duration;

use crate::escape::escaped;

/// Result of this program.
pub(crate) type Result<T, E = OrgError> = std::result::Result<T, E>;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrgError {
    /// The address of the data cannot be used.
    #[error("`{url}` cannot be used: {reason}")]
    Address { url: String, reason: String },
    /// The object store gave an error.
    #[error("{attempt} {object}: {detail}")]
    Remote { attempt: &'static str, object: String, detail: String },
    /// There are no tables.
    #[error("there are no tables at `{0}`")]
    Empty(String),
    /// A file is not what was announced.
    #[error("{object} is damaged: {reason}")]
    Damaged { object: String, reason: String },
    /// A file has another version of the schema, or other columns.
    #[error("{object} has another schema: {reason}")]
    Schema { object: String, reason: String },
    /// The question is malformed.
    #[error("{0}")]
    Question(String),
    /// A statement of SQL is refused, or wrong.
    #[error("{0}")]
    Statement(String),
    /// The time is over.
    #[error("no answer within {} s", .0.as_secs())]
    Deadline(Duration),
    /// The memory is used up.
    #[error("more memory would be needed than is permitted: {0}")]
    Memory(String),
    /// The engine failed otherwise.
    #[error("{0}")]
    Engine(String),
    /// An error of the process that a statement has, as that reports it.
    #[error("{0}")]
    Reported(String),
    /// The server cannot start.
    #[error("{0}")]
    Server(String),
}

impl OrgError {
    /// Suggested fix.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Address { .. } => {
                "use a directory, `s3://bucket/prefix`, or `https://…` of compacted data"
            }
            Self::Remote { .. } => {
                "check the address, the permissions, and the variables AWS_… of the environment"
            }
            Self::Empty(_) => {
                "`cograph export parquet DIR` writes them; over http only compacted data is found"
            }
            Self::Damaged { .. } => {
                "export that repository again, or remove the file; if its path begins with \
                 `_org/`, run `cograph-org compact --again`"
            }
            Self::Schema { .. } => {
                "export that repository with the version of cograph that fits this program, or \
                 remove the file"
            }
            Self::Question(_) => "`cograph-org callers --help` has examples",
            Self::Statement(_) => {
                "one SELECT over repositories, files, symbols, \"references\", calls, imports, \
                 relations, packages; their columns are in docs/parquet.md"
            }
            Self::Deadline(_) => {
                "ask for less, or give more time with --timeout; `cograph-org compact` makes \
                 questions fast"
            }
            Self::Memory(_) => "ask for less, or permit more with --memory",
            Self::Engine(_) | Self::Reported(_) => {
                "try again; a file may have been replaced while it was read"
            }
            Self::Server(_) => "`cograph-org mcp --help` has examples",
        }
    }

    /// Message and suggestion, as the user reads them.
    pub(crate) fn report(&self) -> String {
        if let Self::Reported(report) = self {
            return report.clone();
        }
        format!("error: {}\n  hint: {}", escaped(&self.to_string()), self.hint())
    }
}

/// Message of an error with those of its causes that it does not contain.
pub(crate) fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(known) = cause {
        let message = known.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = known.source();
    }
    text
}
