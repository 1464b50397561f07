//! Members of symbols, modules, files and packages by name: lookups behind a separator.

use super::{Bound, ScopePlace, Visited};
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, ScopeId, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::ty::Entity;
use crate::resolve::units::bounds::qualified;
use crate::resolve::units::import_target::Module;
use crate::resolve::{Name, Resolver, Symbols};
use smallvec::SmallVec;

impl<'a> Resolver<'_, 'a> {
    /// Looks a name up below an entity.
    pub(in crate::resolve) fn below(
        &mut self,
        entity: &Entity,
        name: Name,
        visited: &mut Visited,
    ) -> Option<Entity> {
        match entity {
            Entity::Module(module) => self.module_member(*module, name, visited),
            Entity::External(outer) => {
                Some(Entity::External(qualified(outer, ".", self.program.text(name))))
            }
            Entity::Symbols(symbols) => symbols
                .clone()
                .into_iter()
                .find_map(|symbol| self.symbol_member(symbol, name, visited)),
            Entity::Local(..) | Entity::Builtin(_) => None,
        }
    }

    /// Looks a name up inside a namespace or type.
    pub(in crate::resolve) fn symbol_member(
        &mut self,
        symbol: SymbolRef,
        name: Name,
        visited: &mut Visited,
    ) -> Option<Entity> {
        let entry = self.program.symbol(symbol);
        if matches!(entry.kind, SymbolKind::Module | SymbolKind::Namespace) {
            let shared = self.program.space_members(symbol, name);
            if !shared.is_empty() {
                return Some(Entity::Symbols(self.visible_to_origin(shared)));
            }
            if !self.budget.take(1) || !visited.enter(self.visit(ScopePlace::Inline(symbol), name))
            {
                return None;
            }
            let found = match self.in_scope(
                symbol.file,
                entry.inner,
                name,
                (entry.inner, u32::MAX, true),
                false,
            ) {
                Some(Bound::Entity(entity)) => Some(entity),
                Some(Bound::Imports(file, imports)) => {
                    self.import_entities(file, &imports, visited)
                }
                None => self.through_wildcards(symbol.file, name, entry.inner, visited),
            };
            visited.leave(found.is_some());
            return found;
        }
        let found = self.type_member(symbol, name);
        (!found.is_empty()).then_some(Entity::Symbols(found))
    }

    /// Looks a name up in a module, as visible to importers.
    pub(in crate::resolve) fn module_member(
        &mut self,
        module: Module,
        name: Name,
        visited: &mut Visited,
    ) -> Option<Entity> {
        if !self.budget.take(1) || !visited.enter(self.visit(ScopePlace::Module(module), name)) {
            return None;
        }
        let found = match module {
            Module::File(file) if self.is_super_word(file, name) => {
                self.above(&Entity::Module(module))
            }
            Module::File(file) => self.file_member(file, name, visited),
            Module::Package(package) => self.package_member(package, name),
        };
        let found = found.or_else(|| {
            self.program
                .child_module(module, name)
                .map(Entity::Module)
                .filter(|_| self.wants_modules())
        });
        let found = found.or_else(|| match module {
            Module::File(file) => self.macro_named(file, name, ScopeId(0), u32::MAX),
            Module::Package(_) => None,
        });
        visited.leave(found.is_some());
        found
    }

    fn file_member(&mut self, file: FileId, name: Name, visited: &mut Visited) -> Option<Entity> {
        let unit = self.program.unit(file)?;
        let top = ScopeId(0);
        match self.in_scope(file, top, name, (top, u32::MAX, true), false) {
            Some(Bound::Entity(Entity::Local(file, bindings))) => {
                return self.alias_of(file, bindings, visited);
            }
            Some(Bound::Entity(entity)) => return Some(entity),
            Some(Bound::Imports(file, imports)) => {
                return self.import_entities(file, &imports, visited);
            }
            None => {}
        }
        if let Some(import) = unit.reexport(name) {
            return self.import_entity(file, import, visited);
        }
        if self.program.text(name) == "default"
            && let Some(symbol) = unit
                .facts
                .symbols
                .iter()
                .position(|symbol| symbol.flags & flags::DEFAULT_EXPORT != 0)
        {
            let symbol = crate::model::facts::LocalSymbol::at(symbol);
            return Some(Entity::Symbols(Symbols::from_slice(&[SymbolRef { file, symbol }])));
        }
        self.through_wildcards(file, name, top, visited)
    }

    /// Returns the target of a top-level binding whose value is a name; for any other, the binding
    /// itself.
    pub(super) fn alias_of(
        &mut self,
        file: FileId,
        bindings: SmallVec<[BindingId; 2]>,
        _visited: &mut Visited,
    ) -> Option<Entity> {
        let unit = self.program.known(file);
        if let [only] = bindings[..] {
            let value = unit.binding(only).value;
            if let Some(crate::model::facts::Expr::Name(name, scope)) =
                value.get().map(|position| unit.facts.exprs[position])
            {
                return self
                    .lookup(file, unit.name(name), scope, u32::MAX)
                    .map(|(entity, _)| entity);
            }
        }
        Some(Entity::Local(file, bindings))
    }

    fn package_member(&mut self, package: u32, name: Name) -> Option<Entity> {
        let found = self.program.package_member(package, name)?;
        self.budget.take(found.len());
        let mut symbols = found.clone();
        symbols.retain(|symbol| self.is_wanted(*symbol));
        (!symbols.is_empty()).then_some(Entity::Symbols(symbols))
    }
}
