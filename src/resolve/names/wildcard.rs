//! Wildcard imports: the names they provide, from modules of the repository and from external ones.

pub(in crate::resolve) mod closure;

use crate::grammar::ModuleSystem;
use crate::model::facts::{BindingKind, ScopeId, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::Wanted;
use crate::resolve::names::scopes::Visited;
use crate::resolve::types::ty::Entity;
use crate::resolve::units::import_target::{ImportTarget, Module};
use crate::resolve::{Name, Resolver};
use std::rc::Rc;

impl Resolver<'_, '_> {
    /// Attributes an undeclared name to the only external package with a wildcard import, in
    /// languages where every name is declared; with several such packages the package is unknown.
    pub(super) fn outside_wildcard(&mut self, file: FileId, name: Name) -> Option<Entity> {
        let unit = self.program.known(file);
        let manifest = &unit.language.manifest;
        if manifest.modules.system != ModuleSystem::DeclaredPackages {
            return None;
        }
        let callables = self.wanted == Some(Wanted::Callables);
        let only = match self.wildcards.outside.get(&(file, callables)) {
            Some(known) => *known,
            None => {
                let found = self.only_outside(file, callables);
                self.wildcards.outside.insert((file, callables), found);
                found
            }
        };
        let text = self.program.text(name);
        Some(Entity::External(match only? {
            Some(import) => {
                let module = &unit.facts.imports[import].module;
                Rc::from(format!("{module}{}{text}", manifest.modules.separator))
            }
            None => Rc::from(text),
        }))
    }

    /// Returns the only external wildcard import, of a package or of the members of a type; `None`
    /// inside if there are several.
    fn only_outside(&self, file: FileId, of_members: bool) -> Option<Option<usize>> {
        let unit = self.program.known(file);
        let targets = self.program.import_targets(file);
        let all = unit.wildcards().iter().filter_map(|(_, import)| import.get());
        let mut outside = all.filter(|&import| {
            (unit.facts.imports[import].level > 0) == of_members
                && matches!(targets[import], ImportTarget::External(_))
        });
        let first = outside.next()?;
        Some(outside.next().is_none().then_some(first))
    }

    /// Looks a name up through the wildcard imports of a scope.
    pub(super) fn through_wildcards(
        &mut self,
        file: FileId,
        name: Name,
        from: ScopeId,
        visited: &mut Visited,
    ) -> Option<Entity> {
        let scope = self.scope_with_wildcards(file, from)?;
        if !visited.is_by_name && !self.is_special(file, name) {
            let stops = self.stops_from(file, scope, visited.last(name));
            if let Some(Ok(found)) = stops.map(|stops| self.first_of(&stops, name, visited)) {
                return found;
            }
        }
        let before = std::mem::replace(&mut visited.is_by_name, true);
        let found = self.through_wildcards_by_name(file, name, scope, visited);
        visited.is_by_name = before;
        found
    }

    /// True if a name has a meaning in every module.
    fn is_special(&self, file: FileId, name: Name) -> bool {
        let text = self.program.text(name);
        let manifest = &self.program.known(file).language.manifest;
        let suffix = manifest.names.macro_suffix.as_deref();
        text == "default"
            || suffix.is_some_and(|suffix| text.ends_with(suffix))
            || self.is_super_word(file, name)
    }

    /// Does the same without the memo of modules: follows the wildcard imports of each module for
    /// this name.
    fn through_wildcards_by_name(
        &mut self,
        file: FileId,
        name: Name,
        scope: ScopeId,
        visited: &mut Visited,
    ) -> Option<Entity> {
        let targets = self.program.import_targets(file);
        self.wildcards_at(file, scope).into_iter().find_map(|import| {
            let ImportTarget::Path { module, path } = &targets[import] else { return None };
            if path.is_empty() {
                return self
                    .is_exported_by_list(*module, name)
                    .then(|| self.module_member(*module, name, visited))
                    .flatten();
            }
            let wanted = self.wanted.take();
            let start = self.follow(*module, path, visited);
            self.wanted = wanted;
            self.below(&start?, name, visited)
        })
    }

    /// True if a wildcard import of a module includes a name that it binds, in languages with
    /// export lists.
    fn is_exported_by_list(&self, module: Module, name: Name) -> bool {
        let Module::File(file) = module else { return true };
        let Some(unit) = self
            .program
            .unit(file)
            .filter(|unit| unit.language.manifest.names.export_list.is_some())
        else {
            return true;
        };
        let mut bound = self.program.bindings(file, unit, ScopeId(0), name).peekable();
        bound.peek().is_none()
            || bound.any(|(_, binding)| match binding.kind {
                BindingKind::Symbol => {
                    let symbol = SymbolRef { file, symbol: binding.symbol };
                    self.program.symbol(symbol).flags & flags::EXPORTED != 0
                }
                BindingKind::Import => {
                    binding.import.get().is_some_and(|import| unit.facts.imports[import].reexport)
                }
                _ => true,
            })
    }
}
