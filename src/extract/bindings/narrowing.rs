//! Branches and type narrowing: conditions narrow the types of names in the branch, in the other
//! branch, and behind it.

use crate::extract::bindings::variables::{Bind, Flow};
use crate::extract::walk::{READ, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::facts::{BindingKind, ExprId, LocalSymbol, ScopeKind};
use crate::model::{SiteKind, SymbolKind};
use smallvec::{SmallVec, smallvec};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(in crate::extract) fn branch(
        &mut self,
        node: Node<'t>,
        condition: &'static Selector,
        then: &'static Selector,
        otherwise: Option<&'static Selector>,
    ) -> ExprId {
        // Names bound by the condition are visible in the branch; with function scope only
        // narrowings are limited to it.
        let kind = if self.language.manifest.resolution.function_scoped {
            ScopeKind::Flow
        } else {
            ScopeKind::Block
        };
        let condition_node = condition.first(node);
        // Initializers before the condition are visible in both branches.
        let initial = self.before(node, condition_node, &[]);
        let outer =
            (!initial.is_empty()).then(|| self.open(ScopeKind::Block, LocalSymbol::NONE, node));
        for child in &initial {
            self.visit(*child, READ);
        }
        let scope = self.open(kind, LocalSymbol::NONE, node);
        if let Some(condition) = condition_node {
            self.visit(condition, READ);
            self.narrow(condition, true);
        }
        let then_node = then.first(node);
        let mut values: SmallVec<[ExprId; 8]> =
            smallvec![then_node.map_or(ExprId::NONE, |then| self.visit(then, READ))];
        self.close(scope);
        let others = match otherwise {
            Some(selector) => self.every(Some(selector), node),
            None => self
                .named_children(node)
                .into_iter()
                .filter(|child| {
                    ![condition_node, then_node]
                        .iter()
                        .flatten()
                        .chain(&initial)
                        .any(|done| done.id() == child.id())
                })
                .collect(),
        };
        for other in &others {
            let value = match condition_node {
                Some(condition) => self.visit_unless(condition, *other),
                None => self.visit(*other, READ),
            };
            values.push(value);
        }
        if let (Some(condition), Some(then)) = (condition_node, then_node)
            && others.is_empty()
            && self.never_completes(then)
        {
            self.narrow(condition, false);
        }
        if let Some(outer) = outer {
            self.close(outer);
        }
        self.build.union(&values)
    }

    /// True if control never reaches the end of a branch.
    fn never_completes(&mut self, node: Node<'t>) -> bool {
        let mut next = Some(node);
        while let Some(node) = next {
            match self.rule_at(node) {
                Some(Rule::Jump { .. }) => return true,
                Some(Rule::Block {} | Rule::Flow {} | Rule::Pass { .. }) => {
                    next = self.last_named_child(node)
                }
                _ => return false,
            }
        }
        false
    }

    pub(in crate::extract) fn choice(
        &mut self,
        node: Node<'t>,
        of: &'static [Selector],
        condition: Option<&'static Selector>,
    ) -> ExprId {
        let condition = condition.and_then(|selector| selector.first(node));
        let chosen: Vec<Node<'t>> = of.iter().filter_map(|selector| selector.first(node)).collect();
        let mut parts = Vec::new();
        for child in self.named_children(node) {
            let value = match condition.filter(|condition| condition.id() != child.id()) {
                Some(condition) if chosen.first().is_some_and(|first| first.id() == child.id()) => {
                    self.visit_where(Some(condition), child)
                }
                Some(condition) => self.visit_unless(condition, child),
                None => self.visit(child, READ),
            };
            if chosen.iter().any(|chosen| chosen.id() == child.id()) {
                parts.push(value);
            }
        }
        self.build.union(&parts)
    }

    /// Visits a node that is evaluated only if a condition holds.
    pub(in crate::extract) fn visit_where(
        &mut self,
        condition: Option<Node<'t>>,
        node: Node<'t>,
    ) -> ExprId {
        let Some(condition) = condition else { return self.visit(node, READ) };
        let scope = self.open_flow(node);
        self.narrow(condition, true);
        let value = self.visit(node, READ);
        self.close(scope);
        value
    }

    fn visit_unless(&mut self, condition: Node<'t>, node: Node<'t>) -> ExprId {
        let scope = self.open_flow(node);
        self.narrow(condition, false);
        let value = self.visit(node, READ);
        self.close(scope);
        value
    }

    /// Opens a scope for narrowings only: definitions in it belong to the enclosing scope.
    fn open_flow(
        &mut self,
        node: Node<'t>,
    ) -> (crate::model::facts::ScopeId, crate::extract::walk::Surroundings) {
        let around = self.around;
        let before = self.open(ScopeKind::Flow, LocalSymbol::NONE, node);
        self.around = around;
        before
    }

    pub(in crate::extract) fn type_test(
        &mut self,
        node: Node<'t>,
        value: &'static Selector,
        ty: Option<&'static Selector>,
        name: Option<&'static Selector>,
    ) -> ExprId {
        let value_node = value.first(node);
        let tested = value_node.map_or(ExprId::NONE, |value| self.visit(value, READ));
        let ty_node = ty.and_then(|selector| selector.first(node));
        let ty =
            ty_node.map_or(ExprId::NONE, |ty| self.visit_type(ty, Usage::Site(SiteKind::Type)));
        let name_node = name.and_then(|selector| selector.first(node));
        for child in self.named_children(node) {
            if ![value_node, ty_node, name_node]
                .iter()
                .flatten()
                .any(|done| done.id() == child.id())
            {
                self.visit(child, READ);
            }
        }
        if let Some(name) = name_node {
            self.bind_pattern(
                name,
                Flow { ty, value: tested, node },
                Bind::Declare(SymbolKind::Variable),
            );
        }
        ExprId::NONE
    }

    /// Narrows names from here on by a condition that is known to hold, or not to.
    pub(in crate::extract) fn narrow(&mut self, condition: Node<'t>, holds: bool) {
        self.nested(condition, (), |walker| walker.narrow_nested(condition, holds));
    }

    fn narrow_nested(&mut self, condition: Node<'t>, holds: bool) {
        let rules = &self.language.manifest.narrowing;
        match self.rule_at(condition) {
            Some(Rule::Call { callee: Some(callee), args: Some(args), .. }) if holds => {
                let (Some(callee), Some(args)) = (callee.first(condition), args.first(condition))
                else {
                    return;
                };
                if rules.guards
                    && let Some(call) = self.calls.get(&condition.id()).copied()
                    && let Some(value) = self.first_named_child(args)
                    && matches!(self.rule_at(value), Some(Rule::Name {}))
                {
                    let name = self.name_of(value);
                    self.bind(
                        self.scope,
                        name,
                        BindingKind::Narrow,
                        condition.end_byte(),
                        ExprId::NONE,
                        call,
                    );
                }
                let callee = self.text_of(callee);
                if rules.calls.iter().any(|call| call == callee)
                    && let [value, ty] = self.named_children(args)[..]
                {
                    self.narrow_to(condition, value, ty);
                }
            }
            Some(Rule::TypeTest { value, ty: Some(ty), name: None }) if holds => {
                if let (Some(value), Some(ty)) = (value.first(condition), ty.first(condition)) {
                    self.narrow_to(condition, value, ty);
                }
            }
            // The name bound by a type test is visible where the test holds.
            Some(Rule::TypeTest { ty: Some(ty), name: Some(name), .. }) if holds => {
                if let (Some(ty), Some(name)) = (ty.first(condition), name.first(condition)) {
                    let ty = self.visit_type(ty, Usage::Silent);
                    let flow = Flow { ty, value: ExprId::NONE, node: condition };
                    self.bind_pattern(name, flow, Bind::Declare(SymbolKind::Variable));
                }
            }
            Some(Rule::Operator { left, right, type_test, .. }) => {
                let word = self.first_token(condition).map_or("", |token| token.kind());
                let is = |words: &[String]| words.iter().any(|candidate| candidate == word);
                if holds
                    && is(type_test)
                    && let Some(value) =
                        left.as_ref().and_then(|selector| selector.first(condition))
                    && let Some(ty) = right.as_ref().and_then(|selector| selector.first(condition))
                {
                    self.narrow_to(condition, value, ty);
                } else if is(if holds { &rules.and } else { &rules.or }) {
                    for child in self.named_children(condition) {
                        self.narrow(child, holds);
                    }
                } else if is(&rules.not) {
                    for child in self.named_children(condition) {
                        self.narrow(child, !holds);
                    }
                }
            }
            Some(Rule::Pass { .. } | Rule::Tuple {}) => {
                if let Some(only) = self.only_named_child(condition) {
                    self.narrow(only, holds);
                }
            }
            _ => {}
        }
    }

    fn narrow_to(&mut self, condition: Node<'t>, value: Node<'t>, ty: Node<'t>) {
        if matches!(self.rule_at(value), Some(Rule::Name {})) {
            let name = self.name_of(value);
            let ty = self.visit_type(ty, Usage::Silent);
            self.bind(
                self.scope,
                name,
                BindingKind::Narrow,
                condition.end_byte(),
                ty,
                ExprId::NONE,
            );
        }
    }
}
