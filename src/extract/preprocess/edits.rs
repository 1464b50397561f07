//! Edits of a source that keep its length, and what they remove.

use cograph_faults::{Fault, planted};
use cograph_model::SiteKind;
use std::ops::Range;

/// Name in a removed part.
pub(crate) struct Use {
    pub(crate) name: Range<usize>,
    pub(crate) kind: SiteKind,
}

/// Definition whose head is a macro invocation.
pub(crate) struct Made {
    /// Macro with its arguments.
    pub(crate) head: Range<usize>,
    /// Name of the definition.
    pub(crate) name: String,
    /// True if the macro is defined in the file, so that the name is certain.
    pub(crate) is_known: bool,
    /// Words before the name in the expansion.
    pub(crate) words: Vec<String>,
    /// True if its arguments are parsed as the head of a function.
    pub(crate) is_typed: bool,
}

/// Masked part of the source.
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    /// Replacement of the first byte; the others become blanks.
    pub(crate) first: u8,
}

impl Edit {
    pub(crate) fn blank(range: Range<usize>) -> Self {
        Self { range, first: b' ' }
    }

    /// Placeholder for an empty text where the parser needs a token.
    pub(crate) fn token(range: Range<usize>) -> Self {
        Self { range, first: b';' }
    }
}

/// Masks a part of a source. Line breaks stay.
pub(crate) fn blank(part: &mut [u8]) {
    let stays = |byte: &u8| matches!(byte, b'\n' | b'\r') && !planted(Fault::LostLineEnds);
    part.iter_mut().filter(|byte| !stays(byte)).for_each(|byte| *byte = b' ');
}
