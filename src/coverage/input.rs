//! Files of coverage tools: the format is recognized by the content, and read as tests with the
//! lines that they executed.

mod database;
mod documents;
mod profile;
mod tracefile;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::CoverageError;
use cograph_config::{FileRules, is_bounded};

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
const WANTED: &str = "wanted is a data file of coverage.py with contexts (pytest \
    --cov-context=test), .testmondata, or one file a test: lcov, a cover profile, llvm-cov export \
    or coverage-final.json";
/// What a file of one test lacks.
const NO_TEST: &str = "it does not say which test it is of: make one file a test and name it like \
    the test, or give --test NAME";

/// File to import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Path.
    pub path: PathBuf,
    /// Test that it is of, if it does not have the names itself.
    pub test: Option<String>,
}

/// Receives the executed lines of a file in a test; false ends the reading.
pub(super) type Visit<'v> = &'v mut dyn FnMut(ExecutedLines<'_>) -> bool;

/// Part of a coverage file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExecutedLines<'r> {
    /// Test; none for lines of no test, as of an import.
    pub(super) test: Option<&'r str>,
    /// File as recorded.
    pub(super) file: &'r str,
    /// Lines; none if only the file as a whole is known.
    pub(super) lines: Option<&'r [u32]>,
}

/// What was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    /// Format in words.
    pub(super) format: &'static str,
    /// True if a bound ended it.
    pub(super) is_cut: bool,
}

enum Content {
    Database,
    Text(String),
}

/// True if the content does not name its tests, so that the name of the file has to.
pub fn is_named_by_file(path: &Path) -> bool {
    match content(path) {
        Ok(Content::Text(text)) => tracefile::names_no_test(&text),
        _ => false,
    }
}

/// Reads a file.
pub(super) fn read(input: &Input, visit: Visit<'_>) -> Result<Read, CoverageError> {
    let refused = |reason: String| CoverageError { path: input.path.clone(), reason };
    let test = input.test.as_deref();
    let read = match content(&input.path).map_err(refused)? {
        Content::Database => database::read(&input.path, visit),
        Content::Text(text) => match format(&text) {
            Some(Format::Document) => documents::read(&text, test, visit),
            Some(Format::Profile) => profile::read(&text, test, visit),
            Some(Format::Tracefile) => tracefile::read(&text, test, visit),
            None => Err(format!("it is of no format that is read; {WANTED}")),
        },
    };
    read.map_err(refused)
}

fn content(path: &Path) -> Result<Content, String> {
    if !is_bounded(path, MAX_DATABASE) {
        return Err(format!("it is no regular file of at most {} GiB", MAX_DATABASE >> 30));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut head));
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if head.starts_with(b"SQLite format 3\0") {
        return Ok(Content::Database);
    }
    if head.is_empty() {
        return Err(format!("it is empty; {WANTED}"));
    }
    let text = FileRules::settings(MAX_TEXT).read(path);
    let text = text.map_err(|error| format!("{error}; {WANTED}"))?;
    text.map(Content::Text).ok_or_else(|| "there is no such file".to_owned())
}

enum Format {
    Document,
    Profile,
    Tracefile,
}

fn format(text: &str) -> Option<Format> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('{') {
        return Some(Format::Document);
    }
    let first = start.lines().next().unwrap_or_default();
    if first.starts_with("mode: ") {
        return Some(Format::Profile);
    }
    let is_record = |line: &str| line.starts_with("TN:") || line.starts_with("SF:");
    start.lines().take(20).any(is_record).then_some(Format::Tracefile)
}
