//! Rendering of `sql`: rows as text, with an unforgeable column separator, and as structured
//! output.

use super::json;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{CONTENT, RAISE};
use crate::base::escape::SafeLine;
use cograph_query::sql::{SqlBound, SqlValue};
use cograph_query::{SqlResult, Total};
use serde_json::{Value, json};

/// Maximum length of a value, in bytes.
const VALUE: usize = 200;

/// Size of structured output without its rows, in bytes: member names and notes.
const FRAME: usize = 400;
/// Hint for omitted rows.
const MORE: &str = "add LIMIT and OFFSET";

impl Answer for SqlResult {
    fn render(&self, page: &mut Page) -> String {
        let columns: Vec<String> = self.columns.iter().map(|name| column(name)).collect();
        page.add(&columns.join(" | "));
        let shown = page.add_all(
            self.rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" | ")),
        );
        page.left_out(shown, self.total.number(), "rows", &format!("{RAISE}, or {MORE}"));
        if let Some(reason) = stopped(self) {
            page.omit(reason);
        }
        let content = if shown > 0 { format!(" · {CONTENT}") } else { String::new() };
        format!("{shown} of {} rows{content}", self.total)
    }

    fn json(&self) -> Value {
        json::sql(self)
    }

    /// The table with typed values. Hosts show the model either this or the text, so both have the
    /// same rows and notes, as far as they fit.
    fn structured(&self, room: usize, freshness: &str) -> Option<Value> {
        let columns: Vec<String> = self.columns.iter().map(|name| column(name)).collect();
        let mut left = room
            .saturating_sub(FRAME + columns.iter().map(|column| column.len() + 3).sum::<usize>());
        let mut rows = Vec::new();
        for row in &self.rows {
            let row = Value::Array(row.iter().map(typed).collect());
            let bytes = row.to_string().len() + 1;
            if bytes > left {
                break;
            }
            left -= bytes;
            rows.push(row);
        }
        let left_out = self.total.number().saturating_sub(rows.len() as u64);
        let how = (left_out > 0).then(|| format!("{left_out} more rows: {RAISE}, or {MORE}"));
        let content = (!rows.is_empty()).then(|| CONTENT.to_owned());
        let notes: Vec<String> =
            content.into_iter().chain(how).chain(stopped(self).map(str::to_owned)).collect();
        let mut table = json!({
            "columns": columns,
            "rows": rows,
            "total": self.total.number(),
            "exact": matches!(self.total, Total::Exact(_)),
            "left_out": left_out,
            "index": freshness,
        });
        if !notes.is_empty() {
            table["note"] = Value::from(notes.join("; "));
        }
        Some(table)
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

fn column(name: &str) -> String {
    SafeLine::new(name, 60).to_string()
}

/// Why there may be more rows.
fn stopped(result: &SqlResult) -> Option<&'static str> {
    result.stopped_by.map(|bound| match bound {
        SqlBound::Rows => {
            "the statement was stopped when there were enough rows; there are more: narrow it, or \
             add LIMIT and OFFSET"
        }
        SqlBound::Size => {
            "the statement was stopped because its rows are too large; choose fewer \
                           columns"
        }
        SqlBound::Memory => {
            "the statement was stopped because it took more than 128 MB on its way; sort, group or \
             join less; there may be more rows"
        }
        SqlBound::Time => "the statement was stopped by the time limit; there may be more rows",
    })
}

fn value(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => "null".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        // The column separator is escaped in values.
        SqlValue::Text(text) => SafeLine::new(text, VALUE).as_str().replace('|', "\\u{7c}"),
        SqlValue::Blob(bytes) => format!("({} bytes)", bytes.len()),
    }
}

fn typed(value: &SqlValue) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(number) => json!(number),
        SqlValue::Real(number) => json!(number),
        SqlValue::Text(text) => json!(SafeLine::new(text, VALUE).as_str()),
        SqlValue::Blob(bytes) => json!(format!("({} bytes)", bytes.len())),
    }
}
