//! Which rule a node has, where that depends on more than its kind, and what of its text is its
//! name.

use crate::extract::walk::Walker;
use crate::grammar::Rule;
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// The rule for a node in statement or expression position.
    #[inline]
    pub(in crate::extract) fn rule_at(&self, node: Node<'t>) -> Option<&'static Rule> {
        self.rule_of(node, node.kind_id())
    }

    /// The same for a node whose kind has been asked for; among several, that of the first case
    /// that holds.
    pub(super) fn rule_of(&self, node: Node<'t>, kind: u16) -> Option<&'static Rule> {
        match self.language.rule(kind)? {
            Rule::Cases { cases } => {
                let found = cases
                    .iter()
                    .find(|(when, _)| when.holds(node, |child| self.trimmed_text(child)));
                found.map(|(_, rule)| rule)
            }
            rule => Some(rule),
        }
    }

    /// The text of a name without what is no part of it.
    pub(in crate::extract) fn trimmed_text(&self, node: Node<'t>) -> &'t str {
        self.language.trimmed(node.kind_id(), self.text_of(node))
    }
}
