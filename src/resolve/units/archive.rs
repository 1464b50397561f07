//! What was worked out before and is read by need: the boundary to whoever keeps it.

use crate::model::facts::FileFacts;
use crate::resolve::units::partition::Shared;
use std::fmt::Debug;

/// A symbol in a posting list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posting {
    /// The key of its file.
    pub file: u32,
    /// Its place among the symbols of the file.
    pub symbol: u32,
    /// Whether it is a declaration.
    pub is_declared: bool,
}

/// Keeps facts of files and posting lists. What cannot be read is not given, and remembered: what
/// rests on it must not be used.
pub trait Archive: Debug + Send + Sync {
    /// All facts of the file with a key, as they are now, and which of them others may look at.
    fn facts(&self, key: u32) -> Option<(FileFacts, Shared)>;

    /// The entries of a list as they were written, in the order of files at that time.
    fn postings(&self, list: u64, each: &mut dyn FnMut(Posting));
}
