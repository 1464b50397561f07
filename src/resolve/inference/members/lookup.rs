//! Member lookup along the hierarchy of a type. Extension members are in `derived`.

pub(crate) mod stated;

use crate::db::Db;
use crate::db::in_progress::Computation;
use crate::db::ty::{ARRAY, Entity, Member, Ty};
use crate::inference::members::{
    aliases, hierarchy, inherent, opened, overrides, prototypes, statics,
};
use crate::inference::names::visited::Visited;
use crate::inference::names::{linkage, module_members, namespaces, paths, variants};
use crate::units::bounds::qualified;
use crate::units::import_target::Module;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_grammar::{Language, MemberLookup, TypeFlow};
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, ImportId, flags};
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;
use std::rc::Rc;

/// Returns the members of a type itself, without its bases.
pub(crate) fn own_members(db: &Db, symbol: SymbolRef, name: Name) -> Symbols {
    if let Some(mut found) = linkage::open_members(db, symbol, name) {
        found.retain(|member| namespaces::is_wanted(db, *member));
        return found;
    }
    let unit = db.program.known(symbol.file);
    if matches!(unit.symbol(symbol.symbol).kind, SymbolKind::Namespace | SymbolKind::Module) {
        let found = db.program.space_members(symbol, name);
        if !found.is_empty() {
            return found;
        }
    }
    let Declared { symbols: mut found, imports } = declared(db, symbol, name);
    // Without members of its own, the lookup continues with the bases anyway.
    if !found.is_empty() && !imports.is_empty() {
        add_used(db, symbol, name, &imports, &mut found);
    }
    if let Some(more) = db.program.extensions(symbol).and_then(|members| members.get(&name)) {
        found.extend(prototypes::added(db, &found, more));
    }
    found.extend(aliases::members_of(db, symbol, name));
    if found.is_empty() {
        found = stated::members(db, symbol, name);
    }
    for definition in aliases::definitions_of_type(db, symbol) {
        let more = own_members(db, definition, name);
        found
            .extend(more.into_iter().filter(|member| !found.contains(member)).collect::<Symbols>());
    }
    found.retain(|member| namespaces::is_wanted(db, *member));
    found
}

/// Names that a type itself binds.
struct Declared {
    symbols: Symbols,
    /// Using-declarations.
    imports: SmallVec<[ImportId; 2]>,
}

fn declared(db: &Db, symbol: SymbolRef, name: Name) -> Declared {
    let mut found = Declared { symbols: Symbols::new(), imports: SmallVec::new() };
    for SymbolRef { file, symbol } in hierarchy::parts_of_type(db, symbol) {
        let unit = db.program.known(file);
        let part = unit.symbol(symbol);
        if !part.inner.is_some() || part.kind.is_callable() {
            continue;
        }
        for (_, binding) in unit.bindings(part.inner, name) {
            match binding.kind {
                BindingKind::Symbol => {
                    found.symbols.push(SymbolRef { file, symbol: binding.symbol() });
                }
                BindingKind::Import => found.imports.push(binding.import()),
                _ => {}
            }
        }
    }
    found
}

/// Adds the members of bases that using-declarations in a type name. The bases of a base are in its
/// hierarchy, so that using-declarations in them need not be followed.
fn add_used(db: &Db, symbol: SymbolRef, name: Name, imports: &[ImportId], found: &mut Symbols) {
    let unit = db.program.known(symbol.file);
    let separator = unit.language.manifest.modules.separator.as_str();
    let own = hierarchy::hierarchy(db, symbol);
    let mut seen: SmallVec<[SymbolRef; 4]> = SmallVec::new();
    for import in imports.iter().filter_map(|import| import.get()) {
        let base = unit.facts.imports[import].module.rsplit(separator).next().unwrap_or_default();
        let base = db.program.named(base);
        let is_base = |ty: &&SymbolRef| **ty != symbol && db.program.name_of(**ty) == base;
        let Some(&base) = own.types.iter().map(|(ty, _)| ty).find(is_base) else { continue };
        for (ty, _) in &hierarchy::hierarchy(db, base).types {
            if seen.contains(ty) {
                continue;
            }
            if !db.budget.take(1) {
                return;
            }
            seen.push(*ty);
            let of_base = declared(db, *ty, name);
            let is_last = !of_base.symbols.is_empty() && of_base.imports.is_empty();
            found.extend(of_base.symbols);
            if is_last {
                break;
            }
        }
    }
}

/// Returns the members of a type with a name: those of the first type in its hierarchy that has
/// any.
pub(crate) fn type_member(db: &Db, symbol: SymbolRef, name: Name) -> Symbols {
    let symbol = aliases::alias_target(db, symbol).unwrap_or(symbol);
    let hierarchy = hierarchy::hierarchy(db, symbol);
    if !hierarchy.is_linear || db.is_nested() {
        let types = hierarchy.types.iter().map(|(ty, _)| *ty);
        return first_members(db, symbol, hierarchy.before.iter().copied().chain(types), name);
    }
    // Skips the part of the hierarchy that is known not to have the name.
    let known =
        hierarchy.types.iter().position(|(ty, _)| db.absent.contains(&(*ty, name, db.filter())));
    let unknown = &hierarchy.types[..known.unwrap_or(hierarchy.types.len())];
    let found = first_members(db, symbol, unknown.iter().map(|(ty, _)| *ty), name);
    if found.is_empty() {
        db.absent.insert((symbol, name, db.filter()), ());
    }
    found
}

/// Returns the members of the first of several types that has any; of all if overloads are
/// inherited.
fn first_members(
    db: &Db,
    of: SymbolRef,
    types: impl Iterator<Item = SymbolRef>,
    name: Name,
) -> Symbols {
    let inherits = db.program.known(of.file).language.manifest.resolution.inherited_overloads;
    let mut members = Symbols::new();
    for ty in types {
        if !db.budget.take(1) {
            break;
        }
        let found = own_members(db, ty, name);
        let callable = found.iter().all(|symbol| db.program.symbol(*symbol).kind.is_callable());
        match members.is_empty() {
            _ if found.is_empty() => {}
            true => {
                members = definitions(db, of, found);
                if !inherits || !callable {
                    return members;
                }
            }
            false if callable => overrides::join_overloads(db, &mut members, &found),
            false => {}
        }
    }
    members
}

/// Returns the effective members of one name: the last one in languages without overloads.
fn definitions(db: &Db, of: SymbolRef, found: Symbols) -> Symbols {
    let rules = &db.program.known(of.file).language.manifest.resolution;
    if found.len() < 2 || rules.declarations {
        return found;
    }
    let mut found = found;
    // Signatures of overloads say what their definition takes and gives.
    let are_callable = found.iter().all(|symbol| db.program.symbol(*symbol).kind.is_callable());
    if !(rules.overloads && are_callable)
        && found.iter().any(|symbol| db.program.symbol(*symbol).flags & flags::DECLARATION == 0)
    {
        found.retain(|symbol| db.program.symbol(*symbol).flags & flags::DECLARATION == 0);
    }
    if rules.members == MemberLookup::InherentFirst {
        return inherent::inherent(db, found);
    }
    let places: Vec<_> =
        found.iter().map(|symbol| (symbol.file, db.program.symbol(*symbol).scope)).collect();
    let same_place = places.windows(2).all(|pair| pair[0] == pair[1]);
    if prototypes::are_accessors(db, &found) && (same_place || !rules.overloads) {
        // The getter of a property precedes its setter.
        return Symbols::from_slice(&found[..1]);
    }
    if rules.overloads {
        return found;
    }
    match same_place && !variants::are_variants(db, &found) {
        true => prototypes::effective(db, &found),
        false => found,
    }
}

/// Returns the members of the types after `symbol` in its hierarchy: lookup through `super`.
fn super_member(db: &Db, symbol: SymbolRef, name: Name) -> Symbols {
    let hierarchy = hierarchy::hierarchy(db, symbol);
    first_members(db, symbol, hierarchy.types.iter().skip(1).map(|(ty, _)| *ty), name)
}

/// Returns the member of a module, type or value.
pub(crate) fn member(db: &Db, of: &Ty, name: Name) -> Member {
    match named_member(db, of, name) {
        open @ (Member::None | Member::Outside(_)) => {
            match inherent::imported_as(db, name).map(|own| named_member(db, of, own)) {
                Some(Member::Symbols(found)) if inherent::are_extensions(db, &found) => {
                    Member::Symbols(found)
                }
                _ => open,
            }
        }
        found => found,
    }
}

/// Returns the member that is defined with this name.
fn named_member(db: &Db, of: &Ty, name: Name) -> Member {
    match of {
        Ty::Unknown => Member::Unknown,
        Ty::Namespace(space) => {
            let opened = db.program.openings(space.below(db.program.text(name)));
            match opened.and_then(|opened| opened.first()) {
                Some(one) => Member::Symbols(Symbols::from_slice(&[linkage::primary(db, *one)])),
                None => Member::Unknown,
            }
        }
        Ty::Type(symbol, _) if is_module(db, *symbol) => inline_member(db, *symbol, name),
        Ty::Type(symbol, _) if let Some(found) = prototypes::sibling_export(db, *symbol, name) => {
            found
        }
        Ty::External(outer) if outer.is_empty() => of_root(db, name),
        Ty::Instance(symbol, _) | Ty::Type(symbol, _) => {
            match receiver_members(db, of, *symbol, name) {
                Member::None | Member::Unknown | Member::Outside(_)
                    if let Some(found) = statics::undefined_here(db, of, name) =>
                {
                    found
                }
                Member::Outside(_) if let Some(found) = inherent::of_bases(db, of, name) => {
                    Member::Symbols(found)
                }
                none @ (Member::None | Member::Unknown) => {
                    let is_type = matches!(of, Ty::Type(..));
                    let sibling = || prototypes::in_sibling_namespace(db, *symbol, name);
                    inherent::fallback_member(db, of, name)
                        .or_else(|| is_type.then(sibling).flatten())
                        .unwrap_or(none)
                }
                found => inherent::blanket_extension(db, of, name, found),
            }
        }
        Ty::Super(symbol) => match super_member(db, *symbol, name) {
            found if !found.is_empty() => Member::Symbols(found),
            _ => missing(db, *symbol, name),
        },
        Ty::Module(Module::File(file)) if paths::is_super_word(db, *file, name) => {
            paths::above(db, &Entity::Module(Module::File(*file)))
                .map_or(Member::None, Member::Entity)
        }
        Ty::Module(module) => {
            match module_members::module_member(db, *module, name, &mut Visited::default()) {
                Some(entity) => Member::Entity(entity),
                None => Member::None,
            }
        }
        Ty::Builtin(outer, held) if is_of_held_value(db, outer, name) && !held.is_empty() => {
            member(db, &held[0], name)
        }
        Ty::Builtin(outer, _) | Ty::BuiltinType(outer, _) | Ty::External(outer) => {
            if let Some(found) = inherent::external_extensions(db, outer, name) {
                return Member::Symbols(found);
            }
            if let Some(found) = opened_members(db, of, outer, name) {
                return Member::Symbols(found);
            }
            Member::Outside(qualified(outer, ".", db.program.text(name)))
        }
        Ty::Members(file, scope) => prototypes::scope_members(db, *file, *scope, name),
        Ty::Filled(inner, ..) => member(db, inner, name),
        Ty::Param(file, binding) => {
            let bound = db.program.known(*file).binding(*binding).ty();
            if !bound.is_some() {
                return Member::Unknown;
            }
            let bound = db.instance_of_expr(*file, bound);
            if matches!(bound, Ty::Param(..)) { Member::Unknown } else { member(db, &bound, name) }
        }
        Ty::Union(parts) => {
            let parts = parts.clone();
            union_members(db, &parts, name)
        }
        Ty::TypeObject(_) => member(db, &crate::db::ty::instance_of(of), name),
        // Without properties, the members are those of the held value, not of a callable.
        Ty::Function(held)
            if db.program.known(db.origin.get()).language.manifest.resolution.declarations
                && held.is_known() =>
        {
            member(db, &held.clone(), name)
        }
        Ty::Callable(..) => prototypes::callable_member(db, of, name),
        Ty::Lambda(..) | Ty::Function(_) => Member::Outside(Rc::from(db.program.text(name))),
        Ty::Tuple(_) => Member::Outside(Rc::from(format!("tuple.{}", db.program.text(name)))),
    }
}

/// Returns the package of a name at the root, where packages are declared.
fn of_root(db: &Db, name: Name) -> Member {
    let text = db.program.text(name);
    match db.program.declared_package(db.origin.get(), text) {
        Some(package) => Member::Entity(Entity::Module(package)),
        None => Member::Outside(Rc::from(text)),
    }
}

/// True if a member is not that of an optional, but of the value that it holds, or of the first
/// element of an array that decays to a pointer.
fn is_of_held_value(db: &Db, outer: &str, name: Name) -> bool {
    let language = db.program.known(db.origin.get()).language;
    let is_open = |(_, flow): (_, &TypeFlow)| !flow.members.contains_key(db.program.text(name));
    language.optional() == Some(outer) && language.flow(outer).is_some_and(is_open)
        || outer == ARRAY && language.manifest.resolution.declarations
}

/// Returns the members that the repository adds to a library type by opening it again.
fn opened_members(db: &Db, of: &Ty, outer: &str, name: Name) -> Option<Symbols> {
    let resolution = &db.program.known(db.origin.get()).language.manifest.resolution;
    let is_type = matches!(of, Ty::BuiltinType(..));
    opened::types(db, outer).into_iter().find_map(|opened| {
        let mut found = type_member(db, opened, name);
        let is_static = |member: &SymbolRef| db.program.symbol(*member).flags & flags::STATIC != 0;
        found.retain(|member| !resolution.open_types || is_static(member) == is_type);
        (!found.is_empty()).then_some(found)
    })
}

/// Returns the member of an inline module or namespace.
fn inline_member(db: &Db, module: SymbolRef, name: Name) -> Member {
    let found = match paths::is_super_word(db, module.file, name) {
        true => paths::above(db, &Entity::Symbols(Symbols::from_slice(&[module]))),
        false => module_members::symbol_member(db, module, name, &mut Visited::default()),
    };
    let of_library = |library: &str| qualified(&Rc::from(library), ".", db.program.text(name));
    let outside =
        || opened::library(db, module).map(|library| Member::Outside(of_library(library)));
    let value = || statics::of_namesake_value(db, module, name);
    found.map(Member::Entity).or_else(value).or_else(outside).unwrap_or(Member::None)
}

/// Returns the members of a type or of its instances, where these are separate: of a type also
/// those of instances, which modules that extend it bring.
fn receiver_members(db: &Db, of: &Ty, symbol: SymbolRef, name: Name) -> Member {
    let found = symbol_members(db, symbol, name);
    let Member::Symbols(symbols) = &found else { return found };
    let is_type = matches!(of, Ty::Type(..));
    if !has_separate_statics(db.program.known(symbol.file).language) {
        return match symbols.len() {
            0 | 1 => found,
            _ => Member::Symbols(prototypes::of_receiver(db, symbols, is_type)),
        };
    }
    let fits = |member: &SymbolRef| {
        let entry = db.program.symbol(*member);
        !entry.kind.is_callable() || (entry.flags & flags::STATIC != 0) == is_type
    };
    if symbols.iter().any(fits) {
        return Member::Symbols(symbols.iter().copied().filter(fits).collect());
    }
    let hierarchy = hierarchy::hierarchy(db, symbol);
    let types = hierarchy.types.iter().map(|(ty, _)| *ty);
    for ty in hierarchy.before.iter().copied().chain(types) {
        let other: Symbols = own_members(db, ty, name).into_iter().filter(fits).collect();
        if !other.is_empty() {
            return Member::Symbols(other);
        }
    }
    // A module may extend the type. A type has many members of its own that no source defines.
    let is_common = db.program.known(symbol.file).language.is_common_member(db.program.text(name));
    let container = |member: &SymbolRef| db.program.symbol(db.program.container_or_own(*member));
    let may_extend = symbols.iter().all(|member| container(member).kind == SymbolKind::Module);
    if is_type && may_extend && !is_common { found } else { missing(db, symbol, name) }
}

fn symbol_members(db: &Db, symbol: SymbolRef, name: Name) -> Member {
    // During type inference a lookup may be incomplete, so it is not memoized.
    if db.is_nested() {
        return find_symbol_members(db, symbol, name);
    }
    let key = (symbol, name, db.filter());
    if let Some(known) = db.members.get(&key) {
        return known;
    }
    let found = find_symbol_members(db, symbol, name);
    db.members.insert(key, found.clone());
    found
}

fn find_symbol_members(db: &Db, symbol: SymbolRef, name: Name) -> Member {
    let entry = db.program.symbol(symbol);
    let found = type_member(db, symbol, name);
    if !found.is_empty() {
        return Member::Symbols(found);
    }
    if module_members::is_statics(db, symbol, name) {
        return Member::Entity(Entity::Symbols(Symbols::from_slice(&[symbol])));
    }
    if entry.kind == SymbolKind::TypeAlias
        && entry.ty.is_some()
        && aliases::alias_target(db, symbol).is_none()
    {
        let following = Computation::Following(symbol.file, entry.ty, name);
        let found = db.in_progress.once(following, || {
            let target = db.instance_of_expr(symbol.file, entry.ty);
            let is_other = !matches!(target, Ty::Instance(other, _) if other == symbol);
            is_other.then(|| member(db, &target, name))
        });
        if let Some(Some(found)) = found {
            return found;
        }
    }
    missing(db, symbol, name)
}

/// Result for a type of the repository without the member: an external base may have it.
fn missing(db: &Db, symbol: SymbolRef, name: Name) -> Member {
    let hierarchy = hierarchy::hierarchy(db, symbol);
    if let Some(top) = of_top(db, symbol.file, name) {
        return Member::Outside(top);
    }
    match hierarchy.outside.first() {
        Some(base) => Member::Outside(qualified(base, ".", db.program.text(name))),
        // An interface of the global scope may be one of the library that the repository extends.
        None if opened::is_global_interface(db, symbol) => {
            let own = Rc::from(db.program.text(db.program.name_of(symbol)));
            Member::Outside(qualified(&own, ".", db.program.text(name)))
        }
        // What includes a module has further members.
        None if hierarchy.open || db.program.symbol(symbol).kind == SymbolKind::Module => {
            Member::Unknown
        }
        None => Member::None,
    }
}

/// Returns the qualified name of a member that every object has.
pub(crate) fn of_top(db: &Db, file: FileId, name: Name) -> Option<Rc<str>> {
    let language = db.program.known(file).language;
    let top = language.manifest.conversions.top.as_deref()?;
    let (_, flow) = language.flow(top)?;
    let text = db.program.text(name);
    flow.members.contains_key(text).then(|| Rc::from(format!("{top}.{text}")))
}

fn union_members(db: &Db, parts: &[Ty], name: Name) -> Member {
    let mut symbols = Symbols::new();
    let mut outside = None;
    for part in parts {
        match member(db, part, name) {
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

/// True for a module that is no type with members of its own.
fn is_module(db: &Db, symbol: SymbolRef) -> bool {
    matches!(db.program.symbol(symbol).kind, SymbolKind::Module | SymbolKind::Namespace)
        && !db.program.known(symbol.file).language.manifest.resolution.open_types
}

/// Returns the symbols of a member of a value.
pub(crate) fn member_symbols(db: &Db, of: &Ty, name: Name) -> Symbols {
    match member(db, of, name) {
        Member::Symbols(symbols) | Member::Entity(Entity::Symbols(symbols)) => symbols,
        _ => Symbols::new(),
    }
}

/// True if receivers of a method, and what they may have, depend on whether the method is static.
pub(super) fn has_separate_statics(language: &Language) -> bool {
    let rules = &language.manifest.resolution;
    rules.separate_statics && rules.open_types && !planted(Fault::StaticsMixed)
}
