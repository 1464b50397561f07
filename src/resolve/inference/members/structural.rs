//! Structural interfaces: types that implement an interface by having its methods.

use crate::db::Db;
use crate::db::each_file::each_file;
use crate::db::ty::Ty;
use crate::inference::members::{hierarchy, lookup};
use crate::units::interner::Name;
use crate::workspace::program::Program;
use cograph_model::facts::{Binding, BindingKind, LocalSymbol};
use cograph_model::graph::{FileId, SymbolRef};
use cograph_model::{SymbolKind, Visibility};
use std::rc::Rc;

/// Required member of an interface: of the repository, or external.
struct Requirement {
    name: Name,
    member: Option<SymbolRef>,
}

/// True for a type that others implement by having its members.
fn is_structural(db: &Db, ty: SymbolRef) -> bool {
    let language = db.program.known(ty.file).language;
    let marks = &language.manifest.resolution.structural;
    let is_marked = |base: Box<str>| marks.iter().any(|mark| **mark == *base);
    match db.program.symbol(ty).kind {
        kind if language.has_structural_interfaces() => kind == SymbolKind::Interface,
        kind => kind.is_type() && hierarchy::direct_outside(db, ty).into_iter().any(is_marked),
    }
}

/// Returns the interfaces of some files, each with the name of one of its required methods.
pub(crate) fn by_method(program: &Program<'_>, files: &[FileId]) -> Vec<(Name, SymbolRef)> {
    let mut interfaces = Vec::new();
    each_file(program, files, |db, file| {
        let unit = program.known(file);
        if unit.language.manifest.resolution.structural.is_empty() {
            return;
        }
        for position in 0..unit.facts.symbols.len() {
            let interface = SymbolRef { file, symbol: LocalSymbol::at(position) };
            if !is_structural(db, interface) {
                continue;
            }
            let is_method = |required: &&Requirement| {
                let kind = required.member.map(|member| db.program.symbol(member).kind);
                kind.is_none_or(|kind| kind == SymbolKind::Method)
            };
            let required = requirements(db, interface).unwrap_or_default();
            if let Some(first) = required.iter().find(is_method) {
                interfaces.push((first.name, interface));
            }
        }
    });
    interfaces
}

/// Returns the interfaces of the repository that a type implements structurally, in order.
pub(crate) fn satisfied(db: &Db, ty: SymbolRef) -> Rc<[SymbolRef]> {
    let entry = db.program.symbol(ty);
    let marks = &db.program.known(ty.file).language.manifest.resolution.structural;
    if marks.is_empty() || !entry.kind.is_type() {
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
    if !candidates.is_empty() && is_structural(db, ty) {
        candidates.clear();
    }
    let hierarchy = hierarchy::hierarchy(db, ty);
    let is_base = |ty: &SymbolRef| hierarchy.types.iter().any(|(base, _)| base == ty);
    candidates.retain(|interface| !is_base(interface) && satisfies(db, ty, *interface));
    let found: Rc<[SymbolRef]> = candidates.into();
    db.satisfied.insert(ty, found.clone());
    found
}

/// Returns the method of an interface that a method of this name implements.
pub(crate) fn required_method(db: &Db, interface: SymbolRef, name: Name) -> Option<SymbolRef> {
    let required = requirements(db, interface)?;
    required.into_iter().find(|required| required.name == name)?.member
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
    let mut bound = bound_members(db, ty);
    bound.retain(|(_, symbol)| db.program.symbol(*symbol).kind == SymbolKind::Method);
    bound
}

/// Returns the members in the body of a type, in source order, which is deterministic.
fn bound_members(db: &Db, ty: SymbolRef) -> Vec<(Name, SymbolRef)> {
    let unit = db.program.known(ty.file);
    let inner = db.program.symbol(ty).inner;
    let mut own = if inner.is_some() { unit.all_bound(inner).to_vec() } else { Vec::new() };
    own.sort_unstable();
    let bindings = own.into_iter().map(|id| unit.binding(id));
    let symbols = bindings.filter(|binding| binding.kind == BindingKind::Symbol);
    let named = |binding: &Binding| {
        (unit.name(binding.name), SymbolRef { file: ty.file, symbol: binding.symbol() })
    };
    symbols.map(named).collect()
}

/// Returns the requirements of an interface; `None` if they are empty or not completely known.
fn requirements(db: &Db, interface: SymbolRef) -> Option<Vec<Requirement>> {
    let hierarchy = hierarchy::hierarchy(db, interface);
    if hierarchy.open {
        return None;
    }
    let language = db.program.known(interface.file).language;
    let marks = &language.manifest.resolution.structural;
    let is_required = |kind: SymbolKind| match language.has_structural_interfaces() {
        true => kind == SymbolKind::Method,
        false => kind != SymbolKind::Constructor && !kind.is_type(),
    };
    let mut required: Vec<Requirement> = Vec::new();
    for (part, _) in &hierarchy.types {
        let own = bound_members(db, *part).into_iter();
        let own = own.filter(|(_, symbol)| is_required(db.program.symbol(*symbol).kind));
        required.extend(own.map(|(name, member)| Requirement { name, member: Some(member) }));
    }
    for outside in &hierarchy.outside {
        if marks.iter().any(|mark| **mark == **outside) {
            continue;
        }
        let (_, flow) = language.flow(outside)?;
        for member in flow.members.keys() {
            required.push(Requirement { name: db.program.named(member), member: None });
        }
    }
    (!required.is_empty()).then_some(required)
}

fn satisfies(db: &Db, ty: SymbolRef, interface: SymbolRef) -> bool {
    let Some(required) = requirements(db, interface) else { return false };
    let package = |of: SymbolRef| db.program.package_of(of.file);
    let same_package = package(ty) == package(interface);
    // A method implements one of exactly its types, or one that may be called as it may.
    let is_exact = db.program.known(ty.file).language.has_structural_interfaces();
    required.iter().all(|required| {
        let found = lookup::type_member(db, ty, required.name);
        let Some(&member) = found.first() else { return false };
        let own = db.program.symbol(member);
        let asked = required.member.map(|asked| (asked, db.program.symbol(asked)));
        let kind = asked.map_or(SymbolKind::Method, |(_, entry)| entry.kind);
        if kind == SymbolKind::Method && own.kind != SymbolKind::Method {
            return false;
        }
        let Some((asked, entry)) = asked else { return true };
        match is_exact {
            true => {
                let reachable = same_package || entry.visibility == Visibility::Public;
                reachable && own.arity == entry.arity && have_same_types(db, member, asked)
            }
            false => own.arity.0 <= entry.arity.0 && own.arity.1 >= entry.arity.1,
        }
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
