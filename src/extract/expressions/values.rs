//! Names bound to closures, types, objects or modules: the name is then the callable, type, owner
//! of members or import itself.

use crate::extract::definitions::symbols::Marks;
use crate::extract::walk::Definition;
use crate::extract::walk::{READ, Surroundings, Usage, Walker};
use crate::grammar::{Pattern, Rule};
use crate::model::facts::{
    BindingKind, Expr, ExprId, HOLDER_TYPE_NAME, LocalSymbol, NameId, ScopeId, ScopeKind, flags,
};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Visits an anonymous callable, or one with the name of the variable that holds it.
    pub(in crate::extract) fn lambda(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
        symbol: LocalSymbol,
    ) -> ExprId {
        let Rule::Lambda { name, params, returns, body, tail, type_params, own_self } = rule else {
            return ExprId::NONE;
        };
        let own = name.as_ref().and_then(|selector| selector.first(node));
        let symbol = match own {
            Some(own) if !symbol.is_some() => self.self_named(rule, node, own),
            _ => symbol,
        };
        let scope = self.open(ScopeKind::Function, symbol, node);
        let before = (self.callable, self.enclosing);
        let held_as = std::mem::replace(&mut self.held_as, ExprId::NONE);
        if held_as.is_some() {
            let name = self.build.name(HOLDER_TYPE_NAME);
            self.bind(self.scope, name, BindingKind::Result, 0, held_as, ExprId::NONE);
        }
        if symbol.is_some() {
            let inner = self.scope;
            let entry = self.build.symbol_mut(symbol);
            entry.inner = inner;
            entry.flags |= flags::FUNCTION_VALUE;
            self.enclosing = symbol;
            self.mark_lambda(symbol, node);
        }
        self.callable.symbol = symbol;
        if let Some(own) = own {
            let (name, scope) = (self.name_of(own), self.scope);
            match symbol.is_some() {
                true => self.build.bind_symbol(scope, scope, name, 0, symbol),
                false => {
                    let value = self.build.expr(Expr::Lambda(scope));
                    self.bind(scope, name, BindingKind::Value, 0, ExprId::NONE, value);
                }
            }
        }
        if *own_self {
            self.callable.self_scope =
                if self.is_member(symbol) { self.scope } else { ScopeId::NONE };
        }
        self.generics(symbol, node, type_params.as_ref());
        if let Some(params) = params.as_ref().and_then(|selector| selector.first(node)) {
            self.parameters(params, symbol);
        } else if symbol.is_some() {
            self.build.symbol_mut(symbol).arity = (0, 0);
        }
        if let Some(returns) = returns.as_ref().and_then(|selector| selector.first(node)) {
            let ty = self.result_type(returns);
            if symbol.is_some() {
                self.build.symbol_mut(symbol).ty = ty;
            }
        }
        if let Some(body) = body.as_ref().and_then(|selector| selector.first(node)) {
            self.body(body, symbol, *tail);
        }
        self.visit_left_out(node);
        (self.callable, self.enclosing) = before;
        let inner = self.scope;
        self.close(scope);
        self.build.expr(Expr::Lambda(inner))
    }

    /// Defines a closure with a name of its own that nothing else holds: a callable whose name only
    /// its body can use. Values of members are known by the members.
    fn self_named(&mut self, lambda: &'static Rule, node: Node<'t>, own: Node<'t>) -> LocalSymbol {
        let declaring = self.build.nearest(self.scope, |kind| kind != ScopeKind::Flow);
        if self.build.scope_kind(declaring) == ScopeKind::Type {
            return LocalSymbol::NONE;
        }
        let pending = std::mem::take(&mut self.pending);
        let around = Surroundings { detached: true, ..Surroundings::NONE };
        let around = std::mem::replace(&mut self.around, around);
        let name = self.name_of(own);
        let header_end = self.lambda_header(lambda, node);
        let kind = SymbolKind::Function;
        let symbol = self.define(&Definition {
            name,
            name_node: own,
            node,
            kind,
            header_end,
            has_body: true,
        });
        self.build.symbol_mut(symbol).flags |= flags::LOCAL;
        (self.pending, self.around) = (pending, around);
        symbol
    }

    /// Applies the modifiers of a closure to the callable with its name.
    fn mark_lambda(&mut self, symbol: LocalSymbol, node: Node<'t>) {
        let mut marks = Marks::default();
        for child in self.children(node) {
            if !child.is_named() {
                self.mark_word(&mut marks, child.kind());
            }
        }
        self.build.symbol_mut(symbol).flags |= marks.flags & (flags::ASYNC | flags::GENERATOR);
    }

    /// Returns the end of the header of a closure.
    pub(in crate::extract) fn lambda_header(&self, lambda: &'static Rule, node: Node<'t>) -> usize {
        let body = match lambda {
            Rule::Lambda { body, .. } => body.as_ref().and_then(|selector| selector.first(node)),
            _ => None,
        };
        body.map_or(node.end_byte(), |body| body.start_byte())
    }

    /// Defines a name that holds a closure as a callable.
    pub(in crate::extract) fn function_value(
        &mut self,
        name: NameId,
        name_node: Node<'t>,
        node: Node<'t>,
        lambda: &'static Rule,
        lambda_node: Node<'t>,
    ) -> LocalSymbol {
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
        self.lambda(lambda, lambda_node, symbol);
        symbol
    }

    /// Defines an anonymous closure or type under the name that holds it. Returns true if the value
    /// is one.
    pub(in crate::extract) fn named_value(
        &mut self,
        name: NameId,
        name_node: Node<'t>,
        node: Node<'t>,
        value: Node<'t>,
    ) -> bool {
        if let Some((lambda, lambda_node)) = self.lambda_in(value) {
            self.function_value(name, name_node, node, lambda, lambda_node);
            return true;
        }
        let Some(rule @ Rule::Type { name: own_name, .. }) = self.rule_at(value) else {
            return false;
        };
        if own_name.as_ref().is_some_and(|selector| selector.first(value).is_some()) {
            return false;
        }
        self.named_type(rule, value, node, (name, name_node));
        true
    }

    /// Makes a variable that holds an object literal the owner of its members. Returns true if the
    /// value is one.
    pub(in crate::extract) fn object_value(
        &mut self,
        name: NameId,
        name_node: Node<'t>,
        node: Node<'t>,
        value: Node<'t>,
        ty: ExprId,
        kind: SymbolKind,
    ) -> bool {
        if !matches!(self.rule_at(value), Some(Rule::Object {})) || self.is_local_scope() {
            return false;
        }
        let definition = Definition {
            name,
            name_node,
            node,
            kind,
            header_end: value.start_byte(),
            has_body: true,
        };
        let symbol = self.define(&definition);
        let members = self.object(value, symbol);
        self.build.symbol_mut(symbol).ty = ty;
        self.build.add_value(symbol, members);
        true
    }

    fn is_local_scope(&self) -> bool {
        let owner = self.build.nearest(self.scope, |kind| kind != ScopeKind::Flow);
        matches!(self.build.scope_kind(owner), ScopeKind::Function | ScopeKind::Block)
    }

    /// Returns the module that a call imports, with the wrapper of its result.
    fn imported_module(
        &mut self,
        callee: Node<'t>,
        args: Node<'t>,
    ) -> Option<(Node<'t>, &'static str)> {
        let calls = &self.language.manifest.names.import_calls;
        let wrapper = if calls.is_empty() { None } else { calls.get(self.text_of(callee)) }?;
        let module = self.only_named_child(args)?;
        matches!(self.rule_at(module), Some(Rule::Text { .. })).then_some((module, wrapper))
    }

    /// Visits a call that imports a module: the value is bound to a synthetic name, unique for the
    /// call.
    pub(super) fn import_call(
        &mut self,
        node: Node<'t>,
        callee: Node<'t>,
        args: Node<'t>,
    ) -> Option<ExprId> {
        let (module, wrapper) = self.imported_module(callee, args)?;
        let hidden = self.name_of(node);
        self.import_by_call(module, NameId::NONE, hidden);
        let value = self.build.expr(Expr::Name(hidden, self.scope));
        if wrapper.is_empty() {
            return Some(value);
        }
        let base = self.literal(wrapper);
        Some(self.applied(base, &[value]))
    }

    /// Defines a variable, or a pattern of members, bound to an imported module as an import.
    /// Returns true if the value is one.
    pub(in crate::extract) fn import_value(&mut self, pattern: Node<'t>, value: Node<'t>) -> bool {
        let Some(Rule::Call { callee: Some(callee), args: Some(args), .. }) = self.rule_at(value)
        else {
            return false;
        };
        let (Some(callee), Some(args)) = (callee.first(value), args.first(value)) else {
            return false;
        };
        let Some((module, "")) = self.imported_module(callee, args) else { return false };
        self.seen.note(value);
        if matches!(self.rule_at(pattern), Some(Rule::Name {})) {
            let alias = self.name_of(pattern);
            self.import_by_call(module, NameId::NONE, alias);
            return true;
        }
        let mut names = Vec::new();
        if !matches!(self.language.pattern(pattern.kind_id()), Some(Pattern::Fields { .. })) {
            return false;
        }
        for child in self.named_children(pattern) {
            let (key, alias) = match self.language.pattern(child.kind_id()) {
                Some(Pattern::Shorthand {}) => (child, child),
                Some(Pattern::Field { key, value: Some(value) }) => {
                    match (key.first(child), value.first(child)) {
                        (Some(key), Some(value))
                            if matches!(self.rule_at(value), Some(Rule::Name {})) =>
                        {
                            (key, value)
                        }
                        _ => return false,
                    }
                }
                _ => return false,
            };
            names.push((self.name_of(key), self.name_of(alias)));
        }
        for (item, alias) in names {
            self.import_by_call(module, item, alias);
        }
        true
    }

    /// Visits assignments to the export object or to a member of it. Returns the value of such an
    /// assignment.
    pub(in crate::extract) fn export_assignment(
        &mut self,
        left: Node<'t>,
        right: Node<'t>,
        node: Node<'t>,
    ) -> Option<ExprId> {
        let objects = &self.language.manifest.names.export_objects;
        if objects.is_empty() || self.callable.symbol.is_some() {
            return None;
        }
        let text = self.text_of(left);
        if objects.first().is_some_and(|object| object == text) {
            self.export_whole(right, node);
            return Some(ExprId::NONE);
        }
        let name_node = self.exported_member(left)?;
        let name = self.name_of(name_node);
        let (scope, around) = (self.scope, self.around);
        self.scope = ScopeId(0);
        self.around = Surroundings { exported: true, ..Surroundings::NONE };
        if !self.named_value(name, name_node, node, right) {
            let given = self.visit(right, READ);
            self.export_member(name, name_node, node, given);
        }
        (self.scope, self.around) = (scope, around);
        Some(self.build.expr(Expr::Name(name, ScopeId(0))))
    }

    /// Returns the name of a member of the export object.
    fn exported_member(&mut self, node: Node<'t>) -> Option<Node<'t>> {
        let Some(Rule::Member { object: Some(object), name, .. }) = self.rule_at(node) else {
            return None;
        };
        let object = self.text_of(object.first(node)?);
        let objects = &self.language.manifest.names.export_objects;
        objects.iter().any(|export| export == object).then(|| name.first(node))?
    }

    /// Visits the value of a variable that is also assigned to the export object, or to a member of
    /// it: the variable is the whole export, or the exported member.
    pub(in crate::extract) fn exported_value(
        &mut self,
        name: Node<'t>,
        value: Node<'t>,
    ) -> Node<'t> {
        let mut inner = value;
        let objects = &self.language.manifest.names.export_objects;
        if objects.is_empty() {
            return inner;
        }
        while let Some((left, right)) = self.assignment_in(inner) {
            let text = self.text_of(left);
            let local = self.name_of(name);
            if let Some(whole) = objects.first().filter(|object| *object == text) {
                let whole = self.build.name(whole);
                self.exported_names.push((whole, local));
            } else if let Some(member) = self.exported_member(left) {
                let member = self.name_of(member);
                self.exported_names.push((member, local));
            } else if !objects.iter().any(|object| object == text) {
                break;
            }
            inner = right;
        }
        inner
    }

    /// Returns the sides of the assignment that a node is, possibly inside transparent nodes.
    fn assignment_in(&mut self, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
        match self.rule_at(node)? {
            Rule::Assign { left, right: Some(right), reads: false, .. } => {
                Some((left.first(node)?, right.first(node)?))
            }
            Rule::Pass { of: None } => {
                self.only_named_child(node).and_then(|only| self.assignment_in(only))
            }
            _ => None,
        }
    }

    fn export_member(&mut self, name: NameId, name_node: Node<'t>, node: Node<'t>, given: ExprId) {
        if let Expr::Name(local, _) = self.build.get(given) {
            self.exported_names.push((name, local));
            return;
        }
        let (kind, header_end) = (SymbolKind::Variable, node.end_byte());
        let symbol =
            self.define(&Definition { name, name_node, node, kind, header_end, has_body: true });
        self.build.add_value(symbol, given);
    }

    /// Exports a value as a whole. It is bound to the name of the export object; members of an
    /// object literal are exports of their own.
    pub(in crate::extract) fn export_whole(&mut self, value: Node<'t>, node: Node<'t>) {
        let objects = &self.language.manifest.names.export_objects;
        let name = objects.first().map_or(NameId::NONE, |object| self.build.name(object));
        self.around.exported = true;
        if let Some((Rule::Lambda { name: Some(own), .. }, lambda)) = self.lambda_in(value)
            && let Some(own_node) = own.first(lambda)
        {
            let own = self.name_of(own_node);
            self.exported_names.push((name, own));
            self.named_value(own, own_node, node, value);
            return;
        }
        if self.named_value(name, value, node, value) {
            return;
        }
        let given = self.visit(value, READ);
        if let Expr::Members(members) = self.build.get(given) {
            self.export_members(members);
        }
        if let Expr::Name(local, _) = self.build.get(given) {
            self.exported_names.push((name, local));
        } else {
            self.bind(ScopeId(0), name, BindingKind::Value, 0, ExprId::NONE, given);
        }
    }

    fn export_members(&mut self, members: ScopeId) {
        let inside: Vec<_> = self
            .build
            .facts
            .bindings
            .iter()
            .filter(|binding| binding.scope == members)
            .cloned()
            .collect();
        for binding in inside {
            if let BindingKind::Symbol = binding.kind {
                self.build.symbol_mut(binding.symbol).flags |= flags::EXPORTED;
                self.build.bind_symbol(ScopeId(0), ScopeId(0), binding.name, 0, binding.symbol);
            } else if let Expr::Name(local, _) = self.build.get(binding.value) {
                self.exported_names.push((binding.name, local));
            } else {
                self.bind(
                    ScopeId(0),
                    binding.name,
                    BindingKind::Value,
                    0,
                    ExprId::NONE,
                    binding.value,
                );
            }
        }
    }

    /// Returns the title of a test in the form of a call with a title and a closure.
    pub(super) fn test_title(&mut self, callee: Node<'t>, args: Node<'t>) -> Option<Node<'t>> {
        let calls = &self.language.manifest.tests.calls;
        if calls.is_empty() {
            return None;
        }
        let text = self.text_of(callee);
        let head = text
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
            .next()
            .unwrap_or(text);
        if !calls.iter().any(|call| call == head) {
            return None;
        }
        let args = self.named_children(args);
        let title = args.first().copied()?;
        let is_text = matches!(self.rule_at(title), Some(Rule::Text { .. }));
        (is_text && args.iter().skip(1).any(|arg| self.lambda_in(*arg).is_some())).then_some(title)
    }

    /// Defines such a test as a symbol with its title; references in its closure belong to it.
    pub(super) fn test_call(
        &mut self,
        node: Node<'t>,
        callee: Node<'t>,
        args: Node<'t>,
        title: Node<'t>,
    ) -> ExprId {
        self.visit(callee, Usage::Site(SiteKind::Call));
        self.take_call_site();
        self.visit(title, READ);
        let name = self.name_of(title);
        let definition = Definition {
            name,
            name_node: title,
            node,
            kind: SymbolKind::Test,
            header_end: title.end_byte(),
            has_body: true,
        };
        // A title is no name that code can refer to.
        let outer = std::mem::replace(&mut self.around.detached, true);
        let symbol = self.define(&definition);
        self.around.detached = outer;
        let entry = self.build.symbol_mut(symbol);
        entry.flags = (entry.flags | flags::TEST) & !(flags::LOCAL | flags::EXPORTED);
        for arg in self.named_children(args).into_iter().skip(1) {
            match self.lambda_in(arg) {
                Some((lambda, lambda_node)) => drop(self.lambda(lambda, lambda_node, symbol)),
                None => drop(self.visit(arg, READ)),
            }
        }
        ExprId::NONE
    }
}
