//! Symbols: conversion of definitions, with their modifiers and decorators.

use crate::extract::facts::text;
use crate::extract::walk::{Definition, Pending, READ, Walker, offset, position};
use crate::grammar::{ConstructorNames, ExportRule, Rule};
use crate::model::facts::{Expr, ExprId, LocalSymbol, Run, ScopeId, ScopeKind, Symbol, flags};
use crate::model::{Position, Span, SymbolKind, Visibility};
use tree_sitter::Node;

/// Modifiers and decorators of a definition.
#[derive(Default)]
pub(in crate::extract) struct Marks {
    pub(in crate::extract) flags: u16,
    visibility: Option<Visibility>,
    exported: bool,
    constant: bool,
}

impl<'t> Walker<'t> {
    pub(in crate::extract) fn define(&mut self, definition: &Definition<'t>) -> LocalSymbol {
        self.keep_comment();
        let pending = std::mem::take(&mut self.pending);
        let whole = self
            .whole
            .filter(|(only, _)| *only == definition.node.id())
            .map_or(definition.node, |(_, whole)| whole);
        let marks = self.marks(whole, &pending);
        let declaring = self.declaring_scope(definition.kind);
        let scope_kind = self.build.scope_kind(declaring);
        let member = scope_kind == ScopeKind::Type;
        let name = self.build.text(definition.name).to_owned();
        let kind = self.adjusted_kind(definition.kind, &name, member, declaring);
        let local = self.build.nearest(declaring, |kind| kind == ScopeKind::Function).is_some();
        let visibility = self.visibility(&name, marks.visibility, declaring, kind);
        let mut bits = marks.flags;
        if local && !member {
            bits |= flags::LOCAL;
        }
        if self.is_exported(&marks, visibility, declaring, local) {
            bits |= flags::EXPORTED;
        }
        if self.around.conditional {
            bits |= flags::CONDITIONAL;
        }
        if self.around.default_export {
            bits |= flags::DEFAULT_EXPORT;
        }
        let is_empty = self.language.manifest.resolution.empty_bodies;
        if !definition.has_body
            && !is_empty
            && definition.kind.is_callable()
            && bits & flags::ABSTRACT == 0
        {
            bits |= if member && self.declares_abstractly(declaring) {
                flags::ABSTRACT
            } else {
                flags::DECLARATION
            };
        }
        let start = definition.first_node(whole, &pending);
        let extent = self.extent(start, whole);
        let signature = text::signature(&self.text_at(whole.start_byte()..definition.header_end));
        let doc = self.documentation(definition, whole, &pending);
        let applied: Vec<ExprId> = pending
            .decorators
            .iter()
            .map(|decorator| decorator.value)
            .filter(|value| value.is_some())
            .collect();
        let decorators = self.build.list(&applied);
        let symbol = self.build.symbol(Symbol {
            name: definition.name,
            kind,
            container: self.container(declaring),
            scope: declaring,
            inner: ScopeId::NONE,
            flags: bits,
            visibility,
            extent,
            name_at: position(definition.name_node),
            signature,
            doc,
            params: Run::default(),
            arity: (0, u16::MAX),
            ty: ExprId::NONE,
            values: Run::default(),
            decorators,
            bases: Run::default(),
            type_params: Run::default(),
            owner: self.around.owner,
            implements: self.around.implements,
        });
        let from = if self.language.manifest.resolution.hoisted {
            0
        } else {
            offset(definition.node.start_byte())
        };
        // A constructor named like its type is reachable only through the type.
        let is_hidden = kind == SymbolKind::Constructor
            && self.language.manifest.names.constructor_rule == ConstructorNames::TypeName;
        if !self.around.detached && !is_hidden {
            self.build.bind_symbol(declaring, self.scope, definition.name, from, symbol);
        }
        symbol
    }

    fn extent(&self, first: Node<'t>, last: Node<'t>) -> Span {
        let mut end = last.end_position();
        let mut end_byte = last.end_byte();
        let text = self.source.get(..end_byte).unwrap_or_default();
        if end.column == 0 && end_byte > first.start_byte() && text.ends_with(b"\n") {
            // A node that includes the end of the line (a directive) ends on its own line.
            end_byte -= 1;
            end.row -= 1;
            end.column = text[..end_byte].iter().rev().take_while(|&&byte| byte != b'\n').count();
        }
        Span {
            start_byte: offset(first.start_byte()),
            end_byte: offset(end_byte),
            start: position(first),
            end: Position { line: offset(end.row + 1), column: offset(end.column) },
        }
    }

    /// Returns the scope in which a definition of this kind is declared.
    fn declaring_scope(&self, kind: SymbolKind) -> ScopeId {
        let owns = |scope: ScopeKind| match scope {
            ScopeKind::Flow => false,
            ScopeKind::Block => !self.language.manifest.resolution.function_scoped,
            _ => true,
        };
        let _ = kind;
        self.build.nearest(self.scope, owns)
    }

    fn container(&self, declaring: ScopeId) -> LocalSymbol {
        let mut scope = declaring;
        while let Some(index) = scope.get() {
            let entry = &self.build.facts.scopes[index];
            if entry.symbol.is_some() {
                return entry.symbol;
            }
            scope = entry.parent;
        }
        LocalSymbol::NONE
    }

    fn adjusted_kind(
        &self,
        kind: SymbolKind,
        name: &str,
        member: bool,
        declaring: ScopeId,
    ) -> SymbolKind {
        let belongs = member || self.around.owner.is_some();
        match kind {
            SymbolKind::Function if belongs => {
                let names = &self.language.manifest.names;
                let is_constructor = match names.constructor_rule {
                    ConstructorNames::Listed => {
                        names.constructors.iter().any(|constructor| constructor == name)
                    }
                    ConstructorNames::TypeName => {
                        self.type_name_of(declaring).is_some_and(|type_name| type_name == name)
                    }
                };
                if is_constructor { SymbolKind::Constructor } else { SymbolKind::Method }
            }
            SymbolKind::Variable | SymbolKind::Constant if member => {
                match self.enclosing_type_kind(declaring) {
                    Some(SymbolKind::Enum) if kind == SymbolKind::Constant => SymbolKind::Constant,
                    _ if kind == SymbolKind::Constant => SymbolKind::Constant,
                    _ => SymbolKind::Field,
                }
            }
            other => other,
        }
    }

    /// Returns the name of the type that owns members defined here: of the scope, or of a path
    /// before the member (`A::f`).
    fn type_name_of(&self, declaring: ScopeId) -> Option<&str> {
        match self.build.get(self.around.owner) {
            Expr::Name(name, _) | Expr::Member(_, name) => return Some(self.build.text(name)),
            Expr::Apply(base, _) => {
                if let Expr::Name(name, _) | Expr::Member(_, name) = self.build.get(base) {
                    return Some(self.build.text(name));
                }
            }
            _ => {}
        }
        let symbol = self.build.facts.scopes[declaring.get()?].symbol.get()?;
        Some(self.build.text(self.build.facts.symbols[symbol].name))
    }

    fn enclosing_type_kind(&self, declaring: ScopeId) -> Option<SymbolKind> {
        let symbol = self.build.facts.scopes[declaring.get()?].symbol.get()?;
        Some(self.build.facts.symbols[symbol].kind)
    }

    /// True if members without a body are abstract: in interfaces and traits.
    fn declares_abstractly(&self, declaring: ScopeId) -> bool {
        matches!(
            self.enclosing_type_kind(declaring),
            None | Some(SymbolKind::Interface | SymbolKind::Trait | SymbolKind::TypeAlias)
        )
    }

    fn visibility(
        &self,
        name: &str,
        marked: Option<Visibility>,
        declaring: ScopeId,
        kind: SymbolKind,
    ) -> Visibility {
        let rule = &self.language.manifest.visibility;
        if let Some(marked) = marked.or(self.around.section) {
            return marked;
        }
        if rule.capital {
            return if name.chars().next().is_some_and(char::is_uppercase) {
                Visibility::Public
            } else {
                Visibility::Internal
            };
        }
        if rule.underscore
            && name.starts_with('_')
            && !(name.starts_with("__") && name.ends_with("__"))
        {
            return if name.starts_with("__") { Visibility::Private } else { Visibility::Internal };
        }
        if rule.private_prefix.as_ref().is_some_and(|prefix| name.starts_with(prefix.as_str())) {
            return Visibility::Private;
        }
        if self.around.implements.is_some()
            && let Some(word) = &rule.implementing
        {
            return Visibility::from_word(word).unwrap_or(Visibility::Public);
        }
        let of_members =
            self.enclosing_type_kind(declaring).and_then(|owner| rule.members.get(owner.word()));
        let word =
            if kind == SymbolKind::Variant { None } else { of_members.or(rule.default.as_ref()) };
        word.and_then(|word| Visibility::from_word(word)).unwrap_or(Visibility::Public)
    }

    fn is_exported(
        &self,
        marks: &Marks,
        visibility: Visibility,
        declaring: ScopeId,
        local: bool,
    ) -> bool {
        let visible = matches!(visibility, Visibility::Public | Visibility::Protected);
        if local {
            return false;
        }
        match self.language.manifest.exports {
            ExportRule::TopLevel | ExportRule::Public => visible,
            ExportRule::Marked => {
                let member = self.build.scope_kind(declaring) == ScopeKind::Type;
                marks.exported || self.around.exported || (member && visible)
            }
            ExportRule::Linkage => {
                let member = self.build.scope_kind(declaring) == ScopeKind::Type;
                visible && (member || marks.flags & flags::STATIC == 0)
            }
        }
    }

    /// Reads the words, modifier nodes and decorators of a definition.
    fn marks(&mut self, node: Node<'t>, pending: &Pending<'t>) -> Marks {
        let mut marks = Marks::default();
        for child in self.children(node) {
            let kind = child.kind_id();
            if self.language.is_token(kind) {
                if self.language.is_modifier(kind) {
                    self.mark_word(&mut marks, child.kind());
                }
            } else if self.language.is_modifier_node(kind) {
                for word in
                    self.text_of(child).split(|c: char| c.is_whitespace() || matches!(c, '(' | ')'))
                {
                    self.mark_word(&mut marks, word);
                }
            }
        }
        let rules = &self.language.manifest.modifiers;
        for crate::extract::walk::Decorator { name: decorator, node, .. } in &pending.decorators {
            let last = decorator.rsplit(['.', ':']).next().unwrap_or(decorator);
            let whole: String = self.text_of(*node).split_whitespace().collect();
            let whole = whole.trim_start_matches(['#', '[', '@']).trim_end_matches(']');
            let is = |names: &[String]| {
                names.iter().any(|name| name == last || **name == **decorator || name == whole)
            };
            for (names, bit) in [
                (&rules.static_decorators, flags::STATIC),
                (&rules.class_method_decorators, flags::CLASS_METHOD),
                (&rules.property_decorators, flags::PROPERTY),
                (&rules.abstract_decorators, flags::ABSTRACT),
                (&rules.overload_decorators, flags::DECLARATION),
                (&rules.deprecated_decorators, flags::DEPRECATED),
                (&rules.conditional_decorators, flags::CONDITIONAL),
                (&self.language.manifest.tests.decorators, flags::TEST),
            ] {
                if is(names) {
                    marks.flags |= bit;
                }
            }
            if is(&rules.public_decorators) {
                marks.visibility = Some(Visibility::Public);
            }
        }
        if self.around.declared_static {
            marks.flags |= flags::STATIC;
        }
        marks
    }

    /// Returns the visibility of a modifier node.
    pub(in crate::extract) fn marked_visibility(&self, node: Node<'t>) -> Option<Visibility> {
        let mut marks = Marks::default();
        for word in self.text_of(node).split(|c: char| c.is_whitespace() || matches!(c, '(' | ')'))
        {
            self.mark_word(&mut marks, word);
        }
        marks.visibility
    }

    pub(in crate::extract) fn mark_word(&self, marks: &mut Marks, word: &str) {
        let rules = &self.language.manifest.modifiers;
        let is = |names: &[String]| names.iter().any(|name| name == word);
        for (names, bit) in [
            (&rules.r#static, flags::STATIC),
            (&rules.r#abstract, flags::ABSTRACT),
            (&rules.r#async, flags::ASYNC),
            (&rules.property, flags::PROPERTY),
            (&rules.generator, flags::GENERATOR),
        ] {
            if is(names) {
                marks.flags |= bit;
            }
        }
        marks.constant |= is(&rules.constant);
        if let Some(visibility) = self.language.manifest.visibility.words.get(word) {
            match Visibility::from_word(visibility) {
                Some(visibility) => marks.visibility = Some(visibility),
                None => marks.exported |= visibility == "exported",
            }
        }
    }

    fn documentation(
        &mut self,
        definition: &Definition<'t>,
        whole: Node<'t>,
        pending: &Pending<'t>,
    ) -> Box<str> {
        let rules = &self.language.manifest.documentation;
        if let Some(kind) = &rules.body_string
            && definition.has_body
            && (definition.kind.is_callable() || definition.kind.is_type())
            && let Some(string) = self.first_string(definition.node, kind)
        {
            return text::summary(self.text_of(string));
        }
        let Some((start, end)) = pending.comment else { return Box::default() };
        let first = definition.first_node(whole, pending).start_byte();
        let gap = self.source.get(end..first).unwrap_or_default();
        let comment = self.text_at(start..end);
        let documents = rules.prefixes.is_empty()
            || rules.prefixes.iter().any(|prefix| comment.starts_with(prefix.as_str()));
        if !documents || gap.iter().filter(|&&byte| byte == b'\n').count() > 1 {
            return Box::default();
        }
        text::summary(&comment)
    }

    /// Returns the string that is the first statement of a definition's body.
    fn first_string(&mut self, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
        let body = self.last_named_child(node)?;
        let mut first = self.first_named_child(body)?;
        if first.kind() != kind {
            first = self.first_named_child(first)?;
        }
        (first.kind() == kind).then_some(first)
    }

    /// Visits decorators inside modifier nodes and adds them to the pending ones. Returns the ids
    /// of the visited nodes.
    pub(in crate::extract) fn visit_modifiers(&mut self, node: Node<'t>) -> Vec<usize> {
        let mut visited = Vec::new();
        if !self.language.has_decorators() {
            return visited;
        }
        for child in self.named_children(node) {
            if matches!(self.rule_at(child), Some(Rule::Decorator { .. })) {
                self.visit(child, READ);
                visited.push(child.id());
            } else if self.language.is_modifier_node(child.kind_id()) {
                for decorator in self.named_children(child) {
                    if matches!(self.rule_at(decorator), Some(Rule::Decorator { .. })) {
                        self.visit(decorator, READ);
                    }
                }
                visited.push(child.id());
            }
        }
        visited
    }
}
