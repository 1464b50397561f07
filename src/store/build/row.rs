//! Row sinks: the bulk loader of a new store (`bulk_loader`), and SQL statements for a change in
//! place (`SqlRows`). `row_encoder` determines the contents of rows for both.

use rusqlite::{CachedStatement, Connection};

use crate::format::schema::tables::{Row, Table};

/// Row sink.
pub(crate) trait RowSink {
    /// Error of the sink.
    type Error;

    /// Adds the next row of a table. Rows of each table come in key order.
    fn add<const COLUMNS: usize>(&mut self, row: Row<'_, COLUMNS>) -> Result<(), Self::Error>;
}

/// Inserts rows by SQL.
pub(crate) struct SqlRows<'c> {
    connection: &'c Connection,
    /// Prepared on first use, by table.
    prepared: [Option<CachedStatement<'c>>; Table::ALL.len()],
}

impl<'c> SqlRows<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Self { connection, prepared: Default::default() }
    }
}

impl RowSink for SqlRows<'_> {
    type Error = rusqlite::Error;

    fn add<const COLUMNS: usize>(&mut self, row: Row<'_, COLUMNS>) -> rusqlite::Result<()> {
        let prepared = &mut self.prepared[row.table as usize];
        let statement = match prepared {
            Some(statement) => statement,
            None => {
                let insert = row.table.schema().insert;
                prepared.insert(self.connection.prepare_cached(insert)?)
            }
        };
        for (number, value) in (1..).zip(row.values) {
            statement.raw_bind_parameter(number, value)?;
        }
        statement.raw_execute().map(drop)
    }
}
