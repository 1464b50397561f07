//! Responses: text and JSON of query results, within a budget.

pub(super) mod budget;
pub(super) mod failure;
pub(super) mod origins;
pub(super) mod render;
pub(super) mod reply;
pub(super) mod rows;

use budget::Page;
use serde_json::Value;

/// Renderable result.
pub(super) trait Answer {
    /// Fills the page, best entries first, and returns the first line: what, and how many of how
    /// many.
    fn render(&self, page: &mut Page) -> String;
    /// The same as one of several results: evidence of a result without uses is only counted.
    fn render_briefly(&self, page: &mut Page) -> String {
        self.render(page)
    }
    /// Bytes of the result without callers in tests, which come after the other results.
    fn least(&self) -> Option<usize> {
        None
    }
    /// The complete result as JSON.
    fn json(&self) -> Value;
    /// The result as JSON for a budget: with the contents of the text if those are selected.
    fn json_within(&self, _page: &mut Page) -> Value {
        self.json()
    }
    /// Structured output of at most `room` bytes, if the tool declares it. `freshness` is the
    /// freshness in words.
    fn structured(&self, _room: usize, _freshness: &str) -> Option<Value> {
        None
    }
    /// True for an empty result.
    fn is_empty(&self) -> bool {
        false
    }
    /// Short form of a result without uses of a symbol, for a list after the other results.
    fn unused(&self) -> Option<UnusedSymbol> {
        None
    }
}

/// Symbol without uses of the requested kind.
pub(super) struct UnusedSymbol {
    /// Kind of the uses, in the plural.
    pub(super) what: &'static str,
    /// Path of the file.
    pub(super) file: String,
    /// Name and line, and the numbers of other uses.
    pub(super) entry: String,
    /// Number of lines with the name that no reference accounts for.
    pub(super) lines: usize,
}
