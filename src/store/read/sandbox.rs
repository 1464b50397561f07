//! Sandbox for SQL that users write: one statement at a time, reading documented views only,
//! bounded in rows, size, memory and time.
//!
//! SQLite looks at a bound between two steps of its machine and never within one, so what one step
//! can do is bounded too: by the length of values and of patterns. What a statement sorts or keeps
//! on the way stays in memory, where it is counted, and makes no files.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;

use super::connection::Snapshot;
use super::control::MAX_VALUE_BYTES;

/// Longest text, blob or row that a user's statement may make or read. No column of a view comes
/// near it.
pub const VALUE_BYTES: i32 = 64 << 10;
/// What SQLite says of a value that is too long.
const TOO_BIG: &str = "string or blob too big";

/// A value of a result.
#[derive(Clone, PartialEq, Debug)]
pub enum SqlValue {
    /// Null.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text; bytes that are no UTF-8 are replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// What a statement gave before it ended or was stopped.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SqlOutcome {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<SqlValue>>,
    /// Whether there are more rows than were asked for.
    pub more_rows: bool,
    /// Whether the rows were too large for all of them to be kept.
    pub too_large: bool,
    /// Whether the time ran out.
    pub out_of_time: bool,
    /// Whether it took too much memory.
    pub out_of_memory: bool,
}

/// Bounds for one statement.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct SqlBounds {
    /// Rows that are kept.
    pub(in crate::store) rows: usize,
    /// Bytes of values that are kept.
    pub(in crate::store) bytes: usize,
    /// Time.
    pub(in crate::store) time: Duration,
}

/// A connection while a user's statement runs on it: its values are shorter until this is dropped.
struct Narrow<'c>(&'c Connection);

impl<'c> Narrow<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let narrow = Self(connection);
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES)?;
        Ok(narrow)
    }
}

impl Drop for Narrow<'_> {
    fn drop(&mut self) {
        // It was set to that before, so it can be.
        let _ = self.0.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    }
}

/// Runs a user's statement. The error is a sentence for the one who wrote it.
pub(in crate::store) fn run(
    snapshot: &Snapshot,
    statement: &str,
    bounds: SqlBounds,
) -> Result<SqlOutcome, String> {
    let control = snapshot.control();
    control.refusal.take();
    control.meter.begin();
    control.guarded.store(true, Ordering::Relaxed);
    control.set_deadline(Some(Instant::now() + bounds.time));
    let mut outcome = SqlOutcome::default();
    let narrow = Narrow::new(snapshot.connection());
    let result =
        narrow.and_then(|_narrow| collect(snapshot.connection(), statement, bounds, &mut outcome));
    control.set_deadline(None);
    control.guarded.store(false, Ordering::Relaxed);
    match result {
        Ok(()) => Ok(outcome),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
        {
            outcome.out_of_memory = control.meter.look();
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
            let value = match row.get_ref(at)? {
                ValueRef::Null => SqlValue::Null,
                ValueRef::Integer(number) => SqlValue::Integer(number),
                ValueRef::Real(number) => SqlValue::Real(number),
                ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(blob) => SqlValue::Blob(blob.to_vec()),
            };
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

impl SqlValue {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blob(blob) => blob.len(),
            Self::Null | Self::Integer(_) | Self::Real(_) => 8,
        }
    }
}
