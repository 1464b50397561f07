//! Structural interfaces: types that implement an interface by having its methods.

use crate::model::facts::{BindingKind, LocalSymbol};
use crate::model::graph::{FileId, SymbolRef};
use crate::model::{SymbolKind, Visibility};
use crate::resolve::Name;
use crate::resolve::db::Db;
use crate::resolve::db::ty::Ty;
use crate::resolve::members::hierarchy;
use crate::resolve::workspace::program::Program;
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
    let db = &Db::new(program, FileId(0));
    for &file in files {
        let unit = program.known(file);
        if !unit.language.manifest.resolution.structural {
            continue;
        }
        db.begin(file);
        for (position, symbol) in unit.facts.symbols.iter().enumerate() {
            let interface = SymbolRef { file, symbol: LocalSymbol::at(position) };
            if symbol.kind == SymbolKind::Interface
                && let Some(first) =
                    requirements(db, interface).and_then(|all| all.first().map(|first| first.name))
            {
                interfaces.push((first, interface));
            }
        }
    }
    interfaces
}

/// Returns the interfaces of the repository that a type implements structurally, in order.
pub(in crate::resolve) fn satisfied(db: &Db, ty: SymbolRef) -> Rc<[SymbolRef]> {
    let entry = db.program.symbol(ty);
    let is_structural = db.program.known(ty.file).language.manifest.resolution.structural;
    if !is_structural || !entry.kind.is_type() || entry.kind == SymbolKind::Interface {
        return Rc::from([]);
    }
    if let Some(known) = db.satisfied.get(&ty) {
        return known;
    }
    let mut candidates: Vec<SymbolRef> = Vec::new();
    for name in method_names(db, ty) {
        candidates.extend(db.program.interfaces(name).into_iter().flatten().copied());
    }
    candidates.sort_unstable();
    candidates.dedup();
    candidates.retain(|interface| *interface != ty && satisfies(db, ty, *interface));
    let found: Rc<[SymbolRef]> = candidates.into();
    db.satisfied.insert(ty, found.clone());
    found
}

/// Returns the method of an interface that a method of this name implements.
pub(in crate::resolve) fn required_method(
    db: &Db,
    interface: SymbolRef,
    name: Name,
) -> Option<SymbolRef> {
    let required = requirements(db, interface)?;
    required.into_iter().find(|required| required.name == name)?.method
}

/// Returns the names of a type's methods, own and embedded.
fn method_names(db: &Db, ty: SymbolRef) -> Vec<Name> {
    let mut names = Vec::new();
    for (part, _) in &hierarchy::hierarchy(db, ty).types {
        names.extend(
            db.program.extensions(*part).into_iter().flat_map(|members| members.keys().copied()),
        );
        names.extend(bound_methods(db, *part).into_iter().map(|(name, _)| name));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the methods in the body of a type.
fn bound_methods(db: &Db, ty: SymbolRef) -> Vec<(Name, SymbolRef)> {
    let unit = db.program.known(ty.file);
    let inner = db.program.symbol(ty).inner;
    let mut own = if inner.is_some() { unit.all_bound(inner).to_vec() } else { Vec::new() };
    // In source order, which is deterministic.
    own.sort_unstable_by_key(|(_, id)| *id);
    let symbols = own
        .into_iter()
        .map(|(name, id)| (name, unit.binding(id)))
        .filter(|(_, binding)| binding.kind == BindingKind::Symbol);
    symbols
        .map(|(name, binding)| (name, SymbolRef { file: ty.file, symbol: binding.symbol }))
        .filter(|(_, symbol)| db.program.symbol(*symbol).kind == SymbolKind::Method)
        .collect()
}

/// Returns the requirements of an interface; `None` if they are empty or not completely known.
fn requirements(db: &Db, interface: SymbolRef) -> Option<Vec<Requirement>> {
    let hierarchy = hierarchy::hierarchy(db, interface);
    if hierarchy.open {
        return None;
    }
    let mut required: Vec<Requirement> = Vec::new();
    for (part, _) in &hierarchy.types {
        let own = bound_methods(db, *part);
        required.extend(
            own.into_iter().map(|(name, method)| Requirement { name, method: Some(method) }),
        );
    }
    let language = db.program.known(interface.file).language;
    for outside in &hierarchy.outside {
        let (_, flow) = language.flow(outside)?;
        for member in flow.members.keys() {
            required.push(Requirement { name: db.program.named(member), method: None });
        }
    }
    (!required.is_empty()).then_some(required)
}

fn satisfies(db: &Db, ty: SymbolRef, interface: SymbolRef) -> bool {
    let Some(required) = requirements(db, interface) else { return false };
    let package = |of: SymbolRef| db.program.package_of(of.file);
    let same_package = package(ty) == package(interface);
    required.iter().all(|required| {
        let found = db.type_member(ty, required.name);
        let Some(&method) = found.first() else { return false };
        if db.program.symbol(method).kind != SymbolKind::Method {
            return false;
        }
        let Some(asked) = required.method else { return true };
        let (own, asked_entry) = (db.program.symbol(method), db.program.symbol(asked));
        let reachable = same_package || asked_entry.visibility == Visibility::Public;
        reachable && own.arity == asked_entry.arity && have_same_types(db, method, asked)
    })
}

/// True if two callables have the same types of parameters and results, as far as they are known.
fn have_same_types(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    let (params, others) = (db.parameter_types(one), db.parameter_types(other));
    let [result, other_result] = [one, other].map(|callable| {
        let result = db.program.symbol(callable).ty;
        result.is_some().then(|| db.instance_of_expr(callable.file, result))
    });
    let results_agree = match (result, other_result) {
        (Some(one), Some(other)) => agree(&one, &other),
        (one, other) => one.is_none() && other.is_none(),
    };
    results_agree
        && params.len() == others.len()
        && params.iter().zip(others.iter()).all(|(one, other)| agree(one, other))
}

/// True if two types are the same as far as they are known; a type parameter may be any.
fn agree(one: &Ty, other: &Ty) -> bool {
    match (one, other) {
        (Ty::Param(..), _) | (_, Ty::Param(..)) => true,
        (Ty::Tuple(ones), Ty::Tuple(others)) => {
            ones.len() == others.len()
                && ones.iter().zip(others.iter()).all(|(one, other)| agree(one, other))
        }
        _ => !one.is_known() || !other.is_known() || one == other,
    }
}
