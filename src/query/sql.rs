//! `sql`: one read-only statement over the documented views of the store, with bounds on rows and time.

use std::time::Duration;

use super::{QueryError, Total};
use crate::model::cancel::CancelToken;
use crate::store::Snapshot;

pub use crate::store::{SqlValue, VIEWS, View};

/// What to ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqlParams {
    /// One `SELECT`, `WITH … SELECT` or `VALUES` over [`VIEWS`].
    pub statement: String,
    /// At most so many rows are returned.
    pub max_rows: usize,
    /// The statement is stopped after so long, with the rows it has given by then.
    pub time_limit: Duration,
}

impl Default for SqlParams {
    fn default() -> Self {
        Self { statement: String::new(), max_rows: 200, time_limit: Duration::from_secs(5) }
    }
}

/// Which bound ended a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SqlBound {
    /// `max_rows`: there is at least one row more.
    Rows,
    /// The rows together are too large: narrow the columns.
    Size,
    /// `time_limit`.
    Time,
}

/// The answer of `sql`.
#[derive(Clone, PartialEq, Debug)]
pub struct SqlResult {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<SqlValue>>,
    /// How many rows there are.
    pub total: Total,
    /// Which bound ended the statement, if one did.
    pub stopped_by: Option<SqlBound>,
}

/// Runs a statement.
pub fn sql(snapshot: &Snapshot, params: &SqlParams, cancel: &CancelToken) -> Result<SqlResult, QueryError> {
    super::pending(snapshot, params, cancel)
}
