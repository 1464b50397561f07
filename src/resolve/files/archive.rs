//! Interface to stored facts and posting lists, which are read on demand.

use crate::units::partition::Shared;
use cograph_model::facts::{FileFacts, Symbol, flags};
use cograph_model::graph::FileKey;
use std::fmt::Debug;

/// Entry of a posting list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posting {
    /// File.
    pub file: FileKey,
    /// Position among the symbols of the file.
    pub symbol: u32,
    /// Properties of the symbol.
    pub flags: PostingFlags,
}

/// Properties of a symbol in its posting: a search for definitions reads no facts of the files that
/// only declare a name, or have an internal symbol of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PostingFlags {
    /// True if the symbol is a declaration.
    pub is_declared: bool,
    /// True if other files can refer to the symbol.
    pub is_exported: bool,
}

impl PostingFlags {
    /// Number of bits of the encoding.
    pub const BITS: u32 = 2;

    /// Encodes in the lowest [`PostingFlags::BITS`] bits.
    pub fn to_bits(self) -> u64 {
        u64::from(self.is_declared) | u64::from(self.is_exported) << 1
    }

    /// Decodes the lowest [`PostingFlags::BITS`] bits.
    pub fn from_bits(bits: u64) -> Self {
        Self { is_declared: bits & 1 != 0, is_exported: bits & 2 != 0 }
    }

    /// Flags of a symbol with these facts.
    pub(crate) fn of(symbol: &Symbol) -> Self {
        Self {
            is_declared: symbol.flags & flags::DECLARATION != 0,
            is_exported: symbol.flags & flags::EXPORTED != 0,
        }
    }
}

/// Storage of facts and posting lists. The implementation records failed reads: results that depend
/// on them must be discarded.
pub trait Archive: Debug + Send + Sync {
    /// Returns the current facts of the file with a key, and the extent of their exported part.
    fn facts(&self, key: FileKey) -> Option<(FileFacts, Shared)>;

    /// Passes the entries of a posting list as stored, in the file order of that time.
    fn postings(&self, list: u64, each: &mut dyn FnMut(Posting));
}
