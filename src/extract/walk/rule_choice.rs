//! Selection of the rule of a node by more than its kind, and trimming of names.

use crate::extract::walk::Walker;
use crate::grammar::Rule;
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Returns the rule of a node in statement or expression position.
    #[inline]
    pub(in crate::extract) fn rule_at(&self, node: Node<'t>) -> Option<&'static Rule> {
        self.rule_of(node, node.kind_id())
    }

    /// Does the same for a node with a known kind; of several cases the first that matches.
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

    /// Returns the text of a name, trimmed as the manifest specifies.
    pub(in crate::extract) fn trimmed_text(&self, node: Node<'t>) -> &'t str {
        self.language.trimmed(node.kind_id(), self.text_of(node))
    }
}
