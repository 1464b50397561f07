//! What questions share: the data, the limits, and the engine with its caches. Each question has
//! its own context, so that it sees one state of the data.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::TableReference;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use url::Url;

use crate::dataset::files::DataFile;
use crate::dataset::manifest::{Manifest, ReadManifest};
use crate::dataset::table::{DataTable, STORE, TableFiles};
use crate::dataset::{Location, Opened};
use crate::error::{OrgError, Result};
use crate::fault;
use crate::schema::{CALLEES, CALLERS, TABLES};

/// Maximum size of the metadata of files that are kept, in bytes.
const METADATA_BYTES: usize = 256 << 20;
/// Rows of a batch that is sorted: a merge of sorted runs has one of each.
const SORTED_ROWS: usize = 1_024;
/// Processes of statements at a time; each has the memory of the engine.
const STATEMENTS: usize = 2;

/// Limits of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    /// Memory of all questions, in bytes.
    pub(crate) memory: usize,
}

/// The data with the engine.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) location: Location,
    /// Address of the data, as the user gave it.
    pub(crate) address: String,
    /// Memory of the engine, in bytes.
    pub(crate) memory: usize,
    /// Turns of processes of statements.
    pub(crate) statements: Semaphore,
    runtime: Arc<RuntimeEnv>,
    timeout: Duration,
    manifest: Mutex<Option<ReadManifest>>,
}

/// The tables in one state.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) context: SessionContext,
    /// When they were compacted; none if they are those that were exported.
    pub(crate) compacted: Option<String>,
}

/// Whether the engine may put what does not fit into memory on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spill {
    Never,
    ToDisk,
}

/// The engine on an object store.
pub(crate) fn engine(location: &Location, memory: usize, spill: Spill) -> Result<Arc<RuntimeEnv>> {
    let mode = match spill {
        Spill::Never => DiskManagerMode::Disabled,
        Spill::ToDisk => DiskManagerMode::OsTmpDirectory,
    };
    let built = RuntimeEnvBuilder::new()
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode))
        .with_memory_limit(memory, 1.0)
        .with_metadata_cache_limit(METADATA_BYTES)
        .build_arc();
    let runtime = built.map_err(|error| OrgError::Engine(error.to_string()))?;
    let url = Url::parse(STORE).map_err(|error| OrgError::Engine(error.to_string()))?;
    runtime.register_object_store(&url, Arc::clone(&location.store));
    Ok(runtime)
}

/// A context of the engine, without tables.
pub(crate) fn context(runtime: &Arc<RuntimeEnv>) -> SessionContext {
    context_with(runtime, SessionConfig::new())
}

/// A context that sorts tables which are larger than the memory, without tables.
pub(crate) fn sorting_context(runtime: &Arc<RuntimeEnv>, memory: usize) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(1).with_batch_size(SORTED_ROWS);
    // What merges sorted runs has its share before the runs take all.
    config.options_mut().execution.sort_spill_reservation_bytes = memory / 4;
    context_with(runtime, config)
}

fn context_with(runtime: &Arc<RuntimeEnv>, config: SessionConfig) -> SessionContext {
    let mut config = config.with_information_schema(true);
    let options = config.options_mut();
    // Read what fits the question, and nothing else of the rows.
    options.execution.parquet.pushdown_filters = true;
    options.execution.parquet.reorder_filters = true;
    options.execution.parquet.enable_page_index = true;
    options.execution.collect_statistics = false;
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::clone(runtime))
        .with_default_features()
        .build();
    let context = SessionContext::new_with_state(state);
    crate::functions::register(&context);
    context
}

impl Session {
    pub(crate) fn new(location: Location, address: String, limits: Limits) -> Result<Self> {
        let Limits { timeout, memory } = limits;
        let runtime = engine(&location, memory, Spill::Never)?;
        Ok(Self {
            location,
            address,
            memory,
            statements: Semaphore::new(STATEMENTS),
            runtime,
            timeout,
            manifest: Mutex::new(None),
        })
    }

    /// Time of a question.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Answers a question: within the time, and with an error where the engine panics.
    pub(crate) async fn ask<A, F>(
        self: &Arc<Self>,
        question: impl FnOnce(Tables) -> F + Send + 'static,
    ) -> Result<A>
    where
        A: Send + 'static,
        F: Future<Output = Result<A, Failed>> + Send + 'static,
    {
        let opened = Opened::default();
        let (session, files) = (Arc::clone(self), opened.clone());
        let mut work = JoinSet::new();
        work.spawn(async move {
            let tables = session.tables(&files).await?;
            question(tables).await
        });
        // What is still running is ended when the set is dropped.
        let ended = tokio::time::timeout(self.timeout, work.join_next());
        match ended.await {
            Err(_) => Err(OrgError::Deadline(self.timeout)),
            Ok(Some(Ok(Ok(answer)))) => Ok(answer),
            Ok(Some(Ok(Err(Failed::Error(error))))) => Err(error),
            Ok(Some(Ok(Err(Failed::Engine(error))))) => {
                Err(fault::explained(&error, &opened, &self.location).await)
            }
            Ok(Some(Err(_)) | None) => Err(fault::panicked(&opened, &self.location).await),
        }
    }

    /// The tables as they are now.
    async fn tables(&self, opened: &Opened) -> Result<Tables, Failed> {
        let mut known = self.manifest.lock().await;
        let read = Manifest::read(&self.location, known.as_ref()).await?;
        known.clone_from(&read);
        drop(known);
        let compacted = read.as_ref().map(|read| read.written.clone());
        let manifest = read.map(|read| read.manifest);
        if manifest.is_none() && self.location.is_web {
            return Err(OrgError::Empty(self.location.shown.clone()).into());
        }
        let context = context(&self.runtime);
        let files = |name: &str| {
            let named = manifest.as_ref()?.tables.get(name)?;
            Some(named.iter().map(DataFile::from).collect::<Vec<_>>())
        };
        for table in &TABLES {
            let files = match &manifest {
                Some(_) => TableFiles::Known(files(table.name).unwrap_or_default()),
                None => TableFiles::Exported,
            };
            let provider = DataTable::new(table, &self.location, files, opened);
            context.register_table(quoted(table.name), Arc::new(provider))?;
        }
        for table in [&CALLERS, &CALLEES] {
            if let Some(files) = files(table.name) {
                let files = TableFiles::Ordered(files);
                let provider = DataTable::new(table, &self.location, files, opened);
                context.register_table(table.name, Arc::new(provider))?;
            }
        }
        if manifest.is_none() {
            let callers = crate::functions::callers(&context).await?;
            context.register_table(CALLERS.name, callers.into_view())?;
        }
        Ok(Tables { context, compacted })
    }
}

/// The name of a table, whatever words SQL has reserved.
pub(crate) fn quoted(name: &str) -> TableReference {
    TableReference::bare(name.to_owned())
}

/// Why a question has no answer, before the file that is to blame is looked for.
#[derive(Debug)]
pub(crate) enum Failed {
    Error(OrgError),
    Engine(datafusion::error::DataFusionError),
}

impl From<OrgError> for Failed {
    fn from(error: OrgError) -> Self {
        Self::Error(error)
    }
}

impl From<datafusion::error::DataFusionError> for Failed {
    fn from(error: datafusion::error::DataFusionError) -> Self {
        Self::Engine(error)
    }
}
