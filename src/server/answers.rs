//! Answers: text and JSON of what a question found, within a budget.

pub(super) mod budget;
pub(super) mod failure;
pub(super) mod render;
pub(super) mod reply;

use budget::Page;
use serde_json::Value;

/// A plain result that can be shown.
pub(super) trait Answer {
    /// Fills the page, best first, and gives the first line: what, and how many of how many.
    fn render(&self, page: &mut Page) -> String;
    /// The whole as JSON.
    fn json(&self) -> Value;
    /// The answer for programs, if the tool has such a form: no more than fits in so many bytes.
    /// `freshness` says of which state of the files it speaks.
    fn structured(&self, _room: usize, _freshness: &str) -> Option<Value> {
        None
    }
    /// Whether nothing was found.
    fn is_empty(&self) -> bool {
        false
    }
}
