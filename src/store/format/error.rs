//! `StoreError`: kind, path and attempted operation.

use std::io;
use std::path::{Path, PathBuf};

use cograph_system::limits::is_file_size_limited;

/// Kind of an error, which decides the reaction of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreErrorKind {
    /// There is no store, or no readable one: build one.
    Missing,
    /// The file belongs to another application.
    Foreign,
    /// Another format version.
    OtherVersion,
    /// The file is damaged.
    Corrupt,
    /// The writer lock was not acquired within the timeout.
    Locked,
    /// The disk or the quota is full.
    Full,
    /// A file would exceed the size limit of the process (`ulimit -f`).
    FileSize,
    /// Missing permission.
    Permission,
    /// The query was cancelled.
    Cancelled,
    /// The graph exceeds a limit of the format.
    TooLarge,
    /// Any other error of the system or of SQLite.
    Other,
}

/// Error of the store. Cheap to clone, because one result may be shared by many waiting callers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{attempt} {}: {detail}", path.display())]
pub struct StoreError {
    /// Kind.
    pub kind: StoreErrorKind,
    /// Attempted operation: first part of the message.
    pub attempt: &'static str,
    /// File or directory.
    pub path: PathBuf,
    /// Message of the system or of SQLite.
    pub detail: String,
}

impl StoreError {
    /// Error with a message of its own.
    pub fn new(
        kind: StoreErrorKind,
        attempt: &'static str,
        path: &Path,
        detail: impl Into<String>,
    ) -> Self {
        Self { kind, attempt, path: path.to_owned(), detail: detail.into() }
    }

    /// I/O error.
    pub(crate) fn from_io(attempt: &'static str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => StoreErrorKind::Missing,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreErrorKind::Permission
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreErrorKind::Full,
            io::ErrorKind::FileTooLarge => StoreErrorKind::FileSize,
            _ => StoreErrorKind::Other,
        };
        Self::new(kind, attempt, path, error.to_string())
    }

    /// SQLite error.
    pub(crate) fn from_sqlite(attempt: &'static str, path: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => StoreErrorKind::Cancelled,
            Some(ErrorCode::DiskFull) => StoreErrorKind::Full,
            Some(ErrorCode::NotADatabase) => StoreErrorKind::Foreign,
            Some(ErrorCode::DatabaseCorrupt) => StoreErrorKind::Corrupt,
            // A superseded generation that is removed while it is opened or read gives either
            // error.
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if !path.exists() => {
                StoreErrorKind::Missing
            }
            Some(ErrorCode::SystemIoFailure) if is_beyond_file_size(error) => {
                StoreErrorKind::FileSize
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                StoreErrorKind::Permission
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreErrorKind::Locked,
            // Statements match the format: a missing table or a wrong type means damage.
            Some(ErrorCode::Unknown) => StoreErrorKind::Corrupt,
            _ if is_misfit(error) => StoreErrorKind::Corrupt,
            _ => StoreErrorKind::Other,
        };
        let detail = match kind {
            StoreErrorKind::Full => format!("no space left on the disk ({error})"),
            _ => error.to_string(),
        };
        Self::new(kind, attempt, path, detail)
    }

    /// True if the query was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.kind == StoreErrorKind::Cancelled
    }

    /// True if a full build would fail for the same reason, so that none is worth a try.
    pub fn stops_builds(&self) -> bool {
        matches!(
            self.kind,
            StoreErrorKind::Locked
                | StoreErrorKind::Full
                | StoreErrorKind::FileSize
                | StoreErrorKind::Permission
                | StoreErrorKind::Cancelled
        )
    }

    /// True if a full build would fix it.
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

/// True if a file could not grow while the process has a file size limit. SQLite does not report
/// the error of the system, except for a full disk.
fn is_beyond_file_size(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE};
    let code = error.sqlite_error().map(|error| error.extended_code);
    code.is_some_and(|code| {
        [SQLITE_IOERR_WRITE, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_SHMSIZE].contains(&code)
    }) && is_file_size_limited()
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
        let connection = Connection::open_in_memory().expect("memory is available");
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
