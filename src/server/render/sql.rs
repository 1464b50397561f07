//! The answer of `sql`: rows as text, with a separator that no value can forge.

use super::RAISE;
use crate::query::SqlResult;
use crate::query::sql::{SqlBound, SqlValue};
use crate::server::budget::Page;
use crate::server::escape::SafeLine;
use crate::server::reply;
use crate::server::tools::Answer;
use serde_json::Value;

/// Bytes of a value that are shown.
const VALUE: usize = 200;

impl Answer for SqlResult {
    fn render(&self, page: &mut Page) -> String {
        let columns: Vec<String> = self.columns.iter().map(|column| SafeLine::new(column, 60).to_string()).collect();
        page.add(&columns.join(" | "));
        let shown = page.add_all(self.rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" | ")));
        page.left_out(shown, self.total.number(), "rows", &format!("{RAISE}, or add LIMIT and OFFSET"));
        match self.stopped_by {
            Some(SqlBound::Rows) => page.note("the statement was stopped when there were enough rows; there are more"),
            Some(SqlBound::Size) => page.note("the statement was stopped because its rows are too large; choose fewer columns"),
            Some(SqlBound::Time) => page.note("the statement was stopped by the time limit; there may be more rows"),
            None => {}
        }
        format!("{shown} of {} rows", self.total)
    }

    fn json(&self) -> Value {
        reply::sql(self)
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

fn value(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => "null".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        // The separator of columns cannot be forged.
        SqlValue::Text(text) => SafeLine::new(text, VALUE).as_str().replace('|', "\\u{7c}"),
        SqlValue::Blob(bytes) => format!("({} bytes)", bytes.len()),
    }
}
