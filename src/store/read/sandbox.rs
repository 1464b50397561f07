//! Sandbox for user SQL: one statement at a time, read access to documented views only, with limits
//! on rows, size, memory and time.
//!
//! SQLite checks limits between two instructions of its virtual machine, so the cost of one
//! instruction is limited too, by the length of values and of patterns. Sorting and temporary
//! tables stay in memory, where they are counted, and create no files.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::limits::Limit;

use super::connection::Snapshot;
use super::control::MAX_VALUE_BYTES;
use super::kept::{self, LoadKept};
use crate::format::sql_value::SqlValue;
use crate::format::views::KEPT_VIEWS;

/// Maximum length of a text, blob or row in user SQL. No column of a view comes close.
pub const VALUE_BYTES: i32 = 64 << 10;
/// SQLite's message for a value that is too long.
const TOO_BIG: &str = "string or blob too big";

/// Result of a statement that ended or was interrupted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SqlOutcome {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<SqlValue>>,
    /// True if there are more rows than the limit.
    pub more_rows: bool,
    /// True if rows were dropped because of the size limit.
    pub too_large: bool,
    /// True after a timeout.
    pub out_of_time: bool,
    /// True if the memory limit was exceeded.
    pub out_of_memory: bool,
}

/// Limits of one statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SqlBounds {
    /// Maximum number of rows.
    pub(crate) rows: usize,
    /// Maximum size of all values in bytes.
    pub(crate) bytes: usize,
    /// Timeout.
    pub(crate) time: Duration,
}

/// Lowers the length limit of a connection during a user statement; restores it on drop.
struct LoweredLengthLimit<'c>(&'c Connection);

impl<'c> LoweredLengthLimit<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let narrow = Self(connection);
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES)?;
        Ok(narrow)
    }
}

impl Drop for LoweredLengthLimit<'_> {
    fn drop(&mut self) {
        // Restores an earlier value, which cannot fail.
        let _ = self.0.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    }
}

/// Runs a user statement. The error is a sentence for its author.
pub(crate) fn run(
    snapshot: &Snapshot,
    statement: &str,
    bounds: SqlBounds,
    load: LoadKept<'_>,
) -> Result<SqlOutcome, String> {
    let control = snapshot.control();
    let mut outcome = SqlOutcome::default();
    let attempt = |outcome: &mut SqlOutcome| {
        control.refusal.take();
        control.meter.begin();
        control.guarded.store(true, Ordering::Relaxed);
        control.set_deadline(Some(Instant::now() + bounds.time));
        let narrow = LoweredLengthLimit::new(snapshot.connection());
        let result =
            narrow.and_then(|_narrow| collect(snapshot.connection(), statement, bounds, outcome));
        control.set_deadline(None);
        control.guarded.store(false, Ordering::Relaxed);
        result
    };
    let mut result = attempt(&mut outcome);
    // Each attempt names one more of the views that are made on demand.
    for _ in KEPT_VIEWS {
        let Some(view) = result.as_ref().err().and_then(kept::missing) else { break };
        kept::make(snapshot.connection(), view, load)?;
        result = attempt(&mut outcome);
    }
    match result {
        Ok(()) => Ok(outcome),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
        {
            outcome.out_of_memory = control.meter.is_exceeded();
            outcome.out_of_time = !outcome.out_of_memory;
            Ok(outcome)
        }
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::TooBig) => {
            Err(format!("{TOO_BIG}: {VALUE_BYTES} bytes are the most; `substr` takes a part"))
        }
        Err(rusqlite::Error::MultipleStatement) => Err("one statement at a time".to_owned()),
        Err(rusqlite::Error::SqlInputError { msg, .. }) => {
            Err(control.refusal.take().unwrap_or(msg))
        }
        Err(rusqlite::Error::SqliteFailure(_, Some(message))) => {
            Err(control.refusal.take().unwrap_or(message))
        }
        Err(error) => Err(control.refusal.take().unwrap_or_else(|| error.to_string())),
    }
}

fn collect(
    connection: &Connection,
    text: &str,
    bounds: SqlBounds,
    outcome: &mut SqlOutcome,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(text)?;
    if statement.parameter_count() > 0 {
        return Err(rusqlite::Error::InvalidParameterCount(0, statement.parameter_count()));
    }
    outcome.columns = statement.column_names().map(str::to_owned).collect();
    let width = outcome.columns.len();
    let mut bytes = 0;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if outcome.rows.len() == bounds.rows {
            outcome.more_rows = true;
            return Ok(());
        }
        let mut values = Vec::with_capacity(width);
        for at in 0..width {
            let value = SqlValue::of(row.get_ref(at)?);
            bytes += value.size();
            if bytes > bounds.bytes {
                outcome.too_large = true;
                return Ok(());
            }
            values.push(value);
        }
        outcome.rows.push(values);
    }
    Ok(())
}
