//! What is applied to code: decorators, and macros with the tokens they are given.

use super::walk::{READ, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::SiteKind;
use crate::model::facts::{Expr, ExprId, NameId};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(super) fn decorated(&mut self, node: Node<'t>, of: &'static Selector, decorators: &'static Selector) -> ExprId {
        for decorator in decorators.every(node) {
            self.visit(decorator, READ);
        }
        of.first(node).map_or(ExprId::NONE, |definition| self.visit(definition, READ))
    }

    pub(super) fn decorator(&mut self, node: Node<'t>, name: &'static Selector, args: Option<&'static Selector>) -> ExprId {
        let pending = std::mem::take(&mut self.pending);
        let name_node = name.first(node);
        if let Some(name_node) = name_node {
            let usage = Usage::Site(SiteKind::Decorate);
            match self.language.rule(name_node.kind_id()) {
                Some(Rule::Name {} | Rule::Member { .. }) => self.visit(name_node, usage),
                Some(_) => self.visit(name_node, READ),
                None => self.visit_type(name_node, usage),
            };
        }
        if let Some(args) = args.and_then(|selector| selector.first(node)) {
            self.visit(args, READ);
        }
        self.pending = pending;
        let text = name_node.map_or("", |name| self.text_of(name));
        let text = text.split(['(', '<']).next().unwrap_or(text).trim();
        self.pending.decorators.push((text.into(), node));
        ExprId::NONE
    }

    /// Calls inside the tokens of a macro, as far as a name before parentheses shows them.
    pub(super) fn macro_call(&mut self, node: Node<'t>, name: &'static Selector, tokens: &'static Selector) -> ExprId {
        if let Some(name_node) = name.first(node) {
            let name_id = match self.language.rule(name_node.kind_id()) {
                Some(Rule::Member { name, .. }) => name.first(name_node).unwrap_or(name_node),
                _ => name_node,
            };
            let name = self.name_of(name_id);
            let value = self.build.expr(Expr::Name(name, self.scope));
            self.in_macro_name(name_id, name, value);
        }
        if let Some(tokens) = tokens.first(node) {
            let outer = std::mem::replace(&mut self.in_macro, true);
            self.tokens(tokens);
            self.in_macro = outer;
        }
        ExprId::NONE
    }

    fn in_macro_name(&mut self, node: Node<'t>, name: NameId, value: ExprId) {
        let text = format!("{}!", self.build.text(name));
        let marked = self.build.name(&text);
        let target = self.build.of(value, |_| Expr::Name(marked, self.scope));
        self.site(Usage::Site(SiteKind::Call), node, name, target);
        self.take_call_site();
    }

    /// Reads a flat run of tokens as postfix expressions: names, members, calls and indexes; other tokens separate them.
    fn tokens(&mut self, node: Node<'t>) -> Vec<ExprId> {
        let pending = std::mem::take(&mut self.pending);
        let children = self.children(node);
        let mut values = Vec::new();
        let mut value = ExprId::NONE;
        let mut last_member: Option<(Node<'t>, NameId)> = None;
        let mut joiner = "";
        for (position, child) in children.iter().enumerate() {
            let next = children.get(position + 1);
            let calls = next.is_some_and(|next| next.kind() == child_list_kind(node) && self.text_of(*next).starts_with('('));
            match self.language.rule(child.kind_id()) {
                _ if !child.is_named() && matches!(child.kind(), "." | "::" | "->") => joiner = child.kind(),
                Some(Rule::Name {}) => {
                    let name = self.name_of(*child);
                    value = match value.is_some() && !joiner.is_empty() {
                        true => self.build.expr(Expr::Member(value, name)),
                        false => self.name_expression_silent(*child),
                    };
                    let usage = if calls { Usage::Site(SiteKind::Call) } else { READ };
                    if value.is_some() {
                        self.site(usage, *child, name, value);
                    }
                    self.take_call_site_if(!calls);
                    last_member = calls.then_some((*child, name));
                    joiner = "";
                }
                Some(Rule::SelfValue {} | Rule::Literal { .. } | Rule::Text { .. }) => {
                    value = self.visit(*child, READ);
                    joiner = "";
                }
                _ if child.kind() == child_list_kind(node) => {
                    let site = if last_member.is_some() { self.take_call_site().get() } else { None };
                    let inner = self.tokens(*child);
                    let is_call = last_member.take().is_some();
                    let list = self.build.list(&inner);
                    if let Some(site) = site {
                        self.build.facts.sites[site].args = list;
                        self.build.facts.sites[site].spread = true;
                    }
                    value = if is_call { self.build.of(value, |callee| Expr::Call(callee, list)) } else { ExprId::NONE };
                    joiner = "";
                }
                _ => {
                    if child.kind() == "," {
                        values.push(self.known(value));
                    }
                    if !matches!(child.kind(), "?") {
                        value = ExprId::NONE;
                    }
                    joiner = "";
                    last_member = None;
                    if child.is_named() {
                        self.tokens(*child);
                    }
                }
            }
        }
        if value.is_some() {
            values.push(value);
        }
        self.pending = pending;
        values
    }

    fn take_call_site_if(&mut self, take: bool) {
        if take {
            self.take_call_site();
        }
    }

    fn name_expression_silent(&mut self, node: Node<'t>) -> ExprId {
        let text = self.text_of(node);
        if self.language.manifest.names.self_type.iter().any(|word| word == text) {
            return self.build.expr(Expr::SelfType(self.scope));
        }
        let name = self.build.name(text);
        self.build.expr(Expr::Name(name, self.scope))
    }
}

/// Lists of tokens nest in nodes of their own kind.
fn child_list_kind(node: Node<'_>) -> &str {
    node.kind()
}
