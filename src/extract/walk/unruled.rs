//! Fallback for nodes without a rule: their children are visited all the same. In languages without
//! a measurement against a compiler, nodes that a rule omits would otherwise be lost silently.

use crate::extract::walk::{READ, Usage, Walker};
use crate::grammar::{Rule, Tier};
use crate::model::SiteKind;
use crate::model::facts::ExprId;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Visited nodes by start. Nodes whose visit is in progress are not included.
#[derive(Default)]
pub(in crate::extract) struct Seen {
    is_kept: bool,
    nodes: BTreeSet<(usize, usize, usize)>,
}

impl Seen {
    pub(in crate::extract) fn of(tier: Tier) -> Self {
        Self { is_kept: tier == Tier::Shared, nodes: BTreeSet::new() }
    }

    /// True if visits are recorded.
    pub(in crate::extract) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Records the visit of a node.
    #[inline]
    pub(in crate::extract) fn note(&mut self, node: Node<'_>) {
        if self.is_kept {
            self.nodes.insert((node.start_byte(), node.id(), node.end_byte()));
        }
    }

    fn has(&self, node: Node<'_>) -> bool {
        self.nodes.contains(&(node.start_byte(), node.id(), node.end_byte()))
    }

    /// True if something inside of a node was visited.
    fn has_inside(&self, node: Node<'_>) -> bool {
        let (start, end) = (node.start_byte(), node.end_byte());
        self.nodes
            .range((start, 0, 0)..(end, 0, 0))
            .any(|&(_, id, other)| other <= end && id != node.id())
    }
}

impl<'t> Walker<'t> {
    /// Records a call of a computed callee as a reference without a target.
    pub(in crate::extract) fn computed_call(&mut self, callee: Node<'t>, kind: SiteKind) {
        if self.seen.is_kept {
            let name = self.build.name("()");
            self.site(Usage::Site(kind), callee, name, ExprId::NONE);
        }
    }

    /// Visits the children that the rule of a node omits; keeps the pending call site.
    #[inline]
    pub(super) fn visit_rest_of(&mut self, node: Node<'t>) {
        if self.seen.is_kept && !self.covers_all_children(node) {
            let waiting = self.take_call_site();
            self.visit_left_out(node);
            self.call_site = waiting;
        }
    }

    /// Visits the children of a node that have not been visited, in the current scope.
    pub(in crate::extract) fn visit_left_out(&mut self, node: Node<'t>) {
        if !self.seen.is_kept {
            return;
        }
        for child in self.named_children(node) {
            if self.seen.has(child) || self.covers_all_children(child) {
                continue;
            }
            // A modifier is no expression: only its children are visited.
            if self.seen.has_inside(child) || self.language.is_modifier_node(child.kind_id()) {
                self.nested(child, (), |walker| walker.visit_left_out(child));
            } else if child.named_child_count() > 0 {
                // A single word may be a label or a keyword and is no reference.
                self.visit(child, READ);
            }
        }
    }

    /// True if the rule of a node covers all its children.
    pub(super) fn covers_all_children(&self, node: Node<'t>) -> bool {
        let rule = self.rule_of(node, node.kind_id());
        matches!(
            rule,
            Some(
                Rule::Skip {}
                    | Rule::Import { .. }
                    | Rule::Package { .. }
                    | Rule::Item { .. }
                    | Rule::Defines { .. }
            )
        )
    }
}
