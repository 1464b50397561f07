//! Order of rows of equal rank: files by path, symbols and sites by file and position. A build
//! assigns keys in this order; files that are added and symbols that are moved later get greater
//! keys. So a key is no tie-break: it depends on the history of a store.

mod reading;

use rustc_hash::FxHashMap;

use crate::format::rows::{FileKey, SiteKey, SiteRow, SymbolHead, SymbolKey, SymbolRow};

/// Rank of a file by path. For a file of the build: its key. For a later one: the key of its
/// predecessor among the files of the build, and its index among the later ones there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct FileRank(u32, u32);

/// Rank of a symbol by path and position: within a file keys follow positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolRank(FileRank, SymbolKey);

impl SymbolRank {
    /// Key of the symbol.
    pub fn key(self) -> SymbolKey {
        self.1
    }
}

/// Rank of a site by path and position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteRank(FileRank, SiteKey);

/// Key order of one generation; its size is proportional to the files added since the build.
#[derive(Debug, Default)]
pub struct KeyOrder {
    /// Greatest keys of the full build.
    last_file: u32,
    last_symbol: u32,
    added: FxHashMap<FileKey, FileRank>,
    /// True if no symbol got a key after the build.
    is_by_key: bool,
}

impl KeyOrder {
    /// Files added after the store was built.
    pub fn added(&self) -> impl Iterator<Item = FileKey> + '_ {
        self.added.keys().copied()
    }

    /// Rank of a file.
    pub fn file(&self, file: FileKey) -> FileRank {
        if file.0 <= self.last_file {
            FileRank(file.0, 0)
        } else {
            self.added.get(&file).copied().unwrap_or_default()
        }
    }

    /// Rank of a symbol in a file.
    pub fn symbol(&self, file: FileKey, symbol: SymbolKey) -> SymbolRank {
        SymbolRank(self.file(file), symbol)
    }

    /// Rank of a symbol.
    pub fn head(&self, head: &SymbolHead) -> SymbolRank {
        self.symbol(head.file, head.key)
    }

    /// Rank of a symbol.
    pub fn row(&self, row: &SymbolRow) -> SymbolRank {
        self.symbol(row.file, row.key)
    }

    /// Rank of a site.
    pub fn site(&self, site: &SiteRow) -> SiteRank {
        SiteRank(self.file(site.file), site.key)
    }

    /// True if all symbols are in key order.
    pub fn is_by_key(&self) -> bool {
        self.is_by_key
    }

    /// True if this symbol is in key order with all others of which this is true.
    pub fn is_in_order(&self, symbol: SymbolKey) -> bool {
        symbol.0 <= self.last_symbol
    }
}
