//! Selection of the rule of a node by more than its kind, and trimming of names.

use crate::walk::input::Input;
use crate::walk::texts;
use cograph_grammar::Rule;
use tree_sitter::Node;

/// Returns the rule of a node in statement or expression position.
#[inline]
pub(crate) fn rule_at<'t>(input: &Input<'t>, node: Node<'t>) -> Option<&'static Rule> {
    rule_of(input, node, node.kind_id())
}

/// Does the same for a node with a known kind; of several cases the first that matches.
pub(crate) fn rule_of<'t>(input: &Input<'t>, node: Node<'t>, kind: u16) -> Option<&'static Rule> {
    match input.language.rule(kind)? {
        Rule::Cases { cases } => {
            let found =
                cases.iter().find(|(when, _)| when.holds(node, |child| trimmed_text(input, child)));
            found.map(|(_, rule)| rule)
        }
        rule => Some(rule),
    }
}

/// Returns the text of a path without white space, with each name trimmed as the manifest
/// specifies.
pub(crate) fn path_text<'t>(input: &Input<'t>, node: Node<'t>) -> String {
    if input.language.manifest.names.trim.is_empty() || node.child_count() == 0 {
        return trimmed_text(input, node).split_whitespace().collect();
    }
    let mut cursor = node.walk();
    let parts = node.children(&mut cursor).filter(|part| !part.is_extra());
    parts.map(|part| path_text(input, part)).collect()
}

/// Returns the text of a name, trimmed as the manifest specifies.
pub(crate) fn trimmed_text<'t>(input: &Input<'t>, node: Node<'t>) -> &'t str {
    input.language.trimmed(node.kind_id(), texts::text_of(input, node))
}
