//! Compacts a dataset: the files of each bucket become one, in order; calls are sorted by the name
//! of their callee over all repositories. What has not changed is kept, and the manifest is swapped
//! last, so that readers have the state before or the one after.

mod derived;
mod inputs;
mod writer;

use std::collections::BTreeMap;

use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{SessionContext, col};
use futures::StreamExt as _;
use std::sync::Arc;

use crate::dataset::files::DataFile;
use crate::dataset::manifest::{CompactFile, FOLDER, Manifest};
use crate::dataset::table::{DataTable, TableFiles};
use crate::dataset::{Location, Opened};
use crate::error::{OrgError, Result};
use crate::fault;
use crate::schema::{CALLEES, CALLERS, TABLES, Table};
use crate::session::{Failed, Spill, engine, sorting_context};
use inputs::{Input, inputs};
use writer::PartWriter;

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) exported: usize,
    pub(crate) written: usize,
    pub(crate) kept: usize,
    pub(crate) removed: usize,
    pub(crate) bytes: u64,
}

/// Compacts. `again`: also what has not changed.
pub(crate) async fn compact(location: Location, memory: usize, again: bool) -> Result<Report> {
    let opened = Opened::default();
    let (at, files) = (location.clone(), opened.clone());
    let work = tokio::spawn(async move { compact_opened(&at, memory, again, &files).await });
    match work.await {
        Ok(done) => done,
        Err(_) => Err(fault::panicked(&opened, &location).await),
    }
}

/// Compacts; `opened` has the files of the table that is read, also after a panic of the engine.
async fn compact_opened(
    location: &Location,
    memory: usize,
    again: bool,
    opened: &Opened,
) -> Result<Report> {
    if location.is_web {
        let (url, reason) = (location.shown.clone(), "it can only be read".to_owned());
        return Err(OrgError::Address { url, reason });
    }
    let before = match Manifest::read(location, None).await {
        Ok(read) if !again => read.map(|read| read.manifest.tables).unwrap_or_default(),
        // One that is damaged is replaced.
        Ok(_) | Err(OrgError::Damaged { .. } | OrgError::Schema { .. }) => BTreeMap::new(),
        Err(error) => return Err(error),
    };
    let runtime = engine(location, memory, Spill::ToDisk)?;
    let mut run = Run { location, runtime, memory, before, opened, report: Report::default() };
    let mut tables = BTreeMap::new();
    for table in &TABLES {
        let mut files = Vec::new();
        for input in inputs(location, table).await? {
            run.report.exported += input.files.len();
            files.extend(run.table(table, input).await?);
        }
        tables.insert(table.name.to_owned(), files);
    }
    if run.report.exported == 0 {
        return Err(OrgError::Empty(location.shown.clone()));
    }
    let calls = tables.get("calls").map_or(&[][..], Vec::as_slice);
    let (callers, callees) = run.derived(calls).await?;
    tables.insert(CALLERS.name.to_owned(), callers);
    tables.insert(CALLEES.name.to_owned(), callees);
    let manifest = Manifest::new(tables);
    manifest.write(location).await?;
    run.report.removed = inputs::remove_old(location, &manifest).await?;
    Ok(run.report)
}

struct Run<'r> {
    location: &'r Location,
    runtime: Arc<RuntimeEnv>,
    /// Memory of the engine, in bytes.
    memory: usize,
    /// Tables of the manifest before.
    before: BTreeMap<String, Vec<CompactFile>>,
    /// Files of the table that is read.
    opened: &'r Opened,
    report: Report,
}

impl Run<'_> {
    /// Files of the run before that were made of the same input, if they are all there.
    fn kept(&mut self, table: &Table, stem: &str) -> Option<Vec<CompactFile>> {
        let prefix = format!("{FOLDER}/{}/{stem}-", table.name);
        let files = self.before.get(table.name)?.iter();
        let files: Vec<_> = files.filter(|file| file.path.starts_with(&prefix)).cloned().collect();
        self.report.kept += files.len();
        (!files.is_empty()).then_some(files)
    }

    /// One bucket of a table.
    async fn table(&mut self, table: &'static Table, input: Input) -> Result<Vec<CompactFile>> {
        if let Some(kept) = self.kept(table, &input.stem) {
            return Ok(kept);
        }
        self.opened.clear();
        let made = self.sorted(table, input).await;
        self.explained(made).await
    }

    async fn sorted(
        &mut self,
        table: &'static Table,
        input: Input,
    ) -> Result<Vec<CompactFile>, Failed> {
        let context = self.context_of(table, input.files)?;
        let order = table.order.iter().map(|name| col(*name).sort(true, false)).collect();
        let frame = context.table(crate::session::quoted(table.name)).await?.sort(order)?;
        let mut writer = PartWriter::new(self.location, table, &input.stem);
        let mut stream = frame.execute_stream().await?;
        while let Some(batch) = stream.next().await {
            writer.write(&batch?).await?;
        }
        let files = writer.finish().await?;
        Ok(self.added(files))
    }

    /// A context with one table.
    fn context_of(
        &self,
        table: &'static Table,
        files: Vec<DataFile>,
    ) -> Result<SessionContext, Failed> {
        let context = sorting_context(&self.runtime, self.memory);
        let provider = DataTable::new(table, self.location, TableFiles::Known(files), self.opened);
        context.register_table(crate::session::quoted(table.name), Arc::new(provider))?;
        Ok(context)
    }

    fn added(&mut self, files: Vec<CompactFile>) -> Vec<CompactFile> {
        self.report.written += files.len();
        self.report.bytes += files.iter().map(|file| file.size).sum::<u64>();
        files
    }

    async fn explained<T>(&self, made: Result<T, Failed>) -> Result<T> {
        match made {
            Ok(made) => Ok(made),
            Err(Failed::Error(error)) => Err(error),
            Err(Failed::Engine(error)) => {
                Err(fault::explained(&error, self.opened, self.location).await)
            }
        }
    }
}
