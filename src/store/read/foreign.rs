//! SQLite databases of other programs, which a user names: opened for reading, never trusted.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::format::error::StoreError;
use crate::format::sql_value::SqlValue;

/// Maximum length of a value in such a database.
const VALUE_BYTES: i32 = 16 << 20;
/// Virtual machine instructions between two checks of the clock.
const STEPS_PER_CALLBACK: i32 = 10_000;
/// Ordinary tables: what a view or a virtual table computes is not read.
const TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'";

/// Database of another program.
#[derive(Debug)]
pub struct ForeignDatabase {
    connection: Connection,
    path: PathBuf,
}

impl ForeignDatabase {
    /// Opens a file; everything that is read from it takes at most `within`.
    pub fn open(path: &Path, within: Duration) -> Result<Self, StoreError> {
        let failed =
            |error: rusqlite::Error| StoreError::from_sqlite("opening database", path, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let until = Instant::now() + within;
        let mut set_up = || -> rusqlite::Result<()> {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES)?;
            connection
                .progress_handler(STEPS_PER_CALLBACK, Some(move || Instant::now() >= until))?;
            connection.execute_batch(
                "PRAGMA query_only = 1; PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0;",
            )
        };
        set_up().map_err(failed)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Names of its ordinary tables.
    pub fn tables(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        self.visit(TABLES, &mut |row| {
            if let [SqlValue::Text(name)] = row {
                names.push(name.clone());
            }
            true
        })?;
        Ok(names)
    }

    /// Visits the rows of a statement until `visit` returns false.
    pub fn visit(
        &self,
        statement: &'static str,
        visit: &mut dyn FnMut(&[SqlValue]) -> bool,
    ) -> Result<(), StoreError> {
        let mut run = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(statement)?;
            let width = statement.column_count();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let values = (0..width)
                    .map(|at| row.get_ref(at).map(SqlValue::of))
                    .collect::<rusqlite::Result<Vec<_>>>()?;
                if !visit(&values) {
                    break;
                }
            }
            Ok(())
        };
        run().map_err(|error| StoreError::from_sqlite("reading database", &self.path, &error))
    }
}
