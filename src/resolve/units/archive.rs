//! Interface to stored facts and posting lists, which are read on demand.

use crate::model::facts::FileFacts;
use crate::resolve::units::partition::Shared;
use std::fmt::Debug;

/// Entry of a posting list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posting {
    /// Key of the file.
    pub file: u32,
    /// Position among the symbols of the file.
    pub symbol: u32,
    /// True if the symbol is a declaration.
    pub is_declared: bool,
}

/// Storage of facts and posting lists. The implementation records failed reads: results that depend
/// on them must be discarded.
pub trait Archive: Debug + Send + Sync {
    /// Returns the current facts of the file with a key, and the extent of their exported part.
    fn facts(&self, key: u32) -> Option<(FileFacts, Shared)>;

    /// Passes the entries of a posting list as stored, in the file order of that time.
    fn postings(&self, list: u64, each: &mut dyn FnMut(Posting));
}
