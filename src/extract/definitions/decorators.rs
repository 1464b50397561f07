//! Decorators: their references, and the values that they apply to the next definition.

use crate::extract::walk::{Decorator, READ, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::SiteKind;
use crate::model::facts::ExprId;
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(in crate::extract) fn decorated(
        &mut self,
        node: Node<'t>,
        of: &'static Selector,
        decorators: &'static Selector,
    ) -> ExprId {
        for decorator in self.every(Some(decorators), node) {
            self.visit(decorator, READ);
        }
        of.first(node).map_or(ExprId::NONE, |definition| self.visit(definition, READ))
    }

    pub(in crate::extract) fn decorator(
        &mut self,
        node: Node<'t>,
        name: &'static Selector,
        args: Option<&'static Selector>,
    ) -> ExprId {
        let pending = std::mem::take(&mut self.pending);
        let name_node = name.first(node);
        let mut value = ExprId::NONE;
        if let Some(name_node) = name_node {
            let usage = Usage::Site(SiteKind::Decorate);
            value = match self.rule_at(name_node) {
                Some(Rule::Name {} | Rule::Member { .. }) => self.visit(name_node, usage),
                Some(_) => self.visit(name_node, READ),
                None => self.visit_type(name_node, usage),
            };
        }
        let text = name_node.map_or("", |name| self.text_of(name));
        let text = text.split(['(', '<']).next().unwrap_or(text).trim();
        if let Some(args) = args.and_then(|selector| selector.first(node)) {
            if self.language.manifest.modifiers.applying_decorators.iter().any(|name| name == text)
            {
                self.applied_names(args);
            } else {
                self.visit(args, READ);
            }
        }
        self.pending = pending;
        self.pending.decorators.push(Decorator { name: text.into(), node, value });
        ExprId::NONE
    }
}
