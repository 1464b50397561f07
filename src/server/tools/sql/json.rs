//! JSON of the answers of `sql`: columns and rows, and their schema.

use crate::answers::reply::{list, total};
use cograph_query::SqlResult;
use cograph_query::sql::{SqlBound, SqlValue};
use serde_json::{Value, json};

/// Result of `sql`.
pub(super) fn sql(result: &SqlResult) -> Value {
    json!({
        "columns": result.columns,
        "rows": list(&result.rows, |row| list(row, sql_value)),
        "total": total(result.total),
        "stopped_by": result.stopped_by.map(|bound| match bound {
            SqlBound::Rows => "rows",
            SqlBound::Size => "size",
            SqlBound::Time => "time",
            SqlBound::Memory => "memory",
        }),
    })
}

/// Output schema of `sql`, filled by `render`: rows as arrays in column order.
pub(super) fn sql_shape() -> Value {
    json!({
        "type": "object",
        "properties": {
            "columns": {"type": "array", "items": {"type": "string"}},
            "rows": {"type": "array", "items": {"type": "array"}},
            "total": {"type": "integer"},
            "exact": {"type": "boolean"},
            "left_out": {"type": "integer"},
            "note": {"type": "string"},
            "index": {"type": "string"},
        },
        "required": ["columns", "rows", "total", "exact", "left_out", "index"],
    })
}

fn sql_value(value: &SqlValue) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(number) => json!(number),
        SqlValue::Real(number) => json!(number),
        SqlValue::Text(text) => json!(text),
        SqlValue::Blob(bytes) => json!({"bytes": bytes.len()}),
    }
}
