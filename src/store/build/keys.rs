//! Key ranges of files in a store: symbols and sites, with capacity to grow.

use crate::build::key_assignment::key;
use crate::format::rows::FileRow;
use cograph_model::graph::{FileId, FileKey};

/// Keys of a graph's files in a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places(pub(crate) Vec<FileKeys>);

/// Keys of one file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct FileKeys {
    pub(crate) file: u32,
    pub(crate) symbols: Range,
    pub(crate) sites: Range,
}

/// Range of consecutive keys, with spare capacity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Range {
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) room: u32,
}

impl Range {
    /// End of the used part.
    pub(crate) fn end(self) -> u32 {
        self.first + self.len
    }
}

impl Places {
    /// Keys in the rows of a store.
    pub fn of(rows: &[FileRow]) -> Self {
        let range = |first, len| Range { first, len, room: len };
        let file = |row: &FileRow| FileKeys {
            file: row.key.0,
            symbols: range(row.first_symbol, row.symbols),
            sites: range(row.first_site, row.sites),
        };
        Self(rows.iter().map(file).collect())
    }

    /// Key of the file at a position; none for positions beyond the graph.
    pub fn file(&self, place: FileId) -> Option<FileKey> {
        self.0.get(place.0 as usize).map(|keys| FileKey(keys.file))
    }
}

/// A range for this many keys: the current one if they fit, otherwise a new one with spare
/// capacity.
pub(crate) fn fitted(present: Range, len: u32, next: &mut u32) -> Result<Range, String> {
    if present.first > 0 && len <= present.room {
        return Ok(Range { len, ..present });
    }
    let room = if present.first > 0 { len + len / 4 + 4 } else { len };
    let first = *next;
    *next = key(u64::from(first) + u64::from(room), "keys")?;
    Ok(Range { first, len, room })
}
