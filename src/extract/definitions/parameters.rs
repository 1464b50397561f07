//! Parameters: bindings, arity, receivers, and parameters that are fields.

use crate::extract::bindings::variables::{Bind, Flow};
use crate::extract::walk::children::Children;
use crate::extract::walk::{READ, Usage, Walker, offset};
use crate::grammar::{Gathers, Pattern, Rule};
use crate::model::facts::{
    Binding, BindingKind, Expr, ExprId, ImportId, LocalSymbol, NameId, Run, ScopeKind, flags,
};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Binds parameters in the current scope and records them in their symbol.
    pub(in crate::extract) fn parameters(&mut self, node: Node<'t>, symbol: LocalSymbol) {
        let nodes = match self.rule_at(node) {
            Some(Rule::Name {} | Rule::Param { .. }) => smallvec::smallvec![node],
            _ => self.named_children(node),
        };
        self.parameters_among(node, nodes, symbol);
    }

    /// Does the same for the parameters among the children of a node.
    pub(super) fn parameters_among(
        &mut self,
        node: Node<'t>,
        nodes: Children<'t>,
        symbol: LocalSymbol,
    ) {
        let mut start = self.build.facts.bindings.len();
        let (mut least, mut most, mut position) = (0u16, 0u16, 0u32);
        let comment = self.documented.take().filter(|_| symbol.is_some());
        let closure = !symbol.is_some()
            || self.build.symbol_mut(symbol).flags & flags::FUNCTION_VALUE != 0
            || self.is_in_object(symbol);
        // Names in patterns, and fields, follow all parameters, so that parameters and arguments
        // have the same positions.
        let mut patterns: Vec<(Node<'t>, Flow<'t>, bool)> = Vec::new();
        if self.has_rest_word(node) {
            most = u16::MAX;
        }
        let mut receiver = self.first_parameter(symbol);
        let in_type = self.build.scope_kind(self.scope) == ScopeKind::Type;
        for param in nodes {
            if self
                .language
                .manifest
                .names
                .ignored_params
                .iter()
                .any(|text| text == self.text_of(param))
            {
                continue;
            }
            if let Some(value) = receiver.take() {
                self.receiver_parameter(param, value, symbol);
                // It takes no argument of a call.
                start = self.build.facts.bindings.len();
                continue;
            }
            match self.rule_at(param) {
                Some(Rule::ParamMark {} | Rule::Decorator { .. }) => continue,
                Some(Rule::SelfParam { .. }) => {
                    if symbol.is_some() {
                        self.build.symbol_mut(symbol).flags |= flags::HAS_SELF;
                    }
                    continue;
                }
                Some(Rule::Param { name: Some(name), ty, .. })
                    if self.is_self_word(name.first(param)) =>
                {
                    if symbol.is_some() {
                        self.build.symbol_mut(symbol).flags |= flags::HAS_SELF;
                    }
                    if let Some(ty) = ty.as_ref().and_then(|selector| selector.first(param)) {
                        let ty = self.visit_type(ty, Usage::Site(SiteKind::Type));
                        self.declare_receiver(ty);
                    }
                    continue;
                }
                Some(rule @ Rule::Param { variadic, optional, value, .. }) => {
                    let given = if closure {
                        self.build.expr(Expr::Given(self.scope, position))
                    } else {
                        ExprId::NONE
                    };
                    let count = self.parameter(rule, param, in_type, given, &mut patterns);
                    let has_default = *optional
                        || value.as_ref().is_some_and(|selector| selector.first(param).is_some());
                    if *variadic || self.is_variadic(param) {
                        most = u16::MAX;
                    } else {
                        most = most.saturating_add(count);
                        least += if has_default { 0 } else { count };
                    }
                }
                _ => {
                    let given = if closure {
                        self.build.expr(Expr::Given(self.scope, position))
                    } else {
                        ExprId::NONE
                    };
                    let ty = self.documented_parameter(comment, param);
                    let flow = Flow { ty, value: given, node: param };
                    let rest = matches!(
                        self.language.pattern(param.kind_id()),
                        Some(Pattern::Rest { .. })
                    );
                    let default = matches!(
                        self.language.pattern(param.kind_id()),
                        Some(Pattern::Default { .. })
                    );
                    self.bind_parameter(param, flow, &mut patterns);
                    most = if rest { u16::MAX } else { most.saturating_add(1) };
                    least += u16::from(!rest && !default);
                }
            }
            position += 1;
        }
        let run =
            Run { start: offset(start), len: offset(self.build.facts.bindings.len() - start) };
        for (pattern, flow, is_field) in patterns {
            if is_field {
                self.field_parameter(pattern, flow);
            } else {
                self.bind_pattern(pattern, flow, Bind::Param);
            }
        }
        if symbol.is_some() {
            let stated = self.documented_result(comment, node);
            let entry = self.build.symbol_mut(symbol);
            entry.params = run;
            entry.arity = (least, most);
            entry.ty = if entry.ty.is_some() { entry.ty } else { stated };
        }
    }

    /// True if a callable is a member of an object literal.
    fn is_in_object(&mut self, symbol: LocalSymbol) -> bool {
        let scope = self.build.symbol_mut(symbol).scope;
        let Some(scope) = scope.get().map(|position| &self.build.facts.scopes[position]) else {
            return false;
        };
        let of_type = scope
            .symbol
            .get()
            .is_some_and(|symbol| self.build.facts.symbols[symbol].kind.is_type());
        scope.kind == ScopeKind::Type && !of_type && !scope.owner.is_some()
    }

    /// Binds a parameter that is a name; for a pattern binds the position and records the pattern.
    fn bind_parameter(
        &mut self,
        node: Node<'t>,
        flow: Flow<'t>,
        patterns: &mut Vec<(Node<'t>, Flow<'t>, bool)>,
    ) {
        let pattern = match self.language.pattern(node.kind_id()) {
            Some(Pattern::Default { of, .. }) => {
                of.first(node).and_then(|of| self.language.pattern(of.kind_id()))
            }
            other => other,
        };
        if !matches!(pattern, Some(Pattern::Fields { .. } | Pattern::Tuple { .. })) {
            self.bind_pattern(node, flow, Bind::Param);
            return;
        }
        self.unnamed_parameter(flow.ty, flow.value);
        patterns.push((node, flow, false));
    }

    /// Binds the position of a parameter without a name.
    fn unnamed_parameter(&mut self, ty: ExprId, value: ExprId) {
        let scope = self.scope;
        self.build.bind(Binding {
            scope,
            block: scope,
            name: NameId::NONE,
            kind: BindingKind::Param,
            from: 0,
            symbol: LocalSymbol::NONE,
            import: ImportId::NONE,
            ty,
            value,
        });
    }

    /// Records the declared receiver type of a callable outside of any type.
    fn declare_receiver(&mut self, ty: ExprId) {
        if let Some(scope) =
            self.scope.get().filter(|_| ty.is_some() && !self.callable.self_scope.is_some())
        {
            self.build.facts.scopes[scope].owner = ty;
            self.callable.self_scope = self.scope;
        }
    }

    pub(in crate::extract) fn is_self_word(&self, name: Option<Node<'t>>) -> bool {
        name.is_some_and(|name| self.rule_at(name) == Some(&Rule::SelfValue {}))
    }

    fn is_variadic(&mut self, param: Node<'t>) -> bool {
        let is_rest = |child: Node<'_>| {
            matches!(self.language.pattern(child.kind_id()), Some(Pattern::Rest { .. }))
        };
        self.language.has_rests() && self.named_children(param).into_iter().any(is_rest)
    }

    fn receiver_parameter(&mut self, param: Node<'t>, value: Expr, symbol: LocalSymbol) {
        let name_node = match self.rule_at(param) {
            Some(Rule::Param { name: Some(name), .. }) => name.first(param).unwrap_or(param),
            _ => param,
        };
        let name = self.name_of(name_node);
        let value = self.build.expr(value);
        let scope = self.scope;
        self.build.bind(Binding {
            scope,
            block: scope,
            name,
            kind: BindingKind::Param,
            from: 0,
            symbol: LocalSymbol::NONE,
            import: ImportId::NONE,
            ty: ExprId::NONE,
            value,
        });
        self.callable.receiver = name;
        if symbol.is_some() {
            self.build.symbol_mut(symbol).flags |= flags::HAS_SELF;
        }
    }

    /// Binds one parameter node, which may contain several names; returns their number.
    fn parameter(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
        in_type: bool,
        given: ExprId,
        patterns: &mut Vec<(Node<'t>, Flow<'t>, bool)>,
    ) -> u16 {
        let Rule::Param { name, declarator, ty, value, variadic, .. } = rule else { return 0 };
        self.visit_modifiers(node);
        self.pending = crate::extract::walk::Pending::default();
        let mut declared = match ty.as_ref().and_then(|selector| selector.first(node)) {
            Some(ty) => self.visit_type(ty, Usage::Site(SiteKind::Type)),
            None => ExprId::NONE,
        };
        let default = self.visit_selected(node, value.as_ref(), READ);
        if *variadic {
            declared = self.build.of(declared, Expr::Array);
        }
        let mut names = self.every(name.as_ref(), node);
        if let Some(start) = declarator.as_ref().and_then(|selector| selector.first(node)) {
            let found = self.declarator(start);
            declared = self.wrapped(declared, &found.wraps);
            names.extend(found.name);
        }
        let as_field = in_type || self.is_field_parameter(node);
        for name_node in &names {
            let flow = Flow { ty: declared, value: default, node };
            if in_type {
                self.field_parameter(*name_node, flow);
            } else if as_field {
                patterns.push((*name_node, flow, true));
            }
            let declared = self.gathered(*name_node, declared);
            if !in_type {
                let value =
                    if declared.is_some() { default } else { self.build.union(&[default, given]) };
                self.bind_parameter(*name_node, Flow { ty: declared, value, ..flow }, patterns);
            }
        }
        if names.is_empty() {
            self.unnamed_parameter(declared, default);
            return 1;
        }
        u16::try_from(names.len()).unwrap_or(u16::MAX)
    }

    /// Returns the type of a variadic parameter: a collection of the declared type.
    fn gathered(&mut self, name: Node<'t>, declared: ExprId) -> ExprId {
        match self.language.pattern(name.kind_id()) {
            Some(Pattern::Rest { gathers: Some(Gathers::Items), .. }) => {
                self.build.of(declared, Expr::Array)
            }
            Some(Pattern::Rest { gathers: Some(Gathers::Named), .. }) if declared.is_some() => {
                let key = self.build.expr(Expr::Unknown);
                self.build.expr(Expr::Mapping(key, declared))
            }
            _ => declared,
        }
    }

    /// Binds the type arguments of a receiver's type as names of that type's parameters.
    pub(super) fn receiver_type_params(&mut self, symbol: LocalSymbol) {
        let mut owner = self.build.symbol_mut(symbol).owner;
        while let Expr::Wrap(inner, _) = self.build.get(owner) {
            owner = inner;
        }
        let Expr::Apply(_, args) = self.build.get(owner) else { return };
        for arg in self.build.items(args).to_vec() {
            if let Expr::Name(name, _) = self.build.get(arg) {
                self.bind(self.scope, name, BindingKind::TypeParam, 0, ExprId::NONE, ExprId::NONE);
            }
        }
    }

    /// Visits a return type. Results in the form of parameters are one type or a tuple, and their
    /// names are variables of the callable.
    pub(in crate::extract) fn result_type(&mut self, returns: Node<'t>) -> ExprId {
        let results = self.named_children(returns);
        if !results.iter().any(|result| matches!(self.rule_at(*result), Some(Rule::Param { .. }))) {
            return self.visit_type(returns, Usage::Site(SiteKind::Type));
        }
        let mut parts = Vec::new();
        for result in results {
            let Some(rule @ Rule::Param { ty, .. }) = self.rule_at(result) else { continue };
            let count = self.parameter(rule, result, false, ExprId::NONE, &mut Vec::new());
            let ty = ty.as_ref().and_then(|selector| selector.first(result));
            let ty = ty.map_or(ExprId::NONE, |ty| self.visit_type(ty, Usage::Silent));
            let ty = self.known(ty);
            parts.extend(std::iter::repeat_n(ty, usize::from(count)));
        }
        if let [only] = parts[..] {
            return only;
        }
        let list = self.build.list(&parts);
        self.build.expr(Expr::Tuple(list))
    }

    /// True if a parameter also declares a field: it has a visibility modifier in a constructor.
    fn is_field_parameter(&mut self, node: Node<'t>) -> bool {
        self.callable.type_scope.is_some()
            && self.children(node).into_iter().any(|child| {
                (self.language.is_modifier_node(child.kind_id()) || !child.is_named())
                    && self
                        .language
                        .manifest
                        .names
                        .field_parameter_words
                        .iter()
                        .any(|word| word == self.text_of(child))
            })
    }

    fn field_parameter(&mut self, name_node: Node<'t>, flow: Flow<'t>) {
        let (scope, around) = (self.scope, self.around);
        if self.callable.type_scope.is_some() {
            self.scope = self.callable.type_scope;
        }
        self.bind_pattern(name_node, flow, Bind::Declare(SymbolKind::Field));
        (self.scope, self.around) = (scope, around);
    }
}
