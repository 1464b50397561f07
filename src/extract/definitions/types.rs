//! Definitions with members: types and their bases, extensions, modules, aliases.

use crate::extract::bindings::variables::Flow;
use crate::extract::definitions::callables::CallableContext;
use crate::extract::walk::Definition;
use crate::extract::walk::{Callable, Pending, READ, Surroundings, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::facts::{Expr, ExprId, LocalSymbol, NameId, ScopeId, ScopeKind, flags};
use crate::model::{ProblemKind, SiteKind, SymbolKind, Visibility};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(in crate::extract) fn type_definition(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
    ) -> ExprId {
        let Rule::Type { kind, name, bases, body, .. } = rule else { return ExprId::NONE };
        let Some(name_node) = name.as_ref().and_then(|selector| selector.first(node)) else {
            let body_node = body.as_ref().and_then(|selector| selector.first(node));
            if *kind == SymbolKind::Enum
                && self.language.manifest.resolution.variants_visible
                && let Some(body) = body_node
            {
                // The variants of an anonymous type belong to the enclosing scope.
                self.visit_children(body);
                return ExprId::NONE;
            }
            return self.anonymous_type(node, bases, body_node);
        };
        self.visit_modifiers(node);
        let owner = self.around.owner;
        let (name, name_node) = self.qualified_name(name_node);
        let value = self.named_type(rule, node, node, (name, name_node));
        self.around.owner = owner;
        value
    }

    /// Defines a type under its own name or that of its alias; `whole` is the definition including
    /// the name.
    pub(in crate::extract) fn named_type(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
        whole: Node<'t>,
        (name, name_node): (NameId, Node<'t>),
    ) -> ExprId {
        let Rule::Type { kind, bases, body, type_params, params, .. } = rule else {
            return ExprId::NONE;
        };
        let body_node = body.as_ref().and_then(|selector| selector.first(node));
        let header_end = body_node.map_or(whole.end_byte(), |body| body.start_byte());
        let definition =
            Definition { name, name_node, node: whole, kind: *kind, header_end, has_body: true };
        let symbol = self.define(&definition);
        let declarations = self.language.manifest.resolution.declarations;
        if declarations && body_node.is_none() && body.is_some() && params.is_none() {
            self.build.symbol_mut(symbol).flags |= flags::DECLARATION;
        }
        let before = self.enter_type(symbol, node, type_params.as_ref());
        let inner = self.scope;
        self.callable.self_scope = inner;
        self.bases(node, bases, symbol);
        if let Some(params) = params.as_ref().and_then(|selector| selector.first(node)) {
            self.parameters(params, symbol);
        }
        if let Some(body) = body_node {
            self.note_members(inner, body);
            match self.rule_at(body) {
                Some(Rule::Positions { .. }) => self.visit(body, READ),
                Some(Rule::Variants {}) => self.variants(body),
                _ => self.visit_children(body),
            };
        }
        self.visit_left_out(node);
        let outer = before.scope.0;
        self.leave_callable(before);
        if *kind == SymbolKind::Enum {
            self.bind_variants(symbol, node);
        }
        self.build.expr(Expr::Name(name, outer))
    }

    /// Binds the variants of an enumeration in the scope around it as well, if the language does.
    fn bind_variants(&mut self, of: LocalSymbol, node: Node<'t>) {
        let rules = &self.language.manifest.resolution;
        let is_scoped = |word: &&str| rules.scoped_enum_words.iter().any(|other| other == word);
        if !rules.variants_visible || self.words(node).iter().any(is_scoped) {
            return;
        }
        // Where types have tags, the body of a type is no scope of names.
        let owns = |kind: ScopeKind| !rules.tagged_types || kind != ScopeKind::Type;
        let around = self.build.nearest(self.scope, owns);
        let first = of.get().map_or(usize::MAX, |own| own + 1);
        let members = self.build.facts.symbols.get(first..).unwrap_or_default();
        let variants: Vec<_> = (first..)
            .zip(members)
            .filter(|(_, member)| member.container == of && member.kind == SymbolKind::Variant)
            .map(|(at, member)| (LocalSymbol::at(at), member.name, member.extent.start_byte))
            .collect();
        for (variant, name, from) in variants {
            self.build.bind_symbol(around, self.scope, name, from, variant);
        }
    }

    /// Opens the scope of a type's members.
    fn enter_type(
        &mut self,
        symbol: LocalSymbol,
        node: Node<'t>,
        type_params: Option<&'static Selector>,
    ) -> CallableContext {
        let (callable, enclosing) = (self.callable, self.enclosing);
        let before = CallableContext {
            scope: self.open(ScopeKind::Type, symbol, node),
            callable,
            enclosing,
        };
        let inner = self.scope;
        self.build.symbol_mut(symbol).inner = inner;
        self.enclosing = symbol;
        self.callable.symbol = LocalSymbol::NONE;
        self.generics(symbol, node, type_params);
        before
    }

    /// Records the names of the members that a body declares.
    fn note_members(&mut self, scope: ScopeId, body: Node<'t>) {
        if !self.language.manifest.resolution.hoisted {
            return;
        }
        for member in self.named_children(body) {
            let name = match self.rule_at(member) {
                Some(Rule::Function { name: Some(name), .. } | Rule::Variable { name, .. }) => {
                    name.first(member)
                }
                _ => None,
            };
            if let Some(name) = name {
                let name = self.name_of(name);
                self.declared_members.insert((scope, name));
            }
        }
    }

    fn anonymous_type(
        &mut self,
        node: Node<'t>,
        bases: &'static [crate::grammar::BaseRule],
        body: Option<Node<'t>>,
    ) -> ExprId {
        let scope = self.open(ScopeKind::Type, LocalSymbol::NONE, node);
        let inner = self.scope;
        let first = self.bases(node, bases, LocalSymbol::NONE);
        if let Some(index) = inner.get() {
            self.build.facts.scopes[index].owner = first;
        }
        let outer = std::mem::replace(&mut self.callable.self_scope, inner);
        if let Some(body) = body {
            self.visit_children(body);
        }
        self.callable.self_scope = outer;
        self.close(scope);
        self.build.expr(Expr::Members(inner))
    }

    /// Visits the bases of a type; returns the first.
    fn bases(
        &mut self,
        node: Node<'t>,
        bases: &'static [crate::grammar::BaseRule],
        symbol: LocalSymbol,
    ) -> ExprId {
        let mut first = ExprId::NONE;
        for rule in bases {
            let usage =
                Usage::Site(if rule.implement { SiteKind::Implement } else { SiteKind::Inherit });
            for base in self.every(Some(&rule.of), node) {
                for ty in self.visit_types(base, usage) {
                    self.build.add_base(symbol, ty, rule.implement);
                    first = if first.is_some() { first } else { ty };
                }
            }
        }
        first
    }

    pub(in crate::extract) fn type_name(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::TypeName { name, ty, type_params, kinds } = rule else { return ExprId::NONE };
        let (Some(name_node), Some(ty_node)) = (name.first(node), ty.first(node)) else {
            return self.visit_children(node);
        };
        let kind = kinds.get(ty_node.kind()).copied();
        let name = self.name_of(name_node);
        // The keyword of the type belongs to the header.
        let word_end = ty_node.child(0).map_or(ty_node.end_byte(), |word| word.end_byte());
        let header_end = if kind.is_some() { word_end } else { node.end_byte() };
        let kind_word = kind.unwrap_or(SymbolKind::TypeAlias);
        let definition =
            Definition { name, name_node, node, kind: kind_word, header_end, has_body: true };
        let symbol = self.define(&definition);
        let before = self.enter_type(symbol, node, type_params.as_ref());
        if kind.is_some() {
            self.visit_children(ty_node);
        } else {
            let ty = self.visit_type(ty_node, Usage::Site(SiteKind::Type));
            self.build.symbol_mut(symbol).ty = ty;
        }
        self.leave_callable(before);
        ExprId::NONE
    }

    pub(in crate::extract) fn extend(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Extend { ty, interface, body, type_params } = rule else { return ExprId::NONE };
        let callable = self.callable;
        let scope = self.open(ScopeKind::Type, LocalSymbol::NONE, node);
        let inner = self.scope;
        self.generics(LocalSymbol::NONE, node, type_params.as_ref());
        let implements = match interface.as_ref().and_then(|selector| selector.first(node)) {
            Some(interface) => self.visit_type(interface, Usage::Site(SiteKind::Implement)),
            None => ExprId::NONE,
        };
        let owner = match ty.first(node) {
            Some(ty) => self.visit_type(ty, Usage::Site(SiteKind::Type)),
            None => ExprId::NONE,
        };
        if let Some(index) = inner.get() {
            self.build.facts.scopes[index].owner = owner;
        }
        self.around = Surroundings { owner, implements, ..Surroundings::NONE };
        self.callable = Callable { self_scope: inner, ..Callable::NONE };
        if let Some(body) = body.as_ref().and_then(|selector| selector.first(node)) {
            self.visit_children(body);
        }
        self.callable = callable;
        self.close(scope);
        ExprId::NONE
    }

    pub(in crate::extract) fn module(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Module { kind, name, body } = rule else { return ExprId::NONE };
        let body_node = body.as_ref().and_then(|selector| selector.first(node));
        let name_node = name.as_ref().and_then(|selector| selector.first(node));
        let Some(body_node) = body_node else {
            if let Some(name_node) = name_node {
                self.child_module(node, name_node);
            }
            return ExprId::NONE;
        };
        let Some(name_node) = name_node else {
            // The contents of an unnamed module belong to the enclosing scope with internal
            // visibility.
            let section = self.around.section.replace(Visibility::Internal);
            self.visit_children(body_node);
            self.around.section = section;
            return ExprId::NONE;
        };
        self.visit_modifiers(node);
        let transparent = &self.language.manifest.names.transparent_module_words;
        if !transparent.is_empty()
            && self.words(node).iter().any(|word| transparent.iter().any(|name| name == word))
        {
            self.import_members(name_node);
        }
        let exported = self.around.exported;
        let before = (self.enclosing, self.scope, self.around);
        for part in self.module_names(name_node) {
            let name = self.name_of(part);
            let definition = Definition {
                name,
                name_node: part,
                node,
                kind: *kind,
                header_end: body_node.start_byte(),
                has_body: true,
            };
            self.around.exported = exported;
            let symbol = self.define(&definition);
            self.open(ScopeKind::Module, symbol, node);
            let inner = self.scope;
            self.build.symbol_mut(symbol).inner = inner;
        }
        self.visit_children(body_node);
        (self.enclosing, self.scope, self.around) = before;
        ExprId::NONE
    }

    /// Returns the names of nested modules in one path (`a::b`), or the only name.
    fn module_names(&mut self, name: Node<'t>) -> Vec<Node<'t>> {
        let (mut names, mut left) = (Vec::new(), vec![name]);
        while let Some(node) = left.pop() {
            let parts = self.named_children(node);
            match parts.is_empty() {
                true => names.push(node),
                false => left.extend(parts.into_iter().rev()),
            }
        }
        let most = self.depth_left();
        if names.len() > most {
            self.problem(ProblemKind::TooDeep, name);
            names.truncate(most);
        }
        names
    }

    pub(in crate::extract) fn embed(
        &mut self,
        node: Node<'t>,
        of: &'static Selector,
        several: bool,
    ) -> ExprId {
        let parts = self.named_children(node);
        if parts.len() > 1 && !several {
            // Several types are bounds of a type parameter, not bases.
            for part in parts {
                self.visit_type(part, Usage::Site(SiteKind::Type));
            }
            return ExprId::NONE;
        }
        for base in self.every(Some(of), node) {
            let ty = self.visit_type(base, Usage::Site(SiteKind::Inherit));
            self.build.add_base(self.enclosing, ty, false);
        }
        ExprId::NONE
    }

    /// Defines an embedded field: a base that is also a field with the name of its type.
    pub(in crate::extract) fn embedded_field(
        &mut self,
        node: Node<'t>,
        ty: Option<&'static Selector>,
    ) -> ExprId {
        let Some(ty_node) = ty.and_then(|selector| selector.first(node)) else {
            return ExprId::NONE;
        };
        let pending = std::mem::take(&mut self.pending);
        let ty = self.visit_type(ty_node, Usage::Site(SiteKind::Inherit));
        self.build.add_base(self.enclosing, ty, false);
        let mut named = ty;
        let name = loop {
            match self.build.get(named) {
                Expr::Wrap(inner, _) | Expr::Apply(inner, _) => named = inner,
                Expr::Name(name, _) | Expr::Member(_, name) => break name,
                _ => return ExprId::NONE,
            }
        };
        self.pending = pending;
        self.declare_name(ty_node, name, Flow { ty, value: ExprId::NONE, node }, SymbolKind::Field);
        ExprId::NONE
    }

    /// Visits definitions that share one keyword.
    pub(in crate::extract) fn group(&mut self, node: Node<'t>, repeats: bool) -> ExprId {
        let alone = self.only_named_child(node).is_some();
        let mut repeated = ExprId::NONE;
        let outer = (self.whole, self.around.declared);
        for member in self.children(node) {
            if self.language.is_comment(member.kind_id()) {
                self.note_comment(member);
                continue;
            }
            if !member.is_named() {
                continue;
            }
            self.whole = alone.then(|| (member.id(), node));
            if let (true, Some(Rule::Variable { ty, value, .. })) = (repeats, self.rule_at(member))
            {
                let part = |selector: &'static Option<Selector>| {
                    selector.as_ref().and_then(|selector| selector.first(member))
                };
                let (ty, value) = (part(ty), part(value));
                self.around.declared =
                    if ty.is_none() && value.is_none() { repeated } else { ExprId::NONE };
                self.visit(member, READ);
                if ty.is_some() || value.is_some() {
                    repeated = ty.map_or(ExprId::NONE, |ty| self.visit_type(ty, Usage::Silent));
                }
            } else {
                self.visit(member, READ);
            }
            self.pending = Pending::default();
        }
        (self.whole, self.around.declared) = outer;
        ExprId::NONE
    }
}
