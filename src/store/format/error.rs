//! `StoreError`: what failed, on which path, while doing what.

use std::io;
use std::path::{Path, PathBuf};

/// What kind of failure it is: decides what the caller does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreErrorKind {
    /// There is no store yet, or none that can be read: build one.
    Missing,
    /// The file belongs to another application.
    Foreign,
    /// The file has another format version.
    OtherVersion,
    /// The file is damaged.
    Corrupt,
    /// Another process writes and did not end within the wait.
    Locked,
    /// No room on the device.
    Full,
    /// The place cannot be written, or the file not be read.
    Permission,
    /// The question was withdrawn.
    Cancelled,
    /// The graph breaks a limit of the format.
    TooLarge,
    /// Anything else the system or SQLite said.
    Other,
}

/// A failure of the store. Cheap to copy, so that all who wait for one attempt can be told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{attempt} {}: {detail}", path.display())]
pub struct StoreError {
    /// What kind of failure it is.
    pub kind: StoreErrorKind,
    /// What was attempted: begins the message.
    pub attempt: &'static str,
    /// The file or directory it was attempted on.
    pub path: PathBuf,
    /// What the system or SQLite said.
    pub detail: String,
}

impl StoreError {
    /// A failure with a reason of our own.
    pub fn new(
        kind: StoreErrorKind,
        attempt: &'static str,
        path: &Path,
        detail: impl Into<String>,
    ) -> Self {
        Self { kind, attempt, path: path.to_owned(), detail: detail.into() }
    }

    /// A failure of the file system.
    pub(in crate::store) fn from_io(attempt: &'static str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => StoreErrorKind::Missing,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreErrorKind::Permission
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreErrorKind::Full,
            _ => StoreErrorKind::Other,
        };
        Self::new(kind, attempt, path, error.to_string())
    }

    /// A failure of SQLite.
    pub(in crate::store) fn from_sqlite(
        attempt: &'static str,
        path: &Path,
        error: &rusqlite::Error,
    ) -> Self {
        use rusqlite::ErrorCode;
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => StoreErrorKind::Cancelled,
            Some(ErrorCode::DiskFull) => StoreErrorKind::Full,
            Some(ErrorCode::NotADatabase) => StoreErrorKind::Foreign,
            Some(ErrorCode::DatabaseCorrupt) => StoreErrorKind::Corrupt,
            // A superseded generation that is removed while it is being opened or read fails in
            // either way.
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if !path.exists() => {
                StoreErrorKind::Missing
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                StoreErrorKind::Permission
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreErrorKind::Locked,
            // Our statements fit our format: a table that is missing or a value of the wrong type
            // is damage.
            Some(ErrorCode::Unknown) => StoreErrorKind::Corrupt,
            _ if is_misfit(error) => StoreErrorKind::Corrupt,
            _ => StoreErrorKind::Other,
        };
        Self::new(kind, attempt, path, error.to_string())
    }

    /// Whether the work was stopped because the question was withdrawn.
    pub fn is_cancelled(&self) -> bool {
        self.kind == StoreErrorKind::Cancelled
    }

    /// Whether a new build would mend it.
    pub fn calls_for_build(&self) -> bool {
        matches!(
            self.kind,
            StoreErrorKind::Missing
                | StoreErrorKind::Foreign
                | StoreErrorKind::OtherVersion
                | StoreErrorKind::Corrupt
        )
    }
}

fn is_misfit(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::FromSqlConversionFailure(..)
            | Error::QueryReturnedNoRows
            | Error::SqlInputError { .. }
            | Error::Utf8Error(..)
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn kind(statement: &str) -> StoreErrorKind {
        let connection = Connection::open_in_memory().expect("memory is there");
        connection
            .execute_batch("PRAGMA max_page_count = 3; CREATE TABLE t (a)")
            .expect("room for a table");
        let run = || connection.prepare(statement)?.query_row([], |row| row.get::<_, u32>(0));
        StoreError::from_sqlite("trying", Path::new("x.db"), &run().expect_err(statement)).kind
    }

    #[test]
    fn what_sqlite_says_decides_what_is_done_next() {
        assert_eq!(
            kind("INSERT INTO t VALUES (zeroblob(99999)) RETURNING 1"),
            StoreErrorKind::Full
        );
        assert_eq!(kind("SELECT a FROM missing"), StoreErrorKind::Corrupt);
        assert_eq!(kind("SELECT a FROM t"), StoreErrorKind::Corrupt);
        assert_eq!(kind("SELECT -1"), StoreErrorKind::Corrupt);
        assert_eq!(kind("SELECT 'text'"), StoreErrorKind::Corrupt);
    }
}
