//! Scope lookup: lexical scopes outwards, then the package, wildcard imports and builtins; and
//! names below modules.

mod members;

use crate::grammar::ModuleSystem;
use crate::model::facts::{
    Binding, BindingId, BindingKind, ImportId, ImportKind, ScopeId, ScopeKind, flags,
};
use crate::model::graph::{FileId, SymbolRef};
use crate::model::{Step, SymbolKind};
use crate::resolve::Wanted;
use crate::resolve::types::assignments::BINDINGS_PER_STEP;
use crate::resolve::types::ty::Entity;
use crate::resolve::units::import_target::{ImportTarget, Module};
use crate::resolve::{Name, Resolver, Symbols};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;

/// Maximum length of a chain of re-exports.
pub(super) const MAX_CHAIN: usize = 32;

/// Lookup key: place, name, filter, and whether values are skipped.
type Visit = (ScopePlace, Name, Option<Wanted>, bool);

/// Visited set of one lookup: names in progress, so that circular re-exports end, and names not
/// found, so that each place is searched once regardless of the number of paths to it. A failed
/// search inside a cycle is final: the parts that it skipped are searched by the lookup in
/// progress.
#[derive(Default, Debug)]
pub(in crate::resolve) struct Visited {
    under_way: SmallVec<[Visit; 4]>,
    missing: FxHashSet<Visit>,
    /// True if wildcard imports are searched for this name separately, because the memo of modules
    /// does not apply to it.
    pub(super) is_by_name: bool,
}

impl Visited {
    /// Enters a place; false if it was visited, or the chain is too long.
    fn enter(&mut self, visit: Visit) -> bool {
        if self.under_way.len() >= MAX_CHAIN
            || self.under_way.contains(&visit)
            || self.missing.contains(&visit)
        {
            return false;
        }
        self.under_way.push(visit);
        true
    }

    /// Returns the place entered last, if it was for this name.
    pub(super) fn last(&self, name: Name) -> Option<ScopePlace> {
        self.under_way.last().filter(|visit| visit.1 == name).map(|visit| visit.0)
    }

    /// Leaves the place entered last.
    fn leave(&mut self, is_found: bool) {
        if let Some(visit) = self.under_way.pop().filter(|_| !is_found) {
            self.missing.insert(visit);
        }
    }
}

/// Place of a lookup in progress.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::resolve) enum ScopePlace {
    Module(Module),
    /// The value that a module exports as a whole.
    Whole(Module),
    /// Inline module.
    Inline(SymbolRef),
}

impl<'a> Resolver<'_, 'a> {
    /// Looks a name up from a position in a file; returns its meaning and the step.
    pub(in crate::resolve) fn lookup(
        &mut self,
        file: FileId,
        name: Name,
        scope: ScopeId,
        at: u32,
    ) -> Option<(Entity, Step)> {
        if let Some(entity) = self.path_word(file, name, scope) {
            return Some((entity, Step::ModuleMember));
        }
        let unit = self.program.known(file);
        let rules = &unit.language.manifest.resolution;
        let mut current = scope;
        let mut crossed = false;
        let pasted = unit.language.manifest.modules.system == ModuleSystem::Includes;
        while current.is_some() {
            let kind = unit.scope_kind(current);
            if pasted && matches!(kind, ScopeKind::Module | ScopeKind::File) {
                if let Some(found) = self.visible_around(file, current, name) {
                    return Some(found);
                }
                current = unit.parent(current);
                continue;
            }
            if pasted
                && kind == ScopeKind::Type
                && let Some(own) = self.injected_class_name(file, current, name)
            {
                return Some((Entity::Symbols(own), Step::Lexical));
            }
            let closed = current != scope
                || (rules.members_need_receiver && !self.holds_variants(file, current));
            let hidden = kind == ScopeKind::Type
                && closed
                && !rules.type_scope_visible
                && !rules.implicit_receiver;
            if let Some(entity) = self.in_scope(file, current, name, (scope, at, crossed), hidden) {
                if rules.inherited_overloads
                    && kind == ScopeKind::Type
                    && let Bound::Entity(Entity::Symbols(own)) = &entity
                    && own.iter().all(|symbol| self.program.symbol(*symbol).kind.is_callable())
                    && let Some(all) = self.implicit_member(file, current, name)
                {
                    // Inherited overloads extend those in this scope.
                    let step = if all == *own { Step::Lexical } else { Step::SelfMember };
                    return Some((Entity::Symbols(all), step));
                }
                let step = self.step_of(file, &entity);
                return Some((self.follow_import(entity)?, step));
            }
            let has_members = kind == ScopeKind::Type || unit.scope_owner(current).is_some();
            if rules.implicit_receiver
                && has_members
                && let Some(found) = self.implicit_member(file, current, name)
            {
                return Some((Entity::Symbols(found), Step::SelfMember));
            }
            if pasted && let Some(found) = self.visible_around(file, current, name) {
                return Some(found);
            }
            crossed |= kind == ScopeKind::Function;
            if kind == ScopeKind::Module && unit.language.manifest.modules.closed {
                break;
            }
            current = unit.parent(current);
        }
        if let Some(entity) = self.macro_named(file, name, scope, at) {
            return Some((entity, Step::Package));
        }
        let found = self.implicit_names(file, name, scope);
        if pasted && found.is_none() {
            return self.linked(file, name, scope).map(|entity| (entity, Step::UniqueName));
        }
        found
    }

    /// Variants are visible to the values of the variants after them.
    fn holds_variants(&self, file: FileId, scope: ScopeId) -> bool {
        let unit = self.program.known(file);
        unit.scope_symbol(scope)
            .get()
            .is_some_and(|symbol| unit.facts.symbols[symbol].kind == SymbolKind::Enum)
    }

    fn step_of(&self, _file: FileId, found: &Bound) -> Step {
        match found {
            Bound::Imports(..) => Step::Import,
            Bound::Entity(_) => Step::Lexical,
        }
    }

    fn follow_import(&mut self, found: Bound) -> Option<Entity> {
        match found {
            Bound::Entity(entity) => Some(entity),
            Bound::Imports(file, imports) => {
                match self.import_entities(file, &imports, &mut Visited::default()) {
                    None if self.wanted.is_none() => {
                        let unit = self.program.known(file);
                        let entry = &unit.facts.imports
                            [imports[0].get().expect("the import was found in the table")];
                        Some(Entity::External(Rc::from(&*entry.module)))
                    }
                    // The symbol may be excluded by the filter.
                    entity => entity,
                }
            }
        }
    }

    /// Returns the first import of a name that has a meaning: imports of other kinds may share the
    /// name, and one of them may lead through another (`mod a; use a::a;`).
    fn import_entities(
        &mut self,
        file: FileId,
        imports: &[ImportId],
        visited: &mut Visited,
    ) -> Option<Entity> {
        let wants_modules = self.wants_modules();
        let is_wanted = |entity: &Entity| wants_modules || !matches!(entity, Entity::Module(_));
        imports
            .iter()
            .find_map(|import| self.import_entity(file, *import, visited).filter(is_wanted))
    }

    /// Returns what a scope itself binds to a name.
    pub(super) fn in_scope(
        &mut self,
        file: FileId,
        scope: ScopeId,
        name: Name,
        (from, at, crossed): (ScopeId, u32, bool),
        hidden: bool,
    ) -> Option<Bound> {
        let unit = self.program.known(file);
        let bound = self.program.bound(file, unit, scope, name);
        let bound =
            if crossed { bound } else { self.last_values((file, scope, name), bound, (from, at)) };
        if !self.budget.take(bound.len() / BINDINGS_PER_STEP) {
            return None;
        }
        let bound = bound.iter().map(|&(_, id)| (id, unit.binding(id)));
        let all: SmallVec<[(BindingId, &'a Binding); 4]> =
            bound.filter(|(_, binding)| self.is_wanted_binding(file, binding)).collect();
        if all.is_empty() || all.iter().any(|(_, binding)| binding.kind == BindingKind::Outer) {
            return None;
        }
        for (id, binding) in all.iter().rev() {
            let narrows = binding.kind == BindingKind::Narrow && binding.from <= at;
            if narrows && (binding.ty.is_some() || self.guarded(file, binding.value).is_some()) {
                return Some(Bound::Entity(Entity::Local(file, SmallVec::from_slice(&[*id]))));
            }
        }
        if hidden {
            let params = all
                .iter()
                .filter(|(_, binding)| binding.kind == BindingKind::TypeParam)
                .map(|(id, _)| *id);
            let params: SmallVec<[BindingId; 2]> = params.collect();
            return (!params.is_empty()).then_some(Bound::Entity(Entity::Local(file, params)));
        }
        let symbols = self.visible_symbols(file, &all, at, crossed);
        let imported = all.iter().rev().filter(|(_, binding)| binding.kind == BindingKind::Import);
        let imports: SmallVec<[ImportId; 2]> =
            imported.map(|(_, binding)| binding.import).collect();
        let kind = unit.scope_kind(scope);
        if !self.wants_modules() && !symbols.is_empty() {
            // The import is the module that the filter excludes.
            return Some(Bound::Entity(Entity::Symbols(symbols)));
        }
        if let Some(last) = imports.first() {
            let external = matches!(
                self.program.import_target(file, last.get().unwrap_or(0)),
                ImportTarget::External(_)
            );
            if symbols.is_empty() || (!external && !matches!(kind, ScopeKind::Function)) {
                return Some(Bound::Imports(file, imports));
            }
        }
        if !symbols.is_empty() {
            return Some(Bound::Entity(Entity::Symbols(symbols)));
        }
        let locals = self.reaching(file, &all, from, at, crossed);
        (!locals.is_empty()).then_some(Bound::Entity(Entity::Local(file, locals)))
    }

    /// Returns the symbols of a name that are visible: overloads together, otherwise the effective
    /// one, or all conditional variants.
    fn visible_symbols(
        &self,
        file: FileId,
        all: &[(BindingId, &'a Binding)],
        at: u32,
        crossed: bool,
    ) -> Symbols {
        let unit = self.program.known(file);
        let rules = &unit.language.manifest.resolution;
        let bound = all.iter().filter(|(_, binding)| binding.kind == BindingKind::Symbol);
        let mut symbols: SmallVec<[(SymbolRef, ScopeId, u32); 2]> = bound
            .map(|(_, binding)| {
                (SymbolRef { file, symbol: binding.symbol }, binding.block, binding.from)
            })
            .collect();
        if rules.overloads || rules.separate_types || rules.declarations || symbols.len() < 2 {
            return symbols.into_iter().map(|(symbol, _, _)| symbol).collect();
        }
        if symbols
            .iter()
            .any(|(symbol, _, _)| self.program.symbol(*symbol).flags & flags::DECLARATION == 0)
        {
            symbols.retain(|(symbol, _, _)| {
                self.program.symbol(*symbol).flags & flags::DECLARATION == 0
            });
        }
        let local = symbols
            .iter()
            .any(|(symbol, _, _)| self.program.symbol(*symbol).flags & flags::LOCAL != 0);
        if local && !crossed && symbols.iter().any(|&(_, _, from)| from <= at) {
            symbols.retain(|&mut (_, _, from)| from <= at);
        }
        let Some(&(last, block, _)) = symbols.last() else { return Symbols::new() };
        if symbols.iter().all(|&(_, other, _)| other == block)
            || unit.scope_kind(block) != ScopeKind::Flow
        {
            return Symbols::from_slice(&[last]);
        }
        symbols.into_iter().map(|(symbol, _, _)| symbol).collect()
    }

    /// Looks up names that a file sees without a binding: of its package, through wildcard imports,
    /// and builtins.
    fn implicit_names(
        &mut self,
        file: FileId,
        name: Name,
        from: ScopeId,
    ) -> Option<(Entity, Step)> {
        let unit = self.program.known(file);
        let manifest = &unit.language.manifest;
        let shares = manifest.modules.shared_folder
            || manifest.modules.system == ModuleSystem::DeclaredPackages;
        if shares
            && let Some(package) = self.program.package_of(file)
            && let Some(entity) =
                self.module_member(Module::Package(package), name, &mut Visited::default())
        {
            return Some((entity, Step::Package));
        }
        let pasted = manifest.modules.system == ModuleSystem::Includes;
        if !pasted
            && let Some(entity) = self.through_wildcards(file, name, from, &mut Visited::default())
        {
            return Some((entity, Step::Wildcard));
        }
        let text = self.program.text(name);
        if !self.wants_modules() {
            return None;
        }
        if let Some(package) = self.package_by_own_name(file, text) {
            return Some((Entity::Module(package), Step::Import));
        }
        if let Some(library) = self.program.library(file, text) {
            return Some((Entity::Module(Module::File(library)), Step::ModuleMember));
        }
        if self.program.depends_on(file, text) {
            return Some((Entity::External(Rc::from(text)), Step::ExternalImport));
        }
        if let Some(package) = self.program.declared_package(file, text) {
            return Some((Entity::Module(package), Step::ModuleMember));
        }
        if manifest.names.export_objects.iter().any(|object| object == text) {
            return Some((Entity::Module(Module::File(file)), Step::ModuleMember));
        }
        if manifest.resolution.global_names
            && let Some(entity) = self.defined_anywhere(file, name)
        {
            return Some((entity, Step::UniqueName));
        }
        if unit.language.is_builtin(text) {
            return Some((Entity::Builtin(name), Step::Builtin));
        }
        self.outside_wildcard(file, name).map(|entity| (entity, Step::Wildcard))
    }

    /// Returns the target of an import.
    pub(in crate::resolve) fn import_entity(
        &mut self,
        file: FileId,
        import: ImportId,
        visited: &mut Visited,
    ) -> Option<Entity> {
        let position = import.get()?;
        if self.program.known(file).language.manifest.modules.system == ModuleSystem::Includes
            && let Some(entity) = self.using_declaration(file, import)
        {
            return Some(entity);
        }
        match self.program.import_target(file, position) {
            ImportTarget::External(name) => Some(Entity::External(Rc::from(&**name))),
            ImportTarget::Path { module, path } => {
                let kind = self.program.known(file).facts.imports[position].kind;
                let whole = |resolver: &mut Self, visited: &mut Visited| {
                    resolver.whole_export(*module, visited)
                };
                match kind {
                    ImportKind::Module if path.is_empty() => {
                        whole(self, visited).or(Some(Entity::Module(*module)))
                    }
                    // Without an explicit default export: the value that the module exports as a
                    // whole, or the module.
                    ImportKind::Default => self
                        .follow(*module, path, visited)
                        .or_else(|| whole(self, visited))
                        .or(Some(Entity::Module(*module))),
                    _ => self.follow(*module, path, visited).or_else(|| {
                        let mut entity = whole(self, visited)?;
                        for &name in path {
                            entity = self.below(&entity, name, visited)?;
                        }
                        Some(entity)
                    }),
                }
            }
        }
    }

    /// Returns the value that a file exports as a whole.
    fn whole_export(&mut self, module: Module, visited: &mut Visited) -> Option<Entity> {
        let Module::File(file) = module else { return None };
        let object = self.program.unit(file)?.language.manifest.names.export_objects.first()?;
        let name = self.program.named(object);
        if !visited.enter(self.visit(ScopePlace::Whole(module), name)) {
            return None;
        }
        let top = ScopeId(0);
        let found = match self.in_scope(file, top, name, (top, u32::MAX, true), false) {
            Some(Bound::Entity(Entity::Local(file, bindings))) => {
                self.alias_of(file, bindings, visited)
            }
            Some(Bound::Entity(entity)) => Some(entity),
            Some(Bound::Imports(file, imports)) => self.import_entities(file, &imports, visited),
            None => None,
        };
        visited.leave(found.is_some());
        found
    }

    fn visit(&self, place: ScopePlace, name: Name) -> Visit {
        (place, name, self.wanted, self.types_only)
    }

    /// Follows a path of names from a module.
    pub(in crate::resolve) fn follow(
        &mut self,
        module: Module,
        path: &[Name],
        visited: &mut Visited,
    ) -> Option<Entity> {
        let Some((&last, before)) = path.split_last() else { return Some(Entity::Module(module)) };
        // The filter applies only to the last segment.
        let wanted = self.wanted.take();
        let start = before
            .iter()
            .try_fold(Entity::Module(module), |entity, &name| self.below(&entity, name, visited));
        self.wanted = wanted;
        self.below(&start?, last, visited)
    }
}

/// Binding of a name in a scope, before imports are followed.
pub(super) enum Bound {
    Entity(Entity),
    /// Imports of one name, last one first.
    Imports(FileId, SmallVec<[ImportId; 2]>),
}
