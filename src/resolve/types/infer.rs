//! Type inference for expressions. Values and types share one expression language: `ty` evaluates
//! an expression as a value, `type_of` as a type.

use super::ty::{ARRAY, Entity, MAPPING, Ty, no_types};
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, BindingKind, Expr, ExprId, Run, TYPE_GUARD, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::ty::Member;
use crate::resolve::{Name, Resolver, Symbols};
use std::rc::Rc;

/// Maximum depth of nested expressions; the type of a deeper one is unknown.
pub(in crate::resolve) const MAX_DEPTH: u32 = 80;

impl Resolver<'_, '_> {
    /// Returns the type of an expression's value.
    pub(in crate::resolve) fn ty(&mut self, file: FileId, expr: ExprId) -> Ty {
        let Some(position) = expr.get() else { return Ty::Unknown };
        if let Some(known) = self.types.get(file, expr) {
            return known.clone();
        }
        if self.depth >= MAX_DEPTH || !self.budget.take(1) {
            return Ty::Unknown;
        }
        // A value that depends on itself has an unknown type on that path.
        self.types.set(file, expr, Ty::Unknown);
        self.depth += 1;
        let wanted = self.wanted.take();
        let ty = self.compute(file, self.program.known(file).facts.exprs[position], position);
        self.wanted = wanted;
        self.depth -= 1;
        self.types.set(file, expr, ty.clone());
        ty
    }

    fn compute(&mut self, file: FileId, expr: Expr, position: usize) -> Ty {
        match expr {
            Expr::Name(name, scope) => {
                let at = self.program.known(file).facts.positions[position];
                let name = self.name(file, name);
                match self.among(
                    file,
                    false,
                    |resolver| resolver.lookup(file, name, scope, at),
                    Option::is_none,
                ) {
                    Some((entity, _)) => self.entity_ty(&entity, false),
                    None => Ty::Unknown,
                }
            }
            Expr::Member(object, name) => {
                let object = self.ty(file, object);
                let name = self.name(file, name);
                self.among(
                    file,
                    false,
                    |resolver| resolver.member_ty(&object, name),
                    |ty| !ty.is_known(),
                )
            }
            Expr::Call(callee, args) => {
                if let Some(computed) = self.computed(file, callee, args) {
                    return computed;
                }
                let callee = self.callee_ty(file, callee);
                self.call_result(file, &callee, args)
            }
            Expr::Construct(ty, _) => {
                let made = self.type_of(file, ty);
                self.made(&made)
            }
            Expr::Index(object, key) => {
                let object = self.ty(file, object);
                self.indexed(file, &object, key)
            }
            Expr::Element(value) => {
                let value = self.ty(file, value);
                self.element(file, &value)
            }
            Expr::Key(value) => {
                let value = self.ty(file, value);
                if let Some(key) = self.through(file, &value, |flow| flow.key.as_deref()) {
                    return key;
                }
                match self.underlying(&value).unwrap_or(value) {
                    Ty::Builtin(_, args) if args.len() > 1 => args[0].clone(),
                    _ => Ty::Unknown,
                }
            }
            Expr::Await(value) => {
                let value = self.ty(file, value);
                self.through(file, &value, |flow| flow.awaited.as_deref()).unwrap_or(value)
            }
            Expr::Unwrapped(value) => {
                let value = self.ty(file, value);
                self.through(file, &value, |flow| flow.unwrapped.as_deref()).unwrap_or(value)
            }
            Expr::Enter(value) => {
                let value = self.ty(file, value);
                self.entered(file, &value)
            }
            Expr::Item(value, item) => {
                let value = self.ty(file, value);
                self.item(file, &value, item as usize)
            }
            Expr::SelfValue(scope) => self.scope_type(file, scope).unwrap_or(Ty::Unknown),
            Expr::SuperValue(scope) => match self.scope_type(file, scope) {
                Some(Ty::Instance(symbol, _)) => Ty::Super(symbol),
                _ => Ty::Unknown,
            },
            Expr::SelfType(scope) => match self.scope_type(file, scope) {
                Some(Ty::Instance(symbol, args)) => Ty::Type(symbol, args),
                Some(other) => other,
                None => Ty::Unknown,
            },
            Expr::Literal(name) => {
                let unit = self.program.known(file);
                self.literals
                    .entry(unit.name(name))
                    .or_insert_with(|| Ty::builtin(unit.text(name), &[]))
                    .clone()
            }
            Expr::OfType(ty) => {
                let value = self.instance_of_expr(file, ty);
                self.variant_members(file, ty, &value).unwrap_or(value)
            }
            Expr::Union(list) => {
                let parts = self.all(file, list);
                Ty::union(parts)
            }
            Expr::Tuple(list) => Ty::Tuple(self.all(file, list).into()),
            Expr::Lambda(scope) => Ty::Lambda(file, scope),
            Expr::Given(scope, position) => self.given(file, scope, position as usize),
            Expr::Members(scope) => Ty::Members(file, scope),
            Expr::Apply(base, args) => {
                let base = self.ty(file, base);
                let args: Vec<Ty> = self.all(file, args).iter().map(instance_of).collect();
                self.applied(file, base, &args)
            }
            Expr::Mapping(key, value) => {
                let parts =
                    [self.ty(file, key), self.ty(file, value)].map(|part| instance_of(&part));
                Ty::builtin(MAPPING, &parts)
            }
            Expr::Wrap(..) | Expr::Array(_) | Expr::Function(_) | Expr::Base(..) => {
                self.type_of(file, ExprId::at(position))
            }
            Expr::TypeOf(value) => self.ty(file, value),
            Expr::Unknown => Ty::Unknown,
        }
    }

    pub(in crate::resolve) fn all(&mut self, file: FileId, list: Run) -> Vec<Ty> {
        let items = &self.program.known(file).facts.lists[list.range()];
        items.iter().map(|item| self.ty(file, *item)).collect()
    }

    /// Returns the type that an expression in type position names, as a type.
    pub(in crate::resolve) fn type_of(&mut self, file: FileId, expr: ExprId) -> Ty {
        let Some(position) = expr.get() else { return Ty::Unknown };
        if self.depth >= MAX_DEPTH || !self.budget.take(1) {
            return Ty::Unknown;
        }
        self.depth += 1;
        let wanted = self.wanted.take();
        let facts = self.program.known(file).facts;
        let list = |list: Run| facts.lists[list.range()].iter().copied();
        let ty = match facts.exprs[position] {
            Expr::Name(name, scope) => {
                let name = self.name(file, name);
                let at = facts.positions[position];
                let separate =
                    self.program.known(file).language.manifest.resolution.paths_name_types;
                let before = std::mem::replace(&mut self.types_only, separate);
                let found = self.lookup_type(file, name, scope, at);
                self.types_only = before;
                match found {
                    Some((entity, _)) => self.entity_ty(&entity, true),
                    None => Ty::Unknown,
                }
            }
            Expr::Member(object, name) => {
                let name = self.name(file, name);
                match self.associated_here(file, object, name) {
                    Some(associated) => associated,
                    None => {
                        let object = self.type_of(file, object);
                        match self.member(&object, name) {
                            Member::Symbols(symbols) => self.symbols_ty(&symbols, true, None),
                            Member::Entity(entity) => self.entity_ty(&entity, true),
                            Member::Outside(name) => Ty::External(name),
                            Member::None | Member::Unknown => Ty::Unknown,
                        }
                    }
                }
            }
            Expr::Apply(base, args) => {
                let base = self.type_of(file, base);
                let args: Vec<Ty> =
                    list(args).map(|arg| self.instance_of_expr(file, arg)).collect();
                self.applied(file, base, &args)
            }
            Expr::Wrap(inner, _) | Expr::Base(inner, _) => self.type_of(file, inner),
            Expr::Array(inner) => Ty::builtin(ARRAY, &[self.instance_of_expr(file, inner)]),
            Expr::Mapping(key, value) => {
                let parts = [self.instance_of_expr(file, key), self.instance_of_expr(file, value)];
                Ty::builtin(MAPPING, &parts)
            }
            Expr::Tuple(parts) => {
                Ty::Tuple(list(parts).map(|part| self.instance_of_expr(file, part)).collect())
            }
            Expr::Union(parts) => {
                Ty::union(list(parts).map(|part| self.type_of(file, part)).collect::<Vec<_>>())
            }
            Expr::Function(parts) => match list(parts).last() {
                Some(result) => Ty::function(self.instance_of_expr(file, result)),
                None => Ty::Unknown,
            },
            _ => self.ty(file, expr),
        };
        self.wanted = wanted;
        self.depth -= 1;
        ty
    }

    /// Returns an instance of the type that an expression names.
    pub(in crate::resolve) fn instance_of_expr(&mut self, file: FileId, expr: ExprId) -> Ty {
        let ty = self.type_of(file, expr);
        let ty = instance_of(&ty);
        self.unaliased(ty)
    }

    /// Returns the underlying type of a value of a defined type that has members of its own.
    pub(in crate::resolve) fn underlying(&mut self, value: &Ty) -> Option<Ty> {
        let Ty::Instance(symbol, args) = value else { return None };
        let entry = self.program.symbol(*symbol);
        if entry.kind != SymbolKind::TypeAlias || !entry.ty.is_some() || self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let target = self.instance_of_expr(symbol.file, entry.ty);
        self.depth -= 1;
        let map = self.arguments_of(*symbol, args);
        Some(target.map(&map)).filter(|target| target != value)
    }

    /// Replaces an instance of an alias by an instance of the aliased type.
    pub(in crate::resolve) fn unaliased(&mut self, ty: Ty) -> Ty {
        if let Ty::Instance(symbol, args) = &ty {
            let entry = self.program.symbol(*symbol);
            let distinct = self.program.extensions(*symbol).is_some();
            if entry.kind == SymbolKind::TypeAlias
                && entry.ty.is_some()
                && !distinct
                && self.depth < MAX_DEPTH
            {
                self.depth += 1;
                let target = self.instance_of_expr(symbol.file, entry.ty);
                self.depth -= 1;
                let map = self.arguments_of(*symbol, args);
                return if target.is_known() { target.map(&map) } else { Ty::Unknown };
            }
        }
        ty
    }

    /// Returns the type of an entity.
    pub(in crate::resolve) fn entity_ty(&mut self, entity: &Entity, as_type: bool) -> Ty {
        match entity {
            Entity::Symbols(symbols) => self.symbols_ty(symbols, as_type, None),
            Entity::Module(module) => Ty::Module(*module),
            Entity::External(name) => Ty::External(name.clone()),
            Entity::Builtin(name) => {
                Ty::BuiltinType(Rc::from(self.program.text(*name)), no_types())
            }
            Entity::Local(file, bindings) => {
                let parts: Vec<Ty> =
                    bindings.iter().map(|binding| self.binding_ty(*file, *binding)).collect();
                // The union drops unknown parts.
                Ty::union(parts)
            }
        }
    }

    fn binding_ty(&mut self, file: FileId, id: BindingId) -> Ty {
        let binding = self.program.known(file).binding(id);
        match binding.kind {
            BindingKind::TypeParam => {
                self.parameter_of_owner(file, id).unwrap_or(Ty::Param(file, id))
            }
            BindingKind::Narrow if binding.ty.is_some() => self.instance_of_expr(file, binding.ty),
            BindingKind::Narrow => self.guarded(file, binding.value).unwrap_or(Ty::Unknown),
            _ if binding.ty.is_some() => self.instance_of_expr(file, binding.ty),
            _ => self.ty(file, binding.value),
        }
    }

    /// Returns the type parameter of a member's type that a name in the member refers to (`func (l
    /// List[T]) …`).
    fn parameter_of_owner(&mut self, file: FileId, id: BindingId) -> Option<Ty> {
        let unit = self.program.known(file);
        let binding = unit.binding(id);
        let mut owner = unit.member_owner(binding.scope);
        while let Expr::Wrap(inner, _) = unit.facts.exprs[owner.get()?] {
            owner = inner;
        }
        let Expr::Apply(base, args) = unit.facts.exprs[owner.get()?] else { return None };
        let is_named = |arg: &ExprId| {
            matches!(
                arg.get().map(|arg| unit.facts.exprs[arg]),
                Some(Expr::Name(name, _)) if name == binding.name
            )
        };
        let position = unit.facts.lists[args.range()].iter().position(is_named)?;
        let ty = self.named_type(file, base)?;
        let own = self.program.symbol(ty).type_params.range().nth(position)?;
        Some(Ty::Param(ty.file, BindingId::at(own)))
    }

    /// Returns the type that a successful test (type guard) implies.
    pub(in crate::resolve) fn guarded(&mut self, file: FileId, test: ExprId) -> Option<Ty> {
        match self.ty(file, test) {
            Ty::Builtin(name, args) if &*name == TYPE_GUARD => args.first().cloned(),
            _ => None,
        }
    }

    /// Returns the type of a reference to symbols of one name, with or without a receiver.
    pub(in crate::resolve) fn symbols_ty(
        &mut self,
        symbols: &Symbols,
        as_type: bool,
        receiver: Option<&Ty>,
    ) -> Ty {
        let program = self.program;
        let kind = |symbol: &SymbolRef| program.symbol(*symbol).kind;
        let chosen = match as_type {
            true => symbols.iter().find(|symbol| is_scope(kind(symbol))),
            false => symbols.iter().find(|symbol| {
                !matches!(kind(symbol), SymbolKind::Interface | SymbolKind::TypeAlias)
            }),
        };
        let Some(&chosen) = chosen.or(symbols.first()) else { return Ty::Unknown };
        let chosen = match self.program.symbol(chosen) {
            entry if entry.kind.is_type() && entry.flags & flags::DECLARATION != 0 => {
                self.definitions_of(chosen).first().copied().unwrap_or(chosen)
            }
            _ => chosen,
        };
        let entry = self.program.symbol(chosen);
        match entry.kind {
            kind if is_scope(kind) => Ty::Type(chosen, no_types()),
            SymbolKind::Variant if entry.ty.is_some() => Ty::callable(symbols.clone(), receiver),
            SymbolKind::Variant => self.container_instance(chosen, receiver),
            kind if kind.is_callable() => {
                if entry.flags & flags::PROPERTY != 0 {
                    return self.result_of(&Symbols::from_slice(&[chosen]), receiver, &[]);
                }
                if let Some(replaced) = self.decorated(chosen) {
                    return replaced;
                }
                let callables = symbols
                    .iter()
                    .copied()
                    .filter(|symbol| self.program.symbol(*symbol).kind.is_callable())
                    .collect();
                Ty::callable(callables, receiver)
            }
            _ => {
                if self.is_enum_value(chosen) {
                    return self.container_instance(chosen, receiver);
                }
                if let Some(parameter) = as_type.then(|| self.type_variable(chosen)).flatten() {
                    return parameter;
                }
                let value = self.value_ty(chosen);
                let value = self.described(chosen, value, receiver);
                self.substituted(value, receiver)
            }
        }
    }

    /// Returns the type of a member read through an instance: a descriptor determines it itself.
    fn described(&mut self, symbol: SymbolRef, value: Ty, receiver: Option<&Ty>) -> Ty {
        let (Some(Ty::Instance(..)), Ty::Instance(..)) = (receiver, &value) else { return value };
        let Some(member) =
            self.program.known(symbol.file).language.manifest.names.descriptor_member.as_deref()
        else {
            return value;
        };
        let given = self.result_of_member(&value, member);
        if given.is_known() { given } else { value }
    }

    /// Returns the type parameter that a variable declares, by the constructor of its value.
    fn type_variable(&self, symbol: SymbolRef) -> Option<Ty> {
        let unit = self.program.known(symbol.file);
        let makers = &unit.language.manifest.names.type_variables;
        let entry = self.program.symbol(symbol);
        let value = unit.facts.lists[entry.values.range()].first()?;
        let Expr::Call(callee, _) = unit.facts.exprs[value.get()?] else { return None };
        let (Expr::Name(name, _) | Expr::Member(_, name)) = unit.facts.exprs[callee.get()?] else {
            return None;
        };
        let name = unit.text(name);
        if !makers.iter().any(|maker| maker == name) {
            return None;
        }
        let mut bound =
            self.program.bindings(symbol.file, unit, entry.scope, unit.name(entry.name));
        bound
            .find(|(_, binding)| binding.symbol == symbol.symbol)
            .map(|(id, _)| Ty::Param(symbol.file, id))
    }

    /// True if a member is a value of its enum, because its type derives from an enum base of the
    /// library.
    fn is_enum_value(&mut self, symbol: SymbolRef) -> bool {
        let bases = &self.program.known(symbol.file).language.manifest.names.enum_bases;
        let entry = self.program.symbol(symbol);
        if bases.is_empty() || entry.ty.is_some() || entry.container.get().is_none() {
            return false;
        }
        let container = SymbolRef { file: symbol.file, symbol: entry.container };
        self.program.symbol(container).inner == entry.scope
            && self.hierarchy(container).outside.iter().any(|base| {
                bases
                    .iter()
                    .any(|name| name == crate::resolve::types::builtin_types::last_segment(base))
            })
    }

    /// Returns the type of a variable, field or constant: declared, or the union of its values.
    pub(super) fn value_ty(&mut self, symbol: SymbolRef) -> Ty {
        if let Some(known) = self.results.get(&symbol) {
            return known.clone();
        }
        self.results.insert(symbol, Ty::Unknown);
        let entry = self.program.symbol(symbol);
        let ty = if entry.ty.is_some() {
            self.instance_of_expr(symbol.file, entry.ty)
        } else {
            let parts = self.all(symbol.file, entry.values);
            Ty::union(parts)
        };
        self.results.insert(symbol, ty.clone());
        ty
    }

    /// Returns the type of a member of a value.
    pub(in crate::resolve) fn member_ty(&mut self, object: &Ty, name: Name) -> Ty {
        if let Ty::Union(parts) = object {
            let parts = parts.clone();
            return Ty::union(
                parts.iter().map(|part| self.member_ty(part, name)).collect::<Vec<_>>(),
            );
        }
        match self.member(object, name) {
            Member::Symbols(symbols) => {
                let stands_for = self.holder(object, &symbols);
                self.symbols_ty(&symbols, false, Some(stands_for.as_ref().unwrap_or(object)))
            }
            Member::Entity(entity) => self.entity_ty(&entity, false),
            Member::Outside(qualified) => self.outside_member(object, name, &qualified),
            Member::None | Member::Unknown => Ty::Unknown,
        }
    }
}

/// Returns an instance of a type; any other value unchanged.
pub(in crate::resolve) fn instance_of(ty: &Ty) -> Ty {
    match ty {
        Ty::Type(symbol, args) => Ty::Instance(*symbol, args.clone()),
        Ty::BuiltinType(name, args) => Ty::Builtin(name.clone(), args.clone()),
        Ty::TypeObject(of) => match &**of {
            Ty::Instance(symbol, args) => Ty::Type(*symbol, args.clone()),
            _ => Ty::Unknown,
        },
        Ty::Union(parts) => Ty::union(parts.iter().map(instance_of)),
        Ty::Callable(..) | Ty::Module(_) => Ty::Unknown,
        other => other.clone(),
    }
}

fn is_scope(kind: SymbolKind) -> bool {
    kind.is_type() || matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
}
