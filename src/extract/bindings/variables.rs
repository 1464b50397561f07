//! Variables: declarations and assignments, and the kinds of bindings they create.

use crate::extract::facts::text;
use crate::extract::walk::{Definition, Pending, READ, Surroundings, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::facts::{BindingKind, Expr, ExprId, LocalSymbol, NameId, ScopeKind, flags};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Kind of binding for the names in a pattern.
#[derive(Clone, Copy)]
pub(in crate::extract) enum Bind {
    /// New variables; symbols where the scope has members or is a file.
    Declare(SymbolKind),
    /// New or existing variables of the function.
    AssignNew,
    /// Existing variables.
    AssignKnown,
    /// Parameters.
    Param,
}

/// Value that is bound to a pattern.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Flow<'t> {
    pub(in crate::extract) ty: ExprId,
    pub(in crate::extract) value: ExprId,
    /// Definition as a whole, for signatures.
    pub(in crate::extract) node: Node<'t>,
}

impl<'t> Walker<'t> {
    /// True if modifiers before a definition make its value constant.
    pub(in crate::extract) fn is_constant(&self, words: &[&str]) -> bool {
        let constants = &self.language.manifest.modifiers.constant;
        constants.iter().any(|entry| entry.split(' ').all(|part| words.contains(&part)))
    }

    /// Returns the words among a node's own tokens and modifier nodes.
    pub(in crate::extract) fn words(&mut self, node: Node<'t>) -> Vec<&'t str> {
        let mut words = Vec::new();
        for child in self.children(node) {
            if !child.is_named() || self.language.is_modifier_node(child.kind_id()) {
                words.extend(self.text_of(child).split_whitespace());
            }
        }
        words
    }

    pub(in crate::extract) fn variable_kind(&self, kind: Option<SymbolKind>) -> SymbolKind {
        match kind {
            Some(kind) => kind,
            None if self.around.declared_constant => SymbolKind::Constant,
            None => SymbolKind::Variable,
        }
    }

    pub(in crate::extract) fn variable(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Variable { kind, name, ty, value, params, embeds, body } = rule else {
            return ExprId::NONE;
        };
        let pending = std::mem::take(&mut self.pending);
        self.pending.comment = pending.comment;
        self.pending.decorators = pending.decorators;
        self.visit_modifiers(node);
        let pending = std::mem::take(&mut self.pending);
        let names = self.every(Some(name), node);
        if names.is_empty() && *embeds {
            self.pending = pending;
            return self.embedded_field(node, ty.as_ref());
        }
        let mut kind = self.variable_kind(*kind);
        if kind == SymbolKind::Variable {
            let words = self.words(node);
            if self.is_constant(&words) {
                kind = SymbolKind::Constant;
            }
        }
        self.pending.comment = pending.comment;
        let declared = match ty.as_ref().and_then(|selector| selector.first(node)) {
            Some(ty) => self.visit_type(ty, Usage::Site(SiteKind::Type)),
            None if self.around.declared.is_some() => self.around.declared,
            None => self.documented_variable(node),
        };
        self.pending.comment = None;
        let mut values = self.every(value.as_ref(), node);
        if let ([name_node], [value_node]) = (&names[..], &mut values[..]) {
            *value_node = self.exported_value(*name_node, *value_node);
            if self.import_value(*name_node, *value_node) {
                return ExprId::NONE;
            }
            if !self.language.manifest.resolution.closures_are_values
                && self.language.pattern(name_node.kind_id()).is_none()
            {
                let name = self.name_of(*name_node);
                self.pending = pending.clone();
                self.held_as =
                    if self.lambda_in(*value_node).is_some() { declared } else { ExprId::NONE };
                if self.named_value(name, *name_node, node, *value_node)
                    || self.object_value(name, *name_node, node, *value_node, declared, kind)
                {
                    return ExprId::NONE;
                }
                self.pending = Pending::default();
            }
        }
        let given: Vec<ExprId> = values.iter().map(|value| self.visit(*value, READ)).collect();
        for (position, name_node) in names.iter().enumerate() {
            let value = match given[..] {
                [] => ExprId::NONE,
                [one] if names.len() > 1 => self.build.item(one, position),
                _ => given.get(position).copied().unwrap_or(ExprId::NONE),
            };
            self.pending = pending.clone();
            let flow = Flow { ty: declared, value, node };
            let symbol = match self.rule_at(*name_node) {
                Some(Rule::Text { .. }) => {
                    let name = self.name_of(*name_node);
                    self.declare_name(*name_node, name, flow, kind)
                }
                Some(Rule::Name {}) => self.bind_name(*name_node, flow, Bind::Declare(kind)),
                _ => self.bind_pattern(*name_node, flow, Bind::Declare(kind)),
            };
            if symbol.is_some() && matches!(self.build.get(value), Expr::Lambda(_)) {
                self.build.symbol_mut(symbol).flags |= flags::FUNCTION_VALUE;
            }
            self.variant_parts(symbol, node, params.as_ref(), body.as_ref());
        }
        ExprId::NONE
    }

    /// Defines positional or named parts of a variant.
    fn variant_parts(
        &mut self,
        symbol: LocalSymbol,
        node: Node<'t>,
        params: Option<&Selector>,
        body: Option<&Selector>,
    ) {
        if !symbol.is_some() {
            return;
        }
        if let Some(list) = params.and_then(|selector| selector.first(node)) {
            let mut parts = Vec::new();
            for part in self.named_children(list) {
                let is_mark = matches!(self.rule_at(part), Some(Rule::Decorator { .. }));
                if !is_mark && !self.language.is_modifier_node(part.kind_id()) {
                    let ty = self.visit_type(part, Usage::Site(SiteKind::Type));
                    parts.push(self.known(ty));
                }
            }
            let list = self.build.list(&parts);
            let tuple = self.build.expr(Expr::Tuple(list));
            self.build.symbol_mut(symbol).ty = tuple;
        }
        if let Some(body) = body.and_then(|selector| selector.first(node)) {
            let signature = text::signature(&self.text_at(node.start_byte()..body.start_byte()));
            self.build.symbol_mut(symbol).signature = signature;
            let scope = self.open(ScopeKind::Type, symbol, body);
            let inner = self.scope;
            self.build.symbol_mut(symbol).inner = inner;
            self.visit_children(body);
            self.close(scope);
        }
    }

    /// Returns the expression, or `Expr::Unknown` for none, so that positions in lists are kept.
    pub(in crate::extract) fn known(&mut self, value: ExprId) -> ExprId {
        if value.is_some() { value } else { self.build.expr(Expr::Unknown) }
    }

    pub(in crate::extract) fn variants(&mut self, node: Node<'t>) -> ExprId {
        for child in self.named_children(node) {
            if matches!(self.rule_at(child), Some(Rule::Name {})) {
                let flow = Flow { ty: ExprId::NONE, value: ExprId::NONE, node: child };
                self.bind_pattern(child, flow, Bind::Declare(SymbolKind::Variant));
            } else {
                self.visit(child, READ);
            }
        }
        ExprId::NONE
    }

    /// Returns the closure that a node is, possibly inside transparent nodes.
    pub(in crate::extract) fn lambda_in(
        &mut self,
        node: Node<'t>,
    ) -> Option<(&'static Rule, Node<'t>)> {
        match self.rule_at(node)? {
            rule @ Rule::Lambda { .. } => Some((rule, node)),
            Rule::Pass { of: None } | Rule::Tuple {} => {
                self.only_named_child(node).and_then(|only| self.lambda_in(only))
            }
            _ => None,
        }
    }

    pub(in crate::extract) fn assign(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Assign { left, right, ty, declares, reads } = rule else { return ExprId::NONE };
        let Some(left_node) = left.first(node) else { return self.visit_children(node) };
        let right_node = right.as_ref().and_then(|selector| selector.first(node));
        let ty = match ty.as_ref().and_then(|selector| selector.first(node)) {
            Some(ty) => self.visit_type(ty, Usage::Site(SiteKind::Type)),
            None => self.documented_variable(node),
        };
        self.note_export_list(left_node, right_node, *reads);
        if let (true, Some(right_node)) = (*declares, right_node)
            && !self.language.manifest.names.import_calls.is_empty()
            && let (Some(name), Some(value)) =
                (self.innermost(left_node), self.innermost(right_node))
            && self.import_value(name, value)
        {
            return ExprId::NONE;
        }
        let defines = !self.language.manifest.resolution.closures_are_values;
        if let Some(right_node) = right_node
            && let Some(exported) = self.export_assignment(left_node, right_node, node)
        {
            return exported;
        }
        if let Some(right_node) = right_node
            && defines
            && let Some((lambda, lambda_node)) = self.lambda_in(right_node)
            && let Some(Rule::Member { object: Some(object), name, .. }) = self.rule_at(left_node)
            && let (Some(object_node), Some(name_node)) =
                (object.first(left_node), name.first(left_node))
        {
            return self.member_function(object_node, name_node, node, lambda, lambda_node);
        }
        if let Some(right_node) = right_node
            && *declares
            && defines
            && matches!(self.rule_at(left_node), Some(Rule::Name {}))
            && let Some((lambda, lambda_node)) = self.lambda_in(right_node)
        {
            let name = self.name_of(left_node);
            self.function_value(name, left_node, node, lambda, lambda_node);
            return ExprId::NONE;
        }
        let pending = std::mem::take(&mut self.pending);
        let value = right_node.map_or(ExprId::NONE, |right| self.visit(right, READ));
        let before =
            if *reads && !self.in_target { self.visit(left_node, READ) } else { ExprId::NONE };
        self.pending = pending;
        let how = if *declares && !*reads { Bind::AssignNew } else { Bind::AssignKnown };
        let in_target = self.in_target;
        self.in_target |= *reads;
        self.bind_pattern(
            left_node,
            Flow { ty, value: if *reads { ExprId::NONE } else { value }, node },
            how,
        );
        self.in_target = in_target;
        if *reads && !value.is_some() { before } else { value }
    }

    /// Returns the only item of a list.
    fn innermost(&self, node: Node<'t>) -> Option<Node<'t>> {
        let is_list = matches!(self.rule_at(node), Some(Rule::Tuple {}))
            || matches!(
                self.language.pattern(node.kind_id()),
                Some(crate::grammar::Pattern::Targets {})
            );
        if is_list { self.lone_child(node) } else { Some(node) }
    }

    /// `object.name = closure`: a method of the object, or of the receiver's type.
    fn member_function(
        &mut self,
        object: Node<'t>,
        name_node: Node<'t>,
        node: Node<'t>,
        lambda: &'static Rule,
        lambda_node: Node<'t>,
    ) -> ExprId {
        let pending = std::mem::take(&mut self.pending);
        let mut owner = self.visit(object, READ);
        self.pending = pending;
        let mut shared = true;
        if let Expr::Member(ty, member) = self.build.get(owner)
            && self.language.manifest.names.values_member.as_deref()
                == Some(self.build.text(member))
        {
            (owner, shared) = (ty, false);
        }
        let (scope, around) = (self.scope, self.around);
        if self.is_receiver(owner) && self.callable.type_scope.is_some() {
            self.scope = self.callable.type_scope;
        } else {
            self.around = Surroundings { owner, ..Surroundings::NONE };
            shared &= self.language.manifest.names.values_member.is_some();
            self.around.declared_static = shared;
            // Where objects accept any member, those of another object are not bound in this scope.
            self.around.detached = self.language.manifest.names.values_member.is_some();
        }
        let name = self.name_of(name_node);
        let header_end = self.lambda_header(lambda, lambda_node);
        let definition = Definition {
            name,
            name_node,
            node,
            kind: SymbolKind::Function,
            header_end,
            has_body: true,
        };
        let symbol = self.define(&definition);
        (self.scope, self.around) = (scope, around);
        self.lambda(lambda, lambda_node, symbol)
    }

    pub(in crate::extract) fn outer(&mut self, node: Node<'t>, of: &'static Selector) -> ExprId {
        for name_node in self.every(Some(of), node) {
            let name = self.name_of(name_node);
            self.bind(
                self.owner_scope(),
                name,
                BindingKind::Outer,
                node.start_byte(),
                ExprId::NONE,
                ExprId::NONE,
            );
        }
        ExprId::NONE
    }

    pub(super) fn bind_name(&mut self, node: Node<'t>, flow: Flow<'t>, how: Bind) -> LocalSymbol {
        let name = self.name_of(node);
        if self.is_ignored(name) {
            return LocalSymbol::NONE;
        }
        match how {
            Bind::Param => {
                self.bind(self.scope, name, BindingKind::Param, 0, flow.ty, flow.value);
                LocalSymbol::NONE
            }
            Bind::Declare(kind) => self.declare_name(node, name, flow, kind),
            Bind::AssignNew => self.assign_new(node, name, flow),
            Bind::AssignKnown => self.assign_known(node, name, flow),
        }
    }

    pub(in crate::extract) fn declare_name(
        &mut self,
        node: Node<'t>,
        name: NameId,
        flow: Flow<'t>,
        kind: SymbolKind,
    ) -> LocalSymbol {
        let function_scoped =
            self.language.manifest.resolution.function_scoped || self.around.hoisted;
        let owns = |scope: ScopeKind| {
            scope != ScopeKind::Flow && !(function_scoped && scope == ScopeKind::Block)
        };
        let owner = self.build.nearest(self.scope, owns);
        let local = matches!(self.build.scope_kind(owner), ScopeKind::Function | ScopeKind::Block);
        if local && kind != SymbolKind::Variant {
            self.bind(owner, name, BindingKind::Value, flow.node.end_byte(), flow.ty, flow.value);
            return LocalSymbol::NONE;
        }
        let (header_end, has_body) = (flow.node.end_byte(), true);
        let symbol = self.define(&Definition {
            name,
            name_node: node,
            node: flow.node,
            kind,
            header_end,
            has_body,
        });
        self.build.symbol_mut(symbol).ty = flow.ty;
        self.build.add_value(symbol, flow.value);
        symbol
    }

    fn assign_new(&mut self, node: Node<'t>, name: NameId, flow: Flow<'t>) -> LocalSymbol {
        let function_scoped = self.language.manifest.resolution.function_scoped;
        let owns = |scope: ScopeKind| {
            scope != ScopeKind::Flow && !(function_scoped && scope == ScopeKind::Block)
        };
        let owner = self.build.nearest(self.scope, owns);
        match self.build.bound(owner, name).map(|binding| (binding.kind, binding.symbol)) {
            Some((BindingKind::Outer, _)) => self.assign_known(node, name, flow),
            Some((BindingKind::Symbol, symbol)) => {
                self.write(node, name);
                self.build.add_value(symbol, flow.value);
                symbol
            }
            Some((BindingKind::Import, _)) if self.build.scope_kind(owner) == ScopeKind::File => {
                self.write(node, name);
                LocalSymbol::NONE
            }
            Some((BindingKind::Value | BindingKind::Param, _))
                if self.language.manifest.resolution.variables_keep_types =>
            {
                LocalSymbol::NONE
            }
            _ if matches!(self.build.scope_kind(owner), ScopeKind::Function | ScopeKind::Block) => {
                self.bind(
                    owner,
                    name,
                    BindingKind::Value,
                    flow.node.end_byte(),
                    flow.ty,
                    flow.value,
                );
                LocalSymbol::NONE
            }
            _ => {
                let text = self.build.text(name);
                let constant = text.chars().any(|c| c.is_ascii_uppercase())
                    && !text.chars().any(|c| c.is_ascii_lowercase());
                let kind = if constant { SymbolKind::Constant } else { SymbolKind::Variable };
                self.declare_name(node, name, flow, kind)
            }
        }
    }

    fn assign_known(&mut self, node: Node<'t>, name: NameId, flow: Flow<'t>) -> LocalSymbol {
        self.write(node, name);
        let start = self.build.nearest(self.scope, |kind| kind != ScopeKind::Flow);
        let outer =
            self.build.bound(start, name).is_some_and(|binding| binding.kind == BindingKind::Outer);
        let from = if outer { self.build.parent(start) } else { start };
        let Some(known) = self.build.visible(from, name) else { return LocalSymbol::NONE };
        let (kind, scope, symbol) = (known.kind, known.scope, known.symbol);
        let has_type = known.ty.is_some() || known.value.is_some();
        if has_type && self.language.manifest.resolution.variables_keep_types {
            return symbol;
        }
        match kind {
            BindingKind::Symbol => self.build.add_value(symbol, flow.value),
            BindingKind::Value | BindingKind::Param if flow.value.is_some() => {
                self.bind(
                    scope,
                    name,
                    BindingKind::Value,
                    flow.node.end_byte(),
                    flow.ty,
                    flow.value,
                );
            }
            _ => {}
        }
        symbol
    }

    fn write(&mut self, node: Node<'t>, name: NameId) {
        let target = self.build.expr(Expr::Name(name, self.scope));
        self.site(Usage::Site(SiteKind::Write), node, name, target);
    }
}
