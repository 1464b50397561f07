//! Readers of files that check the schema of each, and whose errors name the file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow::datatypes::{DataType, SchemaRef};
use bytes::Bytes;
use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};

use super::location::Location;
use crate::error::reason;
use crate::schema::{VERSION, VERSION_KEY};

/// What is wrong with a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    Damaged,
    Schema,
    Unreadable,
}

/// Error of a file, somewhere below an error of the engine.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{object}: {reason}")]
pub(crate) struct FileError {
    pub(crate) object: String,
    pub(crate) fault: Fault,
    pub(crate) reason: String,
}

impl FileError {
    fn into_parquet(self) -> ParquetError {
        ParquetError::External(Box::new(self))
    }
}

/// Files that a question has opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opened(Arc<Mutex<BTreeSet<Path>>>);

impl Opened {
    fn add(&self, path: &Path) {
        let mut paths = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        paths.insert(path.clone());
    }

    /// Forgets them.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }

    /// Their paths.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let paths = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        paths.iter().cloned().collect()
    }
}

/// Makes readers of the files of one table.
#[derive(Debug)]
pub(crate) struct CheckedReaders {
    pub(crate) inner: CachedParquetFileReaderFactory,
    pub(crate) location: Location,
    pub(crate) schema: SchemaRef,
    pub(crate) opened: Opened,
}

impl ParquetFileReaderFactory for CheckedReaders {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        let (path, size) = (file.object_meta.location.clone(), file.object_meta.size);
        self.opened.add(&path);
        let inner = self.inner.create_reader(partition, file, hint, metrics)?;
        let (location, schema) = (self.location.clone(), Arc::clone(&self.schema));
        Ok(Box::new(CheckedReader { inner, location, schema, path, size }))
    }
}

struct CheckedReader {
    inner: Box<dyn AsyncFileReader + Send>,
    location: Location,
    schema: SchemaRef,
    path: Path,
    size: u64,
}

impl CheckedReader {
    /// The error with the name of the file, and whether the file or its store is to blame.
    fn named(&self, error: ParquetError) -> impl Future<Output = ParquetError> + Send + 'static {
        // The reader is not shared between threads, so what is needed of it is taken out.
        let (store, path, size) = (Arc::clone(&self.location.store), self.path.clone(), self.size);
        async move {
            let (fault, reason) = match store.head(&path).await {
                Ok(meta) if meta.size != size => {
                    (Fault::Unreadable, format!("it has {} bytes, not {size}", meta.size))
                }
                Ok(_) => (Fault::Damaged, reason(&error)),
                Err(error) => (Fault::Unreadable, reason(&error)),
            };
            FileError { object: path.to_string(), fault, reason }.into_parquet()
        }
    }
}

impl AsyncFileReader for CheckedReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        async move {
            match self.inner.get_bytes(range).await {
                Ok(bytes) => Ok(bytes),
                Err(error) => Err(self.named(error).await),
            }
        }
        .boxed()
    }

    fn get_byte_ranges(
        &mut self,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'_, parquet::errors::Result<Vec<Bytes>>> {
        async move {
            match self.inner.get_byte_ranges(ranges).await {
                Ok(bytes) => Ok(bytes),
                Err(error) => Err(self.named(error).await),
            }
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        async move {
            let found = match self.inner.get_metadata(options).await {
                Ok(found) => found,
                Err(error) => return Err(self.named(error).await),
            };
            let object = self.path.to_string();
            check(found.file_metadata(), &self.schema)
                .map_err(|reason| FileError { object, fault: Fault::Schema, reason })
                .map_err(FileError::into_parquet)?;
            Ok(found)
        }
        .boxed()
    }
}

/// Checks that a file has the version and the columns of the schema, or more columns.
fn check(found: &FileMetaData, schema: &SchemaRef) -> Result<(), String> {
    let pairs = found.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let version = pairs.iter().find(|pair| pair.key == VERSION_KEY);
    match version.and_then(|pair| pair.value.as_deref()) {
        Some(VERSION) => {}
        Some(other) => return Err(format!("version {other}, where {VERSION} is known")),
        None => return Err(format!("its metadata has no `{VERSION_KEY}`")),
    }
    let columns = found.schema_descr().root_schema().get_fields();
    for wanted in schema.fields() {
        let Some(column) = columns.iter().find(|column| column.name() == wanted.name()) else {
            return Err(format!("it has no column `{}`", wanted.name()));
        };
        let physical = match wanted.data_type() {
            DataType::Int64 => PhysicalType::INT64,
            DataType::Boolean => PhysicalType::BOOLEAN,
            _ => PhysicalType::BYTE_ARRAY,
        };
        let info = column.get_basic_info();
        let fits = column.is_primitive()
            && column.get_physical_type() == physical
            && info.has_repetition()
            && match info.repetition() {
                Repetition::REQUIRED => true,
                Repetition::OPTIONAL => wanted.is_nullable(),
                Repetition::REPEATED => false,
            };
        if !fits {
            return Err(format!("column `{}` has another type", wanted.name()));
        }
    }
    Ok(())
}
