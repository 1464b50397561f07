//! How much the search for symbols reads.

/// Maximum number of files whose symbols are ranked for one question, best first.
pub const FILES: usize = 80;

/// Maximum number of additional files that contain named symbols.
pub const NAMED_FILES: usize = 60;

/// Maximum number of names in a text that are looked up.
pub const NAMES: usize = 400;

/// Maximum number of meanings of a name; one with more is ignored.
pub const MEANINGS: usize = 40;

/// Maximum number of symbols of one name that are checked against a qualified name.
pub const BEARERS: usize = 2_000;

/// Number of best symbols whose calls are read.
pub const CALLING: usize = 150;

/// Maximum number of matched words that are reported for a symbol.
pub(crate) const MATCHED: usize = 4;
