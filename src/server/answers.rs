//! Responses: text and JSON of query results, within a budget.

pub(super) mod budget;
pub(super) mod failure;
pub(super) mod render;
pub(super) mod reply;

use budget::Page;
use serde_json::Value;

/// Renderable result.
pub(super) trait Answer {
    /// Fills the page, best entries first, and returns the first line: what, and how many of how
    /// many.
    fn render(&self, page: &mut Page) -> String;
    /// The complete result as JSON.
    fn json(&self) -> Value;
    /// Structured output of at most `room` bytes, if the tool declares it. `freshness` is the
    /// freshness in words.
    fn structured(&self, _room: usize, _freshness: &str) -> Option<Value> {
        None
    }
    /// True for an empty result.
    fn is_empty(&self) -> bool {
        false
    }
}
