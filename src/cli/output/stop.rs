//! How a command ends without a result, and the exit codes for that.

use cograph_config::ConfigError;
use cograph_index::IndexError;
use cograph_server as server;
use std::io;

/// How a command ended without a result.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Nothing found: exit code 1. A message, unless it was printed already.
    NothingFound(String),
    /// Problems found and printed: exit code 1.
    Problems,
    /// No verdict is possible: exit code 2. A message, unless it was printed already.
    Undecided(String),
    /// Invalid command line: exit code 2.
    Usage(String),
    /// Another runtime holds the socket: exit code 4. Its description.
    AlreadyServed(String),
    /// Error: exit code 3. The attempted operation with its path, and a suggested fix.
    Failure { message: String, hint: String },
    /// The output was closed: exit code 0, silently.
    Closed,
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::Failure {
            message: server::one_line(&error.to_string()),
            hint: error.hint().to_owned(),
        }
    }
}

impl From<IndexError> for Stop {
    fn from(error: IndexError) -> Self {
        Self::Failure {
            message: server::one_line(&error.to_string()),
            hint: error.hint().to_owned(),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Failure {
                message: format!("cannot write the output: {error}"),
                hint: "check where the output goes".to_owned(),
            },
        }
    }
}
