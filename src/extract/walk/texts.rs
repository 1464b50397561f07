//! Texts of nodes, and special names of the language: receiver, own type, ignored words.

use super::Walker;
use super::context::QUOTES;
use crate::grammar::Rule;
use crate::model::facts::{Expr, ExprId, NameId};
use std::borrow::Cow;
use std::ops::Range;
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(in crate::extract) fn text_of(&self, node: Node<'t>) -> &'t str {
        match self.text {
            Some(text) => text.get(node.byte_range()).unwrap_or_default(),
            None => std::str::from_utf8(self.source.get(node.byte_range()).unwrap_or_default())
                .unwrap_or_default(),
        }
    }

    /// Returns the text of a part of the source; invalid UTF-8 is replaced.
    pub(in crate::extract) fn text_at(&self, range: Range<usize>) -> Cow<'t, str> {
        match self.text.and_then(|text| text.get(range.clone())) {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(self.source.get(range).unwrap_or_default()),
        }
    }

    /// Returns the name of a node without quotes.
    pub(in crate::extract) fn name_of(&mut self, node: Node<'t>) -> NameId {
        self.seen.note(node);
        let text = self.trimmed_text(node);
        match self.rule_at(node) {
            Some(Rule::Text { .. }) => self.build.name(text.trim_matches(QUOTES)),
            _ => self.build.name(text),
        }
    }

    /// Returns the expression of a path keyword (root, self, super), without a site.
    pub(in crate::extract) fn path_word(&mut self, text: &str) -> Option<ExprId> {
        let modules = &self.language.manifest.modules;
        let words = [&modules.root_word, &modules.self_word, &modules.super_word];
        if !words.iter().any(|word| word.as_deref() == Some(text)) {
            return None;
        }
        let name = self.build.name(text);
        Some(self.build.expr(Expr::Name(name, self.scope)))
    }

    /// True if a word refers to the enclosing type.
    pub(in crate::extract) fn is_self_type(&self, text: &str) -> bool {
        self.language.manifest.names.self_type.iter().any(|word| word == text)
    }

    pub(in crate::extract) fn is_ignored(&self, name: NameId) -> bool {
        self.is_ignored_text(self.build.text(name))
    }

    pub(in crate::extract) fn is_ignored_text(&self, text: &str) -> bool {
        text.is_empty()
            || self.language.manifest.names.ignored.iter().any(|ignored| ignored == text)
    }

    /// True if an expression is the receiver of the enclosing method.
    pub(in crate::extract) fn is_receiver(&self, value: ExprId) -> bool {
        match self.build.get(value) {
            Expr::SelfValue(_) => true,
            Expr::Name(name, _) => name.is_some() && name == self.callable.receiver,
            _ => false,
        }
    }
}
