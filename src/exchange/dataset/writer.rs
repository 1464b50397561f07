//! Writes a table as a Parquet file, group by group. The file has its name when it is whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, Type as PhysicalType, ZstdLevel,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type as SchemaType};

use super::columns::Columns;
use super::schema::{Column, TableSchema, Type, VERSION};

/// Maximum number of rows in a group.
pub(crate) const GROUP_ROWS: usize = 1 << 17;

/// Maximum number of rows in a page: what a reader that looks for one target decodes.
const PAGE_ROWS: usize = 1 << 13;

/// Maximum size of the dictionary of a column in a group, in bytes: the SCIP symbols of a group
/// take several megabytes.
const DICTIONARY_BYTES: usize = 16 << 20;

/// Length to which the bounds of pages and groups are cut, in bytes: SCIP symbols of a package
/// begin alike.
const BOUND_BYTES: usize = 128;

/// Share of values that are not in a group and pass its Bloom filter.
const FALSE_POSITIVES: f64 = 0.01;

/// Level of zstd.
const COMPRESSION: i32 = 6;

/// Writer of one table.
pub(crate) struct TableWriter {
    writer: SerializedFileWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
    is_whole: bool,
}

impl TableWriter {
    /// Creates the file next to `path`, whose directory must exist.
    pub(crate) fn create(table: &'static TableSchema, path: &Path) -> Result<Self> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let fields = table.columns.iter().map(field).collect::<Result<_>>()?;
        let schema = SchemaType::group_type_builder(table.name).with_fields(fields).build()?;
        let properties = Arc::new(properties(table)?);
        let file = File::create(&temporary)?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), properties)?;
        Ok(Self { writer, temporary, path: path.to_owned(), is_whole: false })
    }

    /// Writes a group of rows.
    pub(crate) fn write(&mut self, rows: Columns) -> Result<()> {
        if rows.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for buffer in rows.into_buffers() {
            let Some(mut column) = group.next_column()? else { break };
            buffer.write(column.untyped())?;
            column.close()?;
        }
        group.close().map(drop)
    }

    /// Writes the metadata and gives the file its name. Returns its size.
    pub(crate) fn finish(mut self) -> Result<u64> {
        self.writer.finish()?;
        let file = self.writer.inner();
        file.sync_all()?;
        let size = file.metadata()?.len();
        fs::rename(&self.temporary, &self.path)?;
        self.is_whole = true;
        Ok(size)
    }
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        if !self.is_whole {
            // Best effort: the name says whose it was.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn properties(table: &TableSchema) -> Result<WriterProperties> {
    let sorting = table.sorted_by.map(|column| {
        vec![SortingColumn { column_idx: column as i32, descending: false, nulls_first: false }]
    });
    let version = KeyValue::new("cograph.schema".to_owned(), VERSION.to_string());
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(COMPRESSION)?))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_statistics_truncate_length(Some(BOUND_BYTES))
        .set_column_index_truncate_length(Some(BOUND_BYTES))
        .set_key_value_metadata(Some(vec![version]))
        .set_sorting_columns(sorting);
    if let Some(column) = table.sorted_by {
        let path = ColumnPath::from(table.columns[column].name);
        properties = properties
            .set_column_statistics_enabled(path.clone(), EnabledStatistics::Page)
            .set_column_bloom_filter_fpp(path.clone(), FALSE_POSITIVES)
            .set_column_bloom_filter_max_ndv(path, GROUP_ROWS as u64);
    }
    for column in table.columns.iter().filter(|column| !column.has_dictionary) {
        let encoding = match column.ty {
            Type::Text => Encoding::DELTA_BYTE_ARRAY,
            Type::Number => Encoding::DELTA_BINARY_PACKED,
            Type::Flag => continue,
        };
        properties = properties
            .set_column_dictionary_enabled(column.name.into(), false)
            .set_column_encoding(column.name.into(), encoding);
    }
    Ok(properties.build())
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
