//! Destructuring patterns in declarations, parameters, loops and cases, and the names they bind.

use crate::extract::bindings::variables::{Bind, Flow};
use crate::extract::walk::children::Children;
use crate::extract::walk::{READ, Walker};
use crate::grammar::{Pattern, Rule, Selector, Yielded};
use crate::model::SymbolKind;
use crate::model::facts::{Expr, ExprId, LocalSymbol, NameId};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Binds the names in a pattern. Returns the symbol if the pattern is a single name that became
    /// one.
    pub(in crate::extract) fn bind_pattern(
        &mut self,
        node: Node<'t>,
        flow: Flow<'t>,
        how: Bind,
    ) -> LocalSymbol {
        self.nested(node, LocalSymbol::NONE, |walker| walker.bind_nested(node, flow, how))
    }

    fn bind_nested(&mut self, node: Node<'t>, flow: Flow<'t>, how: Bind) -> LocalSymbol {
        if let Some(pattern) = self.language.pattern(node.kind_id()) {
            return self.apply_pattern(pattern, node, flow, how);
        }
        match self.rule_at(node) {
            Some(Rule::Name {}) => return self.bind_name(node, flow, how),
            Some(Rule::Member { object: Some(object), name, .. }) => {
                self.bind_member(node, object, name, flow)
            }
            Some(Rule::Tuple {}) => {
                for (position, child) in self.named_children(node).into_iter().enumerate() {
                    let value = self.build.item(flow.value, position);
                    self.bind_pattern(
                        child,
                        Flow { ty: ExprId::NONE, value, node: flow.node },
                        how,
                    );
                }
            }
            _ => {
                self.visit(node, READ);
            }
        }
        LocalSymbol::NONE
    }

    fn apply_pattern(
        &mut self,
        pattern: &'static Pattern,
        node: Node<'t>,
        flow: Flow<'t>,
        how: Bind,
    ) -> LocalSymbol {
        match pattern {
            Pattern::Skip {} => {}
            Pattern::Name { capitals: true }
                if self.text_of(node).starts_with(char::is_uppercase) =>
            {
                self.visit(node, READ);
            }
            Pattern::Name { .. } => return self.bind_name(node, flow, how),
            Pattern::Items {} => {
                let value = self.build.of(flow.value, Expr::Element);
                for child in self.named_children(node) {
                    self.bind_pattern(
                        child,
                        Flow { ty: ExprId::NONE, value, node: flow.node },
                        how,
                    );
                }
            }
            Pattern::Pass { of } => {
                let child = match of {
                    Some(selector) => selector.first(node),
                    None => self.last_named_child(node),
                };
                if let Some(child) = child {
                    return self.bind_pattern(child, flow, how);
                }
            }
            Pattern::Element { of, key } => {
                self.visit_selected(node, key.as_ref(), READ);
                if let Some(child) = of.first(node) {
                    self.bind_pattern(
                        child,
                        Flow { ty: ExprId::NONE, value: ExprId::NONE, node: flow.node },
                        how,
                    );
                }
            }
            Pattern::Tuple { single } => {
                let children = self.pattern_parts(node);
                let alone = *single && children.len() == 1;
                for (position, child) in children.into_iter().enumerate() {
                    if alone {
                        return self.bind_pattern(child, flow, how);
                    }
                    let value = self.build.item(flow.value, position);
                    let ty = self.build.of(flow.ty, |ty| {
                        Expr::Item(ty, u32::try_from(position).unwrap_or(u32::MAX))
                    });
                    self.bind_pattern(child, Flow { ty, value, node: flow.node }, how);
                }
            }
            Pattern::Targets {} => {
                let children = self.named_children(node);
                if let [only] = children[..] {
                    return self.bind_pattern(only, flow, how);
                }
                let several = matches!(self.build.get(flow.value), Expr::Tuple(_) | Expr::Call(..));
                for (position, child) in children.into_iter().enumerate() {
                    // Any other value belongs to the first target: further ones receive parts
                    // without an expression, such as a flag for its presence.
                    let value = match (several, position) {
                        (true, _) => self.build.item(flow.value, position),
                        (false, 0) => flow.value,
                        (false, _) => ExprId::NONE,
                    };
                    self.bind_pattern(
                        child,
                        Flow { ty: ExprId::NONE, value, node: flow.node },
                        how,
                    );
                }
            }
            Pattern::Rest { of, .. } => {
                let child = match of {
                    Some(selector) => selector.first(node),
                    None => self.pattern_parts(node).first().copied(),
                };
                if let Some(child) = child {
                    let ty = if matches!(how, Bind::Param) { flow.ty } else { ExprId::NONE };
                    self.bind_pattern(
                        child,
                        Flow { ty, value: ExprId::NONE, node: flow.node },
                        how,
                    );
                }
            }
            Pattern::Default { of, value } => {
                let default = self.visit_selected(node, Some(value), READ);
                if let Some(child) = of.first(node) {
                    let value = self.build.union(&[flow.value, default]);
                    self.bind_pattern(child, Flow { value, ..flow }, how);
                }
            }
            Pattern::Fields { ty } => self.bind_fields(node, ty.as_ref(), flow, how),
            Pattern::Field { .. } | Pattern::Shorthand {} => {
                self.bind_field(pattern, node, flow, how, ExprId::NONE)
            }
            Pattern::Variant { ty } => {
                let variant = match ty.first(node) {
                    Some(ty) => self.visit(ty, READ),
                    None => ExprId::NONE,
                };
                let parts = self.pattern_parts(node);
                let mut counted = true;
                for (position, child) in parts.into_iter().skip(1).enumerate() {
                    counted &= !matches!(
                        self.language.pattern(child.kind_id()),
                        Some(Pattern::Rest { .. })
                    );
                    let position = u32::try_from(position).unwrap_or(u32::MAX);
                    let value = if counted {
                        self.variant_part(variant, flow.value, position)
                    } else {
                        ExprId::NONE
                    };
                    self.bind_pattern(
                        child,
                        Flow { ty: ExprId::NONE, value, node: flow.node },
                        how,
                    );
                }
            }
            Pattern::Both { name, of } => {
                if let Some(inner) = of.as_ref().and_then(|selector| selector.first(node)) {
                    self.bind_pattern(inner, flow, how);
                }
                if let Some(name) = name.first(node) {
                    return self.bind_pattern(name, flow, how);
                }
            }
            Pattern::Compare {} => {
                self.visit(node, READ);
            }
            Pattern::Either {} => {
                for child in self.named_children(node) {
                    self.bind_pattern(child, flow, how);
                }
            }
        }
        LocalSymbol::NONE
    }

    /// Returns the parts of a pattern, including placeholders without a binding, which have a
    /// position.
    fn pattern_parts(&mut self, node: Node<'t>) -> Children<'t> {
        let ignored = &self.language.manifest.names.ignored;
        let mut parts = self.children(node);
        parts.retain(|part| match part.is_named() {
            true => !part.is_extra(),
            false => ignored.iter().any(|word| word == part.kind()),
        });
        parts
    }

    /// Returns a part of a variant: of the declared one, or of the matched value's member with the
    /// variant's name.
    fn variant_part(&mut self, variant: ExprId, value: ExprId, position: u32) -> ExprId {
        let name = match self.build.get(variant) {
            Expr::Name(name, _) | Expr::Member(_, name) => name,
            _ => NameId::NONE,
        };
        let of_variant = self.build.of(variant, |variant| Expr::Item(variant, position));
        if !value.is_some() || !name.is_some() {
            return of_variant;
        }
        let held = self.build.expr(Expr::Member(value, name));
        let of_value = self.build.expr(Expr::Item(held, position));
        self.build.union(&[of_variant, of_value])
    }

    fn bind_fields(
        &mut self,
        node: Node<'t>,
        ty: Option<&'static Selector>,
        flow: Flow<'t>,
        how: Bind,
    ) {
        let ty_node = ty.and_then(|selector| selector.first(node));
        let value = match ty_node {
            Some(ty) => {
                let ty = self.visit_type(ty, READ);
                self.build.of(ty, Expr::OfType)
            }
            None if flow.ty.is_some() => self.build.expr(Expr::OfType(flow.ty)),
            None => flow.value,
        };
        for child in self.named_children(node) {
            if ty_node.is_some_and(|ty| ty.id() == child.id()) {
                continue;
            }
            let flow = Flow { ty: ExprId::NONE, value, node: flow.node };
            match self.language.pattern(child.kind_id()) {
                Some(pattern @ (Pattern::Field { .. } | Pattern::Shorthand {})) => {
                    self.bind_field(pattern, child, flow, how, ExprId::NONE);
                }
                Some(Pattern::Default { of, value }) => {
                    let default = self.visit_selected(child, Some(value), READ);
                    let Some(of) = of.first(child) else { continue };
                    match self.language.pattern(of.kind_id()) {
                        Some(pattern @ (Pattern::Field { .. } | Pattern::Shorthand {})) => {
                            self.bind_field(pattern, of, flow, how, default);
                        }
                        _ => drop(self.bind_pattern(of, flow, how)),
                    }
                }
                // A part without a field name is no known member.
                _ if !self.is_field(child) => {
                    self.bind_pattern(child, Flow { value: ExprId::NONE, ..flow }, how);
                }
                _ => {
                    self.bind_pattern(child, flow, how);
                }
            }
        }
    }

    /// True if a pattern is a field, possibly inside transparent nodes.
    fn is_field(&mut self, node: Node<'t>) -> bool {
        let mut next = Some(node);
        while let Some(node) = next {
            match self.language.pattern(node.kind_id()) {
                Some(Pattern::Field { .. } | Pattern::Shorthand {}) => return true,
                Some(Pattern::Pass { .. }) => next = self.last_named_child(node),
                _ => return false,
            }
        }
        false
    }

    fn bind_field(
        &mut self,
        pattern: &'static Pattern,
        node: Node<'t>,
        flow: Flow<'t>,
        how: Bind,
        default: ExprId,
    ) {
        let (key, target) = match pattern {
            Pattern::Field { key, value } => {
                let key = key.first(node);
                (key, value.as_ref().and_then(|selector| selector.first(node)).or(key))
            }
            _ => (Some(node), Some(node)),
        };
        let (Some(key), Some(target)) = (key, target) else { return };
        let name = self.name_of(key);
        let member = self.build.of(flow.value, |value| Expr::Member(value, name));
        if member.is_some() {
            self.site(READ, key, name, member);
        }
        let flow = Flow { value: self.build.union(&[member, default]), ..flow };
        if target.id() == key.id() {
            self.bind_name(target, flow, how);
        } else {
            self.bind_pattern(target, flow, how);
        }
    }

    /// Binds the variables of a loop.
    pub(super) fn bind_loop(
        &mut self,
        pattern: Node<'t>,
        iterable: ExprId,
        yielded: Yielded,
        node: Node<'t>,
        ty: ExprId,
    ) {
        let element = self.build.of(iterable, Expr::Element);
        let key = self.build.of(iterable, Expr::Key);
        let how = self.loop_binding(node);
        // The items are bound from the pattern on, not behind the loop.
        let flow = |value| Flow { ty, value, node: pattern };
        match yielded {
            Yielded::Items => {
                self.bind_pattern(pattern, flow(element), how);
            }
            Yielded::Keys => {
                self.bind_pattern(pattern, flow(key), how);
            }
            Yielded::KeyAndItem => {
                let parts = if self.rule_at(pattern) == Some(&Rule::Name {}) {
                    smallvec::smallvec![pattern]
                } else {
                    self.named_children(pattern)
                };
                for (part, value) in parts.into_iter().zip([key, element]) {
                    self.bind_pattern(part, flow(value), how);
                }
            }
        }
    }

    fn loop_binding(&self, _node: Node<'t>) -> Bind {
        if self.language.manifest.resolution.function_scoped {
            Bind::AssignNew
        } else {
            Bind::Declare(SymbolKind::Variable)
        }
    }
}
