//! What is stored of a symbol and not resolved with: a full build drops it once it is on disk.

use super::complexity::Complexity;
use crate::{Position, Span};

/// Part of a symbol that resolution does not need, except for the tag of a type.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// Where its extent starts.
    pub start: Position,
    /// Where its extent ends.
    pub end: Position,
    /// Header on one line without the body, with white space folded.
    pub signature: Box<str>,
    /// First paragraph of its doc comment or string, on one line; empty if there is none.
    pub doc: Box<str>,
    /// Complexity of its body, for a callable of a language whose manifest says what is complex.
    pub complexity: Option<Complexity>,
}

impl Details {
    /// Details of a symbol with this extent and header, without documentation.
    pub fn of(extent: Span, signature: impl Into<Box<str>>) -> Option<Box<Self>> {
        let (start, end) = (extent.start, extent.end);
        Some(Box::new(Self { start, end, signature: signature.into(), ..Self::default() }))
    }
}
