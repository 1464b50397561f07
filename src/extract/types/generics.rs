//! Type parameters and their bounds, in the header or behind it; positional fields.

use crate::extract::walk::Definition;
use crate::extract::walk::{Usage, Walker, offset};
use crate::grammar::{Rule, Selector};
use crate::model::facts::{BindingKind, ExprId, LocalSymbol, NameId, Run};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Binds the type parameters of a definition in the current scope, with the bounds behind its
    /// header.
    pub(in crate::extract) fn generics(
        &mut self,
        symbol: LocalSymbol,
        node: Node<'t>,
        params: Option<&'static Selector>,
    ) {
        let around = self.waiting_type_params.take();
        if let Some(params) = params.and_then(|selector| selector.first(node)).or(around) {
            self.type_params(symbol, params);
        }
        if !self.language.has_bounds() {
            return;
        }
        for child in self.named_children(node) {
            if matches!(self.rule_at(child), Some(Rule::Bounds {})) {
                for bound in self.named_children(child) {
                    self.bound(bound);
                }
            }
        }
    }

    pub(in crate::extract) fn type_params(&mut self, symbol: LocalSymbol, params: Node<'t>) {
        let start = self.build.facts.bindings.len();
        let nodes = match self.rule_at(params) {
            Some(Rule::TypeParam { .. }) => smallvec::smallvec![params],
            _ => self.named_children(params),
        };
        for param in nodes {
            let Some(Rule::TypeParam { name, bound }) = self.rule_at(param) else { continue };
            let bound = match bound.as_ref().and_then(|selector| selector.first(param)) {
                Some(bound) => self.visit_type(bound, Usage::Site(SiteKind::Type)),
                None => ExprId::NONE,
            };
            for name_node in self.every(Some(name), param) {
                let name = self.name_of(name_node);
                self.bind(self.scope, name, BindingKind::TypeParam, 0, bound, ExprId::NONE);
            }
        }
        let run =
            Run { start: offset(start), len: offset(self.build.facts.bindings.len() - start) };
        if symbol.is_some() {
            self.build.symbol_mut(symbol).type_params = run;
        }
    }

    /// Adds a bound to its type parameter; one of an outer scope gets it for this scope only.
    fn bound(&mut self, node: Node<'t>) {
        let Some(Rule::Bound { name, bound }) = self.rule_at(node) else { return };
        let (Some(name_node), Some(bound_node)) = (name.first(node), bound.first(node)) else {
            return;
        };
        self.visit_type(name_node, Usage::Site(SiteKind::Type));
        let bound = self.visit_type(bound_node, Usage::Site(SiteKind::Type));
        if !bound.is_some() || name_node.named_child_count() > 0 {
            return;
        }
        let name = self.name_of(name_node);
        let known = |walker: &Self| {
            let known = walker.build.visible_anywhere(walker.scope, name)?;
            (known.kind == BindingKind::TypeParam).then_some((known.scope, known.ty))
        };
        let Some((scope, before)) = known(self) else { return };
        let ty = self.build.union(&[before, bound]);
        if scope == self.scope {
            self.build.set_bound_type(scope, name, ty);
        } else {
            self.bind(self.scope, name, BindingKind::TypeParam, 0, ty, ExprId::NONE);
        }
    }

    /// Defines positional fields: their names are `0`, `1`, ….
    pub(in crate::extract) fn positions(
        &mut self,
        node: Node<'t>,
        ty: &'static Selector,
    ) -> ExprId {
        let types = self.every(Some(ty), node);
        let mut position = 0;
        for child in self.named_children(node) {
            if !types.iter().any(|ty| ty.id() == child.id()) {
                if matches!(self.rule_at(child), Some(Rule::Decorator { .. })) {
                    self.visit(child, crate::extract::walk::READ);
                } else if self.language.is_modifier_node(child.kind_id()) {
                    self.around.section = self.marked_visibility(child);
                }
                continue;
            }
            let name: NameId = self.build.name(&position.to_string());
            let definition = Definition {
                name,
                name_node: child,
                node: child,
                kind: SymbolKind::Field,
                header_end: child.end_byte(),
                has_body: true,
            };
            let symbol = self.define(&definition);
            self.around.section = None;
            let ty = self.visit_type(child, Usage::Site(SiteKind::Type));
            self.build.symbol_mut(symbol).ty = ty;
            position += 1;
        }
        ExprId::NONE
    }
}
