//! What no rule names is visited all the same: a rule says what its children mean, not which of
//! them count. In languages whose manifests nobody has compared with a compiler, what a rule leaves
//! out would otherwise be lost without a word.

use crate::extract::walk::{READ, Usage, Walker};
use crate::grammar::{Rule, Tier};
use crate::model::SiteKind;
use crate::model::facts::ExprId;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// The nodes that were looked at, by where they begin. Those that are still being looked at are not
/// among them.
#[derive(Default)]
pub(in crate::extract) struct Seen {
    is_kept: bool,
    nodes: BTreeSet<(usize, usize, usize)>,
}

impl Seen {
    pub(in crate::extract) fn of(tier: Tier) -> Self {
        Self { is_kept: tier == Tier::Shared, nodes: BTreeSet::new() }
    }

    /// Whether nodes are noted at all.
    pub(in crate::extract) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Notes that a node was looked at.
    #[inline]
    pub(in crate::extract) fn note(&mut self, node: Node<'_>) {
        if self.is_kept {
            self.nodes.insert((node.start_byte(), node.id(), node.end_byte()));
        }
    }

    fn has(&self, node: Node<'_>) -> bool {
        self.nodes.contains(&(node.start_byte(), node.id(), node.end_byte()))
    }

    /// Whether something inside of a node was looked at.
    fn has_inside(&self, node: Node<'_>) -> bool {
        let (start, end) = (node.start_byte(), node.end_byte());
        self.nodes
            .range((start, 0, 0)..(end, 0, 0))
            .any(|&(_, id, other)| other <= end && id != node.id())
    }
}

impl<'t> Walker<'t> {
    /// A call of what nobody can name before the program runs is a reference all the same: it says
    /// that something is called here.
    pub(in crate::extract) fn computed_call(&mut self, callee: Node<'t>, kind: SiteKind) {
        if self.seen.is_kept {
            let name = self.build.name("()");
            self.site(Usage::Site(kind), callee, name, ExprId::NONE);
        }
    }

    /// Visits what the rule of a node has left out; what a call around waits for stays.
    #[inline]
    pub(super) fn visit_rest_of(&mut self, node: Node<'t>) {
        if self.seen.is_kept && !self.says_all(node) {
            let waiting = self.take_call_site();
            self.visit_left_out(node);
            self.call_site = waiting;
        }
    }

    /// Visits the children of a node that nothing has looked at, in the scope that is current.
    pub(in crate::extract) fn visit_left_out(&mut self, node: Node<'t>) {
        if !self.seen.is_kept {
            return;
        }
        for child in self.named_children(node) {
            if self.seen.has(child) || self.says_all(child) {
                continue;
            }
            // Of words before a definition only what has parts of its own is more than a word.
            if self.seen.has_inside(child) || self.language.is_modifier_node(child.kind_id()) {
                self.nested(child, (), |walker| walker.visit_left_out(child));
            } else if child.named_child_count() > 0 {
                // A word alone may be a label or a keyword; it is no use of a symbol of that name.
                self.visit(child, READ);
            }
        }
    }

    /// Whether the rule of a node says all that there is to say of it.
    pub(super) fn says_all(&self, node: Node<'t>) -> bool {
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
