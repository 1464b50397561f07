//! Files of coverage tools: the format is recognized by the content, and read as tests with the
//! lines that they executed.

mod database;
mod documents;
pub(crate) mod lines;
mod profile;
mod tracefile;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::error::CoverageError;
use cograph_config::{FileRules, is_bounded};
use lines::WANTED;
pub use lines::{Input, MAX_DATABASE, MAX_JSON, MAX_LINE, MAX_ROWS, MAX_TEXT, READ_TIME};
pub(super) use lines::{Read, Visit};

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
