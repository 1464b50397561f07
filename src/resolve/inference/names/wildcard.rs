//! Wildcard imports: the names they provide, from modules of the repository and from external ones.

pub(crate) mod closure;

use crate::db::Db;
use crate::db::ty::Entity;
use crate::inference::names::paths;
use crate::inference::names::scopes::imported;
use crate::inference::names::visited::Visited;
use crate::units::import_target::{ImportTarget, Module};
use crate::units::interner::Name;
use cograph_model::facts::{ScopeId, Synthetic};
use cograph_model::graph::FileId;
use std::rc::Rc;

/// Looks a name up through the wildcard imports of a scope.
pub(super) fn through_wildcards(
    db: &Db,
    file: FileId,
    name: Name,
    from: ScopeId,
    visited: &mut Visited,
) -> Option<Entity> {
    let scope = closure::scope_with_wildcards(db, file, from)?;
    if !visited.is_by_name && !is_special(db, file, name) {
        let stops = closure::stops_from(db, file, scope, visited.last(name));
        if let Some(Ok(found)) = stops.map(|stops| closure::first_of(db, &stops, name, visited)) {
            return found;
        }
    }
    let before = std::mem::replace(&mut visited.is_by_name, true);
    let found = through_wildcards_by_name(db, file, name, scope, visited);
    visited.is_by_name = before;
    found
}

/// Looks a name up in the wildcard imports of one block, as far as the repository has what they
/// import.
pub(super) fn of_block(db: &Db, file: FileId, name: Name, block: ScopeId) -> Option<Entity> {
    let unit = db.program.known(file);
    let own = unit.wildcards_in(block);
    if own.is_empty() || is_special(db, file, name) {
        return None;
    }
    let targets = db.program.import_targets(file);
    own.iter().filter_map(|(_, import)| import.get()).find_map(|import| {
        let ImportTarget::Path { path, .. } = &targets[import] else { return None };
        let module = targets[import].meant(file, import)?;
        let visited = &mut Visited::default();
        let start = db.filtered(None, || imported::follow(db, module, path, visited))?;
        let found = match start {
            Entity::External(_) => None,
            start => db.below(&start, name, visited),
        };
        found.filter(|entity| !matches!(entity, Entity::External(_)))
    })
}

/// Looks a name up in the imports that a file sees as one of its project.
pub(super) fn through_shared(
    db: &Db,
    file: FileId,
    name: Name,
    visited: &mut Visited,
) -> Option<Entity> {
    let shared = db.program.shared_imports(file);
    let follow = |target: &ImportTarget, visited: &mut Visited| match target {
        ImportTarget::Path { module, path, .. } => {
            db.filtered(None, || imported::follow(db, *module, path, visited))
        }
        ImportTarget::External(module) => Some(Entity::External(Rc::from(&**module))),
    };
    if let Some(target) = shared.aliases.get(&name) {
        return follow(target, visited);
    }
    shared.wildcards.iter().find_map(|target| {
        let ImportTarget::Path { .. } = target else { return None };
        let start = follow(target, visited)?;
        db.below(&start, name, visited)
    })
}

/// True if a wildcard import is of a library: the repository has neither a package nor a type of
/// its name, whichever packages around it the repository declares.
pub(crate) fn leads_outside(db: &Db, file: FileId, import: usize) -> bool {
    let target = db.program.import_target(file, import);
    target.meant(file, import).map_or_else(
        || matches!(target, ImportTarget::External(_)),
        |module| is_outside(db, file, module, target),
    )
}

/// The same for an import that a file sees as one of its project.
pub(super) fn shared_leads_outside(db: &Db, file: FileId, target: &ImportTarget) -> bool {
    match target {
        ImportTarget::External(_) => true,
        ImportTarget::Path { module, .. } => is_outside(db, file, *module, target),
    }
}

fn is_outside(db: &Db, file: FileId, module: Module, target: &ImportTarget) -> bool {
    let ImportTarget::Path { path, .. } = target else { return true };
    if path.is_empty() || !db.program.known(file).language.manifest.modules.declares_packages() {
        return false;
    }
    let found = db.filtered(None, || imported::follow(db, module, path, &mut Visited::default()));
    match found {
        None => true,
        Some(Entity::Module(Module::Package(package))) => {
            db.program.package_files(package).is_empty()
        }
        Some(_) => false,
    }
}

/// True if a name has a meaning in every module.
fn is_special(db: &Db, file: FileId, name: Name) -> bool {
    let text = db.program.text(name);
    let manifest = &db.program.known(file).language.manifest;
    let suffix = manifest.names.macro_suffix.as_deref();
    Synthetic::DefaultExport.is(text)
        || suffix.is_some_and(|suffix| text.ends_with(suffix))
        || paths::is_super_word(db, file, name)
}

/// Does the same without the memo of modules: follows the wildcard imports of each module for
/// this name.
fn through_wildcards_by_name(
    db: &Db,
    file: FileId,
    name: Name,
    scope: ScopeId,
    visited: &mut Visited,
) -> Option<Entity> {
    let targets = db.program.import_targets(file);
    let mut outside = None;
    let found = closure::wildcards_at(db, file, scope).into_iter().find_map(|import| {
        let ImportTarget::Path { path, .. } = &targets[import] else { return None };
        let module = targets[import].meant(file, import)?;
        if path.is_empty() {
            return closure::is_exported_by_list(db, module, name)
                .then(|| db.module_member(module, name, visited))
                .flatten();
        }
        match db.filtered(None, || imported::follow(db, module, path, visited))? {
            // A module of a library may have any name.
            start @ Entity::External(_) => {
                outside = outside.take().or_else(|| db.below(&start, name, visited));
                None
            }
            start => db.below(&start, name, visited),
        }
    });
    found.or(outside)
}
