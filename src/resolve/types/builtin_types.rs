//! Results of operations on values: items, keys, parts, and the results of awaiting, unwrapping and
//! entering; for builtin types from the manifest's type flow tables.

use super::ty::{Ty, no_types};
use crate::grammar::{FlowKind, TypeFlow};
use crate::model::SymbolKind;
use crate::model::facts::ExprId;
use crate::model::graph::FileId;
use crate::resolve::Wanted;
use crate::resolve::types::ty::{ARRAY, MAPPING};
use crate::resolve::{Name, Resolver};
use std::rc::Rc;

/// Name of the type flow table for members of callables.
pub(in crate::resolve) const FUNCTION: &str = "Function";

impl Resolver<'_, '_> {
    /// Returns a generic type with arguments, or the type inside a transparent wrapper.
    pub(super) fn applied(&mut self, file: FileId, base: Ty, args: &[Ty]) -> Ty {
        match &base {
            Ty::Type(symbol, _) => Ty::Type(*symbol, args.into()),
            Ty::Instance(symbol, _) => Ty::Instance(*symbol, args.into()),
            Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
                let Some((canonical, flow)) = self.flow(file, name) else { return base };
                match flow.kind {
                    Some(FlowKind::Transparent) => Ty::union(args.iter().cloned()),
                    Some(FlowKind::Tuple) => Ty::Tuple(args.into()),
                    Some(FlowKind::TypeObject) => {
                        args.first().map_or(Ty::Unknown, |of| Ty::type_object(of.clone()))
                    }
                    Some(FlowKind::Function) => {
                        Ty::function(args.last().cloned().unwrap_or(Ty::Unknown))
                    }
                    None => Ty::builtin(canonical, args),
                }
            }
            _ => base,
        }
    }

    /// Returns the type flow table of a builtin or external type, by the last segment of its name.
    pub(in crate::resolve) fn flow(
        &self,
        file: FileId,
        name: &str,
    ) -> Option<(&'static str, &'static TypeFlow)> {
        let language = self.program.known(file).language;
        language.flow(name).or_else(|| language.flow(last_segment(name)))
    }

    /// Applies one rule of a value's type flow table.
    pub(in crate::resolve) fn through(
        &mut self,
        file: FileId,
        value: &Ty,
        what: impl Fn(&TypeFlow) -> Option<&str>,
    ) -> Option<Ty> {
        let (Ty::Builtin(name, args) | Ty::BuiltinType(name, args)) = value else { return None };
        let (_, flow) = self.flow(file, name)?;
        let template = what(flow)?;
        Some(self.template(template, flow, args, value))
    }

    /// Instantiates a type of a type flow table: a parameter, `Self`, or a name with arguments.
    pub(in crate::resolve) fn template(
        &mut self,
        text: &str,
        flow: &TypeFlow,
        args: &[Ty],
        this: &Ty,
    ) -> Ty {
        let text = text.trim();
        if let Some(position) = flow.params.iter().position(|param| param == text) {
            return args.get(position).cloned().unwrap_or(Ty::Unknown);
        }
        if text == "Self" {
            return this.clone();
        }
        let (head, inner) = match text.split_once('<') {
            Some((head, rest)) => (head, rest.strip_suffix('>').unwrap_or(rest)),
            None => (text, ""),
        };
        let parts: Vec<Ty> = split_top(inner)
            .into_iter()
            .map(|part| self.template(part, flow, args, this))
            .collect();
        match head {
            "tuple" | "()" => Ty::Tuple(parts.into()),
            "" | "?" => Ty::Unknown,
            head => Ty::builtin(head, &parts),
        }
    }

    /// Returns the item type of an iteration over a value.
    pub(in crate::resolve) fn element(&mut self, file: FileId, value: &Ty) -> Ty {
        match value {
            Ty::Tuple(parts) => Ty::union(parts.iter().cloned()),
            Ty::Union(parts) => Ty::union(
                parts.clone().iter().map(|part| self.element(file, part)).collect::<Vec<_>>(),
            ),
            Ty::Builtin(name, args) => {
                match self.through(file, value, |flow| flow.element.as_deref()) {
                    Some(element) => element,
                    None if &**name == ARRAY => args.first().cloned().unwrap_or(Ty::Unknown),
                    None => Ty::Unknown,
                }
            }
            Ty::Instance(symbol, _) => {
                if let Some(underlying) = self.underlying(value) {
                    return self.element(file, &underlying);
                }
                let members = self
                    .program
                    .known(symbol.file)
                    .language
                    .manifest
                    .names
                    .iterator_members
                    .clone();
                let Some((first, rest)) = members.split_first() else { return Ty::Unknown };
                let iterator = self.result_of_member(value, first);
                match iterator {
                    Ty::Instance(..) => match rest.first() {
                        Some(next) => self.result_of_member(&iterator, next),
                        None => iterator,
                    },
                    Ty::Unknown => Ty::Unknown,
                    other => self.element(file, &other),
                }
            }
            _ => Ty::Unknown,
        }
    }

    /// Returns the result of calling a member of a value without arguments.
    pub(in crate::resolve) fn result_of_member(&mut self, value: &Ty, member: &str) -> Ty {
        let name = self.program.named(member);
        match self.member_ty(value, name) {
            Ty::Callable(symbols, receiver) => self.result_of(&symbols, receiver.as_deref(), &[]),
            _ => Ty::Unknown,
        }
    }

    pub(super) fn indexed(&mut self, file: FileId, object: &Ty, key: ExprId) -> Ty {
        match object {
            // Generic function or type with explicit arguments.
            Ty::Type(symbol, _) => {
                let arg = self.instance_of_expr(file, key);
                Ty::Type(*symbol, vec![arg].into())
            }
            Ty::Callable(..) => object.clone(),
            Ty::Tuple(parts) => Ty::union(parts.iter().cloned()),
            Ty::Union(parts) => Ty::union(
                parts.clone().iter().map(|part| self.indexed(file, part, key)).collect::<Vec<_>>(),
            ),
            Ty::Builtin(name, args) => match self
                .through(file, object, |flow| flow.index.as_deref().or(flow.element.as_deref()))
            {
                Some(item) => item,
                None if &**name == ARRAY => args.first().cloned().unwrap_or(Ty::Unknown),
                None if &**name == MAPPING => args.get(1).cloned().unwrap_or(Ty::Unknown),
                None => Ty::Unknown,
            },
            Ty::Instance(symbol, _) => {
                let manifest = &self.program.known(symbol.file).language.manifest;
                let given = match (&manifest.names.index_member, self.underlying(object)) {
                    (Some(member), _) => self.result_of_member(object, member),
                    (None, Some(underlying)) => self.indexed(file, &underlying, key),
                    (None, None) => Ty::Unknown,
                };
                // Pointers are treated as their target types, so indexing a pointer keeps the type.
                if !given.is_known() && manifest.resolution.pointers_index {
                    object.clone()
                } else {
                    given
                }
            }
            Ty::External(name) => self.applied_outside(file, name, key),
            _ => Ty::Unknown,
        }
    }

    pub(super) fn applied_outside(&mut self, file: FileId, name: &Rc<str>, key: ExprId) -> Ty {
        let arg = self.instance_of_expr(file, key);
        self.applied(file, Ty::External(name.clone()), &[arg])
    }

    pub(super) fn entered(&mut self, file: FileId, value: &Ty) -> Ty {
        match value {
            Ty::Instance(symbol, _) => {
                let member =
                    self.program.known(symbol.file).language.manifest.names.enter_member.clone();
                match member {
                    Some(member) => {
                        let entered = self.result_of_member(value, &member);
                        if entered.is_known() { entered } else { value.clone() }
                    }
                    None => value.clone(),
                }
            }
            Ty::Union(parts) => Ty::union(
                parts.clone().iter().map(|part| self.entered(file, part)).collect::<Vec<_>>(),
            ),
            other => {
                self.through(file, other, |flow| flow.entered.as_deref()).unwrap_or(Ty::Unknown)
            }
        }
    }

    pub(in crate::resolve) fn item(&mut self, file: FileId, value: &Ty, position: usize) -> Ty {
        match value {
            Ty::Tuple(parts) => parts.get(position).cloned().unwrap_or(Ty::Unknown),
            Ty::Union(parts) => Ty::union(
                parts
                    .clone()
                    .iter()
                    .map(|part| self.item(file, part, position))
                    .collect::<Vec<_>>(),
            ),
            Ty::Callable(symbols, receiver) => {
                // Variant that is destructured.
                let Some(&variant) = symbols.first() else { return Ty::Unknown };
                let entry = self.program.symbol(variant);
                if entry.kind != SymbolKind::Variant {
                    return Ty::Unknown;
                }
                let parts = self.instance_of_expr(variant.file, entry.ty);
                let parts = self.substituted(parts, receiver.as_deref());
                match parts {
                    Ty::Tuple(parts) => parts.get(position).cloned().unwrap_or(Ty::Unknown),
                    _ => Ty::Unknown,
                }
            }
            Ty::Builtin(name, _) if &**name == ARRAY || self.flow(file, name).is_some() => {
                self.element(file, value)
            }
            // Variant of a builtin type, with its parts from a type flow table.
            Ty::Function(parts) if matches!(**parts, Ty::Tuple(_)) => {
                self.item(file, parts, position)
            }
            Ty::Type(..) | Ty::Instance(..) => self.positional(value, position),
            _ => Ty::Unknown,
        }
    }

    /// Returns the type of a member of a builtin value, from its type flow table.
    pub(super) fn outside_member(&mut self, object: &Ty, name: Name, qualified: &Rc<str>) -> Ty {
        if let Some(result) = self.outside_member_of(object, name) {
            return if self.wanted == Some(Wanted::Others) { result } else { Ty::function(result) };
        }
        let none = no_types();
        let inherited: Rc<str>;
        let (outer, args) = match object {
            Ty::Builtin(outer, args) | Ty::BuiltinType(outer, args) => (outer, args),
            Ty::External(outer) => (outer, &none),
            Ty::Callable(..) | Ty::Lambda(..) | Ty::Function(_) => {
                inherited = Rc::from(FUNCTION);
                (&inherited, &none)
            }
            // External members are inherited from an external base.
            _ => match qualified.rsplit_once('.') {
                Some((base, _)) => {
                    inherited = Rc::from(base);
                    (&inherited, &none)
                }
                None => return Ty::External(qualified.clone()),
            },
        };
        let text = self.program.text(name);
        let language = self.program.known(self.origin).language;
        let mut current: Rc<str> = if language.flow(outer).is_some() {
            outer.clone()
        } else {
            Rc::from(last_segment(outer))
        };
        for _ in 0..8 {
            let Some((_, flow)) = language.flow(&current) else { break };
            if let Some(template) = flow.members.get(text).or(flow.any.as_ref()) {
                if flow.any.is_some() && !flow.members.contains_key(text) {
                    return self.template(template, flow, args, object);
                }
                let result = self.template(template, flow, args, object);
                // Where callables have a namespace of their own, a member that is not called is the
                // value.
                return if self.wanted == Some(Wanted::Others) {
                    result
                } else {
                    Ty::function(result)
                };
            }
            let Some(base) = &flow.base else { break };
            current = Rc::from(base.as_str());
        }
        Ty::External(qualified.clone())
    }
}

/// Returns the last segment of a qualified name, for any separator.
pub(in crate::resolve) fn last_segment(name: &str) -> &str {
    name.rsplit(['.', ':', '/']).next().unwrap_or(name)
}

fn split_top(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0usize);
    for (position, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}
