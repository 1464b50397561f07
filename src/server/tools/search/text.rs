//! Rendering of `search`.

use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{
    CONTENT, Groups, RAISE, grouped, path, plural, quote_text, symbol_line,
};
use crate::answers::reply;
use crate::base::escape::SafeLine;
use cograph_query::{SearchParams, SearchResult};
use serde_json::{Value, json};

/// Query and result.
pub(crate) struct FoundSymbols {
    /// Query.
    pub(crate) params: SearchParams,
    /// Result.
    pub(crate) result: SearchResult,
}

impl Answer for FoundSymbols {
    fn render(&self, page: &mut Page) -> String {
        let entries = self.result.hits.iter().map(|hit| {
            let same = match hit.same_in {
                0 => String::new(),
                count => format!(" (equal in {})", plural(count, "other file")),
            };
            (path(&hit.symbol.path).to_string(), format!("{}{same}", symbol_line(&hit.symbol)))
        });
        let groups = Groups::stacked(page.room());
        let rows = grouped(page, groups, entries);
        let folded: u64 = self.result.hits[..rows].iter().map(|hit| hit.same_in).sum();
        let shown = rows + usize::try_from(folded).unwrap_or(usize::MAX);
        let seen = self.params.offset + shown;
        page.left_out(
            seen,
            self.result.total.number(),
            "symbols",
            &format!("`offset`: {seen}, {RAISE}, or filter by `path` or `kinds`"),
        );
        let from = if self.params.offset > 0 {
            format!(" from {}", self.params.offset + 1)
        } else {
            String::new()
        };
        let quotes = quote_text(self.result.hits[..rows].iter().map(|hit| &hit.symbol));
        let content = if quotes { format!(" · {CONTENT}") } else { String::new() };
        let query = SafeLine::new(&self.params.text, 120);
        format!("{shown} of {} symbols{from} for `{query}`, best first{content}", self.result.total)
    }

    fn json(&self) -> Value {
        let hits: Vec<Value> = self
            .result
            .hits
            .iter()
            .map(|hit| {
                let word = json!(reply::match_word(hit.matched));
                let symbol = reply::with(reply::symbol(&hit.symbol), "match", word);
                reply::with(symbol, "same_in", json!(hit.same_in))
            })
            .collect();
        json!({
            "total": reply::total(self.result.total), "offset": self.params.offset, "symbols": hits
        })
    }

    fn is_empty(&self) -> bool {
        self.result.hits.is_empty()
    }
}
