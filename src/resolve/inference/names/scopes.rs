//! Scope lookup: lexical scopes outwards, then the package, wildcard imports and builtins; and the
//! targets of imports.

pub(crate) mod imported;

use crate::db::Db;
use crate::db::ty::Entity;
use crate::db::wanted::Wanted;
use crate::inference::names::assignments::NameUse;
use crate::inference::names::bindings::Bound;
use crate::inference::names::visited::Visited;
use crate::inference::names::{bindings, linkage, namespaces, outside, paths, wildcard};
use crate::units::import_target::Module;
use crate::units::interner::Name;
use cograph_grammar::PathWord;
use cograph_model::facts::{ScopeId, ScopeKind};
use cograph_model::graph::FileId;
use cograph_model::{Step, SymbolKind};
use std::rc::Rc;

/// Looks a name up from a position in a file; returns its meaning and the step.
pub(crate) fn lookup(
    db: &Db,
    file: FileId,
    name: Name,
    scope: ScopeId,
    at: u32,
) -> Option<(Entity, Step)> {
    lookup_accepted(db, file, name, scope, at, &|_| true)
}

/// Looks a name up outwards until a meaning is accepted; the innermost one if none is.
pub(crate) fn lookup_accepted(
    db: &Db,
    file: FileId,
    name: Name,
    scope: ScopeId,
    at: u32,
    accepts: &dyn Fn(&Entity) -> bool,
) -> Option<(Entity, Step)> {
    let mut refused: Option<(Entity, Step)> = None;
    let mut take = |found: (Entity, Step)| {
        if accepts(&found.0) {
            return Some(found);
        }
        refused.get_or_insert(found);
        None
    };
    if let Some(entity) = paths::path_word(db, file, name, scope) {
        return Some((entity, Step::ModuleMember));
    }
    let unit = db.program.known(file);
    let rules = &unit.language.manifest.resolution;
    let mut current = scope;
    let (mut crossed, mut in_type) = (false, false);
    let pasted = unit.language.manifest.modules.pastes_files();
    while current.is_some() {
        let kind = unit.scope_kind(current);
        let from = NameUse { scope, at, crossed };
        let mut look = || in_scope(db, file, current, name, from, &mut take);
        // The receiver is that of the innermost type: those around it give no callables.
        let is_around = rules.own_receiver && in_type && kind == ScopeKind::Type;
        let found = match db.wanted() {
            None if is_around => db.filtered(Some(Wanted::Others), look),
            Some(Wanted::Callables) if is_around => None,
            _ => look(),
        };
        if let Some(found) = found {
            return found;
        }
        in_type |= kind == ScopeKind::Type;
        crossed |= kind == ScopeKind::Function;
        if kind == ScopeKind::Module && !pasted && unit.language.manifest.modules.closed {
            break;
        }
        current = unit.parent(current);
    }
    if let Some(entity) = paths::macro_named(db, file, name, scope, at) {
        return Some((entity, Step::Package));
    }
    let of_receiver = || {
        let found = db.implicit_extension(file, scope, name)?;
        Some((Entity::Symbols(found), Step::SelfMember))
    };
    let found = implicit_names(db, file, name, scope).or_else(of_receiver);
    let is_refused = found.as_ref().is_some_and(|(entity, _)| !accepts(entity));
    let has_refused = is_refused || found.is_none() && refused.is_some();
    if has_refused && unit.language.is_builtin(db.program.text(name)) {
        return Some((Entity::Builtin(name), Step::Builtin));
    }
    if refused.is_some() {
        return found.filter(|(entity, _)| accepts(entity)).or(refused);
    }
    if pasted && found.is_none() {
        return linkage::linked(db, file, name, scope).map(|entity| (entity, Step::UniqueName));
    }
    found
}

/// Looks a name up in type position: without values where types are separate from them, and in
/// languages with declared types without fields and functions.
pub(crate) fn lookup_type(
    db: &Db,
    file: FileId,
    name: Name,
    scope: ScopeId,
    at: u32,
) -> Option<(Entity, Step)> {
    let rules = &db.program.known(file).language.manifest.resolution;
    let look = || lookup(db, file, name, scope, at);
    let alone = rules.paths_name_types || rules.closure_receivers;
    db.types_alone(alone, || match rules.declarations || rules.typed_positions {
        true => db.filtered(Some(Wanted::Types), look),
        false => namespaces::among(db, file, false, look, Option::is_none),
    })
}

/// Returns the whole name of a decorator's type, if the written one omits a suffix.
pub(crate) fn whole_decorator(db: &Db, file: FileId, name: Name) -> Option<Name> {
    let suffix = db.program.known(file).language.manifest.names.decorator_suffix.as_deref()?;
    let text = db.program.text(name);
    (!text.ends_with(suffix)).then(|| db.program.named(&format!("{text}{suffix}")))
}

/// Looks up the type of a decorator, whose name may omit a suffix.
pub(crate) fn lookup_decorator(
    db: &Db,
    file: FileId,
    name: Name,
    scope: ScopeId,
    at: u32,
) -> Option<(Entity, Step)> {
    let whole = whole_decorator(db, file, name)?;
    let found = lookup_type(db, file, whole, scope, at);
    found.filter(|(entity, _)| matches!(entity, Entity::Symbols(_)))
}

/// Looks a name up in one scope around a use; the inner result is that of the whole lookup. `take`
/// refuses a meaning that the use does not accept.
fn in_scope(
    db: &Db,
    file: FileId,
    current: ScopeId,
    name: Name,
    from: NameUse,
    take: &mut dyn FnMut((Entity, Step)) -> Option<(Entity, Step)>,
) -> Option<Option<(Entity, Step)>> {
    let unit = db.program.known(file);
    let rules = &unit.language.manifest.resolution;
    let pasted = unit.language.manifest.modules.pastes_files();
    let kind = unit.scope_kind(current);
    if pasted && matches!(kind, ScopeKind::Module | ScopeKind::File) {
        return linkage::visible_around(db, file, current, name).map(Some);
    }
    if pasted
        && kind == ScopeKind::Type
        && let Some(own) = linkage::injected_class_name(db, file, current, name)
    {
        return Some(Some((Entity::Symbols(own), Step::Lexical)));
    }
    let closed = current != from.scope
        || (rules.members_need_receiver && !holds_variants(db, file, current));
    let hidden =
        kind == ScopeKind::Type && closed && !rules.type_scope_visible && !rules.implicit_receiver;
    if let Some(entity) = bindings::in_scope(db, file, current, name, from, hidden) {
        if rules.inherited_overloads
            && kind == ScopeKind::Type
            && let Bound::Entity(Entity::Symbols(own)) = &entity
            && own.iter().all(|symbol| db.program.symbol(*symbol).kind.is_callable())
            && let Some(all) = db.implicit_member(file, current, name)
        {
            // Inherited overloads extend those in this scope.
            let step = if all == *own { Step::Lexical } else { Step::SelfMember };
            if let Some(found) = take((Entity::Symbols(all), step)) {
                return Some(Some(found));
            }
        } else {
            let step = step_of(&entity);
            let Some(entity) = imported::follow_import(db, entity) else { return Some(None) };
            if let Some(found) = take((entity, step)) {
                return Some(Some(found));
            }
        }
    }
    if let Some(package) = unit.spaces.package_at(current)
        && let Some(module) = db.program.declared_package(file, package)
        && let Some(entity) = db.module_member(module, name, &mut Visited::default())
        && let Some(found) = take((entity, Step::Package))
    {
        return Some(Some(found));
    }
    // A receiver has no types that are names without it.
    let has_receiver = !(rules.closure_receivers && db.types_only());
    if has_receiver
        && unit.given_receiver(current).is_some()
        && let Some(found) = db.closure_member(file, current, name)
        && let Some(found) = take((found, Step::SelfMember))
    {
        return Some(Some(found));
    }
    let has_members =
        kind == ScopeKind::Type || has_receiver && unit.scope_owner(current).is_some();
    if rules.implicit_receiver
        && has_members
        && let Some(found) = db.implicit_member(file, current, name)
        && let Some(found) = take((Entity::Symbols(found), Step::SelfMember))
    {
        return Some(Some(found));
    }
    if has_members
        && rules.closure_receivers
        && let Some(top) = db.implicit_top(file, current, name)
    {
        return Some(Some((top, Step::SelfMember)));
    }
    if pasted {
        return linkage::visible_around(db, file, current, name).map(Some);
    }
    // What a block imports hides the names around it.
    if matches!(kind, ScopeKind::Block | ScopeKind::Function)
        && let Some(entity) = wildcard::of_block(db, file, name, current)
        && let Some(found) = take((entity, Step::Wildcard))
    {
        return Some(Some(found));
    }
    None
}

/// Variants are visible to the values of the variants after them, but not to the types of their
/// fields.
fn holds_variants(db: &Db, file: FileId, scope: ScopeId) -> bool {
    let unit = db.program.known(file);
    let is_enum = |symbol: usize| unit.facts.symbols[symbol].kind == SymbolKind::Enum;
    !db.types_only() && unit.scope_symbol(scope).get().is_some_and(is_enum)
}

fn step_of(found: &Bound) -> Step {
    match found {
        Bound::Variants(.., own) if !own.is_empty() => Step::Lexical,
        Bound::Imports(..) | Bound::Alternatives(..) | Bound::Variants(..) => Step::Import,
        Bound::Entity(_) => Step::Lexical,
    }
}

/// Looks up names that a file sees without a binding: of its package and those around it, through
/// wildcard imports, and builtins.
fn implicit_names(db: &Db, file: FileId, name: Name, from: ScopeId) -> Option<(Entity, Step)> {
    let unit = db.program.known(file);
    let manifest = &unit.language.manifest;
    if manifest.modules.packages_have_names()
        && let Some(package) = db.program.package_of(file)
        && let Some(entity) =
            db.module_member(Module::Package(package), name, &mut Visited::default())
    {
        return Some((entity, Step::Package));
    }
    if manifest.modules.enclosing_packages
        && let Some(entity) = paths::enclosing_package_member(db, file, name)
    {
        return Some((entity, Step::Package));
    }
    let pasted = manifest.modules.pastes_files();
    if !pasted
        && let Some(entity) =
            wildcard::through_wildcards(db, file, name, from, &mut Visited::default())
    {
        return Some((entity, Step::Wildcard));
    }
    if manifest.modules.share_imports()
        && let Some(entity) = wildcard::through_shared(db, file, name, &mut Visited::default())
    {
        return Some((entity, Step::Wildcard));
    }
    let text = db.program.text(name);
    if !namespaces::wants_modules(db) {
        return None;
    }
    if let Some(package) = paths::package_by_own_name(db, file, text) {
        return Some((Entity::Module(package), Step::Import));
    }
    if let Some(package) = paths::library_by_own_name(db, file, text) {
        return Some((package, Step::ExternalImport));
    }
    if let Some(library) = db.program.library(file, text) {
        return Some((Entity::Module(Module::File(library)), Step::ModuleMember));
    }
    if db.program.depends_on(file, text) {
        return Some((Entity::External(Rc::from(text)), Step::ExternalImport));
    }
    if let Some(package) = db.program.declared_package(file, text) {
        return Some((Entity::Module(package), Step::ModuleMember));
    }
    if manifest.names.export_objects.iter().any(|object| object == text) {
        return Some((Entity::Module(Module::File(file)), Step::ModuleMember));
    }
    // A function that a package does not have is that of the root, where packages have one.
    if manifest.resolution.global_names
        && manifest.modules.word(PathWord::Root).is_some()
        && db.wanted() == Some(Wanted::Callables)
        && let Some(root) = db.program.declared_package(file, "")
        && let Some(entity) = db.module_member(root, name, &mut Visited::default())
    {
        return Some((entity, Step::Package));
    }
    if manifest.resolution.global_names
        && let Some(entity) = paths::defined_anywhere(db, file, name)
    {
        return Some((entity, Step::UniqueName));
    }
    if unit.language.is_builtin(text) {
        return Some((Entity::Builtin(name), Step::Builtin));
    }
    if let Some(entity) = outside::declared_globally(db, file, name) {
        return Some((entity, Step::Package));
    }
    outside::outside_wildcard(db, file, name).map(|entity| (entity, Step::Wildcard))
}
