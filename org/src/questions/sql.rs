//! Plain SQL over the tables: one statement that reads.

use arrow::array::{Array, AsArray as _, RecordBatch};
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::DataFrame;
use futures::StreamExt as _;
use serde_json::{Map, Value, json};

use super::Answer;
use super::text::{count, state};
use crate::error::OrgError;
use crate::escape::escaped;
use crate::session::{Failed, Tables};

/// Maximum size of a statement, in bytes.
const MAX_STATEMENT: usize = 64 << 10;
/// Maximum number of characters of a value in text.
const MAX_VALUE: usize = 400;
/// Maximum size of the values of an answer, in bytes; rows after it are left out.
const MAX_BYTES: usize = 4 << 20;

/// The question.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) statement: String,
    pub(crate) rows: usize,
}

pub(crate) async fn answer(question: Question, tables: Tables) -> Result<Answer, Failed> {
    if question.statement.len() > MAX_STATEMENT {
        let message = format!("a statement has at most {MAX_STATEMENT} bytes");
        return Err(OrgError::Statement(message).into());
    }
    let state_of = tables.context.state();
    let plan = state_of.create_logical_plan(&question.statement).await?;
    let reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    reads.verify_plan(&plan)?;
    let is_about_plan = matches!(
        plan,
        LogicalPlan::Explain(_) | LogicalPlan::Analyze(_) | LogicalPlan::DescribeTable(_)
    );
    let mut frame = DataFrame::new(state_of, plan);
    if !is_about_plan {
        frame = frame.limit(0, Some(question.rows + 1))?;
    }
    let mut stream = frame.execute_stream().await?;
    let schema = stream.schema();
    let mut found = Found::default();
    while let Some(batch) = stream.next().await {
        if !found.add(&batch?, question.rows)? {
            break;
        }
    }
    let compacted = tables.compacted.as_deref();
    let text = found.text(&schema) + &state(compacted);
    Ok(Answer { text, json: found.json(&schema, compacted) })
}

/// Rows of the answer.
#[derive(Default)]
struct Found {
    rows: Vec<Vec<Value>>,
    bytes: usize,
    has_more: bool,
}

impl Found {
    /// Adds rows; false if there is no room for more.
    fn add(&mut self, batch: &RecordBatch, most: usize) -> Result<bool, Failed> {
        let options = FormatOptions::default();
        let mut columns = Vec::new();
        for column in batch.columns() {
            let shown = ArrayFormatter::try_new(column.as_ref(), &options);
            columns.push((column, shown.map_err(datafusion::error::DataFusionError::from)?));
        }
        for row in 0..batch.num_rows() {
            if self.rows.len() == most || self.bytes > MAX_BYTES {
                self.has_more = true;
                return Ok(false);
            }
            let mut values = Vec::new();
            for (column, shown) in &columns {
                let value = value(column.as_ref(), shown, row);
                self.bytes += value.as_str().map_or(8, str::len);
                values.push(value);
            }
            self.rows.push(values);
        }
        Ok(true)
    }

    fn text(&self, schema: &SchemaRef) -> String {
        let shown = |value: &Value| match value {
            Value::Null => "-".to_owned(),
            Value::String(text) => short(&escaped(text)),
            other => other.to_string(),
        };
        let names = schema.fields().iter().map(|field| escaped(field.name()).into_owned());
        let mut lines: Vec<Vec<String>> = vec![names.collect()];
        lines.extend(self.rows.iter().map(|row| row.iter().map(shown).collect()));
        let columns = schema.fields().len();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0).min(60)).collect();
        let mut text = String::new();
        for line in &lines {
            let mut row = String::new();
            for (value, width) in line.iter().zip(&widths) {
                row += &format!("{value:<width$}  ");
            }
            text += row.trim_end();
            text.push('\n');
        }
        let more = if self.has_more { ", and there are more" } else { "" };
        text + &format!("{}{more}\n", count(self.rows.len(), "row"))
    }

    fn json(&self, schema: &SchemaRef, compacted: Option<&str>) -> Value {
        let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
        let rows = self.rows.iter().map(|row| {
            let pairs = names.iter().zip(row).map(|(name, value)| ((*name).clone(), value.clone()));
            Value::Object(pairs.collect::<Map<String, Value>>())
        });
        let rows: Vec<Value> = rows.collect();
        json!({"columns": names, "compacted": compacted, "rows": rows, "more": self.has_more})
    }
}

fn value(column: &dyn Array, shown: &ArrayFormatter<'_>, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Float64 => {
            let value = column.as_primitive::<arrow::datatypes::Float64Type>().value(row);
            Value::from(value)
        }
        DataType::UInt64 => column.as_primitive::<arrow::datatypes::UInt64Type>().value(row).into(),
        _ => shown.value(row).to_string().into(),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
