//! Regions of a tree that the grammar did not understand.

use crate::repair::lines::Lines;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// Number of lines from which an error is a gap in the structure and not a fault in one statement.
const LEAST_LINES: usize = 3;

/// Regions with errors, in order.
pub(super) struct Errors {
    /// Lines of the outermost errors.
    all: Vec<Range<usize>>,
    /// Lines of those that broke the structure around them.
    pub(super) wide: Vec<Range<usize>>,
}

impl Errors {
    pub(super) fn of(tree: &Tree, lines: &Lines<'_>) -> Self {
        let mut all: Vec<Range<usize>> = Vec::new();
        let (mut cursor, mut waiting) = (tree.walk(), vec![tree.root_node()]);
        while let Some(node) = waiting.pop() {
            if node.is_error() || node.is_missing() {
                all.push(rows(node));
            } else if node.has_error() {
                waiting.extend(node.children(&mut cursor));
            }
        }
        all.sort_unstable_by_key(|rows| (rows.start, rows.end));
        let is_wide = |rows: &&Range<usize>| rows.len() >= LEAST_LINES || lines.closes(rows.start);
        let wide = all.iter().filter(is_wide).map(|rows| lines.around(rows)).collect();
        Self { all, wide }
    }

    /// Returns the number of lines that are lost: those of errors, and those of a part whose end
    /// belongs to nothing.
    pub(super) fn lost(&self) -> usize {
        let mut rows: Vec<&Range<usize>> = self.all.iter().chain(&self.wide).collect();
        rows.sort_unstable_by_key(|rows| rows.start);
        let (mut lost, mut end) = (0, 0);
        for rows in rows {
            lost += rows.end.saturating_sub(rows.start.max(end));
            end = end.max(rows.end);
        }
        lost
    }
}

fn rows(node: Node<'_>) -> Range<usize> {
    let (start, end) = (node.start_position(), node.end_position());
    let ends_before = end.column == 0 && end.row > start.row;
    start.row..if ends_before { end.row } else { end.row + 1 }
}
