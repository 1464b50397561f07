//! The order in which answers put rows of equal rank: files by path, symbols and sites by file and
//! position. A build gives row keys in this order; files that are added and symbols that are moved
//! afterwards get greater ones. So a row key is no tie-break: it depends on the history of a store.

mod reading;

use rustc_hash::FxHashMap;

use crate::store::format::rows::{FileKey, SiteKey, SiteRow, SymbolHead, SymbolKey, SymbolRow};

/// The place of a file in the order of paths: of a file of the build its key, of an added one the
/// key of the last file of the build before it, and how many of those added behind that one do not
/// come after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct FileRank(u32, u32);

/// The place of a symbol in the order of paths and positions: within a file keys follow positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolRank(FileRank, SymbolKey);

impl SymbolRank {
    /// The key of the symbol.
    pub fn key(self) -> SymbolKey {
        self.1
    }
}

/// The place of a site in the order of paths and positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteRank(FileRank, SiteKey);

/// See the module. Of one state of a store; its size is that of the files that were added since the
/// build.
#[derive(Debug, Default)]
pub struct KeyOrder {
    /// The greatest keys that the build gave.
    last_file: u32,
    last_symbol: u32,
    added: FxHashMap<FileKey, FileRank>,
    /// Whether no symbol has got its key after the build.
    is_by_key: bool,
}

impl KeyOrder {
    /// The place of a file.
    pub fn file(&self, file: FileKey) -> FileRank {
        if file.0 <= self.last_file {
            FileRank(file.0, 0)
        } else {
            self.added.get(&file).copied().unwrap_or_default()
        }
    }

    /// The place of a symbol of a file.
    pub fn symbol(&self, file: FileKey, symbol: SymbolKey) -> SymbolRank {
        SymbolRank(self.file(file), symbol)
    }

    /// The place of a symbol.
    pub fn head(&self, head: &SymbolHead) -> SymbolRank {
        self.symbol(head.file, head.key)
    }

    /// The place of a symbol.
    pub fn row(&self, row: &SymbolRow) -> SymbolRank {
        self.symbol(row.file, row.key)
    }

    /// The place of a site.
    pub fn site(&self, site: &SiteRow) -> SiteRank {
        SiteRank(self.file(site.file), site.key)
    }

    /// Whether all symbols of the store are in the order of their keys.
    pub fn is_by_key(&self) -> bool {
        self.is_by_key
    }

    /// Whether this symbol is, among those of which the same is said.
    pub fn is_in_order(&self, symbol: SymbolKey) -> bool {
        symbol.0 <= self.last_symbol
    }
}
