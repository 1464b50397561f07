//! What imports mean: each by itself, and those of one name in a scope together.

use crate::db::Db;
use crate::db::in_progress::Computation;
use crate::db::ty::Entity;
use crate::db::wildcards::ScopePlace;
use crate::inference::names::assignments::NameUse;
use crate::inference::names::bindings::Bound;
use crate::inference::names::visited::Visited;
use crate::inference::names::{bindings, linkage, namespaces, variants, visited};
use crate::units::import_target::{ImportTarget, Module};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingId, Expr, ImportId, ImportKind, ScopeId, flags};
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;
use std::rc::Rc;

/// Returns the target of an import.
pub(crate) fn import_entity(
    db: &Db,
    file: FileId,
    import: ImportId,
    visited: &mut Visited,
) -> Option<Entity> {
    let position = import.get()?;
    if db.program.known(file).language.manifest.modules.pastes_files()
        && let Some(entity) = linkage::using_declaration(db, file, import)
    {
        return Some(entity);
    }
    match db.program.import_target(file, position) {
        ImportTarget::External(name) => Some(Entity::External(Rc::from(&**name))),
        target @ ImportTarget::Path { path, .. } => {
            let module = target.meant(file, position)?;
            let kind = db.program.known(file).facts.imports[position].kind;
            match kind {
                ImportKind::Module if path.is_empty() => {
                    whole_export(db, module, visited).or(Some(Entity::Module(module)))
                }
                // Without an explicit default export: the value that the module exports as a
                // whole, or the module.
                ImportKind::Default => in_each(db, module, |module| {
                    let found = follow(db, module, path, visited);
                    found.or_else(|| whole_export(db, module, visited))
                })
                .or(Some(Entity::Module(module))),
                _ => in_each(db, module, |module| {
                    follow(db, module, path, visited).or_else(|| {
                        let mut entity = whole_export(db, module, visited)?;
                        for &name in path {
                            entity = db.below(&entity, name, visited)?;
                        }
                        Some(entity)
                    })
                }),
            }
        }
    }
}

/// Returns what a module gives, or the files that an import may mean.
fn in_each(
    db: &Db,
    module: Module,
    mut find: impl FnMut(Module) -> Option<Entity>,
) -> Option<Entity> {
    match module {
        Module::OneOf(file, import) => one_of(db, file, import, find),
        Module::File(_) | Module::Package(_) => find(module),
    }
}

/// Returns the value that a file exports as a whole.
pub(crate) fn whole_export(db: &Db, module: Module, visited: &mut Visited) -> Option<Entity> {
    let file = match module {
        Module::File(file) => file,
        Module::OneOf(file, import) => {
            return one_of(db, file, import, |file| whole_export(db, file, visited));
        }
        Module::Package(_) => return None,
    };
    let object = db.program.unit(file)?.language.manifest.names.export_objects.first()?;
    let name = db.program.named(object);
    if !visited.enter(visited::visit(db, ScopePlace::Whole(module), name)) {
        return None;
    }
    let top = ScopeId(0);
    let found = match bindings::in_scope(db, file, top, name, NameUse::outside(top), false) {
        Some(Bound::Entity(Entity::Local(file, bindings))) => alias_of(db, file, bindings, visited),
        Some(Bound::Entity(entity)) => Some(entity),
        Some(
            Bound::Imports(file, imports)
            | Bound::Alternatives(file, imports)
            | Bound::Variants(file, imports, _),
        ) => import_entities(db, file, &imports, visited),
        None => None,
    };
    visited.exit(found.is_some());
    found
}

/// Follows a path of names from a module.
pub(crate) fn follow(
    db: &Db,
    module: Module,
    path: &[Name],
    visited: &mut Visited,
) -> Option<Entity> {
    let Some((&last, before)) = path.split_last() else { return Some(Entity::Module(module)) };
    // The filter applies only to the last segment.
    let start = db.filtered(None, || {
        before
            .iter()
            .try_fold(Entity::Module(module), |entity, &name| db.below(&entity, name, visited))
    });
    db.below(&start?, last, visited)
}

/// Returns the target of top-level bindings whose values are names of one thing (`export default X`
/// with `module.exports.default = X`); for any other, the bindings themselves.
pub(crate) fn alias_of(
    db: &Db,
    file: FileId,
    bindings: SmallVec<[BindingId; 2]>,
    _visited: &mut Visited,
) -> Option<Entity> {
    let unit = db.program.known(file);
    let name_of = |id: &BindingId| {
        let value = unit.binding(*id).value;
        match value.get().map(|position| unit.facts.exprs[position]) {
            Some(Expr::Name(name, scope)) => Some((value, name, scope)),
            _ => None,
        }
    };
    let mut names = bindings.iter().map(name_of);
    if let Some(Some((value, name, scope))) = names.next()
        && names.all(|other| other.is_some_and(|(_, other, at)| (other, at) == (name, scope)))
    {
        let name = unit.name(name);
        let target = || db.lookup(file, name, scope, u32::MAX).map(|(entity, _)| entity);
        return db.in_progress.once(Computation::Following(file, value, name), target)?;
    }
    Some(Entity::Local(file, bindings))
}

/// Returns what a binding of a scope means.
pub(super) fn follow_import(db: &Db, found: Bound) -> Option<Entity> {
    match found {
        Bound::Entity(entity) => Some(entity),
        Bound::Alternatives(file, imports) => {
            let several = alternative_entities(db, file, &imports, &mut Visited::default());
            several.or_else(|| follow_import(db, last_first(file, imports)))
        }
        Bound::Variants(file, imports, own) => {
            variant_entities(db, file, &imports, own, &mut Visited::default())
                .or_else(|| follow_import(db, Bound::Imports(file, imports)))
        }
        Bound::Imports(file, imports) => {
            match import_entities(db, file, &imports, &mut Visited::default()) {
                None if db.wanted().is_none() => {
                    let unit = db.program.known(file);
                    let entry = &unit.facts.imports
                        [imports[0].get().expect("the import was found in the table")];
                    let target =
                        db.program.import_target(file, imports[0].get().unwrap_or_default());
                    Some(Entity::External(match target {
                        // A module of the repository: where the name comes from is not known.
                        ImportTarget::Path { .. } => Rc::from(format!(".{}", entry.module)),
                        ImportTarget::External(_) => Rc::from(&*entry.module),
                    }))
                }
                // The symbol may be excluded by the filter.
                entity => entity,
            }
        }
    }
}

/// Returns the first import of a name that has a meaning: imports of other kinds may share the
/// name, and one of them may lead through another (`mod a; use a::a;`). The callables of all are
/// overloads where a language has them.
pub(in crate::inference::names) fn import_entities(
    db: &Db,
    file: FileId,
    imports: &[ImportId],
    visited: &mut Visited,
) -> Option<Entity> {
    let wants_modules = namespaces::wants_modules(db);
    let is_wanted = |entity: &Entity| wants_modules || !matches!(entity, Entity::Module(_));
    let mut found = imports
        .iter()
        .filter_map(|import| import_entity(db, file, *import, visited).filter(is_wanted));
    let first = found.next()?;
    if !db.program.known(file).language.manifest.resolution.overloads {
        return Some(first);
    }
    let callables = |entity: &Entity| match entity {
        Entity::Symbols(symbols)
            if symbols.iter().all(|symbol| db.program.symbol(*symbol).kind.is_callable()) =>
        {
            Some(symbols.clone())
        }
        _ => None,
    };
    let Some(mut all) = callables(&first) else { return Some(first) };
    for symbol in found.filter_map(|other| callables(&other)).flatten() {
        if !all.contains(&symbol) {
            all.push(symbol);
        }
    }
    Some(Entity::Symbols(all))
}

/// Returns the meanings of imports in alternatives, if each leads to symbols.
pub(in crate::inference::names) fn alternative_entities(
    db: &Db,
    file: FileId,
    imports: &[ImportId],
    visited: &mut Visited,
) -> Option<Entity> {
    let mut all = Symbols::new();
    for import in imports {
        match import_entity(db, file, *import, visited)? {
            Entity::Symbols(symbols) => all.extend(symbols),
            _ => return None,
        }
    }
    all.sort_unstable();
    all.dedup();
    // A run takes one of them.
    db.are_variants.insert(all.clone(), true);
    (!all.is_empty()).then_some(Entity::Symbols(all))
}

/// Returns the meaning of a name with several imports, last one first, and symbols in a scope that
/// has one definition of it.
pub(in crate::inference::names) fn variant_entities(
    db: &Db,
    file: FileId,
    imports: &[ImportId],
    own: Symbols,
    visited: &mut Visited,
) -> Option<Entity> {
    let wants_modules = namespaces::wants_modules(db);
    let mut parts: Vec<Entity> =
        (!own.is_empty()).then_some(Entity::Symbols(own)).into_iter().collect();
    for import in imports.iter().rev() {
        match import_entity(db, file, *import, visited) {
            Some(Entity::Module(_)) if !wants_modules => {}
            // A child module without a file.
            Some(Entity::External(_)) if is_child(db, file, *import) => {}
            found => parts.extend(found),
        }
    }
    variants::joined(db, parts)
}

fn is_child(db: &Db, file: FileId, import: ImportId) -> bool {
    let entry = &db.program.known(file).facts.imports[import.get().unwrap_or_default()];
    entry.kind == ImportKind::Module && entry.item.is_some()
}

/// Returns what the files that an import may mean give: the symbols of all of them, of which a
/// build has those of one, and what is declared of these.
pub(in crate::inference::names) fn one_of(
    db: &Db,
    file: FileId,
    import: u32,
    mut find: impl FnMut(Module) -> Option<Entity>,
) -> Option<Entity> {
    let target = db.program.import_target(file, import as usize);
    if let (Some(module), Some(stated)) = (target.file(), target.stated()) {
        let found = find(Module::File(module));
        return with_stated(db, found, || find(Module::File(stated)));
    }
    let (mut all, mut other, mut are_single) = (Symbols::new(), None, true);
    for file in target.sources() {
        match find(Module::File(file)) {
            Some(Entity::Symbols(symbols)) => {
                are_single &= symbols.len() == 1;
                all.extend(symbols);
            }
            found => other = other.or(found),
        }
    }
    if all.is_empty() {
        return other;
    }
    all.sort_unstable();
    all.dedup();
    if are_single {
        db.are_variants.insert(all.clone(), true);
    }
    Some(Entity::Symbols(all))
}

/// Returns what a module gives for a name, or else what the file next to it declares: types that
/// the module has no name for. The functions of the module have the signatures of those that are
/// declared, and the members of a namespace of their name.
fn with_stated(
    db: &Db,
    found: Option<Entity>,
    stated: impl FnOnce() -> Option<Entity>,
) -> Option<Entity> {
    let is_callable = |symbol: &SymbolRef| db.program.symbol(*symbol).kind.is_callable();
    match found {
        None => stated(),
        Some(Entity::Symbols(mut all)) if all.iter().all(is_callable) => {
            let adds = |symbol: &SymbolRef| {
                let entry = db.program.symbol(*symbol);
                entry.flags & flags::DECLARATION != 0 || entry.kind == SymbolKind::Namespace
            };
            if let Some(Entity::Symbols(stated)) = stated() {
                all.extend(stated.into_iter().filter(adds));
            }
            Some(Entity::Symbols(all))
        }
        found => found,
    }
}

/// Imports in alternatives as successive ones.
pub(in crate::inference::names) fn last_first(
    file: FileId,
    imports: SmallVec<[ImportId; 2]>,
) -> Bound {
    Bound::Imports(file, imports.into_iter().rev().collect())
}
