//! Dispatch of expression rules: values and the references in them.

use crate::extract::bindings::variables::{Bind, Flow};
use crate::extract::walk::{READ, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::SiteKind;
use crate::model::facts::{BindingKind, Expr, ExprId, LocalSymbol, Run, ScopeKind};
use smallvec::SmallVec;
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Visits nodes with a value, and binding statements.
    pub(in crate::extract) fn express(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
        usage: Usage,
    ) -> ExprId {
        match rule {
            Rule::Name {} => self.name_expression(node, usage),
            Rule::Member { object, name, scoped } => {
                self.member(node, object.as_ref(), name, *scoped, usage)
            }
            Rule::Call { .. } => self.call(rule, node),
            Rule::Construct { .. } => self.construct(rule, node),
            Rule::Element { name } => self.element(node, name),
            Rule::Shorthand {} => self.shorthand(node),
            Rule::TypeValue {} => self.visit_type(node, READ),
            Rule::Types {} => {
                self.visit_types(node, Usage::Site(SiteKind::Type));
                ExprId::NONE
            }
            Rule::Index { object, key } => {
                let object = self.visit_selected(node, Some(object), READ);
                // Of several keys none is that of an element.
                let keys: SmallVec<[ExprId; 1]> = self
                    .every(key.as_ref(), node)
                    .into_iter()
                    .map(|key| self.visit(key, READ))
                    .collect();
                let key = if let [only] = keys[..] { only } else { ExprId::NONE };
                self.build.of(object, |object| Expr::Index(object, key))
            }
            Rule::SelfValue {} if !self.callable.self_scope.is_some() => ExprId::NONE,
            Rule::SelfValue {} => self.build.expr(Expr::SelfValue(self.callable.self_scope)),
            Rule::SuperValue {} => {
                let known = self.callable.self_scope.is_some();
                let scope = if known { self.callable.self_scope } else { self.scope };
                let value = self.build.expr(Expr::SuperValue(scope));
                if usage == Usage::Site(SiteKind::Call) {
                    let name = self.name_of(node);
                    self.site(usage, node, name, value);
                }
                value
            }
            Rule::Literal { ty, suffixes } if suffixes.is_empty() => self.literal(ty),
            Rule::Literal { ty, suffixes } => {
                let text = self.text_of(node);
                let special = suffixes.iter().find(|(suffix, _)| text.ends_with(suffix.as_str()));
                self.literal(special.map_or(ty, |(_, ty)| ty))
            }
            Rule::Text { ty } => {
                self.visit_children(node);
                self.literal(ty)
            }
            Rule::List { ty } => self.list_literal(node, ty),
            Rule::Mapping { key, value, .. } => {
                self.mapping_literal(node, key.as_ref(), value.as_ref())
            }
            Rule::Tuple {} => self.tuple(node, usage),
            Rule::Object {} => self.object(node, LocalSymbol::NONE),
            Rule::Await { of } => {
                let value = self.inner(node, of.as_ref());
                self.build.of(value, Expr::Await)
            }
            Rule::Unwrap { of } => {
                let value = self.inner(node, of.as_ref());
                self.build.of(value, Expr::Unwrapped)
            }
            Rule::Choice { of, condition } => self.choice(node, of, condition.as_ref()),
            Rule::Spread {} => self.visit_children(node),
            Rule::Operator { .. } => self.operator(rule, node),
            Rule::TypeTest { value, ty, name } => {
                self.type_test(node, value, ty.as_ref(), name.as_ref())
            }
            Rule::Cast { ty, value, array } => self.cast(node, ty, value.as_ref(), *array),
            Rule::Lambda { .. } => self.lambda(rule, node, LocalSymbol::NONE),
            Rule::Comprehension { value, container } => self.comprehension(node, value, container),
            Rule::For { .. } => self.for_loop(rule, node),
            Rule::With { value, name } => self.with(node, value, name.as_ref()),
            Rule::As { value, name } => {
                let given = self.visit_selected(node, Some(value), READ);
                if let Some(name) = name.first(node) {
                    self.bind_pattern(
                        name,
                        Flow { ty: ExprId::NONE, value: given, node },
                        Bind::AssignNew,
                    );
                }
                given
            }
            Rule::Catch { ty, name, body } => {
                self.catch(node, ty.as_ref(), name.as_ref(), body.as_ref())
            }
            Rule::If { condition, then, otherwise } => {
                self.branch(node, condition, then, otherwise.as_ref())
            }
            Rule::Let { .. } => self.let_binding(rule, node),
            Rule::Match { value, name, body } => {
                self.match_value(node, value.as_ref(), name.as_ref(), body.as_ref())
            }
            Rule::Case { .. } => self.block(node, ScopeKind::Block),
            Rule::MacroCall { .. } => self.macro_call(rule, node),
            Rule::NamedArgument { value } => self.visit_selected(node, Some(value), READ),
            Rule::MethodReference { object, name } => {
                let Some(name_node) = name.first(node) else {
                    return self.constructor_reference(node, object);
                };
                let object = self.visit_selected(node, Some(object), READ);
                let name = self.name_of(name_node);
                let value = self.build.of(object, |object| Expr::Member(object, name));
                self.site(READ, name_node, name, value);
                value
            }
            Rule::Initializer { name, value } => self.initializer(node, name, value.as_ref()),
            _ => self.visit_children(node),
        }
    }

    fn inner(&mut self, node: Node<'t>, of: Option<&'static Selector>) -> ExprId {
        match of {
            Some(_) => self.visit_selected(node, of, READ),
            None => self.visit_children(node),
        }
    }

    pub(in crate::extract) fn literal(&mut self, ty: &str) -> ExprId {
        if ty.is_empty() {
            return ExprId::NONE;
        }
        let name = self.build.name(ty);
        self.build.expr(Expr::Literal(name))
    }

    fn name_expression(&mut self, node: Node<'t>, usage: Usage) -> ExprId {
        let text = self.trimmed_text(node);
        if self.is_self_type(text) {
            return self.build.expr(Expr::SelfType(self.scope));
        }
        if let Some(word) = self.path_word(text) {
            return word;
        }
        let name = self.build.name(text);
        if self.is_ignored_text(text) {
            return ExprId::NONE;
        }
        let value = self.build.expr(Expr::Name(name, self.scope));
        self.site(usage, node, name, value);
        value
    }

    /// Constructor reference without a call: a function that returns an instance of the type.
    fn constructor_reference(&mut self, node: Node<'t>, object: &'static Selector) -> ExprId {
        object.first(node).map_or(ExprId::NONE, |ty| self.visit_type(ty, READ))
    }

    fn cast(
        &mut self,
        node: Node<'t>,
        ty: &'static Selector,
        value: Option<&'static Selector>,
        array: bool,
    ) -> ExprId {
        let ty_node = ty.first(node);
        let mut ty =
            ty_node.map_or(ExprId::NONE, |ty| self.visit_type(ty, Usage::Site(SiteKind::Type)));
        if array {
            ty = self.build.of(ty, Expr::Array);
        }
        let wanted = self.build.of(ty, Expr::OfType);
        let value_node = value.and_then(|selector| selector.first(node));
        let mut value = ExprId::NONE;
        for child in self.named_children(node) {
            if ty_node.is_none_or(|ty| ty.id() != child.id()) {
                let is_value = value_node.is_some_and(|value| value.id() == child.id());
                let visited =
                    if is_value { self.visit_as(child, wanted) } else { self.visit(child, READ) };
                value = if is_value { visited } else { value };
            }
        }
        if wanted.is_some() { wanted } else { value }
    }

    fn call(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Call { callee, object, name, args, type_args } = rule else {
            return ExprId::NONE;
        };
        let args_node = args.as_ref().and_then(|selector| selector.first(node));
        let mut callee_node = callee.as_ref().and_then(|selector| selector.first(node));
        if let (Some(callee), Some(args)) = (callee_node, args_node) {
            if let Some(module) = self.import_call(node, callee, args) {
                return module;
            }
            if let Some(title) = self.test_title(callee, args) {
                return self.test_call(node, callee, args, title);
            }
        }
        // Some grammars parse `await f<T>(x)` as a call of the result of awaiting `f`.
        let awaited = match callee_node.map(|callee| (callee, self.rule_at(callee))) {
            Some((awaits, Some(Rule::Await { of: None })))
                if type_args.as_ref().is_some_and(|s| s.first(node).is_some()) =>
            {
                callee_node = self.first_named_child(awaits);
                true
            }
            _ => false,
        };
        let usage = Usage::Site(SiteKind::Call);
        self.take_call_site();
        let callee_value = match name.as_ref().and_then(|selector| selector.first(node)) {
            Some(name_node) => match object.as_ref().and_then(|selector| selector.first(node)) {
                Some(object_node) => {
                    let object = self.visit(object_node, READ);
                    let object = self.known(object);
                    let name = self.name_of(name_node);
                    let value = self.build.expr(Expr::Member(object, name));
                    self.take_call_site();
                    self.site(usage, name_node, name, value);
                    value
                }
                None => self.visit(name_node, usage),
            },
            None => {
                let Some(callee_node) = callee_node else {
                    self.computed_call(node, SiteKind::Call);
                    return self.visit_children(node);
                };
                if let Some(cast) = self.cast_call(callee_node) {
                    self.arguments(args_node);
                    return cast;
                }
                let value = self.visit(callee_node, usage);
                if value.is_some()
                    && !matches!(
                        self.build.get(value),
                        Expr::Name(..) | Expr::Member(..) | Expr::SuperValue(_)
                    )
                {
                    self.take_call_site();
                    let is_self = matches!(self.rule_at(callee_node), Some(Rule::SelfValue {}));
                    let name =
                        if is_self { self.name_of(callee_node) } else { self.build.name("()") };
                    self.site(usage, callee_node, name, value);
                }
                value
            }
        };
        if !self.call_site.is_some() {
            self.computed_call(callee_node.unwrap_or(node), SiteKind::Call);
        }
        let site = self.take_call_site();
        for ty in self.every(type_args.as_ref(), node) {
            self.visit_types(ty, Usage::Site(SiteKind::Type));
        }
        let (list, spread, count) = self.arguments(args_node);
        if let Some(index) = site.get() {
            let entry = &mut self.build.sites[index];
            entry.args = list;
            entry.spread = spread;
        }
        if count == 0 && self.is_super_call(callee_value) {
            if let Some(index) = site.get() {
                self.build.sites[index].kind = SiteKind::Call;
            }
            return self.build.expr(Expr::SuperValue(self.scope));
        }
        let value = self.build.of(callee_value, |callee| Expr::Call(callee, list));
        if self.language.manifest.narrowing.guards && count > 0 {
            self.calls.insert(node.id(), value);
        }
        if awaited { self.build.of(value, Expr::Await) } else { value }
    }

    /// Call with the result type as a type argument (`static_cast<T>(…)`): returns a value of that
    /// type.
    fn cast_call(&mut self, callee: Node<'t>) -> Option<ExprId> {
        let names = &self.language.manifest.names.cast_calls;
        if names.is_empty() {
            return None;
        }
        let text = self.text_of(callee);
        let name =
            text.split('<').next().map(str::trim_end).filter(|name| name.len() < text.len())?;
        if !names.iter().any(|cast| cast == name) {
            return None;
        }
        let arguments = self.last_named_child(callee)?;
        let types = self.visit_types(arguments, Usage::Site(SiteKind::Type));
        let ty = types.first().copied().unwrap_or(ExprId::NONE);
        Some(self.build.of(ty, Expr::OfType))
    }

    fn is_super_call(&self, callee: ExprId) -> bool {
        let Expr::Name(name, _) = self.build.get(callee) else { return false };
        let text = self.build.text(name);
        self.language.manifest.names.super_calls.iter().any(|word| word == text)
    }

    fn list_literal(&mut self, node: Node<'t>, ty: &str) -> ExprId {
        let mut items = Vec::new();
        for child in self.named_children(node) {
            let value = self.visit(child, READ);
            let several = matches!(self.rule_at(child), Some(Rule::Spread {}));
            items.push(if several { self.build.of(value, Expr::Element) } else { value });
        }
        let item = self.build.union(&items);
        if item.is_some() {
            let name = self.build.name(ty);
            let base = self.build.expr(Expr::Literal(name));
            let list = self.build.list(&[item]);
            return self.build.expr(Expr::Apply(base, list));
        }
        self.literal(ty)
    }

    fn mapping_literal(
        &mut self,
        node: Node<'t>,
        key: Option<&'static Selector>,
        value: Option<&'static Selector>,
    ) -> ExprId {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for child in self.named_children(node) {
            let pair = (
                key.and_then(|selector| selector.first(child)),
                value.and_then(|selector| selector.first(child)),
            );
            if let (Some(key), Some(value)) = pair {
                keys.push(self.visit(key, READ));
                values.push(self.visit(value, READ));
            } else {
                self.visit(child, READ);
            }
        }
        let (key, value) = (self.build.union(&keys), self.build.union(&values));
        let (key, value) = (self.known(key), self.known(value));
        self.build.expr(Expr::Mapping(key, value))
    }

    fn tuple(&mut self, node: Node<'t>, usage: Usage) -> ExprId {
        let children = self.named_children(node);
        if let [only] = children[..] {
            return self.visit(only, usage);
        }
        let mut parts = SmallVec::<[ExprId; 8]>::new();
        for child in children {
            let part = self.visit(child, READ);
            parts.push(self.known(part));
        }
        let list = self.build.list(&parts);
        self.build.expr(Expr::Tuple(list))
    }

    /// Object literal; its members belong to the symbol that holds it, if any.
    pub(in crate::extract) fn object(&mut self, node: Node<'t>, symbol: LocalSymbol) -> ExprId {
        let scope = self.open(ScopeKind::Type, symbol, node);
        let inner = self.scope;
        self.visit_children(node);
        self.close(scope);
        self.build.expr(Expr::Members(inner))
    }

    fn shorthand(&mut self, node: Node<'t>) -> ExprId {
        let value = self.name_expression(node, READ);
        if self.build.scope_kind(self.scope) == ScopeKind::Type {
            let name = self.name_of(node);
            self.bind(self.scope, name, BindingKind::Field, node.start_byte(), ExprId::NONE, value);
        }
        value
    }

    fn element(&mut self, node: Node<'t>, name: &'static Selector) -> ExprId {
        let name_node = name.first(node);
        let mut component = ExprId::NONE;
        if let Some(name_node) = name_node {
            let builtin = matches!(self.rule_at(name_node), Some(Rule::Name {}))
                && self.text_of(name_node).starts_with(|first: char| first.is_lowercase());
            if !builtin {
                component = self.visit(name_node, Usage::Site(SiteKind::Construct));
                self.take_call_site();
            }
        }
        for child in self.named_children(node) {
            if name_node.is_none_or(|name| name.id() != child.id()) {
                self.visit(child, READ);
            }
        }
        self.build.of(component, |component| Expr::Construct(component, Run::default()))
    }

    fn operator(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Operator {
            left,
            right,
            operator,
            either,
            truth,
            last,
            truth_type,
            arithmetic,
            item,
            type_test,
        } = rule
        else {
            return ExprId::NONE;
        };
        if left.is_none() && right.is_none() {
            self.visit_children(node);
            return ExprId::NONE;
        }
        let word = match operator.as_ref().and_then(|selector| selector.first(node)) {
            Some(operator) => self.text_of(operator),
            None => self.first_token(node).map_or("", |token| token.kind()),
        };
        let is = |words: &[String]| words.iter().any(|candidate| candidate == word);
        if is(type_test)
            && let (Some(left), Some(right)) = (left, right)
        {
            return self.type_test(node, left, Some(right), None);
        }
        let left_node = left.as_ref().and_then(|selector| selector.first(node));
        let left = left_node.map_or(ExprId::NONE, |left| self.visit(left, READ));
        let right = match right.as_ref().and_then(|selector| selector.first(node)) {
            Some(right) => self.visit_where(
                left_node.filter(|_| is(&self.language.manifest.narrowing.and)),
                right,
            ),
            None => ExprId::NONE,
        };
        if is(last) {
            right
        } else if is(either) {
            self.build.union(&[left, right])
        } else if is(truth) {
            self.literal(truth_type)
        } else if is(arithmetic) {
            self.operator_call(left, word, right)
        } else if is(item) {
            self.build.of(left, Expr::Element)
        } else {
            match self.build.get(left) {
                Expr::Literal(_) | Expr::Apply(..) => left,
                _ => match self.language.manifest.names.operators.get(word) {
                    Some(member) if left.is_some() => self.operator_call(left, member, right),
                    _ => ExprId::NONE,
                },
            }
        }
    }

    fn operator_call(&mut self, left: ExprId, member: &str, right: ExprId) -> ExprId {
        let (left, right, name) = (self.known(left), self.known(right), self.build.name(member));
        let (callee, args) = (self.build.expr(Expr::Member(left, name)), self.build.list(&[right]));
        self.build.expr(Expr::Call(callee, args))
    }
}
