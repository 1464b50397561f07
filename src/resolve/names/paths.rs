//! Path keywords (root, self, super), declared package names, and macros with separate names.

use crate::model::SymbolKind;
use crate::model::facts::{ImportKind, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::ty::Entity;
use crate::resolve::{Name, Resolver, Symbols};
use crate::resolve::{
    imports,
    units::import_target::{ImportTarget, Module},
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Packages by their declared names.
pub(in crate::resolve) type OwnNames<'a> = FxHashMap<&'a str, Module>;

impl Resolver<'_, '_> {
    /// Returns the meaning of a path keyword in a scope.
    pub(super) fn path_word(&self, file: FileId, name: Name, scope: ScopeId) -> Option<Entity> {
        let rules = &self.program.known(file).language.manifest.modules;
        if rules.root_word.is_none() && rules.self_word.is_none() {
            return None;
        }
        let text = Some(self.program.text(name));
        if text == rules.root_word.as_deref() {
            Some(Entity::Module(Module::File(self.program.crate_root(file))))
        } else if text == rules.self_word.as_deref() {
            Some(self.module_around(file, scope))
        } else if text == rules.super_word.as_deref() {
            self.above(&self.module_around(file, scope))
        } else {
            None
        }
    }

    /// Returns the innermost module around a scope: an inline one, or the file.
    fn module_around(&self, file: FileId, scope: ScopeId) -> Entity {
        match imports::inline_modules(&self.program.known(file), scope).last() {
            Some(&symbol) => Entity::Symbols(Symbols::from_slice(&[SymbolRef { file, symbol }])),
            None => Entity::Module(Module::File(file)),
        }
    }

    /// Returns the parent of a module.
    pub(in crate::resolve) fn above(&self, module: &Entity) -> Option<Entity> {
        match module {
            Entity::Symbols(symbols) => {
                let symbol = symbols
                    .iter()
                    .find(|symbol| self.program.symbol(**symbol).kind == SymbolKind::Module)?;
                Some(self.module_around(symbol.file, self.program.symbol(*symbol).scope))
            }
            Entity::Module(Module::File(file)) => {
                let (parent, scope) = self.program.crate_parent(*file)?;
                Some(self.module_around(parent, scope))
            }
            _ => None,
        }
    }

    /// Returns the imported package with this declared name, which may differ from that of its
    /// directory.
    pub(super) fn package_by_own_name(&mut self, file: FileId, name: &str) -> Option<Module> {
        let unit = self.program.known(file);
        if !unit.language.manifest.modules.shared_folder || unit.facts.package.is_none() {
            return None;
        }
        if let Some(known) = self.own_names.get(&file) {
            return known.get(name).copied();
        }
        let mut own_names = OwnNames::default();
        let targets = self.program.import_targets(file);
        for (import, target) in unit.facts.imports.iter().zip(targets) {
            if import.kind == ImportKind::Module
                && let ImportTarget::Path { module: module @ Module::Package(package), .. } = target
                && let Some(first) = self.program.package_files(*package).first()
                && let Some(own) = self.program.unit(*first)
                && let Some(injected_class_name) = own.facts.package.as_deref()
            {
                own_names.entry(injected_class_name).or_insert(*module);
            }
        }
        let found = own_names.get(name).copied();
        self.own_names.insert(file, Rc::new(own_names));
        found
    }

    /// True if a name is the keyword for the parent module.
    pub(in crate::resolve) fn is_super_word(&self, file: FileId, name: Name) -> bool {
        // The file of a module may be unreadable.
        let Some(unit) = self.program.unit(file) else { return false };
        unit.language
            .manifest
            .modules
            .super_word
            .as_deref()
            .is_some_and(|word| word == self.program.text(name))
    }

    /// Returns the macro of a name with the macro suffix; macros of the same crate take precedence.
    pub(super) fn macro_named(
        &mut self,
        file: FileId,
        name: Name,
        scope: ScopeId,
        at: u32,
    ) -> Option<Entity> {
        let program = self.program;
        let suffix = program.unit(file)?.language.manifest.names.macro_suffix.as_deref()?;
        let plain = program.text(name).strip_suffix(suffix)?;
        let plain = program.named(plain);
        let imported = self.lookup(file, plain, scope, at);
        if let Some((Entity::External(outside), _)) = imported {
            return Some(Entity::External(outside));
        }
        let all = program.macros(plain);
        let all: Symbols = all.into_iter().flatten().copied().collect();
        let root = program.crate_root(file);
        let own: Symbols =
            all.iter().copied().filter(|symbol| program.crate_root(symbol.file) == root).collect();
        let found = if own.is_empty() { all } else { own };
        (!found.is_empty()).then_some(Entity::Symbols(found))
    }
}
