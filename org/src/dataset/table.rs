//! A table as the engine scans it: its files, with the reader that checks them.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, Result, ScalarValue, Statistics};
use datafusion::config::TableParquetOptions;
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;

use super::files::{DataFile, exported};
use super::location::Location;
use super::reader::{CheckedReaders, Opened};
use crate::schema::Table;

/// Name of the object store in the engine.
pub(crate) const STORE: &str = "org://data";

/// Bytes that are read from the end of a file at first: the footer and, often, the page index.
const FOOTER_BYTES: usize = 48 << 10;

/// Which files a table has.
#[derive(Clone, Debug)]
pub(crate) enum TableFiles {
    /// All exported ones, listed when the table is scanned.
    Exported,
    /// These.
    Known(Vec<DataFile>),
    /// These, whose rows are in order from the first to the last.
    Ordered(Vec<DataFile>),
}

/// Table of a dataset.
#[derive(Debug)]
pub(crate) struct DataTable {
    table: &'static Table,
    schema: SchemaRef,
    location: Location,
    files: TableFiles,
    opened: Opened,
}

impl DataTable {
    pub(crate) fn new(
        table: &'static Table,
        location: &Location,
        files: TableFiles,
        opened: &Opened,
    ) -> Self {
        let location = location.clone();
        Self { table, schema: table.arrow(), location, files, opened: opened.clone() }
    }

    /// The file as the engine has it, with what is known of it.
    fn partitioned(&self, file: DataFile) -> PartitionedFile {
        let DataFile { meta, rows, range } = file;
        let mut known = Statistics::new_unknown(&self.schema);
        if let Some(rows) = rows.and_then(|rows| usize::try_from(rows).ok()) {
            known.num_rows = Precision::Exact(rows);
        }
        let first = self.table.order.first().and_then(|name| self.schema.index_of(name).ok());
        if let (Some((least, greatest)), Some(column)) =
            (range, first.and_then(|at| known.column_statistics.get_mut(at)))
        {
            column.min_value = Precision::Exact(ScalarValue::Utf8View(Some(least)));
            column.max_value = Precision::Exact(ScalarValue::Utf8View(Some(greatest)));
            column.null_count = Precision::Exact(0);
        }
        PartitionedFile::new_from_meta(meta).with_statistics(Arc::new(known))
    }

    fn ordering(&self) -> Option<LexOrdering> {
        let options = SortOptions { descending: false, nulls_first: false };
        let columns = self.table.order.iter().filter_map(|name| {
            let column = Column::new_with_schema(name, &self.schema).ok()?;
            Some(PhysicalSortExpr { expr: Arc::new(column), options })
        });
        LexOrdering::new(columns.collect::<Vec<_>>())
    }
}

#[async_trait]
impl TableProvider for DataTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (files, is_ordered) = match &self.files {
            TableFiles::Exported => {
                let listed = exported(&self.location, self.table.name).await;
                (listed.map_err(|error| DataFusionError::External(Box::new(error)))?, false)
            }
            TableFiles::Known(files) => (files.clone(), false),
            TableFiles::Ordered(files) => (files.clone(), true),
        };
        if files.is_empty() {
            let schema = match projection {
                Some(columns) => Arc::new(self.schema.project(columns)?),
                None => Arc::clone(&self.schema),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let count = if is_ordered { 1 } else { state.config().target_partitions().max(1) };
        let mut groups = vec![Vec::new(); count.min(files.len())];
        let places = groups.len();
        for (at, file) in files.into_iter().enumerate() {
            groups[at % places].push(self.partitioned(file));
        }
        let url = ObjectStoreUrl::parse(STORE)?;
        let runtime = state.runtime_env();
        let cache = runtime.cache_manager.get_file_metadata_cache();
        let readers = CheckedReaders {
            inner: CachedParquetFileReaderFactory::new(Arc::clone(&self.location.store), cache),
            location: self.location.clone(),
            schema: Arc::clone(&self.schema),
            opened: self.opened.clone(),
        };
        let mut options = TableParquetOptions::default();
        options.global = state.config().options().execution.parquet.clone();
        let source = ParquetSource::new(Arc::clone(&self.schema))
            .with_table_parquet_options(options)
            .with_metadata_size_hint(FOOTER_BYTES)
            .with_parquet_file_reader_factory(Arc::new(readers));
        let ordering = if is_ordered { self.ordering() } else { None };
        let config = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_file_groups(groups.into_iter().map(FileGroup::new).collect())
            .with_output_ordering(ordering.into_iter().collect())
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
