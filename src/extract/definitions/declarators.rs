//! Declarations with chains of declarators (`*name[3]`, `(*name)(int)`), and type aliases of that
//! form.

use crate::extract::bindings::variables::{Bind, Flow};
use crate::extract::walk::Definition;
use crate::extract::walk::{Declared, Pending, READ, Usage, Walker, Wrapper};
use crate::grammar::{Rule, Selector, TypeRule};
use crate::model::facts::{Expr, ExprId, LocalSymbol, Run, ScopeKind, flags};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(in crate::extract) fn declaration(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
    ) -> ExprId {
        let Rule::Declaration { kind, ty, declarators, values, hoisted } = rule else {
            return ExprId::NONE;
        };
        let pending = std::mem::take(&mut self.pending);
        self.pending.comment = pending.comment;
        self.visit_modifiers(node);
        let mut pending_here = std::mem::take(&mut self.pending);
        pending_here.start = pending.start;
        let outer = self.around;
        let ty_node = ty.as_ref().and_then(|selector| selector.first(node));
        let declarators = self.every(Some(declarators), node);
        if declarators.is_empty()
            && let Some(body) = ty_node.and_then(|ty| self.anonymous_body(ty))
        {
            // Members of an anonymous type without a variable belong to the enclosing scope.
            self.visit_children(body);
            return ExprId::NONE;
        }
        self.around.hoisted = *hoisted;
        self.around.declared = match ty_node {
            Some(ty) => self.visit_type(ty, Usage::Site(SiteKind::Type)),
            None => ExprId::NONE,
        };
        let words = self.words(node);
        let rules = &self.language.manifest.modifiers;
        let has = |names: &[String]| words.iter().any(|word| names.iter().any(|name| name == word));
        self.around.declared_constant =
            *kind == Some(SymbolKind::Constant) || self.is_constant(&words);
        self.around.declared_static = has(&rules.r#static);
        let in_type = self.build.scope_kind(self.scope) == ScopeKind::Type;
        let elsewhere = has(&rules.declaration) || (in_type && has(&rules.declaration_fields));
        if let Some(visibility) =
            words.iter().find_map(|word| self.language.manifest.visibility.words.get(*word))
        {
            self.around.section =
                crate::model::Visibility::from_word(visibility).or(self.around.section);
        }
        let values = self.every(values.as_ref(), node);
        let alone = declarators.len() == 1;
        let outer_whole = self.whole;
        for declarator in declarators {
            self.whole = alone.then(|| (declarator.id(), node));
            self.pending = pending_here.clone();
            if matches!(self.rule_at(declarator), Some(Rule::Variable { .. })) {
                self.visit(declarator, READ);
                continue;
            }
            let kind = self.variable_kind(*kind);
            let symbol = self.declare_through(declarator, node, ty_node, kind);
            self.assign_members(symbol);
            let Some(index) = symbol.get() else { continue };
            let entry = &mut self.build.facts.symbols[index];
            if entry.kind.is_callable() && !values.is_empty() {
                entry.flags = (entry.flags & !flags::DECLARATION) | flags::ABSTRACT;
            } else if !entry.kind.is_callable()
                && elsewhere
                && values.is_empty()
                && entry.values == Run::default()
            {
                entry.flags |= flags::DECLARATION;
            }
        }
        self.whole = outer_whole;
        for value in values {
            self.visit(value, READ);
        }
        self.around = outer;
        ExprId::NONE
    }

    /// Returns the body of an anonymous type.
    fn anonymous_body(&self, node: Node<'t>) -> Option<Node<'t>> {
        match self.rule_at(node) {
            Some(Rule::Type { name: Some(name), body: Some(body), .. })
                if name.first(node).is_none() =>
            {
                body.first(node)
            }
            _ => None,
        }
    }

    /// Assigns the members of an anonymous type to the first variable declared with it.
    fn assign_members(&mut self, symbol: LocalSymbol) {
        let Expr::Members(inner) = self.build.get(self.around.declared) else { return };
        let Some(index) = inner.get().filter(|_| symbol.is_some()) else { return };
        if self.build.facts.scopes[index].symbol.is_some() {
            return;
        }
        self.build.facts.scopes[index].symbol = symbol;
        for member in self.build.facts.symbols.iter_mut().filter(|member| member.scope == inner) {
            member.container = symbol;
        }
    }

    /// Declares the name in a chain of declarators: a variable, or a callable without a body.
    fn declare_through(
        &mut self,
        start: Node<'t>,
        node: Node<'t>,
        ty_node: Option<Node<'t>>,
        kind: SymbolKind,
    ) -> LocalSymbol {
        let declared = self.declarator(start);
        let builtin_types = &self.language.manifest.preprocessor.builtin_types;
        let is_type = |name: &Node<'t>| {
            // The text behind a syntax error may look like the head of a callable.
            declared.is_callable && builtin_types.iter().any(|word| word == self.text_of(*name))
        };
        let Some(name_node) = declared.name.filter(|name| !is_type(name)) else {
            self.visit_children(start);
            return LocalSymbol::NONE;
        };
        let ty = self.wrapped(self.around.declared, &declared.wraps);
        let points = declared.wraps.iter().any(|wrap| matches!(wrap, Wrapper::Named(_)));
        // The target of a pointer may be constant; the pointer is not.
        let kind = if points && kind == SymbolKind::Constant { SymbolKind::Variable } else { kind };
        if declared.is_callable {
            return match self.bare_arguments(&declared, ty_node) {
                Some(arguments) => {
                    let value = self.constructed(ty_node, ty, &arguments);
                    self.bind_pattern(name_node, Flow { ty, value, node }, Bind::Declare(kind))
                }
                None => self.declare_callable(&declared, name_node, node, ty),
            };
        }
        let pending = std::mem::take(&mut self.pending);
        if let Some(params) = declared.params {
            for param in self.named_children(params) {
                self.parameter_type(param, Usage::Site(SiteKind::Type));
            }
        }
        let value = match (declared.args, declared.value) {
            (Some(args), _) if declared.wraps.is_empty() => {
                let arguments = self.named_children(args);
                self.constructed(ty_node, ty, &arguments)
            }
            (_, Some(value)) => self.initial_value(value, ty),
            _ => ExprId::NONE,
        };
        self.pending = pending;
        let symbol = if matches!(self.rule_at(name_node), Some(Rule::Member { scoped: true, .. })) {
            let outer = self.around.owner;
            let (name, name_node) = self.qualified_name(name_node);
            let definition = Definition {
                name,
                name_node,
                node,
                kind: SymbolKind::Field,
                header_end: node.end_byte(),
                has_body: true,
            };
            let symbol = self.define(&definition);
            self.around.owner = outer;
            self.build.symbol_mut(symbol).ty = ty;
            self.build.add_value(symbol, value);
            symbol
        } else {
            self.bind_pattern(name_node, Flow { ty, value, node }, Bind::Declare(kind))
        };
        if symbol.is_some() && declared.wraps.contains(&Wrapper::Function) {
            self.build.symbol_mut(symbol).flags |= flags::FUNCTION_VALUE;
        }
        symbol
    }

    fn declare_callable(
        &mut self,
        declared: &Declared<'t>,
        name_node: Node<'t>,
        node: Node<'t>,
        ty: ExprId,
    ) -> LocalSymbol {
        let outer = self.around.owner;
        let (name, name_node) = self.qualified_name(name_node);
        let kind = SymbolKind::Function;
        let definition = Definition {
            name,
            name_node,
            node,
            kind,
            header_end: node.end_byte(),
            has_body: false,
        };
        let symbol = self.define(&definition);
        self.around.owner = outer;
        let context = self.enter_callable(symbol, node);
        self.generics(symbol, node, None);
        if let Some(params) = declared.params {
            self.parameters(params, symbol);
        }
        let returns =
            declared.returns.map(|returns| self.visit_type(returns, Usage::Site(SiteKind::Type)));
        self.leave_callable(context);
        self.build.symbol_mut(symbol).ty = returns.unwrap_or(ty);
        symbol
    }

    /// Returns the value of an initialiser; an initializer list is a value of the declared type.
    fn initial_value(&mut self, node: Node<'t>, ty: ExprId) -> ExprId {
        let wanted = self.build.of(ty, Expr::OfType);
        let value = self.visit_as(node, wanted);
        if value.is_some() { value } else { wanted }
    }

    /// Follows a chain of declarators to its name.
    pub(in crate::extract) fn declarator(&mut self, start: Node<'t>) -> Declared<'t> {
        let mut declared = Declared::default();
        let mut node = start;
        loop {
            match self.rule_at(node) {
                Some(Rule::Declarator { up_to: Some(_), params, .. }) => {
                    declared.name = Some(node);
                    declared.params = params.as_ref().and_then(|selector| selector.first(node));
                    declared.is_callable = true;
                    return declared;
                }
                Some(Rule::Declarator { of, params, wrap, value, args, returns, up_to: None }) => {
                    let select = |selector: &Option<Selector>| {
                        selector.as_ref().and_then(|selector| selector.first(node))
                    };
                    let next = match of {
                        Some(selector) => selector.first(node),
                        None => self.last_named_child(node),
                    };
                    declared.value = declared.value.or(select(value));
                    declared.args = declared.args.or(select(args));
                    if let Some(params) = params {
                        declared.params = params.first(node);
                        declared.is_callable = true;
                        declared.wraps.push(Wrapper::Function);
                        declared.returns = select(returns).or(declared.returns);
                    } else if let Some(wrap) = wrap {
                        declared.is_callable = false;
                        declared.wraps.push(if wrap == "array" {
                            Wrapper::Array
                        } else {
                            Wrapper::Named(wrap.clone())
                        });
                    }
                    let Some(next) = next else { break };
                    node = next;
                }
                Some(Rule::Variable { name, value, .. }) => {
                    declared.value = value.as_ref().and_then(|selector| selector.first(node));
                    let Some(next) = name.first(node) else { break };
                    node = next;
                }
                Some(Rule::Name {} | Rule::Member { .. } | Rule::Pass { .. }) => {
                    declared.name = Some(node);
                    let last = self.last_of_path(node);
                    if let Some(Rule::Declarator { up_to: Some(_), params, .. }) =
                        self.rule_at(last)
                    {
                        declared.params = params.as_ref().and_then(|selector| selector.first(last));
                        declared.is_callable = true;
                        return declared;
                    }
                    break;
                }
                _ => {
                    declared.name = self.language.pattern(node.kind_id()).map(|_| node);
                    break;
                }
            }
        }
        if declared.is_callable && declared.wraps.last() == Some(&Wrapper::Function) {
            declared.wraps.pop();
        }
        declared
    }

    /// Applies declarators to a type.
    pub(super) fn wrapped(&mut self, ty: ExprId, wraps: &[Wrapper]) -> ExprId {
        let mut ty = ty;
        for wrap in wraps {
            if !ty.is_some() {
                return ty;
            }
            ty = match wrap {
                Wrapper::Array => self.build.expr(Expr::Array(ty)),
                Wrapper::Named(name) => {
                    let name = self.build.name(name);
                    self.build.expr(Expr::Wrap(ty, name))
                }
                Wrapper::Function => {
                    let list = self.build.list(&[ty]);
                    self.build.expr(Expr::Function(list))
                }
            };
        }
        ty
    }

    pub(in crate::extract) fn alias(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Alias { name, declarator, ty, type_params } = rule else { return ExprId::NONE };
        let ty_node = ty.as_ref().and_then(|selector| selector.first(node));
        let mut names: Vec<(Node<'t>, Vec<Wrapper>)> = Vec::new();
        if let Some(selector) = name {
            names.extend(selector.first(node).map(|name| (name, Vec::new())));
        }
        if let Some(selector) = declarator {
            for start in self.every(Some(selector), node) {
                let declared = self.declarator(start);
                names.extend(declared.name.map(|name| (name, declared.wraps)));
                if let Some(params) = declared.params {
                    let pending = std::mem::take(&mut self.pending);
                    for param in self.named_children(params) {
                        self.parameter_type(param, Usage::Site(SiteKind::Type));
                    }
                    self.pending = pending;
                }
            }
        }
        let mut pending = std::mem::take(&mut self.pending);
        let params = type_params
            .as_ref()
            .and_then(|selector| selector.first(node))
            .or(self.waiting_type_params.take());
        let mut shared = ExprId::NONE;
        if let Some(ty_node) = ty_node
            && matches!(
                self.language.type_rule(ty_node.kind_id()),
                Some(TypeRule::Specifier { .. })
            )
        {
            shared = self.specified(ty_node, node, &mut names, &mut pending);
        } else if let Some(ty_node) = ty_node
            && names.len() > 1
        {
            shared = self.visit_type(ty_node, Usage::Site(SiteKind::Type));
        }
        for (name_node, wraps) in names {
            self.pending =
                Pending { comment: pending.comment, decorators: Vec::new(), start: pending.start };
            self.visit_modifiers(node);
            let name = self.name_of(name_node);
            let kind = SymbolKind::TypeAlias;
            let definition = Definition {
                name,
                name_node,
                node,
                kind,
                header_end: node.end_byte(),
                has_body: true,
            };
            let symbol = self.define(&definition);
            let before = self.enclosing;
            let scope = self.open(ScopeKind::Block, symbol, node);
            let inner = self.scope;
            self.build.symbol_mut(symbol).inner = inner;
            self.enclosing = symbol;
            self.waiting_type_params = params;
            self.generics(symbol, node, None);
            if let Some(ty_node) = ty_node
                && !shared.is_some()
            {
                shared = self.visit_type(ty_node, Usage::Site(SiteKind::Type));
            }
            self.enclosing = before;
            self.close(scope);
            let ty = self.wrapped(shared, &wraps);
            self.build.symbol_mut(symbol).ty = ty;
        }
        ExprId::NONE
    }

    /// Visits a type named or defined in an alias. It belongs to the enclosing scope; an anonymous
    /// one takes the name of the first plain alias, and an alias with the type's own name is
    /// redundant.
    fn specified(
        &mut self,
        ty_node: Node<'t>,
        node: Node<'t>,
        names: &mut Vec<(Node<'t>, Vec<Wrapper>)>,
        pending: &mut Pending<'t>,
    ) -> ExprId {
        let Some(rule @ Rule::Type { name: Some(name), body, .. }) = self.rule_at(ty_node) else {
            return self.visit_type(ty_node, Usage::Site(SiteKind::Type));
        };
        let own = name.first(ty_node);
        let has_body = body.as_ref().is_some_and(|selector| selector.first(ty_node).is_some());
        let same = |(alias, wraps): &(Node<'t>, Vec<Wrapper>)| {
            wraps.is_empty() && own.is_none_or(|own| self.text_of(own) == self.text_of(*alias))
        };
        let Some(position) = names.iter().position(same).filter(|_| has_body || own.is_some())
        else {
            return self.visit_type(ty_node, Usage::Site(SiteKind::Type));
        };
        let (name_node, _) = names.remove(position);
        self.pending = Pending {
            comment: pending.comment.take(),
            decorators: Vec::new(),
            start: pending.start,
        };
        self.visit_modifiers(ty_node);
        let name = self.name_of(name_node);
        self.named_type(rule, ty_node, node, (name, name_node))
    }
}
