//! Row sinks: the bulk loader of a new store (`bulk_loader`), and SQL statements for a change in
//! place (`SqlRows`). `row_encoder` determines the contents of rows for both.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql};

use crate::format::statements::{self, Statement};

/// Column value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'v> {
    Null,
    Integer(i64),
    Text(&'v str),
    Blob(&'v [u8]),
}

impl Value<'_> {
    /// The integer, if it is one.
    pub(super) fn integer(self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(number),
            Self::Null | Self::Text(_) | Self::Blob(_) => None,
        }
    }
}

macro_rules! value_of_numbers {
    ($($number:ty),+) => {
        $(impl From<$number> for Value<'_> {
            fn from(number: $number) -> Self {
                Self::Integer(i64::from(number))
            }
        })+
    };
}

value_of_numbers!(u8, u16, u32, i64);

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Self::Text(text)
    }
}

impl<'v> From<&'v [u8]> for Value<'v> {
    fn from(bytes: &'v [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Builds a row from values of several types.
macro_rules! row {
    ($($value:expr),+ $(,)?) => { [$($crate::build::row::Value::from($value)),+] };
}
pub(crate) use row;

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Declares the tables filled from a graph, with their name in `schema` and their INSERT statement.
macro_rules! tables {
    ($($table:ident = ($name:literal, $statement:ident),)+) => {
        /// Table filled from a graph.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Table { $($table,)+ }

        impl Table {
            /// Every table, by number.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$table,)+];

            /// Name in `schema`.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$table => $name,)+ }
            }

            fn add(self) -> Statement {
                match self { $(Self::$table => statements::$statement,)+ }
            }
        }
    };
}

tables! {
    Name = ("name", ADD_NAME),
    OtherName = ("other_name", ADD_OTHER_NAME),
    NameRun = ("name_run", ADD_NAME_RUN),
    NameTops = ("name_tops", ADD_NAME_TOPS),
    NameGram = ("name_gram", ADD_NAME_GRAM),
    File = ("file", ADD_FILE),
    FileWords = ("file_words", ADD_FILE_WORDS),
    TermBlock = ("term_block", ADD_TERM_BLOCK),
    FileLengths = ("file_lengths", ADD_FILE_LENGTHS),
    Symbol = ("symbol", ADD_SYMBOL),
    Site = ("site", ADD_SITE),
    SiteFile = ("site_file", ADD_SITE_FILE),
    Candidate = ("candidate", ADD_CANDIDATE),
    Import = ("import", ADD_IMPORT),
    Relation = ("relation", ADD_RELATION),
    Problem = ("problem", ADD_PROBLEM),
    FileEdge = ("file_edge", ADD_FILE_EDGE),
}

/// Row sink.
pub(crate) trait RowSink {
    /// Error of the sink.
    type Error;

    /// Adds the next row of a table. Rows of each table come in key order.
    fn add(&mut self, table: Table, values: &[Value<'_>]) -> Result<(), Self::Error>;
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

    fn add(&mut self, table: Table, values: &[Value<'_>]) -> rusqlite::Result<()> {
        let prepared = &mut self.prepared[table as usize];
        let statement = match prepared {
            Some(statement) => statement,
            None => prepared.insert(self.connection.prepare_cached(table.add().text())?),
        };
        for (number, value) in (1..).zip(values) {
            statement.raw_bind_parameter(number, value)?;
        }
        statement.raw_execute().map(drop)
    }
}
