//! Metadata of a store (table `meta`) and the integrity check. Knows connections only.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

use crate::format::columns::bits;
use crate::format::rows::{Identity, Meta};
use crate::format::statements;
use cograph_system::names::from_bytes;

/// Reads the row of `meta`.
pub(crate) fn meta(connection: &Connection) -> rusqlite::Result<Meta> {
    connection.prepare_cached(statements::META.text())?.query_row([], |row| {
        Ok(Meta {
            identity: Identity { uid: bits(row.get(0)?), generation: row.get(1)? },
            fingerprint: bits(row.get(2)?),
            root: PathBuf::from(from_bytes(row.get(3)?)),
            built_at: std::time::UNIX_EPOCH + Duration::from_nanos(row.get(4)?),
            build_duration: Duration::from_nanos(row.get(5)?),
            files: row.get(6)?,
            symbols: row.get(7)?,
            sites: row.get(8)?,
            symbol_names: row.get(9)?,
            last_file: row.get(10)?,
            last_symbol: row.get(11)?,
        })
    })
}

/// Runs SQLite's integrity check.
pub(super) fn integrity(connection: &Connection) -> rusqlite::Result<String> {
    connection.prepare(statements::INTEGRITY.text())?.query_row([], |row| row.get(0))
}
