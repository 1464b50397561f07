//! Records new stamps of files whose contents are unchanged, so that no other process reads these
//! files again. Nothing else changes, and the generation stays the same.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use crate::format::columns::inode_column;
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::Location;
use crate::format::rows::FileKey;
use crate::read::connection::Snapshot;
use crate::{format::statements, read::meta};
use cograph_model::graph::FileStamp;

/// Updates the stamps of files whose contents match the snapshot's generation. Fails if there is
/// another writer.
pub fn restamp(
    location: &Location,
    snapshot: &Snapshot,
    files: &[(FileKey, FileStamp)],
) -> Result<(), StoreError> {
    let lock = location.lock(Duration::ZERO)?;
    let store = snapshot.store().path();
    let failed =
        |error: rusqlite::Error| StoreError::from_sqlite("noting files in store", store, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(store, flags).map_err(failed)?;
    connection.execute_batch(statements::UPDATE_SETTINGS).map_err(failed)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if meta::meta(&transaction).map_err(failed)?.identity != snapshot.identity() {
        let detail = "another process has changed it";
        return Err(StoreError::new(
            StoreErrorKind::Missing,
            "noting files in store",
            store,
            detail,
        ));
    }
    let note = || -> rusqlite::Result<()> {
        let mut set = transaction.prepare(statements::SET_STAMP.text())?;
        for (key, stamp) in files {
            let inode = inode_column(stamp.inode);
            set.execute(params![key.0, stamp.modified_ns, stamp.changed_ns, inode])?;
        }
        Ok(())
    };
    note().and_then(|()| transaction.commit()).map_err(failed)?;
    drop(lock);
    Ok(())
}
