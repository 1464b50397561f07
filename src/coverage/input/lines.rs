//! Executed lines as the formats give them, and the bounds of reading.

use std::path::PathBuf;
use std::time::Duration;

/// Maximum size of a database.
pub const MAX_DATABASE: u64 = 4 << 30;

/// Maximum size of a text.
pub const MAX_TEXT: u64 = 256 << 20;

/// Maximum size of a JSON document.
pub const MAX_JSON: u64 = 64 << 20;

/// Maximum number of rows of a table, records of a text or entries of a document.
pub const MAX_ROWS: usize = 50_000_000;

/// Maximum number of a line.
pub const MAX_LINE: u32 = 1 << 20;

/// Maximum time of reading a database.
pub const READ_TIME: Duration = Duration::from_secs(300);

/// What the formats are, for errors.
pub(crate) const WANTED: &str = "wanted is a data file of coverage.py with contexts (pytest \
    --cov-context=test), .testmondata, or one file a test: lcov, a cover profile, llvm-cov export \
    or coverage-final.json";

/// What a file of one test lacks.
pub(crate) const NO_TEST: &str = "it does not say which test it is of: make one file a test and \
    name it like the test, or give --test NAME";

/// File to import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Path.
    pub path: PathBuf,
    /// Test that it is of, if it does not have the names itself.
    pub test: Option<String>,
}

/// Receives the executed lines of a file in a test; false ends the reading.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(ExecutedLines<'_>) -> bool;

/// Part of a coverage file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExecutedLines<'r> {
    /// Test; none for lines of no test, as of an import.
    pub(crate) test: Option<&'r str>,
    /// File as recorded.
    pub(crate) file: &'r str,
    /// Lines; none if only the file as a whole is known.
    pub(crate) lines: Option<&'r [u32]>,
}

/// What was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    /// Format in words.
    pub(crate) format: &'static str,
    /// True if a bound ended it.
    pub(crate) is_cut: bool,
}
