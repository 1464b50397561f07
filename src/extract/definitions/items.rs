//! Items: definitions with only a name, a position and contents, such as sections, keys, blocks,
//! and calls that define.

use crate::extract::walk::Definition;
use crate::extract::walk::{READ, Surroundings, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::SymbolKind;
use crate::model::facts::{ExprId, ScopeKind};
use tree_sitter::Node;

/// Maximum length of a joined name in bytes: a longer one is text, and its prefix suffices for a
/// search.
const MAX_NAME_BYTES: usize = 160;

impl<'t> Walker<'t> {
    /// Defines a named part of a file and visits its contents.
    pub(in crate::extract) fn item(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Item { kind, name, join, body, flat, leaf } = rule else { return ExprId::NONE };
        let parts: Vec<Node<'t>> =
            name.iter().flat_map(|selector| self.every(Some(selector), node)).collect();
        let text = self.join_parts(&parts, join);
        let body = body.as_ref().map(|selector| selector.first(node));
        let Some(first) = parts.first().copied().filter(|_| !text.is_empty()) else {
            return self.visit_children(body.flatten().unwrap_or(node));
        };
        let name = self.build.name(&text);
        // Without a body selector, the header is the line with the name.
        let last = parts.last().map_or(first, |last| *last);
        let line_end = || {
            let after = self.source.get(last.end_byte()..node.end_byte()).unwrap_or_default();
            last.end_byte() + after.iter().position(|&byte| byte == b'\n').unwrap_or(after.len())
        };
        let header_end =
            body.flatten().map(|body| body.start_byte()).filter(|&start| start >= last.end_byte());
        let header_end = header_end.unwrap_or_else(line_end);
        let definition =
            Definition { name, name_node: first, node, kind: *kind, header_end, has_body: true };
        let symbol = self.define(&definition);
        let before = (self.scope, self.around, self.enclosing);
        if !flat {
            self.scope = self.build.scope(
                self.scope,
                ScopeKind::Module,
                symbol,
                node.start_byte(),
                node.end_byte(),
            );
            self.around = Surroundings::NONE;
            let inner = self.scope;
            self.build.symbol_mut(symbol).inner = inner;
        }
        self.enclosing = symbol;
        match body {
            _ if *leaf => {}
            Some(Some(body)) => drop(self.visit(body, READ)),
            Some(None) => {}
            None => drop(self.visit_children(node)),
        }
        (self.scope, self.around, self.enclosing) = before;
        ExprId::NONE
    }

    /// Joins the parts of a name, each trimmed and with white space folded to single blanks.
    fn join_parts(&self, parts: &[Node<'t>], join: &str) -> String {
        let words = |part: &Node<'t>| {
            self.trimmed_text(*part).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut text =
            parts.iter().map(words).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(join);
        if text.len() > MAX_NAME_BYTES {
            let end =
                (0..=MAX_NAME_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            text.truncate(end);
        }
        text
    }

    /// Defines a symbol for each name that a node lists. The rest of the node is ignored.
    pub(in crate::extract) fn defines(
        &mut self,
        node: Node<'t>,
        kind: SymbolKind,
        names: &'static Selector,
    ) -> ExprId {
        let comment = self.pending.comment;
        for name_node in self.every(Some(names), node) {
            let name = self.name_of(name_node);
            self.pending.comment = comment;
            let header_end = node.end_byte();
            self.define(&Definition { name, name_node, node, kind, header_end, has_body: true });
        }
        ExprId::NONE
    }
}
