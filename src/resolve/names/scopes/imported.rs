//! What the imports of one name in a scope mean together.

use super::import_entity;
use crate::db::Db;
use crate::db::ty::Entity;
use crate::names::bindings::Bound;
use crate::names::visited::Visited;
use crate::names::{namespaces, variants};
use crate::units::import_target::{ImportTarget, Module};
use crate::units::symbols::Symbols;
use cograph_model::facts::{ImportId, ImportKind};
use cograph_model::graph::FileId;
use smallvec::SmallVec;
use std::rc::Rc;

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
                None if db.wanted.get().is_none() => {
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
pub(in crate::names) fn import_entities(
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
pub(in crate::names) fn alternative_entities(
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
pub(in crate::names) fn variant_entities(
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
/// build has those of one.
pub(in crate::names) fn one_of(
    db: &Db,
    file: FileId,
    import: u32,
    mut find: impl FnMut(Module) -> Option<Entity>,
) -> Option<Entity> {
    let (mut all, mut other, mut are_single) = (Symbols::new(), None, true);
    for file in db.program.import_target(file, import as usize).files() {
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

/// Imports in alternatives as successive ones.
pub(in crate::names) fn last_first(file: FileId, imports: SmallVec<[ImportId; 2]>) -> Bound {
    Bound::Imports(file, imports.into_iter().rev().collect())
}
