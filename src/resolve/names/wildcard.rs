//! Imports of everything: which names they give, from modules of the repository and from outside.

use crate::grammar::ModuleSystem;
use crate::model::facts::{BindingKind, ScopeId, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::Wanted;
use crate::resolve::names::scopes::Visited;
use crate::resolve::types::ty::Entity;
use crate::resolve::units::import_target::{ImportTarget, Module};
use crate::resolve::{Name, Resolver};
use smallvec::SmallVec;
use std::rc::Rc;

impl Resolver<'_, '_> {
    /// In languages where every name is declared, one that nothing here declares comes from a
    /// package outside that is imported as a whole; of several such packages, the one is not known.
    pub(super) fn outside_wildcard(&self, file: FileId, name: Name) -> Option<Entity> {
        let unit = self.program.known(file);
        let manifest = &unit.language.manifest;
        if manifest.modules.system != ModuleSystem::DeclaredPackages {
            return None;
        }
        let outside = unit.wildcards().iter().filter_map(|import| import.get()).filter(|&import| {
            let of_members = unit.facts.imports[import].level > 0;
            of_members == (self.wanted == Some(Wanted::Callables))
                && matches!(self.program.import_target(file, import), ImportTarget::External(_))
        });
        let outside: SmallVec<[usize; 4]> = outside.collect();
        let text = self.program.text(name);
        match outside[..] {
            [] => None,
            [only] => {
                let module = &unit.facts.imports[only].module;
                Some(Entity::External(Rc::from(format!(
                    "{module}{}{text}",
                    manifest.modules.separator
                ))))
            }
            _ => Some(Entity::External(Rc::from(text))),
        }
    }

    /// What wildcard imports that hold at a scope give for a name.
    pub(super) fn through_wildcards(
        &mut self,
        file: FileId,
        name: Name,
        from: ScopeId,
        visited: &mut Visited,
    ) -> Option<Entity> {
        let unit = self.program.known(file);
        let closed = unit.language.manifest.modules.closed;
        let module = |scope| closed.then(|| crate::resolve::imports::inline_modules(&unit, scope));
        let wildcards = unit.wildcards();
        wildcards.iter().find_map(|&import| {
            let scope = unit.facts.imports[import.get()?].scope;
            if !self.encloses(file, scope, from) || module(scope) != module(from) {
                return None;
            }
            let ImportTarget::Path { module, path } =
                self.program.import_target(file, import.get()?)
            else {
                return None;
            };
            if path.is_empty() {
                return self
                    .is_offered(*module, name)
                    .then(|| self.module_member(*module, name, visited))
                    .flatten();
            }
            let wanted = self.wanted.take();
            let start = self.follow(*module, path, visited);
            self.wanted = wanted;
            self.below(&start?, name, visited)
        })
    }

    /// Whether those who import all of a module get a name that it binds, in languages where a list
    /// may say so.
    fn is_offered(&self, module: Module, name: Name) -> bool {
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
