//! Names that a file does not declare: the external package that one is attributed to by a wildcard
//! import, and what files declare for all others.

use crate::db::Db;
use crate::db::ty::Entity;
use crate::db::wanted::Wanted;
use crate::inference::names::{namespaces, wildcard};
use crate::units::import_target::ImportTarget;
use crate::units::interner::Name;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use cograph_model::SymbolKind;
use cograph_model::facts::ImportKind;
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Attributes an undeclared name to the only external package with a wildcard import, in
/// languages where every name is declared; with several such packages the package is unknown.
pub(super) fn outside_wildcard(db: &Db, file: FileId, name: Name) -> Option<Entity> {
    let unit = db.program.known(file);
    let manifest = &unit.language.manifest;
    if manifest.modules.pastes_files() {
        return of_opened_library(db, file, name);
    }
    if !manifest.modules.declares_packages() {
        return None;
    }
    let callables = db.wanted() == Some(Wanted::Callables);
    let only = match db.wildcards.outside.get(&(file, callables)) {
        Some(known) => known,
        None => {
            let found = only_outside(db, file, callables);
            db.wildcards.outside.insert((file, callables), found);
            found
        }
    };
    let text = db.program.text(name);
    let separator = manifest.modules.separator.as_str();
    // The start of the name of an imported package is the package itself.
    let begins = |module: &str| {
        module.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
    };
    let is_package = || {
        let targets = db.program.import_targets(file);
        unit.facts.imports.iter().zip(targets).any(|(import, target)| {
            matches!(target, ImportTarget::External(_)) && begins(&import.module)
        })
    };
    Some(Entity::External(match only? {
        _ if !callables && is_package() => Rc::from(text),
        Some(import) => {
            let module = &unit.facts.imports[import].module;
            Rc::from(format!("{module}{separator}{text}"))
        }
        None => Rc::from(text),
    }))
}

/// Returns a library type that has a table by its name, where the file opens a namespace of the
/// library.
fn of_opened_library(db: &Db, file: FileId, name: Name) -> Option<Entity> {
    let unit = db.program.known(file);
    let text = db.program.text(name);
    let supertypes = &unit.language.manifest.conversions.supertypes;
    if unit.language.flow(text).is_none() && !supertypes.contains_key(text) {
        return None;
    }
    let targets = db.program.import_targets(file);
    let mut opened = unit.facts.imports.iter().zip(targets);
    let (library, _) = opened.find(|(import, target)| {
        import.kind == ImportKind::Wildcard && matches!(target, ImportTarget::External(_))
    })?;
    Some(Entity::External(Rc::from(format!("{}.{text}", library.module))))
}

/// Returns the only external wildcard import, of a package or of the members of a type; `None`
/// inside if there are several.
fn only_outside(db: &Db, file: FileId, of_members: bool) -> Option<Option<usize>> {
    let unit = db.program.known(file);
    let all = unit.wildcards().iter().filter_map(|(_, import)| import.get());
    let mut outside = all.filter(|&import| {
        (unit.facts.imports[import].level > 0) == of_members
            && wildcard::leads_outside(db, file, import)
    });
    let shared = db.program.shared_imports(file).wildcards.iter();
    if shared.into_iter().any(|target| wildcard::shared_leads_outside(db, file, target)) {
        return outside.next().is_some().then_some(None);
    }
    let first = outside.next()?;
    Some(outside.next().is_none().then_some(first))
}

/// Returns what a name means in the global scope, in languages in which files are modules.
pub(super) fn declared_globally(db: &Db, file: FileId, name: Name) -> Option<Entity> {
    let language = db.program.known(file).language;
    if !language.manifest.modules.has_global_scope() {
        return None;
    }
    let all = db.program.in_space(Space::root(language), name)?;
    let wanted = |symbol: &SymbolRef| namespaces::is_wanted(db, *symbol);
    let mut found: Symbols = all.iter().copied().filter(wanted).collect();
    if found.len() > 1 {
        nearest_values(db, file, &mut found);
    }
    (!found.is_empty()).then_some(Entity::Symbols(found))
}

/// Of variables that several files declare for the program around them, keeps those of the files
/// that share most folders with this one.
fn nearest_values(db: &Db, file: FileId, found: &mut Symbols) {
    let is_value = |symbol: &SymbolRef| {
        let kind = db.program.symbol(*symbol).kind;
        matches!(kind, SymbolKind::Variable | SymbolKind::Constant)
    };
    if !found.iter().all(is_value) {
        return;
    }
    let own: Vec<&str> = db.program.path(file).as_str().split('/').collect();
    let shared = |symbol: &SymbolRef| {
        let other = db.program.path(symbol.file).as_str().split('/');
        own.iter().zip(other).take_while(|(one, other)| **one == *other).count()
    };
    let most = found.iter().map(shared).max().unwrap_or(0);
    found.retain(|symbol| shared(symbol) == most);
    // Each of them declares the same variable.
    found.truncate(1);
}
