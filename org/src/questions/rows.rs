//! Values of the rows of an answer of the engine.

use arrow::array::AsArray as _;
use arrow::array::{Array as _, RecordBatch};
use arrow::datatypes::Int64Type;
use datafusion::prelude::DataFrame;
use futures::StreamExt as _;

use super::callees::Uses;
use crate::error::{OrgError, Result};
use crate::session::Failed;

/// Rows of a batch.
pub(crate) struct Rows<'b>(pub(crate) &'b RecordBatch);

impl<'b> Rows<'b> {
    pub(crate) fn optional(&self, column: usize, row: usize) -> Result<Option<&'b str>> {
        let values = self.0.columns().get(column).and_then(|values| values.as_string_view_opt());
        let values = values.ok_or_else(|| other_type(column))?;
        Ok((!values.is_null(row)).then(|| values.value(row)))
    }

    pub(crate) fn text(&self, column: usize, row: usize) -> Result<&'b str> {
        self.optional(column, row).map(Option::unwrap_or_default)
    }

    pub(crate) fn number(&self, column: usize, row: usize) -> Result<i64> {
        let values = self.0.columns().get(column);
        let values = values.and_then(|values| values.as_primitive_opt::<Int64Type>());
        let values = values.ok_or_else(|| other_type(column))?;
        Ok(values.value(row))
    }

    /// Calls and repositories, in two columns.
    pub(crate) fn uses(&self, column: usize, row: usize) -> Result<Uses> {
        let calls = u64::try_from(self.number(column, row)?).unwrap_or_default();
        let repositories = u64::try_from(self.number(column + 1, row)?).unwrap_or_default();
        Ok(Uses { calls, repositories })
    }
}

fn other_type(column: usize) -> OrgError {
    OrgError::Engine(format!("column {column} of the engine's answer has another type"))
}

/// Rows of a question about a name, up to a limit.
pub(crate) async fn batches(
    frame: DataFrame,
    most: usize,
    name: &str,
) -> Result<Vec<RecordBatch>, Failed> {
    let mut stream = frame.execute_stream().await?;
    let (mut found, mut rows) = (Vec::new(), 0);
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        rows += batch.num_rows();
        if rows > most {
            let message = format!("more than {most} rows for `{name}`: name its package too");
            return Err(OrgError::Question(message).into());
        }
        found.push(batch);
    }
    Ok(found)
}
