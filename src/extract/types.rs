//! Type expressions and qualified names of definitions.

pub(super) mod generics;

use super::walk::{READ, Usage, Walker};
use crate::grammar::{Rule, TypeRule};
use crate::model::facts::{Expr, ExprId, LocalSymbol, NameId, ScopeKind, TYPE_GUARD};
use crate::model::{ProblemKind, SiteKind};
use tree_sitter::Node;

/// Maximum length of a type in a string or comment, in bytes: each level of brackets is scanned
/// again.
const MAX_TYPE_BYTES: usize = 8 << 10;

impl<'t> Walker<'t> {
    /// Visits a node in type position and returns the type.
    pub(super) fn visit_type(&mut self, node: Node<'t>, usage: Usage) -> ExprId {
        self.deeper(node, |walker| walker.visit_type_node(node, usage))
    }

    fn visit_type_node(&mut self, node: Node<'t>, usage: Usage) -> ExprId {
        let Some(rule) = self.language.type_rule(node.kind_id()) else {
            return match self.rule_at(node) {
                Some(Rule::Name {} | Rule::Member { .. }) => self.visit(node, usage),
                Some(Rule::Pass { of }) => {
                    let chosen = match of {
                        Some(selector) => selector.first(node),
                        None => self.first_named_child(node),
                    };
                    chosen.map_or(ExprId::NONE, |chosen| self.visit_type(chosen, usage))
                }
                _ => {
                    self.visit(node, READ);
                    ExprId::NONE
                }
            };
        };
        self.build.at = super::walk::offset(node.start_byte());
        let inner =
            if usage == Usage::Silent { Usage::Silent } else { Usage::Site(SiteKind::Type) };
        match rule {
            TypeRule::Skip {} | TypeRule::Mark {} => ExprId::NONE,
            TypeRule::Pass { of, otherwise } => {
                let mut found = ExprId::NONE;
                match of {
                    Some(selector) => {
                        found = selector
                            .first(node)
                            .map_or(ExprId::NONE, |child| self.visit_type(child, usage));
                    }
                    None => {
                        for child in self.named_children(node) {
                            let ty = self.visit_type(child, usage);
                            found = if found.is_some() { found } else { ty };
                        }
                    }
                }
                match otherwise {
                    Some(name) if !found.is_some() => self.literal(name),
                    _ => found,
                }
            }
            TypeRule::Each {} | TypeRule::Union {} => {
                let parts = self.visit_types(node, usage);
                self.build.union(&parts)
            }
            TypeRule::Name {} => {
                let text = self.text_of(node);
                if self.is_self_type(text) {
                    return self.build.expr(Expr::SelfType(self.scope));
                }
                if self.language.manifest.names.inferred_types.iter().any(|word| word == text) {
                    return ExprId::NONE;
                }
                if let Some(word) = self.path_word(text) {
                    return word;
                }
                let name = self.name_of(node);
                let value = self.build.expr(Expr::Name(name, self.scope));
                self.site(usage, node, name, value);
                value
            }
            TypeRule::Member { object, name } => {
                let object = object.as_ref().and_then(|selector| selector.first(node));
                let Some(name_node) = name.first(node) else { return ExprId::NONE };
                let object_usage = if usage == Usage::Silent { Usage::Silent } else { READ };
                let Some(object) = object else { return self.visit_type(name_node, usage) };
                let object = self.visit_type(object, object_usage);
                let object = self.path_head(object);
                let mut object = self.known(object);
                let mut name_node = name_node;
                // A path may nest in the name.
                while let Some(TypeRule::Member { object: Some(part), name: rest }) =
                    self.language.type_rule(name_node.kind_id())
                {
                    let (Some(part), Some(rest)) = (part.first(name_node), rest.first(name_node))
                    else {
                        break;
                    };
                    let (part, _) = self.generic_name(part, inner);
                    let name = self.name_of(part);
                    object = self.build.expr(Expr::Member(object, name));
                    self.site(object_usage, part, name, object);
                    name_node = rest;
                }
                let (name_node, args) = self.generic_name(name_node, inner);
                let name = self.name_of(name_node);
                let value = self.build.expr(Expr::Member(object, name));
                self.site(usage, name_node, name, value);
                self.applied(value, &args)
            }
            TypeRule::Apply { base, args } => {
                let base =
                    base.first(node).map_or(ExprId::NONE, |base| self.visit_type(base, usage));
                let mut list = Vec::new();
                for args in self.every(args.as_ref(), node) {
                    let is_list =
                        self.language.type_rule(args.kind_id()) == Some(&TypeRule::Each {});
                    if is_list {
                        for arg in self.named_children(args) {
                            if self.language.type_rule(arg.kind_id()) == Some(&TypeRule::Mark {}) {
                                continue;
                            }
                            let ty = self.visit_type(arg, inner);
                            list.push(self.known(ty));
                        }
                    } else {
                        let ty = self.visit_type(args, inner);
                        list.push(self.known(ty));
                    }
                }
                self.applied(base, &list)
            }
            TypeRule::Array { of, name } => {
                let item = of.first(node).map_or(ExprId::NONE, |item| self.visit_type(item, inner));
                let item = self.known(item);
                match name {
                    Some(name) => {
                        let base = self.literal(name);
                        self.applied(base, &[item])
                    }
                    None => self.build.expr(Expr::Array(item)),
                }
            }
            TypeRule::Mapping { key, value, .. } => {
                let key = key.first(node).map_or(ExprId::NONE, |key| self.visit_type(key, inner));
                let value =
                    value.first(node).map_or(ExprId::NONE, |value| self.visit_type(value, inner));
                let (key, value) = (self.known(key), self.known(value));
                self.build.expr(Expr::Mapping(key, value))
            }
            TypeRule::Wrap { of, name } => {
                let inside = match of {
                    Some(selector) => selector.first(node),
                    None => self.last_named_child(node),
                };
                let ty = inside.map_or(ExprId::NONE, |inside| self.visit_type(inside, usage));
                let name = name.as_ref().map_or(NameId::NONE, |name| self.build.name(name));
                self.build.of(ty, |ty| Expr::Wrap(ty, name))
            }
            TypeRule::Function { params, returns } => {
                let mut parts = Vec::new();
                if let Some(params) = params.as_ref().and_then(|selector| selector.first(node)) {
                    for param in self.named_children(params) {
                        let ty = self.parameter_type(param, inner);
                        if matches!(self.rule_at(param), Some(Rule::Param { name: Some(name), .. })
                            if self.is_self_word(name.first(param)))
                        {
                            continue;
                        }
                        parts.push(self.known(ty));
                    }
                }
                let result = returns.as_ref().and_then(|selector| selector.first(node));
                let result = result.map_or(ExprId::NONE, |result| self.visit_type(result, inner));
                parts.push(self.known(result));
                let list = self.build.list(&parts);
                self.build.expr(Expr::Function(list))
            }
            TypeRule::Tuple {} => {
                let mut parts = Vec::new();
                for part in self.visit_types(node, inner) {
                    parts.push(self.known(part));
                }
                if let [only] = parts[..] {
                    return only;
                }
                let list = self.build.list(&parts);
                self.build.expr(Expr::Tuple(list))
            }
            TypeRule::Object {} => {
                let scope = self.open(ScopeKind::Type, LocalSymbol::NONE, node);
                let members = self.scope;
                self.visit_children(node);
                self.close(scope);
                self.build.expr(Expr::Members(members))
            }
            TypeRule::Builtin { name } => {
                let text = name.as_deref().unwrap_or_else(|| self.text_of(node));
                let name = self.build.name(text);
                self.build.expr(Expr::Literal(name))
            }
            TypeRule::SelfType {} => self.build.expr(Expr::SelfType(self.scope)),
            TypeRule::Quoted {} => self.quoted_type(node),
            TypeRule::Expression {} => self.visit(node, READ),
            TypeRule::Guard { of } => {
                let tested = of.first(node).map_or(ExprId::NONE, |of| self.visit_type(of, inner));
                let base = self.literal(TYPE_GUARD);
                self.applied(base, &[tested])
            }
            TypeRule::TypeOf { of } => {
                let value = self.visit_selected(node, of.as_ref(), READ);
                self.build.of(value, Expr::TypeOf)
            }
            TypeRule::Specifier { name, body } => {
                if body.as_ref().is_some_and(|selector| selector.first(node).is_some()) {
                    return self.visit(node, READ);
                }
                match name.as_ref().and_then(|selector| selector.first(node)) {
                    Some(name) => self.visit_type(name, usage),
                    None => ExprId::NONE,
                }
            }
        }
    }

    /// Returns the first segment of a path, where it never names a value.
    pub(super) fn path_head(&mut self, object: ExprId) -> ExprId {
        match self.build.get(object) {
            Expr::Name(..) if self.language.manifest.resolution.paths_name_types => {
                self.build.expr(Expr::Wrap(object, NameId::NONE))
            }
            _ => object,
        }
    }

    /// Visits all parts of a list of types, or the only node.
    pub(super) fn visit_types(&mut self, node: Node<'t>, usage: Usage) -> Vec<ExprId> {
        match self.language.type_rule(node.kind_id()) {
            Some(TypeRule::Each {} | TypeRule::Union {} | TypeRule::Tuple {}) => self
                .named_children(node)
                .into_iter()
                .flat_map(|child| self.visit_each(child, usage))
                .collect(),
            _ => vec![self.visit_type(node, usage)],
        }
    }

    fn visit_each(&mut self, node: Node<'t>, usage: Usage) -> Vec<ExprId> {
        match self.language.type_rule(node.kind_id()) {
            Some(TypeRule::Each {}) => self.visit_types(node, usage),
            _ => vec![self.visit_type(node, usage)],
        }
    }

    pub(super) fn applied(&mut self, base: ExprId, args: &[ExprId]) -> ExprId {
        if args.is_empty() || !base.is_some() {
            return base;
        }
        let list = self.build.list(args);
        self.build.expr(Expr::Apply(base, list))
    }

    /// Splits a name that may have type arguments into the name's node and the arguments.
    fn generic_name(&mut self, node: Node<'t>, usage: Usage) -> (Node<'t>, Vec<ExprId>) {
        let Some(TypeRule::Apply { base, args }) = self.language.type_rule(node.kind_id()) else {
            return (node, Vec::new());
        };
        let mut list = Vec::new();
        for args in self.every(args.as_ref(), node) {
            for arg in self.visit_types(args, usage) {
                list.push(self.known(arg));
            }
        }
        (base.first(node).unwrap_or(node), list)
    }

    pub(super) fn parameter_type(&mut self, param: Node<'t>, usage: Usage) -> ExprId {
        match self.rule_at(param) {
            Some(Rule::Param { ty: Some(ty), .. }) => match ty.first(param) {
                Some(ty) => self.visit_type(ty, usage),
                None => ExprId::NONE,
            },
            _ => self.visit_type(param, usage),
        }
    }

    /// Parses a quoted type, as far as it consists of names, paths, generic applications and
    /// alternatives.
    fn quoted_type(&mut self, node: Node<'t>) -> ExprId {
        let text = self.text_of(node).trim_matches(['"', '\'']);
        self.written_type(node, text, Usage::Site(SiteKind::Type))
    }

    /// Parses a type from text; its references are at the given node.
    pub(super) fn written_type(&mut self, node: Node<'t>, text: &str, usage: Usage) -> ExprId {
        if text.len() > MAX_TYPE_BYTES {
            self.problem(ProblemKind::TooDeep, node);
            return ExprId::NONE;
        }
        self.deeper(node, |walker| {
            let parts = split(text, '|')
                .into_iter()
                .map(|part| walker.written_part(node, part.trim(), usage));
            let parts: Vec<ExprId> = parts.collect();
            walker.build.union(&parts)
        })
    }

    fn written_part(&mut self, node: Node<'t>, text: &str, usage: Usage) -> ExprId {
        let separator = self.language.manifest.modules.separator.as_str();
        let (head, args) = match text.split_once('[') {
            Some((head, args)) => (head, args.strip_suffix(']').unwrap_or_default()),
            None => (text, ""),
        };
        let mut value = ExprId::NONE;
        for part in head.trim().split(separator) {
            if part.is_empty() || !part.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return ExprId::NONE;
            }
            let name = self.build.name(part);
            if self.is_ignored(name) {
                return ExprId::NONE;
            }
            value = match value.is_some() {
                true => self.build.expr(Expr::Member(value, name)),
                false => self.build.expr(Expr::Name(name, self.scope)),
            };
        }
        if let (Expr::Name(name, _) | Expr::Member(_, name), true) =
            (self.build.get(value), value.is_some())
        {
            self.site(usage, node, name, value);
        }
        let args: Vec<ExprId> = split(args, ',')
            .into_iter()
            .map(|arg| {
                let arg = self.written_type(node, arg.trim(), usage);
                self.known(arg)
            })
            .collect();
        self.applied(value, &args)
    }

    /// Returns the type of a method's receiver parameter.
    pub(super) fn receiver_type(&mut self, receiver: Node<'t>) -> ExprId {
        for param in self.named_children(receiver) {
            if let Some(Rule::Param { ty: Some(ty), .. }) = self.rule_at(param)
                && let Some(ty) = ty.first(param)
            {
                return self.visit_type(ty, Usage::Silent);
            }
        }
        ExprId::NONE
    }
}

/// Splits a text at separators outside of brackets; empty for an empty text.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '<' | '(' | '{' => depth += 1,
            ']' | '>' | ')' | '}' => depth = depth.saturating_sub(1),
            _ if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}
