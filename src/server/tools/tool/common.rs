//! Parameters that several tools have, and how they are read.

use crate::tools::tool::values::Arguments;
use crate::tools::tool::{MAX_OFFSET, Parameter, Shape};
use cograph_faults::{Fault, planted};
use cograph_query::{Certainty, Tests};

/// Handling of test code: a parameter of several tools.
pub(crate) const TESTS: Parameter = Parameter::new(
    "tests",
    Shape::Word(&["include", "exclude", "only"]),
    "Test code, default include",
);

/// Files of which results are taken: a parameter of several tools.
pub(crate) const WITHIN: Parameter =
    Parameter::new("path", Shape::Text { most: 1024 }, "Below this path or glob")
        .with_paths()
        .also(&["file", "directory", "dir", "glob", "include"]);

/// Start of a page of results: a parameter of several tools.
pub(crate) const OFFSET: Parameter =
    Parameter::new("offset", Shape::Integer { least: 0, most: MAX_OFFSET }, "Results to skip")
        .also(&["skip", "start", "cursor", "page"]);

/// Maximum number of meanings of an ambiguous name that are answered; the others are listed.
pub(crate) const MAX_MEANINGS: usize = 64;

/// Minimum certainty of sites: a parameter of several tools.
pub(crate) const CERTAINTY: Parameter = Parameter::new(
    "certainty",
    Shape::Word(&["certain", "likely", "possible", "textual"]),
    "Vaguest to list, default likely, or all if few",
);

pub(crate) fn tests(arguments: &Arguments) -> Tests {
    match arguments.text("tests") {
        Some("exclude") => Tests::Exclude,
        Some("only") => Tests::Only,
        _ => Tests::Include,
    }
}

pub(crate) fn certainty(arguments: &Arguments) -> Option<Certainty> {
    arguments.text("certainty").and_then(Certainty::from_word)
}

pub(crate) fn kinds<T>(arguments: &Arguments, from_word: fn(&str) -> Option<T>) -> Vec<T> {
    arguments.texts("kinds").iter().filter_map(|word| from_word(word)).collect()
}

pub(crate) fn offset(arguments: &Arguments) -> usize {
    if planted(Fault::CursorRestarts) {
        return 0;
    }
    arguments.integer("offset").and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0)
}

pub(crate) fn depth(arguments: &Arguments, default: u32) -> u32 {
    arguments.integer("depth").and_then(|depth| u32::try_from(depth).ok()).unwrap_or(default)
}

/// `path` of a tool that takes a directory: the root may be `.` or `/`.
pub(crate) fn directory(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let path = path.strip_prefix("./").unwrap_or(path);
    if path == "." { String::new() } else { path.to_owned() }
}
