//! Greatest assigned keys of a store.

use crate::format::rows::Meta;
use crate::format::statements;
use rusqlite::Connection;

/// Greatest keys in use.
pub(super) struct LastKeys {
    pub(super) name: u32,
    pub(super) list: u32,
    pub(super) symbol: u32,
    pub(super) site: u32,
    pub(super) file: u32,
}

impl LastKeys {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached(statements::LAST_KEYS.text())?.query_row([], |row| {
            let key = |column| row.get::<_, Option<u32>>(column).map(Option::unwrap_or_default);
            Ok(Self { name: key(0)?, list: key(1)?, symbol: key(2)?, site: key(3)?, file: key(4)? })
        })
    }

    /// Keys of the build are not reused, even if their rows were deleted: readers rely on them to
    /// tell which rows are in order.
    pub(super) fn not_before(self, meta: &Meta) -> Self {
        Self {
            file: self.file.max(meta.last_file),
            symbol: self.symbol.max(meta.last_symbol),
            ..self
        }
    }
}
