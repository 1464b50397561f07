//! What is stored of a symbol and not resolved with: a full build drops it once it is on disk.

use super::complexity::Complexity;
use crate::Position;

/// Part of a symbol that the resolution of other files does not need.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// Where its extent starts.
    pub start: Position,
    /// Where its extent ends.
    pub end: Position,
    /// Where its name is.
    pub name_at: Position,
    /// Header on one line without the body, with white space folded.
    pub signature: Box<str>,
    /// First paragraph of its doc comment or string, on one line; empty if there is none.
    pub doc: Box<str>,
    /// Complexity of its body, for a callable of a language whose manifest says what is complex.
    pub complexity: Option<Complexity>,
}

impl Details {
    /// Number of lines of the extent.
    pub fn lines(&self) -> u32 {
        self.end.line.saturating_sub(self.start.line) + 1
    }
}
