//! Tables of a repository while they are written: rows are added by one thread, and encoded,
//! compressed and written by another for each table, a group at a time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use parquet::errors::{ParquetError, Result};

use super::columns::{Cell, Columns};
use super::schema::TableSchema;
use super::writer::{GROUP_ROWS, TableWriter, output_error};
use crate::export::ExportError;

/// Number of buckets: directories among which the files of repositories are divided.
const BUCKETS: u64 = 64;

/// How much was written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Rows by table.
    pub rows: Vec<(&'static str, u64)>,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Written {
    /// Rows of a table.
    pub(crate) fn rows_of(&self, table: &TableSchema) -> u64 {
        self.rows.iter().find(|(name, _)| *name == table.name).map_or(0, |(_, rows)| *rows)
    }
}

/// Where the files of a repository are.
pub(crate) struct Destination<'d> {
    pub(crate) directory: &'d Path,
    pub(crate) repository: &'d str,
}

impl Destination<'_> {
    /// Path of a table; its directory is created.
    fn path(&self, table: &TableSchema) -> Result<PathBuf, io::Error> {
        let hash = xxhash_rust::xxh3::xxh3_64(self.repository.as_bytes());
        let folder = self.directory.join(table.name).join(format!("bucket={:02}", hash % BUCKETS));
        fs::create_dir_all(&folder)?;
        Ok(folder.join(format!("{}.parquet", file_name(self.repository))))
    }
}

/// Name of the file of a repository: other bytes than letters, digits, `.`, `_` and `-` are
/// percent-encoded, so that no two repositories have one file and none leads out of its directory.
fn file_name(repository: &str) -> String {
    let mut name = String::new();
    for byte in repository.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => name.push(byte.into()),
            b'.' if !name.is_empty() => name.push('.'),
            byte => name += &format!("%{byte:02X}"),
        }
    }
    name
}

/// Rows of a table. Dropped before `finish`, they leave no file.
pub(crate) struct Rows {
    table: &'static TableSchema,
    /// The group that is being filled.
    columns: Columns,
    rows: u64,
    thread: Option<TableThread>,
}

/// Thread that writes a table.
struct TableThread {
    groups: SyncSender<Message>,
    thread: JoinHandle<Result<u64>>,
}

enum Message {
    Group(Columns),
    /// All rows were sent.
    Done,
}

impl Rows {
    pub(crate) fn create(
        table: &'static TableSchema,
        destination: &Destination<'_>,
    ) -> Result<Self, ExportError> {
        let file = TableWriter::create(table, &destination.path(table)?).map_err(failed)?;
        // One group waits while another is written, and a third is filled.
        let (groups, received) = sync_channel(1);
        let name = format!("parquet-{}", table.name);
        let thread = Builder::new().name(name).spawn(move || write(file, &received))?;
        let thread = Some(TableThread { groups, thread });
        Ok(Self { table, columns: Columns::new(table), rows: 0, thread })
    }

    pub(crate) fn add(&mut self, row: &[Cell<'_>]) -> Result<(), ExportError> {
        self.rows += 1;
        self.columns.add(row).map_err(failed)?;
        if self.columns.rows == GROUP_ROWS { self.send_group() } else { Ok(()) }
    }

    fn send_group(&mut self) -> Result<(), ExportError> {
        let group = std::mem::replace(&mut self.columns, Columns::new(self.table));
        self.send(Message::Group(group))
    }

    fn send(&mut self, message: Message) -> Result<(), ExportError> {
        let sent = self.thread.as_ref().is_some_and(|one| one.groups.send(message).is_ok());
        // A thread that receives no more has failed.
        if sent { Ok(()) } else { self.end().map(drop) }
    }

    /// Waits for the end of the thread. Returns the size of the file.
    fn end(&mut self) -> Result<u64, ExportError> {
        let Some(TableThread { groups, thread }) = self.thread.take() else { return Ok(0) };
        drop(groups);
        let written = thread.join().map_err(|_| io::Error::other("a thread has panicked"))?;
        written.map_err(failed)
    }

    /// Writes what is left of some tables and gives their files their names.
    pub(crate) fn finish(all: Vec<Self>, written: &mut Written) -> Result<(), ExportError> {
        let mut all = all;
        for rows in &mut all {
            rows.send_group()?;
            rows.send(Message::Done)?;
        }
        for rows in &mut all {
            written.bytes += rows.end()?;
            written.rows.push((rows.table.name, rows.rows));
        }
        Ok(())
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // What failed before is what is reported.
        let _ = self.end();
    }
}

/// The thread of a table. A file whose rows were not all sent is removed.
fn write(mut file: TableWriter, groups: &Receiver<Message>) -> Result<u64> {
    while let Ok(message) = groups.recv() {
        match message {
            Message::Group(columns) => file.write(columns)?,
            Message::Done => return file.finish(),
        }
    }
    Ok(0)
}

fn failed(error: ParquetError) -> ExportError {
    ExportError::Output(output_error(error))
}
