//! Nodes that the traversal has visited, where that is recorded.

use cograph_grammar::{Language, Tier};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Visited nodes by start. Nodes whose visit is in progress are not included.
#[derive(Default)]
pub(crate) struct VisitedNodes {
    pub(crate) is_kept: bool,
    nodes: BTreeSet<(usize, usize, usize)>,
}

impl VisitedNodes {
    pub(crate) fn of(language: &Language) -> Self {
        let is_kept = language.tier() == Tier::Shared || language.manifest.visit_rest;
        Self { is_kept, nodes: BTreeSet::new() }
    }

    /// True if visits are recorded.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Records the visit of a node.
    #[inline]
    pub(crate) fn note(&mut self, node: Node<'_>) {
        if self.is_kept {
            self.nodes.insert((node.start_byte(), node.id(), node.end_byte()));
        }
    }

    pub(crate) fn has(&self, node: Node<'_>) -> bool {
        self.nodes.contains(&(node.start_byte(), node.id(), node.end_byte()))
    }

    /// True if something inside of a node was visited.
    pub(crate) fn has_inside(&self, node: Node<'_>) -> bool {
        let (start, end) = (node.start_byte(), node.end_byte());
        self.nodes
            .range((start, 0, 0)..(end, 0, 0))
            .any(|&(_, id, other)| other <= end && id != node.id())
    }
}
