//! Structural interfaces: types that implement an interface by having its methods.

use crate::model::SymbolKind;
use crate::model::Visibility;
use crate::model::facts::{BindingKind, LocalSymbol};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::{Name, Program, Resolver};
use std::rc::Rc;

/// Required method of an interface: of the repository, or external.
struct Requirement {
    name: Name,
    method: Option<SymbolRef>,
}

/// Returns the interfaces of some files, each with the name of one of its required methods.
pub(in crate::resolve) fn by_method(
    program: &Program<'_>,
    files: &[FileId],
) -> Vec<(Name, SymbolRef)> {
    let mut interfaces = Vec::new();
    let mut resolver = Resolver::new(program, FileId(0));
    for &file in files {
        let unit = program.known(file);
        if !unit.language.manifest.resolution.structural {
            continue;
        }
        resolver.begin(file);
        for (position, symbol) in unit.facts.symbols.iter().enumerate() {
            let interface = SymbolRef { file, symbol: LocalSymbol::at(position) };
            if symbol.kind == SymbolKind::Interface
                && let Some(first) = resolver
                    .requirements(interface)
                    .and_then(|all| all.first().map(|first| first.name))
            {
                interfaces.push((first, interface));
            }
        }
    }
    interfaces
}

impl Resolver<'_, '_> {
    /// Returns the interfaces of the repository that a type implements structurally, in order.
    pub(in crate::resolve) fn satisfied(&mut self, ty: SymbolRef) -> Rc<[SymbolRef]> {
        let entry = self.program.symbol(ty);
        let is_structural = self.program.known(ty.file).language.manifest.resolution.structural;
        if !is_structural || !entry.kind.is_type() || entry.kind == SymbolKind::Interface {
            return Rc::from([]);
        }
        if let Some(known) = self.satisfied.get(&ty) {
            return known.clone();
        }
        let mut candidates: Vec<SymbolRef> = Vec::new();
        for name in self.method_names(ty) {
            candidates.extend(self.program.interfaces(name).into_iter().flatten().copied());
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates.retain(|interface| *interface != ty && self.satisfies(ty, *interface));
        let found: Rc<[SymbolRef]> = candidates.into();
        self.satisfied.insert(ty, found.clone());
        found
    }

    /// Returns the method of an interface that a method of this name implements.
    pub(in crate::resolve) fn required_method(
        &mut self,
        interface: SymbolRef,
        name: Name,
    ) -> Option<SymbolRef> {
        let required = self.requirements(interface)?;
        required.into_iter().find(|required| required.name == name)?.method
    }

    /// Returns the names of a type's methods, own and embedded.
    fn method_names(&mut self, ty: SymbolRef) -> Vec<Name> {
        let mut names = Vec::new();
        for (part, _) in &self.hierarchy(ty).types {
            names.extend(
                self.program
                    .extensions(*part)
                    .into_iter()
                    .flat_map(|members| members.keys().copied()),
            );
            names.extend(self.bound_methods(*part).into_iter().map(|(name, _)| name));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the methods in the body of a type.
    fn bound_methods(&self, ty: SymbolRef) -> Vec<(Name, SymbolRef)> {
        let unit = self.program.known(ty.file);
        let inner = self.program.symbol(ty).inner;
        let mut own = if inner.is_some() { unit.all_bound(inner).to_vec() } else { Vec::new() };
        // In source order, which is deterministic.
        own.sort_unstable_by_key(|(_, id)| *id);
        let symbols = own
            .into_iter()
            .map(|(name, id)| (name, unit.binding(id)))
            .filter(|(_, binding)| binding.kind == BindingKind::Symbol);
        symbols
            .map(|(name, binding)| (name, SymbolRef { file: ty.file, symbol: binding.symbol }))
            .filter(|(_, symbol)| self.program.symbol(*symbol).kind == SymbolKind::Method)
            .collect()
    }

    /// Returns the requirements of an interface; `None` if they are empty or not completely known.
    fn requirements(&mut self, interface: SymbolRef) -> Option<Vec<Requirement>> {
        let hierarchy = self.hierarchy(interface);
        if hierarchy.open {
            return None;
        }
        let mut required: Vec<Requirement> = Vec::new();
        for (part, _) in &hierarchy.types {
            let own = self.bound_methods(*part);
            required.extend(
                own.into_iter().map(|(name, method)| Requirement { name, method: Some(method) }),
            );
        }
        let language = self.program.known(interface.file).language;
        for outside in &hierarchy.outside {
            let (_, flow) = language.flow(outside)?;
            for member in flow.members.keys() {
                required.push(Requirement { name: self.program.named(member), method: None });
            }
        }
        (!required.is_empty()).then_some(required)
    }

    fn satisfies(&mut self, ty: SymbolRef, interface: SymbolRef) -> bool {
        let Some(required) = self.requirements(interface) else { return false };
        let package = |of: SymbolRef| self.program.package_of(of.file);
        let same_package = package(ty) == package(interface);
        required.iter().all(|required| {
            let found = self.type_member(ty, required.name);
            let Some(&method) = found.first() else { return false };
            if self.program.symbol(method).kind != SymbolKind::Method {
                return false;
            }
            let Some(asked) = required.method else { return true };
            let (own, asked_entry) = (self.program.symbol(method), self.program.symbol(asked));
            let reachable = same_package || asked_entry.visibility == Visibility::Public;
            reachable && own.arity == asked_entry.arity && self.have_same_types(method, asked)
        })
    }

    /// True if two callables have the same parameter types, as far as they are known.
    pub(super) fn have_same_types(&mut self, one: SymbolRef, other: SymbolRef) -> bool {
        let (one, other) = (self.parameter_types(one), self.parameter_types(other));
        one.len() == other.len()
            && one
                .iter()
                .zip(other.iter())
                .all(|(one, other)| !one.is_known() || !other.is_known() || one == other)
    }
}
