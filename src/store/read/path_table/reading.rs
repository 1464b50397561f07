//! Reads the path table from a snapshot.

use std::sync::Arc;

use super::{FileMark, PathTable};
use crate::format::error::StoreError;
use crate::format::rows::{FileKey, LanguageKey};
use crate::format::schema::file_flags;
use crate::format::statements;
use crate::read::connection::Snapshot;

impl Snapshot {
    /// Path table of this generation, if it is cached.
    pub fn known_path_table(&self) -> Option<Arc<PathTable>> {
        self.store().known_paths(self.identity())
    }

    /// Path table of this generation.
    pub fn path_table(&self) -> Result<Arc<PathTable>, StoreError> {
        let state = self.identity();
        if let Some(known) = self.known_path_table() {
            return Ok(known);
        }
        let mut table = PathTable::default();
        self.visit(statements::PATHS_BY_KEY, [], |row| {
            let (first, flags): (u32, i64) = (row.get(2)?, row.get(5)?);
            let language = row.get::<_, Option<u32>>(4)?.map(LanguageKey);
            let mark = FileMark {
                path: row.get_ref(1)?.as_str()?,
                language,
                test: flags & file_flags::TEST != 0,
            };
            table.add(FileKey(row.get(0)?), mark, first..first + row.get::<_, u32>(3)?);
            Ok(true)
        })?;
        let table = Arc::new(table);
        self.store().keep_paths(state, Arc::clone(&table));
        Ok(table)
    }
}
