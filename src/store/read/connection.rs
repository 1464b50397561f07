//! Open generation: `Store` is a pool of read connections, `Snapshot` is one of them in a read
//! transaction, for one query.

use parking_lot::{Mutex, MutexGuard};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::order::KeyOrder;
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{LOCK_FILE, Location, Version, with_ending};
use crate::format::rows::{FileRow, Identity, Meta};
use crate::format::schema::{APPLICATION_ID, FORMAT};
use crate::read::control::{self, Control};
use crate::read::name_cache::NameCache;
use crate::read::path_table::PathTable;
use crate::read::site_cache::SiteCache;
use crate::read::word_filters::WordFilters;
use cograph_faults::{Fault, planted};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_model::graph::FileStamp;
use cograph_system::names;

/// Connections kept for reuse. Concurrent queries open more, which are closed afterwards. Each has
/// its own page cache, so unneeded ones are closed soon: see `Store::take_spare`.
const IDLE_CONNECTIONS: usize = 4;

/// Maximum number of attempts to open the newest generation while it is being superseded.
const MAX_OPEN_ATTEMPTS: usize = 5;

/// Virtual machine instructions between two progress callbacks of user SQL: one instruction can
/// take a tenth of a second.
const STEPS_PER_CALLBACK: i32 = 50;
/// Open generation. Shared by all queries; closed with its last reference.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    version: Version,
    meta: Meta,
    bytes: u64,
    idle: Mutex<Idle>,
    /// Path table of the last requested generation.
    paths: Mutex<Option<(Identity, Arc<PathTable>)>>,
    /// Key order of the last requested generation.
    order: Mutex<Option<(Identity, Arc<KeyOrder>)>>,
    /// Cache of the name index.
    names: NameCache,
    sites: SiteCache,
    words: WordFilters,
}

/// Idle connections; the last used one is taken first.
#[derive(Debug)]
struct Idle {
    readers: Vec<Reader>,
    /// Number of connections that were idle since the last sweep.
    unneeded: usize,
}

/// Connection with the state of its callbacks.
#[derive(Debug)]
struct Reader {
    connection: Connection,
    control: Arc<Control>,
    /// Locks writers out of a store that is read without WAL files; for one query only.
    alone: Option<File>,
}

/// Connections to close on drop. Does not keep the store open.
#[derive(Debug)]
pub(super) struct Spare {
    _readers: Vec<Reader>,
}

impl Store {
    /// Opens the newest readable generation. Unreadable files are skipped, never modified; if none
    /// is left the error is that of the newest, or `Missing`.
    pub fn open_newest(location: &Location) -> Result<Self, StoreError> {
        let mut looks_left = MAX_OPEN_ATTEMPTS;
        loop {
            let mut first_failure = None;
            for generation in location.generations()? {
                match Self::open(location, generation) {
                    Ok(store) => return Ok(store),
                    Err(error) => first_failure = first_failure.or(Some(error)),
                }
            }
            looks_left -= 1;
            match first_failure {
                // Superseded and removed since the directory was listed: a newer one exists.
                Some(error) if error.kind == StoreErrorKind::Missing && looks_left > 0 => {}
                Some(error) => return Err(error),
                None => {
                    let detail = "there is no store of this repository yet";
                    return Err(StoreError::new(
                        StoreErrorKind::Missing,
                        "opening store",
                        location.directory(),
                        detail,
                    ));
                }
            }
        }
    }

    /// Opens one generation.
    pub fn open(location: &Location, generation: u64) -> Result<Self, StoreError> {
        let path = location.generation_path(generation);
        // Read before the file is opened: if it is replaced in between, the version is stale and
        // the store is opened again.
        let version = location.version(generation)?;
        let bytes = check_header(&path)?;
        let reader = Reader::open(&path)?;
        let meta = crate::read::meta::meta(&reader.connection)
            .map_err(|error| StoreError::from_sqlite("reading store header of", &path, &error))?;
        let readers = Some(reader).filter(|reader| reader.alone.is_none()).into_iter().collect();
        let idle = Mutex::new(Idle { readers, unneeded: 0 });
        Ok(Self {
            path,
            version,
            meta,
            bytes,
            idle,
            paths: Mutex::default(),
            order: Mutex::default(),
            names: NameCache::default(),
            sites: SiteCache::default(),
            words: WordFilters::default(),
        })
    }

    /// File.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Metadata.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Store and generation.
    pub fn identity(&self) -> Identity {
        self.meta.identity
    }

    /// Size of the file when it was opened, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Cached path table of a generation.
    pub(super) fn known_paths(&self, state: Identity) -> Option<Arc<PathTable>> {
        let known = self.paths.lock();
        known.as_ref().filter(|(of, _)| *of == state).map(|(_, paths)| Arc::clone(paths))
    }

    /// Caches the path table of a generation.
    pub(super) fn keep_paths(&self, state: Identity, paths: Arc<PathTable>) {
        *self.paths.lock() = Some((state, paths));
    }

    /// Cached key order of a generation.
    pub(super) fn known_order(&self, state: Identity) -> Option<Arc<KeyOrder>> {
        let known = self.order.lock();
        known.as_ref().filter(|(of, _)| *of == state).map(|(_, order)| Arc::clone(order))
    }

    /// Caches the key order of a generation.
    pub(super) fn keep_order(&self, state: Identity, order: Arc<KeyOrder>) {
        *self.order.lock() = Some((state, order));
    }

    /// Cache of the name index.
    pub(crate) fn name_cache(&self) -> &NameCache {
        &self.names
    }

    /// Cache of the sites of frequently referenced symbols.
    pub(super) fn site_cache(&self) -> &SiteCache {
        &self.sites
    }

    /// Cache of the word filters of files without terms.
    pub fn word_filters(&self) -> &WordFilters {
        &self.words
    }

    /// True if both have the same generation open in the same file.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        self.version == other.version && self.identity() == other.identity()
    }

    /// Snapshot for one query, which `cancel` interrupts.
    pub fn snapshot(self: &Arc<Self>, cancel: &CancelToken) -> Result<Snapshot, StoreError> {
        let take = || self.idle().take();
        let mut kept = take();
        while kept.is_none() && planted(Fault::OneConnection) {
            std::thread::yield_now();
            kept = take();
        }
        let reader = match kept {
            Some(reader) => reader,
            None => Reader::open(&self.path)?,
        };
        let failed =
            |error: &rusqlite::Error| StoreError::from_sqlite("reading store", &self.path, error);
        reader.connection.execute_batch("BEGIN").map_err(|error| failed(&error))?;
        // The transaction begins with the first read: metadata and rows are of one generation.
        let meta = crate::read::meta::meta(&reader.connection).map_err(|error| failed(&error))?;
        if meta.identity.uid != self.meta.identity.uid {
            let detail = "the file was replaced while it was open";
            return Err(StoreError::new(
                StoreErrorKind::Missing,
                "reading store",
                &self.path,
                detail,
            ));
        }
        reader.control.set_cancel(Some(cancel.clone()));
        let (reading, rows, asked) = (Cell::default(), Cell::default(), RefCell::default());
        Ok(Snapshot {
            reader: Some(reader),
            meta,
            store: Arc::clone(self),
            reading,
            rows,
            asked,
            _lease: None,
        })
    }

    /// Takes the connections not needed since the last call, except one. Dropping them is I/O.
    pub(super) fn take_spare(&self) -> Spare {
        Spare { _readers: self.idle().take_spare() }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock()
    }

    /// Integrity check of the whole file: returns the problems.
    pub fn verify(self: &Arc<Self>, cancel: &CancelToken) -> Result<(), StoreError> {
        let snapshot = self.snapshot(cancel)?;
        let verdict = crate::read::meta::integrity(snapshot.connection())
            .map_err(|error| StoreError::from_sqlite("checking store", &self.path, &error))?;
        if verdict == "ok" {
            return Ok(());
        }
        Err(StoreError::new(StoreErrorKind::Corrupt, "checking store", &self.path, verdict))
    }
}

impl Idle {
    fn take(&mut self) -> Option<Reader> {
        let reader = self.readers.pop();
        self.unneeded = self.unneeded.min(self.readers.len());
        reader
    }

    /// Returns a connection to the pool, or back to the caller if the pool is full.
    fn put(&mut self, reader: Reader) -> Option<Reader> {
        if self.readers.len() >= IDLE_CONNECTIONS {
            return Some(reader);
        }
        self.readers.push(reader);
        None
    }

    fn take_spare(&mut self) -> Vec<Reader> {
        // Those at the front were used least.
        let spare = self.unneeded.min(self.readers.len().saturating_sub(1));
        let taken = self.readers.drain(..spare).collect();
        self.unneeded = self.readers.len();
        taken
    }
}

impl Reader {
    fn open(path: &Path) -> Result<Self, StoreError> {
        // Without SQLITE_OPEN_CREATE: a deleted store is an error, not an empty database.
        Self::open_as(path, OpenFlags::empty(), None).or_else(|error| {
            // WAL mode needs files next to the store. Without permission to create them it is read
            // without WAL.
            let cannot_share =
                matches!(error.kind, StoreErrorKind::Permission | StoreErrorKind::Other);
            match cannot_share.then(|| lock_out_writers(path)).flatten() {
                Some(lock) => {
                    Self::open_as(&immutable_uri(path), OpenFlags::SQLITE_OPEN_URI, Some(lock))
                        .map_err(|_| error)
                }
                None => Err(error),
            }
        })
    }

    fn open_as(path: &Path, more: OpenFlags, alone: Option<File>) -> Result<Self, StoreError> {
        let failed =
            |error: rusqlite::Error| StoreError::from_sqlite("opening store", path, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let control = Arc::new(Control::default());
        configure(&connection).map_err(failed)?;
        let (seen, mut look) = (Arc::clone(&control), 0_u32);
        let should_stop = move || {
            look = look.wrapping_add(1);
            seen.should_stop(look)
        };
        connection.progress_handler(STEPS_PER_CALLBACK, Some(should_stop)).map_err(failed)?;
        control::install(&mut connection, &control).map_err(failed)?;
        // The first read fails for a store that cannot be opened in WAL mode.
        crate::read::meta::meta(&connection).map_err(failed)?;
        Ok(Self { connection, control, alone })
    }
}

/// Shared lock on the writer lock file; none if there is a writer, or changes exist only in the
/// WAL.
fn lock_out_writers(path: &Path) -> Option<File> {
    let lock = File::open(path.with_file_name(LOCK_FILE)).ok()?;
    lock.try_lock_shared().ok()?;
    let is_logged = fs::metadata(wal_path(path)).is_ok_and(|log| log.len() > 0);
    (!is_logged).then_some(lock)
}

/// URI with `immutable=1`: SQLite opens the file without locks and WAL.
pub(crate) fn immutable_uri(path: &Path) -> PathBuf {
    let name = names::percent_encoded(path.as_os_str().as_encoded_bytes());
    PathBuf::from(format!("file:{name}?immutable=1"))
}

/// Configures a reading connection.
pub(crate) fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    // Plans must not depend on bound values: otherwise SQLite prepares statements on tables with
    // partial indexes again for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // The schema is untrusted: it may call harmless functions only.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.execute_batch(crate::format::statements::READER_SETTINGS)
}

/// Path of the write-ahead log.
pub(crate) fn wal_path(path: &Path) -> PathBuf {
    with_ending(path, "-wal")
}

/// Validates the file header before SQLite opens the file: application, format, and completeness.
/// Returns the file size.
pub(crate) fn check_header(path: &Path) -> Result<u64, StoreError> {
    let attempt = "opening store";
    let wrong = |kind, detail: String| Err(StoreError::new(kind, attempt, path, detail));
    let io = |error| StoreError::from_io(attempt, path, &error);
    let mut file = File::open(path).map_err(io)?;
    let bytes = file.metadata().map_err(io)?.len();
    let mut header = [0_u8; 100];
    if bytes < 100 {
        return wrong(StoreErrorKind::Corrupt, format!("{bytes} bytes are no store"));
    }
    file.read_exact(&mut header).map_err(io)?;
    let number = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if !header.starts_with(b"SQLite format 3\0") {
        return wrong(StoreErrorKind::Foreign, "it is no SQLite file".to_owned());
    }
    if number(68) != APPLICATION_ID.unsigned_abs() {
        return wrong(StoreErrorKind::Foreign, "it belongs to another application".to_owned());
    }
    if number(60) != FORMAT {
        return wrong(
            StoreErrorKind::OtherVersion,
            format!("its format is {}, ours is {FORMAT}", number(60)),
        );
    }
    let page_size = match u32::from(header[16]) << 8 | u32::from(header[17]) {
        1 => 65_536,
        size => size,
    };
    let wanted = u64::from(number(28)) * u64::from(page_size);
    // During a checkpoint the header may be ahead of the file size.
    let has_log = fs::metadata(wal_path(path)).is_ok_and(|log| log.len() > 0);
    if bytes < wanted && !has_log {
        return wrong(StoreErrorKind::Corrupt, format!("it ends after {bytes} of {wanted} bytes"));
    }
    Ok(bytes)
}

/// Snapshot: a read transaction for one query on one thread.
#[derive(Debug)]
pub struct Snapshot {
    // None only during drop.
    reader: Option<Reader>,
    meta: Meta,
    // Before the lease in drop order, so that the store is released before its lease ends.
    store: Arc<Store>,
    reading: Cell<Duration>,
    rows: Cell<u64>,
    /// Files queried individually.
    asked: RefCell<Vec<(RepoPath, FileStamp)>>,
    _lease: Option<Arc<dyn fmt::Debug + Send + Sync>>,
}

impl Snapshot {
    /// Ties a lease to the snapshot's lifetime.
    pub(super) fn keeping(mut self, lease: Arc<dyn fmt::Debug + Send + Sync>) -> Self {
        self._lease = Some(lease);
        self
    }

    /// Metadata at the time of the snapshot.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Store and generation.
    pub fn identity(&self) -> Identity {
        self.meta.identity
    }

    /// Store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Time spent in statements so far, including reading rows.
    pub fn time_in_statements(&self) -> Duration {
        self.reading.get()
    }

    /// Rows that statements returned so far. Plans search indexes, so that these are the rows that
    /// were read.
    pub fn rows_read(&self) -> u64 {
        self.rows.get()
    }

    pub(super) fn count_row(&self) {
        self.rows.set(self.rows.get() + 1);
    }

    /// Files queried individually so far, with their stored stamps: the dependencies of a response
    /// about few files.
    pub fn asked_files(&self) -> Vec<(RepoPath, FileStamp)> {
        self.asked.borrow().clone()
    }

    pub(super) fn noted(&self, row: Option<FileRow>) -> Option<FileRow> {
        row.inspect(|row| self.asked.borrow_mut().push((row.path.clone(), row.stamp())))
    }

    /// Runs one statement and adds its time.
    pub(crate) fn timed<T>(&self, statement: impl FnOnce() -> T) -> T {
        let _span = tracing::trace_span!("statement").entered();
        let start = Instant::now();
        let result = statement();
        self.reading.set(self.reading.get() + start.elapsed());
        result
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.reader().connection
    }

    pub(super) fn control(&self) -> &Control {
        &self.reader().control
    }

    fn reader(&self) -> &Reader {
        self.reader.as_ref().expect("a snapshot has its connection until it is dropped")
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        reader.control.set_cancel(None);
        reader.control.set_deadline(None);
        reader.control.guarded.store(false, Ordering::Relaxed);
        if reader.alone.is_none() && reader.connection.execute_batch("ROLLBACK").is_ok() {
            let surplus = self.store.idle().put(reader);
            drop(surplus);
        }
    }
}
