//! Lists children with few calls of the parser.

use std::cell::RefCell;
use tree_sitter::{Node, TreeCursor};

/// Number of children up to which they are accessed by position: the parser counts from the first
/// each time, but a cursor step costs ten times as much as a counting step.
pub(crate) const MAX_BY_POSITION: u32 = 10;

/// Cursor reused for all nodes: a new one would allocate.
#[derive(Default)]
pub(crate) struct Lister<'t>(RefCell<Option<TreeCursor<'t>>>);

impl<'t> Lister<'t> {
    /// Lends the cursor at any position; it is created at a node of the tree.
    pub(crate) fn with_cursor<T>(
        &self,
        node: Node<'t>,
        visit: impl FnOnce(&mut TreeCursor<'t>) -> T,
    ) -> T {
        visit(self.0.borrow_mut().get_or_insert_with(|| node.walk()))
    }

    /// Visits the children in order as long as `each` returns true.
    pub(crate) fn each(&self, node: Node<'t>, mut each: impl FnMut(Node<'t>) -> bool) {
        let count = node.child_count();
        if count <= MAX_BY_POSITION {
            (0..count).map_while(|at| node.child(at)).all(each);
            return;
        }
        self.with_cursor(node, |cursor| {
            cursor.reset(node);
            let mut has_more = cursor.goto_first_child();
            while has_more {
                has_more = each(cursor.node()) && cursor.goto_next_sibling();
            }
        });
    }

    /// Visits the named children including comments as long as `each` returns true.
    pub(crate) fn each_named(&self, node: Node<'t>, mut each: impl FnMut(Node<'t>) -> bool) {
        let mut left = named_count(node);
        if left <= MAX_BY_POSITION {
            (0..left).map_while(|at| node.named_child(at)).all(each);
            return;
        }
        self.each(node, |child| {
            if !child.is_named() {
                return true;
            }
            left -= 1;
            each(child) && left > 0
        });
    }
}

pub(crate) fn named_count(node: Node<'_>) -> u32 {
    u32::try_from(node.named_child_count()).expect("the parser counts in 32 bits")
}
