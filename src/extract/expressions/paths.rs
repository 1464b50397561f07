//! Paths (`a::b::c`), in expressions and in names of definitions.

use crate::extract::walk::{READ, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::facts::{Expr, ExprId, NameId, ScopeId};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Member of a value, type or module. A path may nest in the object or in the name.
    pub(in crate::extract) fn member(
        &mut self,
        node: Node<'t>,
        object: Option<&'static Selector>,
        name: &'static Selector,
        scoped: bool,
        usage: Usage,
    ) -> ExprId {
        let Some(name_node) = name.first(node) else { return self.visit_children(node) };
        let object_node = object.and_then(|selector| selector.first(node));
        if object_node.is_none() && !scoped {
            return self.visit(name_node, usage);
        }
        let object = object_node.map(|object_node| {
            if let Some(word) =
                if scoped { self.path_word(self.text_of(object_node)) } else { None }
            {
                return word;
            }
            let is_type = self.rule_at(object_node).is_none();
            let object = if is_type {
                self.visit_type(object_node, READ)
            } else {
                self.visit(object_node, READ)
            };
            let object = if scoped { self.path_head(object) } else { object };
            self.known(object)
        });
        if let Some(object) = object
            && matches!(self.rule_at(name_node), Some(Rule::SelfValue {}))
        {
            // The receiver of the named type, not of the enclosing one.
            return self.build.expr(Expr::OfType(object));
        }
        self.path_from(object, name_node, usage)
    }

    /// Resolves a path from `object` on, or from the outermost scope if there is none.
    pub(super) fn path_from(
        &mut self,
        object: Option<ExprId>,
        name_node: Node<'t>,
        usage: Usage,
    ) -> ExprId {
        let mut object = object;
        // Skips type arguments of a segment (`a::b::<T>`).
        let mut name_node = self.plain_name(name_node);
        while let Some((part, rest)) = self.path_parts(name_node) {
            if let Some(part) = part {
                object = Some(self.path_step(object, part, READ));
            }
            name_node = self.plain_name(rest);
        }
        self.path_step(object, name_node, usage)
    }

    fn path_step(&mut self, object: Option<ExprId>, node: Node<'t>, usage: Usage) -> ExprId {
        let node = self.plain_name(node);
        let name = self.folded_name(node);
        let value = self.build.expr(match object {
            Some(object) => Expr::Member(object, name),
            None => Expr::Name(name, ScopeId(0)),
        });
        self.site(usage, node, name, value);
        value
    }

    /// Splits the first segment off a path in name position.
    fn path_parts(&self, node: Node<'t>) -> Option<(Option<Node<'t>>, Node<'t>)> {
        match self.rule_at(node) {
            Some(Rule::Member { object, name, scoped: true }) => {
                let part = object.as_ref().and_then(|selector| selector.first(node));
                Some((part, name.first(node)?))
            }
            _ => None,
        }
    }

    /// Returns the last segment of a path.
    pub(in crate::extract) fn last_of_path(&self, node: Node<'t>) -> Node<'t> {
        let mut node = node;
        while let Some((_, rest)) = self.path_parts(node) {
            node = rest;
        }
        node
    }

    /// Returns the name inside a node with type arguments, and visits these.
    pub(in crate::extract) fn plain_name(&mut self, node: Node<'t>) -> Node<'t> {
        let mut node = node;
        while let Some(Rule::Pass { of }) = self.rule_at(node) {
            let chosen = match of {
                Some(selector) => selector.first(node),
                None => self.first_named_child(node),
            };
            let Some(chosen) = chosen else { break };
            for child in self.named_children(node) {
                if child.id() != chosen.id() {
                    self.visit(child, READ);
                }
            }
            node = chosen;
        }
        node
    }

    /// Returns the own name of a definition. A path before it (`A::f`) becomes the owner of the
    /// next definition.
    pub(in crate::extract) fn qualified_name(&mut self, node: Node<'t>) -> (NameId, Node<'t>) {
        let mut owner = None;
        let mut node = self.plain_name(node);
        while let Some((part, rest)) = self.path_parts(node) {
            if let Some(part) = part {
                owner = Some(match owner {
                    Some(owner) => self.path_step(Some(owner), part, READ),
                    None => {
                        let path = self.visit_type(part, READ);
                        self.known(path)
                    }
                });
            }
            node = self.plain_name(rest);
        }
        if let Some(owner) = owner {
            self.around.owner = owner;
        }
        (self.folded_name(node), node)
    }

    /// Returns a name with white space only between words (`operator ()`, `operator new`).
    pub(super) fn folded_name(&mut self, node: Node<'t>) -> NameId {
        let end = match self.rule_at(node) {
            Some(Rule::Declarator { up_to: Some(up_to), .. }) => {
                up_to.first(node).map(|end| end.start_byte())
            }
            _ => None,
        };
        let mut text = self.text_of(node);
        if let Some(end) = end {
            text = text.get(..end - node.start_byte()).unwrap_or(text).trim_end();
        }
        if !text.contains(char::is_whitespace)
            || matches!(self.rule_at(node), Some(Rule::Text { .. }))
        {
            return if end.is_some() { self.build.name(text) } else { self.name_of(node) };
        }
        let mut folded = String::with_capacity(text.len());
        for word in text.split_whitespace() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            if folded.ends_with(is_word) && word.starts_with(is_word) {
                folded.push(' ');
            }
            folded.push_str(word);
        }
        self.build.name(&folded)
    }
}
