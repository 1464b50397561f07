//! `sql`: one read-only statement over the documented views of the store, with limits on rows,
//! memory and time.

use std::time::Duration;

use crate::graph::answer::Total;
use crate::graph::error::QueryError;
use cograph_model::cancel::CancelToken;
use cograph_store::Snapshot;

pub use cograph_store::{
    KeptRows, LoadKept, MEMORY_BYTES, PATTERN_BYTES, SqlValue, VALUE_BYTES, View, all_views,
};

/// Maximum size of the values in a result, in bytes.
pub const MAX_BYTES: usize = 4 << 20;

/// Parameters of `sql`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqlParams {
    /// One `SELECT`, `WITH … SELECT` or `VALUES` over [`all_views`].
    pub statement: String,
    /// Maximum number of rows.
    pub max_rows: usize,
    /// Timeout of the statement; rows returned before it are kept.
    pub time_limit: Duration,
}

impl Default for SqlParams {
    fn default() -> Self {
        Self { statement: String::new(), max_rows: 200, time_limit: Duration::from_secs(5) }
    }
}

/// Limit that ended a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SqlBound {
    /// `max_rows`: at least one more row exists.
    Rows,
    /// Total size of the rows: select fewer columns.
    Size,
    /// `time_limit`.
    Time,
    /// [`MEMORY_BYTES`].
    Memory,
}

/// Result of `sql`.
#[derive(Clone, PartialEq, Debug)]
pub struct SqlResult {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<SqlValue>>,
    /// Number of rows.
    pub total: Total,
    /// Limit that ended the statement, if any.
    pub stopped_by: Option<SqlBound>,
}

/// Runs a statement. `kept` loads the rows of the views that are not in the store.
pub fn sql(
    snapshot: &Snapshot,
    params: &SqlParams,
    kept: LoadKept<'_>,
    cancel: &CancelToken,
) -> Result<SqlResult, QueryError> {
    let outcome = snapshot
        .run_sql(&params.statement, params.max_rows, MAX_BYTES, params.time_limit, kept)
        .map_err(|reason| QueryError::Sql { reason })?;
    if cancel.is_cancelled() {
        return Err(QueryError::Cancelled);
    }
    let seen = outcome.rows.len() as u64;
    let (total, stopped_by) = if outcome.out_of_time {
        (Total::AtLeast(seen), Some(SqlBound::Time))
    } else if outcome.out_of_memory {
        (Total::AtLeast(seen), Some(SqlBound::Memory))
    } else if outcome.more_rows {
        (Total::AtLeast(seen + 1), Some(SqlBound::Rows))
    } else if outcome.too_large {
        (Total::AtLeast(seen + 1), Some(SqlBound::Size))
    } else {
        (Total::Exact(seen), None)
    };
    Ok(SqlResult { columns: outcome.columns, rows: outcome.rows, total, stopped_by })
}
