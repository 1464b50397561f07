//! Writes a table as a Parquet file, group by group: no more rows are in memory than one group has.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, Type as PhysicalType, ZstdLevel,
};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type as SchemaType};

use super::schema::{Column, TableSchema, Type, VERSION};

/// Rows of a group.
const GROUP_ROWS: usize = 1 << 17;

/// Maximum size of the dictionary of a column in a group, in bytes: the SCIP symbols of a group
/// take several megabytes.
const DICTIONARY_BYTES: usize = 16 << 20;

/// Level of zstd.
const COMPRESSION: i32 = 6;

/// Value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'c> {
    Null,
    Text(&'c str),
    Number(i64),
    Flag(bool),
}

impl<'c> From<&'c str> for Cell<'c> {
    fn from(text: &'c str) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'c, T: Into<Cell<'c>>> From<Option<T>> for Cell<'c> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Values of a column, in the group that is being filled. `levels` has 1 for each that is not null.
struct Buffer {
    values: Values,
    levels: Vec<i16>,
}

enum Values {
    Texts(Vec<ByteArray>),
    Numbers(Vec<i64>),
    Flags(Vec<bool>),
}

/// Writer of one table. The file has its name when it is whole.
pub(crate) struct TableWriter {
    table: &'static TableSchema,
    writer: SerializedFileWriter<File>,
    buffers: Vec<Buffer>,
    rows: usize,
    temporary: PathBuf,
    path: PathBuf,
}

impl TableWriter {
    /// Creates the file next to `path`, whose directory must exist.
    pub(crate) fn create(table: &'static TableSchema, path: &Path) -> Result<Self> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let file = File::create(&temporary)?;
        let fields = table.columns.iter().map(field).collect::<Result<_>>()?;
        let schema = SchemaType::group_type_builder(table.name).with_fields(fields).build()?;
        let sorting = table.sorted_by.map(|column| {
            vec![SortingColumn { column_idx: column as i32, descending: false, nulls_first: false }]
        });
        let version = KeyValue::new("cograph.schema".to_owned(), VERSION.to_string());
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(COMPRESSION)?))
            .set_dictionary_page_size_limit(DICTIONARY_BYTES)
            .set_key_value_metadata(Some(vec![version]))
            .set_sorting_columns(sorting);
        for column in table.columns.iter().filter(|column| column.is_distinct) {
            let path = ColumnPath::from(column.name);
            let encoding = match column.ty {
                Type::Text => Encoding::DELTA_BYTE_ARRAY,
                Type::Number => Encoding::DELTA_BINARY_PACKED,
                Type::Flag => Encoding::RLE,
            };
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, encoding);
        }
        let properties = Arc::new(properties.build());
        let writer = SerializedFileWriter::new(file, Arc::new(schema), properties)?;
        let buffers = table.columns.iter().map(Buffer::of).collect();
        Ok(Self { table, writer, buffers, rows: 0, temporary, path: path.to_owned() })
    }

    /// Adds a row: one value for each column.
    pub(crate) fn add(&mut self, row: &[Cell<'_>]) -> Result<()> {
        if row.len() != self.buffers.len() {
            let (table, found) = (self.table.name, row.len());
            return Err(ParquetError::General(format!("{found} values in a row of {table}")));
        }
        for ((buffer, column), value) in self.buffers.iter_mut().zip(self.table.columns).zip(row) {
            buffer.add(column, *value)?;
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for buffer in &mut self.buffers {
            let Some(mut column) = group.next_column()? else { break };
            buffer.write(column.untyped())?;
            column.close()?;
        }
        group.close().map(drop)
    }

    /// Writes what is left and gives the file its name. Returns its size.
    pub(crate) fn finish(mut self) -> Result<u64> {
        self.flush()?;
        let Self { writer, temporary, path, .. } = self;
        let written = writer.into_inner().and_then(|file| {
            file.sync_all()?;
            fs::rename(&temporary, &path)?;
            Ok(file.metadata()?.len())
        });
        if written.is_err() {
            // Best effort: there may be none.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

fn field(column: &Column) -> Result<Arc<SchemaType>> {
    let (physical, logical) = match column.ty {
        Type::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Type::Number => (PhysicalType::INT64, None),
        Type::Flag => (PhysicalType::BOOLEAN, None),
    };
    let repetition = if column.is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let built = SchemaType::primitive_type_builder(column.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(built))
}

impl Buffer {
    fn of(column: &Column) -> Self {
        let values = match column.ty {
            Type::Text => Values::Texts(Vec::new()),
            Type::Number => Values::Numbers(Vec::new()),
            Type::Flag => Values::Flags(Vec::new()),
        };
        Self { values, levels: Vec::new() }
    }

    fn add(&mut self, column: &Column, value: Cell<'_>) -> Result<()> {
        match (&mut self.values, value) {
            (_, Cell::Null) if column.is_optional => {
                self.levels.push(0);
                return Ok(());
            }
            (Values::Texts(values), Cell::Text(text)) => values.push(ByteArray::from(text)),
            (Values::Numbers(values), Cell::Number(number)) => values.push(number),
            (Values::Flags(values), Cell::Flag(flag)) => values.push(flag),
            (_, value) => {
                let message = format!("{value:?} in column {}", column.name);
                return Err(ParquetError::General(message));
            }
        }
        if column.is_optional {
            self.levels.push(1);
        }
        Ok(())
    }

    /// Writes the values and empties the buffer.
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = (!self.levels.is_empty()).then_some(&self.levels[..]);
        match (&mut self.values, writer) {
            (Values::Texts(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Numbers(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Flags(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        }
        self.levels.clear();
        Ok(())
    }
}

/// The error of the file below an error of the format, if there is one.
pub(crate) fn output_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(below) => match below.downcast::<io::Error>() {
            Ok(below) => *below,
            Err(below) => io::Error::other(below),
        },
        other => io::Error::other(other),
    }
}
