//! Pattern declarations that may shadow earlier names; members of a constructed value.

use crate::extract::bindings::variables::{Bind, Flow};
use crate::extract::walk::{READ, Usage, Walker};
use crate::grammar::Rule;
use crate::model::facts::{Expr, ExprId};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Binds the names of a pattern. A name that shadows one of the same function, or that its own
    /// value uses, starts a scope for the rest of the block.
    pub(in crate::extract) fn let_binding(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
    ) -> ExprId {
        let Rule::Let { pattern, ty, value, otherwise } = rule else { return ExprId::NONE };
        let value_node = value.as_ref().and_then(|selector| selector.first(node));
        let pattern_node = pattern.first(node);
        let ty = match ty.as_ref().and_then(|selector| selector.first(node)) {
            Some(ty) => self.visit_type(ty, Usage::Site(SiteKind::Type)),
            None => ExprId::NONE,
        };
        if let (Some(pattern_node), Some(value_node)) = (pattern_node, value_node)
            && let Some((lambda, lambda_node)) = self.lambda_in(value_node)
            && matches!(self.rule_at(pattern_node), Some(Rule::Name {}))
        {
            self.shadow(pattern_node, node, usize::MAX);
            let sites = self.build.sites.len();
            let name = self.name_of(pattern_node);
            let symbol = self.function_value(name, pattern_node, node, lambda, lambda_node);
            // References in a local closure belong to the enclosing function.
            for site in &mut self.build.sites[sites..] {
                if site.enclosing == symbol {
                    site.enclosing = self.enclosing;
                }
            }
            return ExprId::NONE;
        }
        let first = self.build.facts.exprs.len();
        let given = value_node.map_or(ExprId::NONE, |value| self.visit(value, READ));
        self.visit_selected(node, otherwise.as_ref(), READ);
        if let Some(pattern) = pattern_node {
            self.shadow(pattern, node, first);
            self.bind_pattern(
                pattern,
                Flow { ty, value: given, node },
                Bind::Declare(SymbolKind::Variable),
            );
        }
        ExprId::NONE
    }

    /// Opens a scope if a name in the pattern is already visible or used by an expression from
    /// `first` on.
    fn shadow(&mut self, pattern: Node<'t>, node: Node<'t>, first: usize) {
        let mut nodes = vec![pattern];
        while let Some(part) = nodes.pop() {
            let known = self.build.known_name(self.text_of(part));
            let hides = known.is_some_and(|name| {
                self.build.visible(self.scope, name).is_some()
                    || (first != usize::MAX && self.build.names_since(first, name))
            });
            if part.named_child_count() == 0 && hides {
                self.open_rest(node);
                return;
            }
            nodes.extend(self.named_children(part));
        }
    }

    /// Visits the members of a constructed value with their values.
    pub(in crate::extract) fn constructed_fields(&mut self, list: Node<'t>, ty: ExprId) {
        for child in self.named_children(list) {
            let Some(Rule::Initializer { name, value }) = self.rule_at(child) else {
                self.visit(child, READ);
                continue;
            };
            let name_node = name.first(child);
            if let Some(value) =
                value.as_ref().and_then(|selector| selector.first(child)).or(name_node)
            {
                self.visit(value, READ);
            }
            if let Some(name_node) = name_node
                && ty.is_some()
            {
                let name = self.name_of(name_node);
                let object = self.build.expr(Expr::OfType(ty));
                let target = self.build.expr(Expr::Member(object, name));
                self.site(Usage::Site(SiteKind::Write), name_node, name, target);
            }
        }
    }
}
