//! Full build: writes a graph as the next generation under a temporary name, syncs it, and renames
//! it into place.
//!
//! The file is invisible until it is complete, so it needs no journal; readers keep older
//! generations open. SQLite creates the empty tables and opens the finished file; in between the
//! B-trees are filled page by page, each page written once.

pub(super) mod btree;
pub(super) mod bulk_loader;
pub(super) mod key_assignment;
pub(super) mod keys;
pub(super) mod page;
pub(super) mod row;
pub(super) mod row_encoder;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, params};

use self::bulk_loader::{BulkRows, Roots};
pub use self::key_assignment::Outline;
use self::key_assignment::{FileSites, Numbering, Texts};
pub use self::keys::Places;
use self::row_encoder::RowWriter;
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{Location, WriterLock};
use crate::format::rows::Identity;
use crate::format::schema::{self, APPLICATION_ID, FORMAT, words};
use crate::format::statements;
use crate::format::term_index::TermIndexBuilder;
use crate::format::views::VIEWS;
use crate::read::connection::Store;
use cograph_model::graph::{FileRecord, FileResolution, Graph};
use cograph_system::files;
use cograph_system::owner::private_options;

/// Metadata of a build.
#[derive(Clone, Copy, Debug)]
pub struct BuildInfo<'a> {
    /// Names of the languages, by `LanguageId`.
    pub languages: &'a [&'a str],
    /// Fingerprint of code and limits.
    pub fingerprint: u64,
    /// Start of the build, for its duration.
    pub started: Instant,
    /// Maximum size of the file in bytes, if limited: beyond it the build fails as on a full disk.
    pub max_bytes: Option<u64>,
}

/// Published generation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Published {
    /// Store and generation.
    pub identity: Identity,
    /// File.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub bytes: u64,
}

impl Published {
    /// Result of a change in place.
    pub fn in_place(identity: Identity, path: PathBuf) -> Result<Self, StoreError> {
        let file = fs::metadata(&path)
            .map_err(|error| StoreError::from_io("looking at store", &path, &error))?;
        Ok(Self { identity, path, bytes: file.len() })
    }

    /// True if the file was built for this generation; false if it was changed in place.
    pub fn is_whole(&self, location: &Location) -> bool {
        self.path == location.generation_path(self.identity.generation)
    }
}

/// Writes a graph as the repository's next generation, see [`publish_files`]. For tests with
/// constructed graphs; a build streams its files.
pub fn publish(
    lock: &WriterLock,
    graph: &Graph,
    info: &BuildInfo<'_>,
) -> Result<Published, StoreError> {
    lock.remove_leftovers();
    let files = graph.files.iter().enumerate().map(|(place, record)| {
        let found = graph.resolutions.get(place).cloned().unwrap_or_default();
        Ok((record.clone(), found))
    });
    publish_files(lock, Outline::of(graph), files, info)
}

/// Writes files as the repository's next generation and removes superseded ones. After an error the
/// store is unchanged. Files are consumed in order, one at a time.
pub fn publish_files(
    lock: &WriterLock,
    outline: Outline,
    files: impl Iterator<Item = Result<(FileRecord, FileResolution), StoreError>>,
    info: &BuildInfo<'_>,
) -> Result<Published, StoreError> {
    let location = lock.location();
    let generation = next_generation(location)?;
    let temporary = location.temporary_path(generation);
    let identity = Identity { uid: random_number(), generation };
    let path = location.generation_path(generation);
    let result =
        build(&temporary, location.root(), identity, outline, files, info).and_then(|bytes| {
            put_in_place(&temporary, &path, location.directory())?;
            Ok(Published { identity, path, bytes })
        });
    if result.is_ok() {
        lock.remove_superseded(generation);
    } else {
        // Best effort: the error to report is the earlier one; the next writer removes leftovers.
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Greater than every generation in a file name and than the generation of the newest store.
pub(super) fn next_generation(location: &Location) -> Result<u64, StoreError> {
    let newest = location.generations()?.first().copied().unwrap_or(0);
    let state = Store::open_newest(location).map_or(0, |store| store.identity().generation);
    Ok(newest.max(state) + 1)
}

pub(super) fn put_in_place(
    temporary: &Path,
    path: &Path,
    directory: &Path,
) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_io("publishing store", path, &error);
    fs::rename(temporary, path).map_err(failed)?;
    // A rename is durable only after a sync of the directory.
    files::sync_directory(directory).map_err(failed)
}

/// Writes and syncs the file, and returns its size.
fn build(
    path: &Path,
    root: &Path,
    identity: Identity,
    outline: Outline,
    files: impl Iterator<Item = Result<(FileRecord, FileResolution), StoreError>>,
    info: &BuildInfo<'_>,
) -> Result<u64, StoreError> {
    let io = |error| StoreError::from_io(WRITING, path, &error);
    let sqlite = |error| StoreError::from_sqlite(WRITING, path, &error);
    // Created here, because SQLite's error would not contain the cause.
    let file = private_options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(path)
        .map_err(io)?;
    let roots = begin(path, info).map_err(sqlite)?;
    let too_large =
        |detail: String| StoreError::new(StoreErrorKind::TooLarge, WRITING, path, detail);
    let texts = Texts::default();
    let mut numbering = Numbering::new(outline, &texts).map_err(too_large)?;
    let rows = BulkRows::new(&file, roots, info.max_bytes).map_err(io)?;
    let mut writer = RowWriter { rows, figures: vec![(0, 0); numbering.symbol_names] };
    writer.names(&numbering.names).map_err(io)?;
    let mut terms = TermIndexBuilder::default();
    let (mut site_total, mut written) = (0_u64, numbering.names.len());
    for (place, file) in files.enumerate() {
        let (record, found) = file?;
        let _span = tracing::trace_span!("write rows").entered();
        let sites = FileSites::of(&record, &found);
        numbering.assign(&texts, &record, &sites).map_err(too_large)?;
        writer.names(&numbering.names[written..]).map_err(io)?;
        written = numbering.names.len();
        site_total +=
            u64::from(writer.file(&numbering, place, &record, &found, &sites).map_err(io)?);
        if let Ok(facts) = &record.content {
            let _span = tracing::trace_span!("term index").entered();
            terms.add(numbering.file(place), &facts.words.words);
        }
    }
    // Rows that depend on all files.
    let other_rows = tracing::trace_span!("write other rows").entered();
    writer.other_names(&numbering).map_err(io)?;
    writer.candidates(&numbering).map_err(io)?;
    writer.name_runs(&numbering).map_err(io)?;
    drop(other_rows);
    let indexing = tracing::trace_span!("term index").entered();
    writer.term_index(terms).map_err(io)?;
    drop(indexing);
    let _span = tracing::trace_span!("sync store").entered();
    writer.rows.finish().map_err(io)?;
    finish(path, root, identity, &numbering, site_total, info).map_err(sqlite)?;
    file.sync_all().map_err(io)?;
    Ok(file.metadata().map_err(io)?.len())
}

const WRITING: &str = "writing store";

/// Creates the tables and indexes, and fills the constant ones; returns the root pages of the
/// others. The connection is closed: they are filled without SQLite.
fn begin(path: &Path, info: &BuildInfo<'_>) -> rusqlite::Result<Roots> {
    let connection = open(path)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    connection.execute_batch("BEGIN")?;
    connection.execute_batch(&schema::create())?;
    for view in VIEWS {
        connection.execute_batch(&view.create())?;
    }
    let mut add = connection.prepare(statements::ADD_WORD.text())?;
    for (id, word) in words() {
        add.execute(params![id, word])?;
    }
    let mut add_language = connection.prepare(statements::ADD_LANGUAGE.text())?;
    for (id, name) in info.languages.iter().enumerate() {
        add_language.execute(params![id, name])?;
    }
    drop((add, add_language));
    connection.execute_batch("COMMIT")?;
    let roots = Roots::read(&connection)?;
    connection.close().map(|()| roots).map_err(|(_, error)| error)
}

/// Writes the metadata row.
fn finish(
    path: &Path,
    root: &Path,
    identity: Identity,
    numbering: &Numbering<'_>,
    site_total: u64,
    info: &BuildInfo<'_>,
) -> rusqlite::Result<()> {
    let connection = open(path)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    connection.prepare(statements::ADD_META.text())?.execute(params![
        signed(identity.uid),
        identity.generation,
        signed(info.fingerprint),
        root.as_os_str().as_encoded_bytes(),
        i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
        i64::try_from(info.started.elapsed().as_nanos()).unwrap_or(i64::MAX),
        numbering.files.len(),
        numbering.symbol_total(),
        site_total,
        numbering.symbol_names,
        numbering.files.len(),
        numbering.symbol_total(),
    ])?;
    // From here on readers and writers may share the file.
    connection.execute_batch(statements::SHARED_SETTINGS)?;
    connection.close().map_err(|(_, error)| error)
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(statements::WRITER_SETTINGS)?;
    Ok(connection)
}

/// SQLite's integers are signed: same bits.
pub(super) fn signed(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}

/// Random uid of a store. The standard library seeds its hashers from the system's random source.
pub(super) fn random_number() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
