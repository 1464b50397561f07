//! Rows of an answer, and how its JSON is read into them.

use crate::answers::render::TOP;
use crate::base::escape::{SafeLine, source_line};
use serde_json::Value;

/// Maximum length of a source line, in bytes.
pub(crate) const SOURCE_LINE: usize = 400;

/// Row of an answer on a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    /// What follows.
    Title(String),
    /// Place in a file.
    Site(Site),
    /// Remark.
    Note(String),
}

/// Place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Path, not escaped.
    pub path: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in bytes, from 1.
    pub column: Option<u64>,
    /// Symbol around it, and what holds of it.
    pub what: String,
    /// Source line.
    pub source: String,
}

/// Remark about entries that are not listed.
pub(crate) fn more(shown: u64, total: u64, what: &str, rows: &mut Vec<Row>) {
    if let Some(missing) = total.checked_sub(shown).filter(|missing| *missing > 0) {
        rows.push(Row::Note(format!("… {missing} more {what}: raise --budget")));
    }
}

/// Place of a site or symbol.
pub(crate) fn place(of: &Value) -> Site {
    Site {
        path: of["path"].as_str().unwrap_or_default().to_owned(),
        line: number(&of["line"]),
        column: of["column"].as_u64().map(|column| column + 1),
        what: String::new(),
        source: source(&of["source"]),
    }
}

/// Name of the symbol around a site.
pub(crate) fn around(enclosing: &Value) -> String {
    if enclosing.is_object() { own_name(enclosing) } else { TOP.to_owned() }
}

/// Name of a symbol without its path.
pub(crate) fn own_name(symbol: &Value) -> String {
    let (full, path) = (symbol["symbol"].as_str(), symbol["path"].as_str());
    let full = full.unwrap_or_default();
    let name = full.strip_prefix(path.unwrap_or_default()).unwrap_or(full);
    SafeLine::new(name.trim_start_matches("::"), 160).to_string()
}

/// `name (path:12)`.
pub(crate) fn named(symbol: &Value) -> String {
    format!("{} ({}:{})", own_name(symbol), text(&symbol["path"]), number(&symbol["line"]))
}

pub(crate) fn list(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

pub(crate) fn number(of: &Value) -> u64 {
    of.as_u64().unwrap_or_default()
}

/// Escaped text on one line.
pub(crate) fn text(of: &Value) -> String {
    SafeLine::new(of.as_str().unwrap_or_default(), 1000).to_string()
}

pub(crate) fn source(of: &Value) -> String {
    source_line(of.as_str().unwrap_or_default().trim(), SOURCE_LINE).replace('\t', " ")
}
