//! Texts of nodes, and special names of the language: receiver, own type, ignored words.

use crate::walk::input::Input;
use std::borrow::Cow;
use std::ops::Range;
use tree_sitter::Node;

pub(crate) fn text_of<'t>(input: &Input<'t>, node: Node<'t>) -> &'t str {
    match input.text {
        Some(text) => text.get(node.byte_range()).unwrap_or_default(),
        None => std::str::from_utf8(input.source.get(node.byte_range()).unwrap_or_default())
            .unwrap_or_default(),
    }
}

/// Returns the text of a part of the source; invalid UTF-8 is replaced.
pub(crate) fn text_at<'t>(input: &Input<'t>, range: Range<usize>) -> Cow<'t, str> {
    match input.text.and_then(|text| text.get(range.clone())) {
        Some(text) => Cow::Borrowed(text),
        None => String::from_utf8_lossy(input.source.get(range).unwrap_or_default()),
    }
}
