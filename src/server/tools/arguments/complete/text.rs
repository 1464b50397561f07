//! Rendering of `complete`: one value per line, or the protocol's result.

use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::RAISE;
use crate::base::escape::SafeLine;
use cograph_query::{CompleteResult, Total};
use serde_json::{Value, json};

/// Maximum length of a value, in bytes: that of a path. An escaped or truncated value is listed but
/// cannot be used in a query.
const VALUE: usize = 1024;

impl Answer for CompleteResult {
    fn render(&self, page: &mut Page) -> String {
        let shown =
            page.add_all(self.values.iter().map(|value| SafeLine::new(value, VALUE).to_string()));
        page.left_out(shown, self.total.number(), "values", RAISE);
        format!("{shown} of {} completions", self.total)
    }

    fn json(&self) -> Value {
        let values: Vec<String> =
            self.values.iter().map(|value| SafeLine::new(value, VALUE).to_string()).collect();
        let has_more = self.total != Total::Exact(values.len() as u64);
        let mut completion = json!({"values": values, "hasMore": has_more});
        if let Total::Exact(total) = self.total {
            completion["total"] = Value::from(total);
        }
        completion
    }

    fn structured(&self, _room: usize, _freshness: &str) -> Option<Value> {
        // At most a hundred values, the protocol's limit.
        Some(self.json())
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
