//! Constructions with member initializers, and the arguments of calls.

use crate::extract::walk::{READ, Usage, Walker};
use crate::grammar::{Pattern, Rule, Selector};
use crate::model::SiteKind;
use crate::model::facts::{BindingKind, Expr, ExprId, LocalSymbol, Run, ScopeKind};
use smallvec::SmallVec;
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Visits arguments: returns their values, whether some are spread, and their number.
    pub(in crate::extract) fn arguments(&mut self, node: Option<Node<'t>>) -> (Run, bool, usize) {
        let Some(node) = node else { return (Run::default(), false, 0) };
        if self.rule_at(node).is_some_and(|rule| !matches!(rule, Rule::Pass { .. })) {
            let value = self.visit(node, READ);
            let value = self.known(value);
            return (self.build.list(&[value]), false, 1);
        }
        let mut values = SmallVec::<[ExprId; 8]>::new();
        let mut spread = false;
        for child in self.named_children(node) {
            let several = matches!(self.rule_at(child), Some(Rule::Spread {}));
            spread |= several;
            let value = self.visit(child, READ);
            values.push(self.known(if several { ExprId::NONE } else { value }));
        }
        let count = values.len();
        (self.build.list(&values), spread, count)
    }

    pub(super) fn construct(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Construct { ty, args, body, fields, type_args } = rule else {
            return ExprId::NONE;
        };
        self.take_call_site();
        if ty.is_none() && args.is_none() && fields.is_none() {
            return self.construct_untyped(node);
        }
        let ty_node = ty.as_ref().and_then(|selector| selector.first(node));
        let mut built = ty_node
            .map_or(ExprId::NONE, |ty| self.visit_type(ty, Usage::Site(SiteKind::Construct)));
        if !self.call_site.is_some() {
            self.computed_call(ty_node.unwrap_or(node), SiteKind::Construct);
        }
        let site = self.take_call_site();
        let mut type_list = Vec::new();
        for args in self.every(type_args.as_ref(), node) {
            for arg in self.visit_types(args, Usage::Site(SiteKind::Type)) {
                type_list.push(self.known(arg));
            }
        }
        built = self.applied(built, &type_list);
        let args_node = args.as_ref().and_then(|selector| selector.first(node));
        let (list, spread, _) = self.arguments(args_node);
        if let Some(index) = site.get() {
            let entry = &mut self.build.sites[index];
            entry.args = list;
            entry.spread = spread;
        }
        let value = self.build.of(built, |ty| Expr::Construct(ty, list));
        if let Some(fields) = fields.as_ref().and_then(|selector| selector.first(node)) {
            self.constructed_fields(fields, built);
            return value;
        }
        if let Some(body) = body.as_ref().and_then(|selector| selector.first(node)) {
            let scope = self.open(ScopeKind::Type, LocalSymbol::NONE, body);
            if let Some(index) = self.scope.get() {
                self.build.facts.scopes[index].owner = built;
            }
            self.set_member_context(value);
            let inner = self.scope;
            let outer = std::mem::replace(&mut self.callable.self_scope, inner);
            self.visit_children(body);
            self.callable.self_scope = outer;
            self.close(scope);
        }
        value
    }

    /// Construction without a type: its type is the expected one (of the declaration, the member or
    /// the item).
    fn construct_untyped(&mut self, node: Node<'t>) -> ExprId {
        let (value, outer) = (self.around.item, self.around);
        for child in self.named_children(node) {
            self.set_expected(child, value);
            self.visit(child, READ);
        }
        self.around = outer;
        value
    }

    /// Sets the expected type for a part of a constructed value. Other nodes reset it: a
    /// construction in the arguments of a call is no part.
    fn set_expected(&mut self, part: Node<'t>, whole: ExprId) {
        match self.rule_at(part) {
            Some(
                Rule::Construct { ty: None, .. } | Rule::Initializer { .. } | Rule::Pass { .. },
            ) => self.set_member_context(whole),
            _ => (self.around.constructed, self.around.item) = (ExprId::NONE, ExprId::NONE),
        }
    }

    /// Visits a value with the expected value `wanted` for a construction without a type.
    pub(in crate::extract) fn visit_as(&mut self, value: Node<'t>, wanted: ExprId) -> ExprId {
        let outer = self.around;
        let is_untyped = matches!(
            self.rule_at(value),
            Some(Rule::Construct { ty: None, .. } | Rule::Pass { .. })
        );
        self.around.constructed = ExprId::NONE;
        self.around.item = if is_untyped { wanted } else { ExprId::NONE };
        let given = self.visit(value, READ);
        self.around = outer;
        given
    }

    /// Sets the expected owner of keys and the expected value of untyped constructions in the body
    /// of a constructed value.
    fn set_member_context(&mut self, value: ExprId) {
        let (Expr::Construct(ty, _) | Expr::OfType(ty)) = self.build.get(value) else {
            self.around.constructed = value;
            self.around.item = self.build.of(value, Expr::Element);
            return;
        };
        match self.build.get(ty) {
            Expr::Array(item) | Expr::Mapping(_, item) => {
                let item = match self.build.get(item) {
                    Expr::Wrap(inner, _) => inner,
                    _ => item,
                };
                self.around.constructed = ExprId::NONE;
                self.around.item = self.build.expr(Expr::OfType(item));
            }
            _ => {
                self.around.constructed = value;
                self.around.item = self.build.expr(Expr::Element(value));
            }
        }
    }

    pub(super) fn initializer(
        &mut self,
        node: Node<'t>,
        name: &'static Selector,
        value: Option<&'static Selector>,
    ) -> ExprId {
        let Some(name_node) = name.first(node) else { return self.visit_children(node) };
        let value_node = value.and_then(|selector| selector.first(node));
        let is_designator =
            matches!(self.language.pattern(name_node.kind_id()), Some(Pattern::Name { .. }));
        let is_name = is_designator || matches!(self.rule_at(name_node), Some(Rule::Name {}));
        if self.around.constructed.is_some() || self.around.item.is_some() {
            let mut wanted = self.around.item;
            if is_name && self.around.constructed.is_some() {
                let name = self.name_of(name_node);
                wanted = self.build.expr(Expr::Member(self.around.constructed, name));
                self.site(Usage::Site(SiteKind::Write), name_node, name, wanted);
            } else {
                self.visit(name_node, READ);
            }
            return value_node.map_or(ExprId::NONE, |value| self.visit_as(value, wanted));
        }
        if let Some((rule, lambda)) = value_node.and_then(|value| self.lambda_in(value)) {
            let name = self.name_of(name_node);
            self.function_value(name, name_node, node, rule, lambda);
            return ExprId::NONE;
        }
        let given = value_node.map_or(ExprId::NONE, |value| self.visit(value, READ));
        if is_designator {
            // The owner of the member is unknown.
            let name = self.name_of(name_node);
            self.site(Usage::Site(SiteKind::Write), name_node, name, ExprId::NONE);
        } else if is_name && self.build.scope_kind(self.scope) == ScopeKind::Type {
            let name = self.name_of(name_node);
            self.bind(self.scope, name, BindingKind::Field, node.start_byte(), ExprId::NONE, given);
        }
        ExprId::NONE
    }
}
