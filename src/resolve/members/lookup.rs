//! Member lookup along the hierarchy of a type. Extension members are in `derived`.

use crate::grammar::MemberLookup;
use crate::model::SymbolKind;
use crate::model::facts::{BindingKind, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::names::scopes::Visited;
use crate::resolve::types::ty::Member;
use crate::resolve::types::ty::{Entity, Ty};
use crate::resolve::units::bounds::qualified;
use crate::resolve::units::import_target::Module;
use crate::resolve::{Name, Resolver, Symbols};
use std::rc::Rc;

impl Resolver<'_, '_> {
    /// Returns the type that a type expression names, through wrappers and arguments.
    pub(in crate::resolve) fn named_type(
        &mut self,
        file: FileId,
        expr: crate::model::facts::ExprId,
    ) -> Option<SymbolRef> {
        match self.ty(file, expr) {
            Ty::Type(symbol, _) | Ty::Instance(symbol, _) => Some(symbol),
            Ty::Union(parts) => parts.iter().find_map(|part| match part {
                Ty::Type(symbol, _) | Ty::Instance(symbol, _) => Some(*symbol),
                _ => None,
            }),
            Ty::Members(of, scope) => self.held_object(of, scope),
            other => self.constructor_function(&other),
        }
    }

    /// Returns the target of an alias.
    pub(in crate::resolve) fn alias_target(&mut self, symbol: SymbolRef) -> Option<SymbolRef> {
        let entry = self.program.symbol(symbol);
        if entry.kind != SymbolKind::TypeAlias
            || !entry.ty.is_some()
            || self.program.extensions(symbol).is_some()
        {
            return None;
        }
        self.named_type(symbol.file, entry.ty).filter(|target| *target != symbol)
    }

    /// Returns the members of a type itself, without its bases.
    pub(in crate::resolve) fn own_members(&self, symbol: SymbolRef, name: Name) -> Symbols {
        let unit = self.program.known(symbol.file);
        if matches!(unit.symbol(symbol.symbol).kind, SymbolKind::Namespace | SymbolKind::Module) {
            let found = self.program.space_members(symbol, name);
            if !found.is_empty() {
                return found;
            }
        }
        let mut found: Symbols = Symbols::new();
        for part in self.parts_of_type(symbol).iter().map(|part| unit.symbol(part.symbol)) {
            if part.inner.is_some() && !part.kind.is_callable() {
                found.extend(
                    unit.bindings(part.inner, name)
                        .filter(|(_, binding)| binding.kind == BindingKind::Symbol)
                        .map(|(_, binding)| SymbolRef {
                            file: symbol.file,
                            symbol: binding.symbol,
                        }),
                );
            }
        }
        if let Some(more) = self.program.extensions(symbol).and_then(|members| members.get(&name)) {
            found.extend(
                more.iter().copied().filter(|member| !found.contains(member)).collect::<Symbols>(),
            );
        }
        found.retain(|member| self.is_wanted(*member));
        found
    }

    /// Returns the members of a type with a name: those of the first type in its hierarchy that has
    /// any.
    pub(in crate::resolve) fn type_member(&mut self, symbol: SymbolRef, name: Name) -> Symbols {
        let symbol = self.alias_target(symbol).unwrap_or(symbol);
        let hierarchy = self.hierarchy(symbol);
        if !hierarchy.is_linear || self.depth > 0 {
            return self.first_members(symbol, hierarchy.types.iter().map(|(ty, _)| *ty), name);
        }
        // Skips the part of the hierarchy that is known not to have the name.
        let known = hierarchy
            .types
            .iter()
            .position(|(ty, _)| self.absent.contains(&(*ty, name, self.wanted)));
        let unknown = &hierarchy.types[..known.unwrap_or(hierarchy.types.len())];
        let found = self.first_members(symbol, unknown.iter().map(|(ty, _)| *ty), name);
        if found.is_empty() {
            self.absent.insert((symbol, name, self.wanted));
        }
        found
    }

    /// Returns the members of the first of several types that has any; of all if overloads are
    /// inherited.
    fn first_members(
        &mut self,
        of: SymbolRef,
        types: impl Iterator<Item = SymbolRef>,
        name: Name,
    ) -> Symbols {
        let inherits = self.program.known(of.file).language.manifest.resolution.inherited_overloads;
        let mut members = Symbols::new();
        for ty in types {
            if !self.budget.take(1) {
                break;
            }
            let found = self.own_members(ty, name);
            let callable =
                found.iter().all(|symbol| self.program.symbol(*symbol).kind.is_callable());
            match members.is_empty() {
                _ if found.is_empty() => {}
                true => {
                    members = self.definitions(of, found);
                    if !inherits || !callable {
                        return members;
                    }
                }
                false if callable => self.join_overloads(&mut members, &found),
                false => {}
            }
        }
        members
    }

    /// Returns the effective members of one name: the last one in languages without overloads.
    fn definitions(&self, of: SymbolRef, found: Symbols) -> Symbols {
        use crate::model::facts::flags;
        let rules = &self.program.known(of.file).language.manifest.resolution;
        if found.len() < 2 || rules.declarations {
            return found;
        }
        let mut found = found;
        if found.iter().any(|symbol| self.program.symbol(*symbol).flags & flags::DECLARATION == 0) {
            found.retain(|symbol| self.program.symbol(*symbol).flags & flags::DECLARATION == 0);
        }
        if rules.members == MemberLookup::InherentFirst {
            return self.inherent(found);
        }
        if rules.overloads {
            return found;
        }
        if found.iter().all(|symbol| self.program.symbol(*symbol).flags & flags::PROPERTY != 0) {
            // The getter of a property precedes its setter.
            return Symbols::from_slice(&found[..1]);
        }
        let places: Vec<_> =
            found.iter().map(|symbol| (symbol.file, self.program.symbol(*symbol).scope)).collect();
        let same_place = places.windows(2).all(|pair| pair[0] == pair[1]);
        match found.last() {
            Some(last) if same_place => Symbols::from_slice(&[*last]),
            _ => found,
        }
    }

    /// Returns the members of the types after `symbol` in its hierarchy: lookup through `super`.
    pub(super) fn super_member(&mut self, symbol: SymbolRef, name: Name) -> Symbols {
        let hierarchy = self.hierarchy(symbol);
        self.first_members(symbol, hierarchy.types.iter().skip(1).map(|(ty, _)| *ty), name)
    }

    /// Returns the type of the implicit receiver in a scope.
    pub(in crate::resolve) fn scope_type(&mut self, file: FileId, scope: ScopeId) -> Option<Ty> {
        let unit = self.program.known(file);
        let type_scope = unit.type_scope(scope);
        let symbol = unit.scope_symbol(type_scope);
        let owner = unit.scope_owner(type_scope);
        if owner.is_some() {
            let owner = self.type_of(file, owner);
            let made = self.made(&owner);
            return Some(self.unaliased(made));
        }
        let symbol = SymbolRef { file, symbol };
        symbol.symbol.get()?;
        let params = self.program.symbol(symbol).type_params;
        let args: Vec<Ty> = params
            .range()
            .map(|position| Ty::Param(file, crate::model::facts::BindingId::at(position)))
            .collect();
        Some(Ty::Instance(symbol, args.into()))
    }

    pub(in crate::resolve) fn implicit_member(
        &mut self,
        file: FileId,
        scope: ScopeId,
        name: Name,
    ) -> Option<Symbols> {
        let unit = self.program.known(file);
        if unit.type_scope(scope) != scope {
            return None;
        }
        let declarations = unit.language.manifest.resolution.declarations;
        let mut found = match self.scope_type(file, scope)? {
            Ty::Instance(symbol, _) if declarations => self.enclosing_member(symbol, name),
            Ty::Instance(symbol, _) => self.type_member(symbol, name),
            _ => Symbols::new(),
        };
        found.retain(|symbol| self.is_wanted(*symbol));
        (!found.is_empty()).then_some(found)
    }

    /// Returns the member of a module, type or value.
    pub(in crate::resolve) fn member(&mut self, of: &Ty, name: Name) -> Member {
        match of {
            Ty::Unknown => Member::Unknown,
            Ty::Type(symbol, _) if is_module(self.program.symbol(*symbol).kind) => {
                self.inline_member(*symbol, name)
            }
            Ty::Instance(symbol, _) | Ty::Type(symbol, _) => {
                match self.symbol_members(*symbol, name) {
                    none @ (Member::None | Member::Unknown) => {
                        self.fallback_member(of, name).unwrap_or(none)
                    }
                    found => self.blanket_extension(of, name, found),
                }
            }
            Ty::Super(symbol) => match self.super_member(*symbol, name) {
                found if !found.is_empty() => Member::Symbols(found),
                _ => self.missing(*symbol, name),
            },
            Ty::Module(Module::File(file)) if self.is_super_word(*file, name) => self
                .above(&Entity::Module(Module::File(*file)))
                .map_or(Member::None, Member::Entity),
            Ty::Module(module) => {
                match self.module_member(*module, name, &mut Visited::default()) {
                    Some(entity) => Member::Entity(entity),
                    None => Member::None,
                }
            }
            Ty::Builtin(outer, _) | Ty::BuiltinType(outer, _) | Ty::External(outer) => {
                if let Some(found) = self.external_extensions(outer, name) {
                    return Member::Symbols(found);
                }
                Member::Outside(qualified(outer, ".", self.program.text(name)))
            }
            Ty::Members(file, scope) => self.scope_members(*file, *scope, name),
            Ty::Param(file, binding) => {
                let bound = self.program.known(*file).binding(*binding).ty;
                if !bound.is_some() {
                    return Member::Unknown;
                }
                let bound = self.instance_of_expr(*file, bound);
                if matches!(bound, Ty::Param(..)) {
                    Member::Unknown
                } else {
                    self.member(&bound, name)
                }
            }
            Ty::Union(parts) => {
                let parts = parts.clone();
                self.union_members(&parts, name)
            }
            Ty::TypeObject(_) => self.member(&crate::resolve::types::infer::instance_of(of), name),
            // Without properties, the members are those of the held value, not of a callable.
            Ty::Function(held)
                if self.program.known(self.origin).language.manifest.resolution.declarations
                    && held.is_known() =>
            {
                self.member(&held.clone(), name)
            }
            Ty::Callable(..) => self.callable_member(of, name),
            Ty::Lambda(..) | Ty::Function(_) => Member::Outside(Rc::from(self.program.text(name))),
            Ty::Tuple(_) => Member::Outside(Rc::from(format!("tuple.{}", self.program.text(name)))),
        }
    }

    /// Returns the member of an inline module or namespace.
    fn inline_member(&mut self, module: SymbolRef, name: Name) -> Member {
        let found = match self.is_super_word(module.file, name) {
            true => self.above(&Entity::Symbols(Symbols::from_slice(&[module]))),
            false => self.symbol_member(module, name, &mut Visited::default()),
        };
        found.map_or(Member::None, Member::Entity)
    }

    fn symbol_members(&mut self, symbol: SymbolRef, name: Name) -> Member {
        // During type inference a lookup may be incomplete, so it is not memoized.
        if self.depth > 0 {
            return self.find_symbol_members(symbol, name);
        }
        let key = (symbol, name, self.wanted);
        if let Some(known) = self.members.get(&key) {
            return known.clone();
        }
        let found = self.find_symbol_members(symbol, name);
        self.members.insert(key, found.clone());
        found
    }

    fn find_symbol_members(&mut self, symbol: SymbolRef, name: Name) -> Member {
        let entry = self.program.symbol(symbol);
        let found = self.type_member(symbol, name);
        if !found.is_empty() {
            return Member::Symbols(found);
        }
        if entry.kind == SymbolKind::TypeAlias
            && entry.ty.is_some()
            && self.alias_target(symbol).is_none()
        {
            let target = self.instance_of_expr(symbol.file, entry.ty);
            if !matches!(target, Ty::Instance(other, _) if other == symbol) {
                return self.member(&target, name);
            }
        }
        self.missing(symbol, name)
    }

    /// Result for a type of the repository without the member: an external base may have it.
    fn missing(&mut self, symbol: SymbolRef, name: Name) -> Member {
        let hierarchy = self.hierarchy(symbol);
        if let Some(top) = self.of_top(symbol.file, name) {
            return Member::Outside(top);
        }
        match hierarchy.outside.first() {
            Some(base) => Member::Outside(qualified(base, ".", self.program.text(name))),
            None if hierarchy.open => Member::Unknown,
            None => Member::None,
        }
    }

    /// Returns the qualified name of a member that every object has.
    fn of_top(&self, file: FileId, name: Name) -> Option<Rc<str>> {
        let language = self.program.known(file).language;
        let top = language.manifest.conversions.top.as_deref()?;
        let (_, flow) = language.flow(top)?;
        let text = self.program.text(name);
        flow.members.contains_key(text).then(|| Rc::from(format!("{top}.{text}")))
    }

    fn union_members(&mut self, parts: &[Ty], name: Name) -> Member {
        let mut symbols = Symbols::new();
        let mut outside = None;
        for part in parts {
            match self.member(part, name) {
                Member::Symbols(found) | Member::Entity(Entity::Symbols(found)) => {
                    for symbol in found {
                        if !symbols.contains(&symbol) {
                            symbols.push(symbol);
                        }
                    }
                }
                Member::Outside(name) => outside = Some(name),
                _ => {}
            }
        }
        match (symbols.is_empty(), outside) {
            (false, _) => Member::Symbols(symbols),
            (true, Some(name)) => Member::Outside(name),
            (true, None) => Member::Unknown,
        }
    }
}

fn is_module(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
}
