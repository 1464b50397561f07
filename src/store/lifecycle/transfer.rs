//! Transfer of stores between machines: a copy without what belongs to this machine, and a store
//! that arrives, which is verified and becomes the next generation. Knows files and rows, not where
//! they are sent.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};

use crate::build::signed;
use crate::format::columns::inode_column;
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{WriterLock, with_ending};
use crate::format::rows::{Identity, lineage};
use crate::format::segment;
use crate::format::views::VIEWS;
use crate::format::{schema, statements};
use crate::lifecycle::adopt::{Adoption, adopt};
use crate::lifecycle::seed::copy_store;
use crate::read::connection::{Store, check_header, immutable_uri};
use cograph_model::graph::UNTRUSTED_TIME;
use cograph_system::owner::{self, private_options};

const SENDING: &str = "copying store";
const ACCEPTING: &str = "accepting store";

/// Time of the last write of a file in a store between machines. As long as a real one in a row.
const NEUTRAL_TIME: i64 = 1 << 60;

/// File of a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// The database.
    Rows,
    /// The segment.
    Segment,
}

/// Open file that is removed with this value.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Best effort: the next writer removes leftovers.
        let _ = fs::remove_file(&self.path);
    }
}

/// Copy of a store without root, times and stamps of files: stores with equal contents and one
/// history have equal bytes on all machines.
#[derive(Debug)]
pub struct Departure {
    rows: Temporary,
    segment: Option<File>,
    fingerprint: u64,
}

impl Departure {
    /// Fingerprint of what the store was built from.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Files of the copy.
    pub fn files(&self) -> Vec<(Part, &File)> {
        let segment = self.segment.as_ref().map(|segment| (Part::Segment, segment));
        std::iter::once((Part::Rows, &self.rows.file)).chain(segment).collect()
    }
}

/// Copies the newest store of a repository for another machine. The segment is not copied: it never
/// changes, and stays open.
pub fn depart(lock: &WriterLock) -> Result<Departure, StoreError> {
    let location = lock.location();
    lock.remove_leftovers();
    let store = Store::open_newest(location)?;
    let (path, known) = (store.path().to_path_buf(), store.meta().clone());
    drop(store);
    let rows = with_ending(&location.temporary_path(0), "-sent");
    copy_store(&path, true, &rows)?;
    let opened = owner::set_private(&rows, 0o600).and_then(|()| File::open(&rows));
    let file = opened.map_err(|error| StoreError::from_io(SENDING, &rows, &error))?;
    let copy = Temporary { path: rows, file };
    neutralize(&copy.path, known.identity)
        .map_err(|error| StoreError::from_sqlite(SENDING, &copy.path, &error))?;
    let segment = segment::open_file(&path, known.identity.uid);
    Ok(Departure { rows: copy, segment, fingerprint: known.fingerprint })
}

/// Removes what a copy of a store knows of its machine.
fn neutralize(path: &Path, identity: Identity) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch(statements::WRITER_SETTINGS)?;
    // What is overwritten leaves no bytes in its page.
    connection.pragma_update(None, "secure_delete", true)?;
    let uid = signed(lineage(identity.uid) << 32);
    connection.prepare(statements::LEAVE_PLACE.text())?.execute([uid])?;
    connection.prepare(statements::LEAVE_STAMPS.text())?.execute(params![
        NEUTRAL_TIME,
        UNTRUSTED_TIME,
        inode_column(0)
    ])?;
    connection.execute_batch(statements::SHARED_SETTINGS)?;
    connection.close().map_err(|(_, error)| error)
}

/// Files of a store that arrives, while they are written.
#[derive(Debug)]
pub struct Arrival {
    rows: File,
    segment: Option<Temporary>,
}

impl Arrival {
    /// File of a part; none if the store arrives without it.
    pub fn file(&self, part: Part) -> Option<&File> {
        match part {
            Part::Rows => Some(&self.rows),
            Part::Segment => self.segment.as_ref().map(|segment| &segment.file),
        }
    }

    /// Makes the store whose files `write` fills the newest generation of a repository. The files
    /// may be hostile: they are verified, and after an error, also one of `write`, the present
    /// store is unchanged.
    pub fn accept<E: From<StoreError>>(
        lock: &WriterLock,
        fingerprint: u64,
        has_segment: bool,
        write: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<Identity, E> {
        let segment = with_ending(&lock.location().temporary_path(0), "-pulled");
        let adoption = Adoption {
            fingerprint,
            segment: has_segment.then_some(segment.as_path()),
            trusts_stamps: false,
        };
        // An error of `write` passes through a function that knows errors of the store only.
        let (mut failed, mut arrived) = (None, None);
        let adopted = adopt(lock, adoption, |temporary| {
            let file = has_segment.then(|| create(&segment)).transpose()?;
            let of_segment = file.map(|file| Temporary { path: segment.clone(), file });
            let arrival = Self { rows: create(temporary)?, segment: of_segment };
            if let Err(error) = write(&arrival) {
                failed = Some(error);
                return Err(wrong(temporary, "it did not arrive"));
            }
            check(temporary)?;
            arrived = Some(arrival);
            Ok(())
        });
        match failed {
            Some(error) => Err(error),
            None => adopted.map_err(E::from),
        }
    }
}

fn create(path: &Path) -> Result<File, StoreError> {
    let file = private_options().create(true).truncate(true).read(true).write(true).open(path);
    file.map_err(|error| StoreError::from_io(ACCEPTING, path, &error))
}

fn wrong(path: &Path, detail: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, ACCEPTING, path, detail)
}

/// Fails for a file that is no whole store of this program. It is opened without write access, and
/// nothing in it is run: its schema must be that of a new store.
fn check(path: &Path) -> Result<(), StoreError> {
    let sqlite = |error: rusqlite::Error| StoreError::from_sqlite(ACCEPTING, path, &error);
    check_header(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable_uri(path), flags).map_err(sqlite)?;
    let schemas = || -> rusqlite::Result<_> {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        let expected = Connection::open_in_memory()?;
        expected.execute_batch(&schema::create())?;
        for view in VIEWS {
            expected.execute_batch(&view.create())?;
        }
        Ok((schema_of(&connection)?, schema_of(&expected)?))
    };
    let (own, expected) = schemas().map_err(sqlite)?;
    if own != expected {
        return Err(wrong(path, "its tables are not those of a store"));
    }
    let check = || connection.query_row(statements::QUICK_CHECK.text(), [], |row| row.get(0));
    let damage: String = check().map_err(sqlite)?;
    if damage == "ok" { Ok(()) } else { Err(wrong(path, &damage)) }
}

/// Definitions of a database.
fn schema_of(connection: &Connection) -> rusqlite::Result<Vec<[Option<String>; 4]>> {
    let mut select = connection.prepare(statements::SCHEMA.text())?;
    let rows =
        select.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    rows.collect()
}
