//! The keys that the files of a graph have in its store: ranges of symbols and sites, with room to
//! grow.

use crate::model::graph::FileId;
use crate::store::build::key_assignment::key;
use crate::store::format::rows::FileRow;

/// The keys of a graph's files in a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places(pub(in crate::store) Vec<FileKeys>);

/// The keys of one file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::store) struct FileKeys {
    pub(in crate::store) file: u32,
    pub(in crate::store) symbols: Range,
    pub(in crate::store) sites: Range,
}

/// Consecutive keys, with room for more.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::store) struct Range {
    pub(in crate::store) first: u32,
    pub(in crate::store) len: u32,
    pub(in crate::store) room: u32,
}

impl Range {
    /// Behind the last one that is used.
    pub(in crate::store) fn end(self) -> u32 {
        self.first + self.len
    }
}

impl Places {
    /// Those of a store's files.
    pub fn of(rows: &[FileRow]) -> Self {
        let range = |first, len| Range { first, len, room: len };
        let file = |row: &FileRow| FileKeys {
            file: row.key.0,
            symbols: range(row.first_symbol, row.symbols),
            sites: range(row.first_site, row.sites),
        };
        Self(rows.iter().map(file).collect())
    }

    /// The key of the file at a position; none for positions that the graph does not have.
    pub fn file(&self, place: FileId) -> Option<u32> {
        self.0.get(place.0 as usize).map(|keys| keys.file)
    }
}

/// The range for so many keys: the one at hand if they fit, else a new one with room to grow.
pub(in crate::store) fn fitted(at_hand: Range, len: u32, next: &mut u32) -> Result<Range, String> {
    if at_hand.first > 0 && len <= at_hand.room {
        return Ok(Range { len, ..at_hand });
    }
    let room = if at_hand.first > 0 { len + len / 4 + 4 } else { len };
    let first = *next;
    *next = key(u64::from(first) + u64::from(room), "keys")?;
    Ok(Range { first, len, room })
}
