//! Views of `sql` that are not in the store: made in the temporary database of a reading
//! connection when a statement names them, and gone with its transaction.

use rusqlite::{Connection, params_from_iter};

use crate::format::sql_value::SqlValue;
use crate::format::views::{KEPT_TABLES, KEPT_VIEWS, View};

/// Rows of a table that such a view reads.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptRows {
    /// Table.
    pub table: &'static str,
    /// Values in the order of its columns.
    pub rows: Vec<Vec<SqlValue>>,
}

/// Loads the tables of the view of this name. The error is a sentence.
pub type LoadKept<'l> = &'l dyn Fn(&str) -> Result<Vec<KeptRows>, String>;

/// Beginning of SQLite's message about a name that it does not know.
const UNKNOWN: &str = "no such table: ";

/// The view that a statement failed for.
pub(super) fn missing(error: &rusqlite::Error) -> Option<&'static View> {
    let message = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        _ => return None,
    };
    let name = message.strip_prefix(UNKNOWN)?;
    KEPT_VIEWS.iter().find(|view| view.name.eq_ignore_ascii_case(name))
}

/// Makes a view, with those of its tables that an earlier one has not made.
pub(super) fn make(connection: &Connection, view: &View, load: LoadKept<'_>) -> Result<(), String> {
    let tables = load(view.name)?;
    let writable = Writable::new(connection).map_err(|error| error.to_string())?;
    let made =
        fill(connection, &tables).and_then(|()| connection.execute_batch(&view.create_temporary()));
    drop(writable);
    made.map_err(|error| format!("`{}` cannot be made: {error}", view.name))
}

/// Lets a connection write to its temporary database; the store itself is opened for reading.
struct Writable<'c>(&'c Connection);

impl<'c> Writable<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        connection.execute_batch("PRAGMA query_only = 0")?;
        Ok(Self(connection))
    }
}

impl Drop for Writable<'_> {
    fn drop(&mut self) {
        // Sets a flag of the connection, which cannot fail.
        let _ = self.0.execute_batch("PRAGMA query_only = 1");
    }
}

fn fill(connection: &Connection, tables: &[KeptRows]) -> rusqlite::Result<()> {
    for KeptRows { table, rows } in tables {
        let Some((name, columns)) = KEPT_TABLES.iter().find(|(name, _)| name == table) else {
            continue;
        };
        if connection.table_exists(Some("temp"), name)? {
            continue;
        }
        connection.execute_batch(&format!("CREATE TEMP TABLE {name} {columns}"))?;
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 {
            continue;
        }
        let places = vec!["?"; width].join(", ");
        let mut insert =
            connection.prepare(&format!("INSERT INTO temp.{name} VALUES ({places})"))?;
        for row in rows {
            insert.execute(params_from_iter(row))?;
        }
    }
    Ok(())
}
