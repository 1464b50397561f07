//! Writes the rows of a table in order, as files of a limited number of rows. An object appears
//! when it is whole.

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use object_store::ObjectStoreExt as _;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use parquet::arrow::AsyncArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::dataset::Location;
use crate::dataset::manifest::{CompactFile, FOLDER};
use crate::error::{OrgError, Result, reason};
use crate::schema::{CALLEES, CALLERS, Table, Type, VERSION, VERSION_KEY};

/// Rows of a compacted file; one that is larger is split.
const PART_ROWS: u64 = 1 << 20;
/// Rows of a group.
const GROUP_ROWS: usize = 1 << 18;
/// Rows of a page: what is read at least of each column.
const PAGE_ROWS: usize = 1 << 12;
/// Level of zstd.
const COMPRESSION: i32 = 3;
/// Maximum length of a value in the manifest, in bytes.
const MAX_VALUE: usize = 512;
/// Columns whose neighbours are alike, and that have too many values for a dictionary.
const PREFIXED: [&str; 5] = ["symbol", "target", "callee", "caller", "signature"];

/// Writer of a table.
pub(crate) struct PartWriter<'w> {
    location: &'w Location,
    table: &'static Table,
    stem: String,
    part: Option<Part>,
    done: Vec<CompactFile>,
}

struct Part {
    path: Path,
    writer: AsyncArrowWriter<BufWriter>,
    rows: u64,
    least: Option<String>,
    greatest: Option<String>,
    has_nulls: bool,
}

impl<'w> PartWriter<'w> {
    pub(crate) fn new(location: &'w Location, table: &'static Table, stem: &str) -> Self {
        Self { location, table, stem: stem.to_owned(), part: None, done: Vec::new() }
    }

    /// Adds rows.
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut rest = batch.clone();
        while rest.num_rows() > 0 {
            if self.part.is_none() {
                self.part = Some(self.begin()?);
            }
            let Some(part) = &mut self.part else { return Ok(()) };
            let room = usize::try_from(PART_ROWS - part.rows).unwrap_or(usize::MAX);
            let now = rest.slice(0, room.min(rest.num_rows()));
            part.note(self.table, &now);
            let written = part.writer.write(&now).await;
            written.map_err(|error| failed(self.location, &part.path, &error))?;
            part.rows += now.num_rows() as u64;
            rest = rest.slice(now.num_rows(), rest.num_rows() - now.num_rows());
            if part.rows == PART_ROWS {
                self.end().await?;
            }
        }
        Ok(())
    }

    /// Ends the last file. Without rows there is one that is empty.
    pub(crate) async fn finish(mut self) -> Result<Vec<CompactFile>> {
        if self.part.is_none() && self.done.is_empty() {
            self.part = Some(self.begin()?);
        }
        self.end().await?;
        Ok(self.done)
    }

    fn begin(&self) -> Result<Part> {
        let name = format!("{}-{:04}.parquet", self.stem, self.done.len());
        let path = Path::from_iter([FOLDER, self.table.name, &name]);
        let output = BufWriter::new(self.location.store.clone(), path.clone());
        let options = ArrowWriterOptions::new()
            .with_properties(properties(self.table).map_err(|e| failed(self.location, &path, &e))?)
            .with_skip_arrow_metadata(true);
        let writer = AsyncArrowWriter::try_new_with_options(output, self.table.arrow(), options);
        let writer = writer.map_err(|error| failed(self.location, &path, &error))?;
        Ok(Part { path, writer, rows: 0, least: None, greatest: None, has_nulls: false })
    }

    async fn end(&mut self) -> Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        let (path, rows) = (part.path, part.rows);
        let written = part.writer.close().await;
        written.map_err(|error| failed(self.location, &path, &error))?;
        let meta = self.location.store.head(&path).await;
        let meta = meta.map_err(|error| self.location.failed("writing", &path, &error))?;
        let range = part.least.zip(part.greatest).filter(|(least, greatest)| {
            !part.has_nulls && least.len() <= MAX_VALUE && greatest.len() <= MAX_VALUE
        });
        self.done.push(CompactFile { path: path.to_string(), size: meta.size, rows, range });
        Ok(())
    }
}

impl Part {
    /// Notes the first and the last value of the column that orders the rows.
    fn note(&mut self, table: &Table, batch: &RecordBatch) {
        let column = table.order.first().and_then(|name| batch.column_by_name(name));
        let Some(values) = column.and_then(|column| column.as_string_view_opt()) else { return };
        if values.is_empty() || values.null_count() > 0 {
            self.has_nulls = true;
            return;
        }
        if self.least.is_none() {
            self.least = Some(values.value(0).to_owned());
        }
        self.greatest = Some(values.value(values.len() - 1).to_owned());
    }
}

fn properties(table: &Table) -> Result<WriterProperties, ParquetError> {
    let at = |name: &&str| table.columns.iter().position(|(column, _)| column == name);
    let sorting = table.order.iter().filter_map(at).map(|at| SortingColumn {
        column_idx: at as i32,
        descending: false,
        nulls_first: false,
    });
    let version = KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_owned());
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(COMPRESSION)?))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS / 4)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(vec![version]))
        .set_sorting_columns(Some(sorting.collect()));
    if let Some(first) = table.order.first() {
        let first = ColumnPath::from(*first);
        properties = properties.set_column_statistics_enabled(first, EnabledStatistics::Page);
    }
    // A dictionary is read whole: where few rows are asked for, each page has what it needs.
    let is_derived = [CALLERS.name, CALLEES.name].contains(&table.name);
    for (name, ty) in table.columns {
        let is_first = table.order.first() == Some(name);
        let encoding = match ty {
            Type::Text | Type::TextOrNull => Encoding::DELTA_BYTE_ARRAY,
            Type::Number | Type::NumberOrNull => Encoding::DELTA_BINARY_PACKED,
            Type::Flag => continue,
        };
        if is_derived || is_first || PREFIXED.contains(name) {
            let column = ColumnPath::from(*name);
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, encoding);
        }
    }
    Ok(properties.build())
}

fn failed(location: &Location, path: &Path, error: &ParquetError) -> OrgError {
    let object = format!("{}/{path}", location.shown);
    OrgError::Remote { attempt: "writing", object, detail: reason(error) }
}
