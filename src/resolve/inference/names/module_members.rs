//! Members of symbols, modules, files and packages by name: lookups after a separator.

use crate::db::Db;
use crate::db::ty::Entity;
use crate::db::wildcards::ScopePlace;
use crate::inference::names::assignments::NameUse;
use crate::inference::names::bindings::Bound;
use crate::inference::names::scopes::imported;
use crate::inference::names::visited::Visited;
use crate::inference::names::{bindings, linkage, namespaces, paths, variants, visited, wildcard};
use crate::units::bounds::qualified;
use crate::units::import_target::Module;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_model::SymbolKind;
use cograph_model::facts::{Binding, BindingId, BindingKind, Expr, ScopeId, Synthetic, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Looks a name up below an entity.
pub(crate) fn below(db: &Db, entity: &Entity, name: Name, visited: &mut Visited) -> Option<Entity> {
    match entity {
        Entity::Module(module) => module_member(db, *module, name, visited),
        Entity::External(root) if root.is_empty() => {
            Some(Entity::External(Rc::from(db.program.text(name))))
        }
        Entity::External(outer) => {
            Some(Entity::External(qualified(outer, ".", db.program.text(name))))
        }
        Entity::Symbols(symbols) if variants::are_modules(db, symbols) => {
            let found = symbols.iter().filter_map(|of| symbol_member(db, *of, name, visited));
            Entity::variants(found.collect::<Vec<_>>())
        }
        Entity::Symbols(symbols) => {
            symbols.clone().into_iter().find_map(|symbol| symbol_member(db, symbol, name, visited))
        }
        Entity::Variants(parts) => {
            let found = parts.iter().filter_map(|part| below(db, part, name, visited));
            Entity::variants(found.collect::<Vec<_>>())
        }
        Entity::Local(..) | Entity::Builtin(_) => None,
    }
}

/// Looks a name up inside a namespace or type.
pub(crate) fn symbol_member(
    db: &Db,
    symbol: SymbolRef,
    name: Name,
    visited: &mut Visited,
) -> Option<Entity> {
    let entry = db.program.symbol(symbol);
    let is_open = db.program.known(symbol.file).language.manifest.resolution.open_types;
    if matches!(entry.kind, SymbolKind::Module | SymbolKind::Namespace) && !is_open {
        let unit = db.program.known(symbol.file);
        if let Some(package) = unit.spaces.package_at(entry.inner) {
            let package = db.program.declared_package(symbol.file, package)?;
            return module_member(db, package, name, visited);
        }
        let space = db.program.space_of_symbol(symbol);
        let shared = space.map(|space| linkage::members_of_space(db, space, name));
        if let Some(shared) = shared.filter(|shared| !shared.is_empty()) {
            return Some(Entity::Symbols(linkage::visible_to_origin(db, shared)));
        }
        if !db.budget.take(1)
            || !visited.enter(visited::visit(db, ScopePlace::Inline(symbol), name))
        {
            return None;
        }
        let found = match bindings::in_scope(
            db,
            symbol.file,
            entry.inner,
            name,
            NameUse::outside(entry.inner),
            false,
        ) {
            Some(Bound::Entity(entity)) => Some(entity),
            Some(Bound::Imports(file, imports) | Bound::Alternatives(file, imports)) => {
                imported::import_entities(db, file, &imports, visited)
            }
            Some(Bound::Variants(file, imports, own)) => {
                imported::variant_entities(db, file, &imports, own, visited)
            }
            None => wildcard::through_wildcards(db, symbol.file, name, entry.inner, visited),
        };
        visited.exit(found.is_some());
        return found;
    }
    let found = db.type_member(symbol, name);
    if found.is_empty() && is_statics(db, symbol, name) {
        return Some(Entity::Symbols(Symbols::from_slice(&[symbol])));
    }
    (!found.is_empty()).then_some(Entity::Symbols(found))
}

/// True for the name of the part of a type with members of the type itself.
pub(crate) fn is_statics(db: &Db, of: SymbolRef, name: Name) -> bool {
    let names = &db.program.known(of.file).language.manifest.names;
    names.statics.as_deref() == Some(db.program.text(name))
}

/// Looks a name up in a module, as visible to importers.
pub(crate) fn module_member(
    db: &Db,
    module: Module,
    name: Name,
    visited: &mut Visited,
) -> Option<Entity> {
    if !db.budget.take(1) || !visited.enter(visited::visit(db, ScopePlace::Module(module), name)) {
        return None;
    }
    let found = match module {
        Module::File(file) if paths::is_super_word(db, file, name) => {
            paths::above(db, &Entity::Module(module))
        }
        Module::File(file) => file_member(db, file, name, visited),
        Module::Package(package) => package_member(db, package, name),
        Module::OneOf(file, import) => {
            imported::one_of(db, file, import, |file| module_member(db, file, name, visited))
        }
    };
    let found = found.or_else(|| {
        db.program
            .child_module(module, name)
            .map(Entity::Module)
            .filter(|_| namespaces::wants_modules(db))
    });
    let found = found.or_else(|| match module {
        Module::File(file) => paths::macro_named(db, file, name, ScopeId(0), u32::MAX),
        Module::Package(_) | Module::OneOf(..) => None,
    });
    visited.exit(found.is_some());
    found
}

fn file_member(db: &Db, file: FileId, name: Name, visited: &mut Visited) -> Option<Entity> {
    let unit = db.program.unit(file)?;
    let top = ScopeId(0);
    if let Some(binding) = exported_under(db, file, name) {
        return imported::alias_of(db, file, smallvec::smallvec![binding], visited);
    }
    match bindings::in_scope(db, file, top, name, NameUse::outside(top), false) {
        Some(Bound::Entity(Entity::Local(file, bindings))) => {
            return imported::alias_of(db, file, bindings, visited);
        }
        Some(Bound::Entity(entity)) => return Some(entity),
        // What is imported by this name alone may be of another kind, such as a macro.
        Some(Bound::Imports(of, imports)) => {
            return imported::import_entities(db, of, &imports, visited)
                .or_else(|| wildcard::through_wildcards(db, file, name, top, visited));
        }
        Some(Bound::Alternatives(file, imports)) => {
            let several = imported::alternative_entities(db, file, &imports, visited);
            return several.or_else(|| imported::import_entities(db, file, &imports, visited));
        }
        Some(Bound::Variants(file, imports, own)) => {
            return imported::variant_entities(db, file, &imports, own, visited);
        }
        None => {}
    }
    if let Some(import) = unit.reexport(name).filter(|_| !planted(Fault::ReexportNotFollowed)) {
        return imported::import_entity(db, file, import, visited);
    }
    if Synthetic::DefaultExport.is(db.program.text(name))
        && let Some(symbol) =
            unit.facts.symbols.iter().position(|symbol| symbol.flags & flags::DEFAULT_EXPORT != 0)
    {
        let symbol = cograph_model::facts::LocalSymbol::at(symbol);
        return Some(Entity::Symbols(Symbols::from_slice(&[SymbolRef { file, symbol }])));
    }
    wildcard::through_wildcards(db, file, name, top, visited)
}

/// Returns the binding by which an export list gives a definition another name, if that name means
/// something else in the file itself: an expression without a position is made by such a list.
fn exported_under(db: &Db, file: FileId, name: Name) -> Option<BindingId> {
    let unit = db.program.unit(file)?;
    let bound = db.program.bound(file, unit, ScopeId(0), name);
    let is_import = |id: BindingId| unit.binding(id).kind == BindingKind::Import;
    if bound.len() < 2 || bound.iter().filter(|id| !is_import(**id)).count() != 1 {
        return None;
    }
    let is_made = |id: &BindingId| {
        let binding = unit.binding(*id);
        let value = binding.value.get().filter(|_| binding.kind == BindingKind::Value);
        value.is_some_and(|value| {
            if binding.from == Binding::OF_EXPORTS {
                return true;
            }
            let of_file = matches!(unit.facts.exprs[value], Expr::Name(_, ScopeId(0)));
            of_file && unit.facts.positions[value] == u32::MAX
        })
    };
    bound.iter().copied().find(is_made)
}

fn package_member(db: &Db, package: u32, name: Name) -> Option<Entity> {
    let found = db.program.package_member(package, name)?;
    db.budget.take(found.len());
    let is_wanted = |symbol: &SymbolRef| namespaces::is_wanted(db, *symbol);
    let symbols: Symbols = found.iter().copied().filter(is_wanted).collect();
    (!symbols.is_empty()).then_some(Entity::Symbols(symbols))
}
