//! Names with a meaning of their own: path keywords (root, self, super), declared package names,
//! macros, and names that all files share.

use crate::db::Db;
use crate::db::ty::{Entity, OwnNames};
use crate::inference::names::visited::Visited;
use crate::units::bounds::MAX_CANDIDATES;
use crate::units::import_target::{ImportTarget, Module};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::PathWord;
use cograph_model::SymbolKind;
use cograph_model::facts::{ImportKind, ScopeId};
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;
use std::rc::Rc;

/// Mark between the words of a path's end, which no name has.
const HYPHEN: char = '-';
/// Minimum length of such a word that is a sign of the name of its package.
const PACKAGE_WORD: usize = 3;

/// Returns the meaning of a path keyword in a scope.
pub(super) fn path_word(db: &Db, file: FileId, name: Name, scope: ScopeId) -> Option<Entity> {
    let rules = &db.program.known(file).language.manifest.modules;
    // Most languages have none: the text of the name is not read then.
    let word = (!rules.words.is_empty()).then(|| rules.words.get(db.program.text(name)))??;
    let is_declared = rules.declares_packages();
    match word {
        PathWord::Root if is_declared => {
            let root = db.program.declared_package(file, "");
            Some(root.map_or_else(|| Entity::External(Rc::from("")), Entity::Module))
        }
        PathWord::Current if is_declared => {
            let unit = db.program.known(file);
            let package = unit.spaces.package_around(unit.facts, scope).unwrap_or_default();
            db.program.declared_package(file, package).map(Entity::Module)
        }
        PathWord::Root => Some(Entity::Module(Module::File(db.program.crate_root(file)))),
        PathWord::Current => Some(module_around(db, file, scope)),
        PathWord::Parent => above(db, &module_around(db, file, scope)),
    }
}

/// Returns the innermost module around a scope: an inline one, or the file.
fn module_around(db: &Db, file: FileId, scope: ScopeId) -> Entity {
    match db.program.known(file).inline_modules(scope).last() {
        Some(&symbol) => Entity::Symbols(Symbols::from_slice(&[SymbolRef { file, symbol }])),
        None => Entity::Module(Module::File(file)),
    }
}

/// Returns the parent of a module.
pub(crate) fn above(db: &Db, module: &Entity) -> Option<Entity> {
    match module {
        Entity::Symbols(symbols) => {
            let symbol = symbols
                .iter()
                .find(|symbol| db.program.symbol(**symbol).kind == SymbolKind::Module)?;
            Some(module_around(db, symbol.file, db.program.symbol(*symbol).scope))
        }
        Entity::Module(Module::File(file)) => {
            let (parent, scope) = db.program.crate_parent(*file)?;
            Some(module_around(db, parent, scope))
        }
        _ => None,
    }
}

/// Returns the imported package with this declared name, which may differ from that of its
/// directory.
pub(super) fn package_by_own_name(db: &Db, file: FileId, name: &str) -> Option<Module> {
    let unit = db.program.known(file);
    if !unit.language.manifest.modules.shared_folder || unit.facts.package.is_none() {
        return None;
    }
    if let Some(known) = db.own_names.get(&file) {
        return known.get(name).copied();
    }
    let mut own_names = OwnNames::default();
    let targets = db.program.import_targets(file);
    for (import, target) in unit.facts.imports.iter().zip(targets) {
        if import.kind == ImportKind::Module
            && let ImportTarget::Path { module: module @ Module::Package(package), .. } = target
            && let Some(first) = db.program.package_files(*package).first()
            && let Some(own) = db.program.unit(*first)
            && let Some(injected_class_name) = own.facts.package.as_deref()
        {
            own_names.entry(injected_class_name).or_insert(*module);
        }
    }
    let found = own_names.get(name).copied();
    db.own_names.insert(file, Rc::new(own_names));
    found
}

/// Returns the imported package of a library that must have this name: the end of its path is none
/// that code can write, and has a word of the name (`iradix` of `go-immutable-radix`).
pub(super) fn library_by_own_name(db: &Db, file: FileId, name: &str) -> Option<Entity> {
    let unit = db.program.known(file);
    if !unit.language.manifest.modules.shared_folder || unit.facts.package.is_none() {
        return None;
    }
    let imports = unit.facts.imports.iter().zip(db.program.import_targets(file));
    let outside = imports.filter(|(import, target)| {
        import.kind == ImportKind::Module && matches!(target, ImportTarget::External(_))
    });
    let mut fitting: SmallVec<[(Fit, &str); 2]> = SmallVec::new();
    for (import, _) in outside {
        if !import.alias.is_some() {
            continue;
        }
        let fit = name_fit(name, unit.text(import.alias));
        fitting.extend(fit.map(|fit| (fit, &*import.module)));
    }
    let best = fitting.iter().map(|(fit, _)| *fit).max()?;
    let mut best = fitting.iter().filter(|(fit, _)| *fit == best);
    let (_, module) = best.next()?;
    best.next().is_none().then(|| Entity::External(Rc::from(*module)))
}

/// How well the end of a path fits the name of a package.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// A word of it is in the name.
    Word,
    /// Some of its words, one behind the other, are the name.
    Whole,
}

/// Returns how well the end of a path, which is no name itself, fits the name of a package.
fn name_fit(name: &str, end: &str) -> Option<Fit> {
    let words: SmallVec<[&str; 4]> = end.split(HYPHEN).collect();
    if words.len() < 2 {
        return None;
    }
    let is_whole = |from: usize| {
        let longer = (from + 1..=words.len()).map(|to| words[from..to].concat());
        longer.into_iter().any(|joined| joined.eq_ignore_ascii_case(name))
    };
    if (0..words.len()).any(is_whole) {
        return Some(Fit::Whole);
    }
    let is_in = |word: &&str| word.len() >= PACKAGE_WORD && name.contains(*word);
    words.iter().any(is_in).then_some(Fit::Word)
}

/// Returns the member of the innermost package around that of the file that has one of the name.
pub(super) fn enclosing_package_member(db: &Db, file: FileId, name: Name) -> Option<Entity> {
    let unit = db.program.known(file);
    let separator = unit.language.manifest.modules.separator.as_str();
    let mut package = unit.facts.package.as_deref()?;
    while let Some((around, _)) = package.rsplit_once(separator) {
        if let Some(module) = db.program.declared_package(file, around)
            && let Some(entity) = db.module_member(module, name, &mut Visited::default())
        {
            return Some(entity);
        }
        package = around;
    }
    None
}

/// True if a name is the keyword for the parent module.
pub(crate) fn is_super_word(db: &Db, file: FileId, name: Name) -> bool {
    // The file of a module may be unreadable.
    let Some(unit) = db.program.unit(file) else { return false };
    let word = unit.language.manifest.modules.words.get(db.program.text(name));
    word == Some(&PathWord::Parent)
}

/// Returns the macro of a name with the macro suffix; macros of the same crate take precedence.
pub(super) fn macro_named(
    db: &Db,
    file: FileId,
    name: Name,
    scope: ScopeId,
    at: u32,
) -> Option<Entity> {
    let program = db.program;
    let suffix = program.unit(file)?.language.manifest.names.macro_suffix.as_deref()?;
    let plain = program.text(name).strip_suffix(suffix)?;
    let plain = program.named(plain);
    let imported = db.lookup(file, plain, scope, at);
    if let Some((Entity::External(outside), _)) = imported {
        return Some(Entity::External(Rc::from(format!("{outside}{suffix}"))));
    }
    let all = program.macros(plain);
    let all: Symbols = all.into_iter().flatten().copied().collect();
    let root = program.crate_root(file);
    let own: Symbols =
        all.iter().copied().filter(|symbol| program.crate_root(symbol.file) == root).collect();
    let found = if own.is_empty() { all } else { own };
    (!found.is_empty()).then_some(Entity::Symbols(found))
}

/// Returns the top-level definitions of a name in any file, in languages where all files share
/// names.
pub(super) fn defined_anywhere(db: &Db, file: FileId, name: Name) -> Option<Entity> {
    let family = crate::units::import_target::family(db.program.known(file).language);
    let is_seen = |symbol: &SymbolRef| {
        !db.program.symbol(*symbol).container.is_some()
            && crate::units::import_target::family(db.program.known(symbol.file).language) == family
    };
    let found = db.program.named_alone(name)?.iter().copied().filter(is_seen);
    let found: Symbols = found.take(MAX_CANDIDATES + 1).collect();
    (!found.is_empty() && found.len() <= MAX_CANDIDATES).then_some(Entity::Symbols(found))
}

#[cfg(test)]
mod tests {
    use super::{Fit, name_fit};

    #[test]
    fn the_name_of_a_package_has_words_of_its_path() {
        let check = |name: &str, end: &str, fit: Option<Fit>| {
            assert!(name_fit(name, end) == fit, "{name} {end}");
        };
        check("iradix", "go-immutable-radix", Some(Fit::Word));
        check("isatty", "go-isatty", Some(Fit::Whole));
        check("immutableradix", "go-immutable-radix", Some(Fit::Whole));
        check("grpc", "grpc-go", Some(Fit::Whole));
        check("other", "go-isatty", None);
        check("cargo", "go-isatty", None);
        // A name that code can write is the name.
        check("radixes", "radix", None);
    }
}
