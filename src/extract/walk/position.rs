//! Lines, offsets and positions of nodes, as facts have them.

use cograph_model::Position;
use tree_sitter::Node;

pub(crate) fn line(row: usize) -> u32 {
    offset(row + 1)
}

pub(crate) fn offset(byte: usize) -> u32 {
    u32::try_from(byte).expect("files are limited to far less than 4 GiB")
}

pub(crate) fn position(node: Node<'_>) -> Position {
    let point = node.start_position();
    Position { line: line(point.row), column: offset(point.column) }
}
