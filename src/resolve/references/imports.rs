//! Resolution of the references in imports: what an import names.

use crate::db::Db;
use crate::db::ty::Entity;
use crate::inference::{
    definition, hierarchy, inherent, linkage, overrides, scopes::imported, visited::Visited,
    wildcard,
};
use crate::references::outcome::{chosen, external, module_target, unresolved};
use crate::references::{exhaustiveness, proof, variants};
use crate::units::import_target::{ImportTarget, Module};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::facts::{ImportKind, Site};
use cograph_model::graph::{FileId, Resolution, SymbolRef};
use cograph_model::{Step, Visibility};

/// Returns the verdict of an import.
pub(super) fn import_site(db: &Db, file: FileId, site: &Site) -> Resolution {
    let Some(import) = site.import.get() else { return unresolved(Step::NoSuchName) };
    let kind = db.program.known(file).facts.imports[import].kind;
    if kind != ImportKind::Include
        && db.program.known(file).language.manifest.modules.pastes_files()
        && let Some(Entity::Symbols(symbols)) = linkage::using_declaration(db, file, site.import)
    {
        let symbols = definition::with_definitions(db, &symbols);
        return chosen(&symbols, Step::Import, Step::Overloads);
    }
    match db.program.import_target(file, import) {
        ImportTarget::External(name) if kind == ImportKind::Item && proof::is_unfound(name) => {
            unresolved(Step::NoSuchName)
        }
        ImportTarget::External(name) => external(name, Step::ExternalImport),
        ImportTarget::Path { .. }
            if kind == ImportKind::Wildcard && wildcard::leads_outside(db, file, import) =>
        {
            let name = &db.program.known(file).facts.imports[import].module;
            external(name, Step::ExternalImport)
        }
        ImportTarget::Path { module, path, .. }
            if path.is_empty() || kind == ImportKind::Wildcard =>
        {
            members_of_type(db, file, site, path)
                .unwrap_or_else(|| module_target(*module, Step::Import))
        }
        target @ ImportTarget::Path { module, path, .. } => {
            match imported::import_entity(db, file, site.import, &mut Visited::default()) {
                Some(Entity::Symbols(symbols)) => {
                    let declares = db.program.known(file).language.manifest.resolution.declarations;
                    let symbols = match declares {
                        true => definition::with_definitions(db, &symbols),
                        false => symbols,
                    };
                    let mut symbols = hierarchy::merged_once(db, symbols);
                    overrides::defined(db, &mut symbols);
                    let is_own = |symbol: &SymbolRef| target.stated() != Some(symbol.file);
                    if symbols.iter().any(is_own) {
                        symbols.retain(|symbol| is_own(symbol));
                    }
                    let several = Step::SeveralValues;
                    let found =
                        variants::chosen_or_variants(db, file, &symbols, Step::Import, several);
                    match are_one_name(db, &symbols) {
                        true => exhaustiveness::all(found),
                        false => found,
                    }
                }
                Some(Entity::Module(module)) => module_target(module, Step::Import),
                Some(Entity::Variants(parts)) => {
                    let of_part = |part: &Entity| match part {
                        Entity::Symbols(symbols) => {
                            let several = Step::SeveralValues;
                            variants::chosen_or_variants(db, file, symbols, Step::Import, several)
                        }
                        Entity::Module(module) => module_target(*module, Step::Import),
                        Entity::External(name) => external(name, Step::ExternalImport),
                        _ => unresolved(Step::LocalValue),
                    };
                    variants::of_each(db, (file, site.byte), parts.iter().map(of_part).collect())
                }
                Some(Entity::External(name)) => external(&name, Step::ExternalImport),
                Some(Entity::Local(..) | Entity::Builtin(_)) => unresolved(Step::LocalValue),
                None => match path[..] {
                    [name] => {
                        let mut symbols = inherent::extensions_in(db, *module, name);
                        if symbols.is_empty() {
                            symbols = exported_macros(db, file, *module, name);
                        }
                        chosen(&symbols, Step::Import, Step::Overloads)
                    }
                    _ => unresolved(Step::NoSuchName),
                },
            }
        }
    }
}

/// Returns the public macros of a name in the crate of a module: macros have names of their own,
/// and the public ones are at the root of their crate.
fn exported_macros(db: &Db, file: FileId, module: Module, name: Name) -> Symbols {
    let has_suffix = db.program.known(file).language.manifest.names.macro_suffix.is_some();
    let Module::File(of_module) = module else { return Symbols::new() };
    if !has_suffix {
        return Symbols::new();
    }
    let root = db.program.crate_root(of_module);
    let is_exported = |symbol: &SymbolRef| {
        db.program.crate_root(symbol.file) == root
            && db.program.symbol(*symbol).visibility == Visibility::Public
    };
    let all = db.program.macros(name);
    all.into_iter().flatten().copied().filter(is_exported).collect()
}

/// Resolves an import of all members of a type (`use Kind::*`) or of a module of a library.
fn members_of_type(db: &Db, file: FileId, site: &Site, path: &[Name]) -> Option<Resolution> {
    if path.is_empty() {
        return None;
    }
    match imported::import_entity(db, file, site.import, &mut Visited::default())? {
        Entity::Symbols(symbols)
            if symbols.iter().all(|symbol| db.program.symbol(*symbol).kind.is_type()) =>
        {
            Some(variants::chosen_or_variants(
                db,
                file,
                &symbols,
                Step::Import,
                Step::SeveralValues,
            ))
        }
        Entity::External(name) => Some(external(&name, Step::ExternalImport)),
        _ => None,
    }
}

/// True for the meanings of one exported name, of which types are apart from values: an import
/// takes all of them.
fn are_one_name(db: &Db, symbols: &[SymbolRef]) -> bool {
    let Some(first) = symbols.first() else { return false };
    let scope = |symbol: &SymbolRef| (symbol.file, db.program.symbol(*symbol).scope);
    let is_type = |symbol: &SymbolRef| db.program.symbol(*symbol).kind.is_type();
    db.program.known(first.file).language.manifest.resolution.separate_types
        && symbols.iter().all(|symbol| scope(symbol) == scope(first))
        && symbols.iter().any(is_type)
        && !symbols.iter().all(is_type)
}
