//! Names that a file does not declare: the external package that one is attributed to by a wildcard
//! import, and what files declare for all others.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::db::wanted::Wanted;
use crate::inference::names::{namespaces, wildcard};
use crate::units::import_target::ImportTarget;
use crate::units::interner::Name;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use cograph_grammar::Tier;
use cograph_model::SymbolKind;
use cograph_model::facts::{Expr, ExprId, ImportKind, ScopeId};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Maximum nesting of namespaces in a qualified name.
const MAX_NESTED: usize = 32;
/// Minimum length of the start of a name that is a sign of its library.
const LIBRARY_WORD: usize = 3;

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

/// Returns the name of what a library must have, in languages with textual includes: nothing in the
/// repository has it, and it begins as the path of a header of a library does, which the file, or
/// what it includes, includes. The absence alone is no proof, because macros make names. Where
/// types may be opened again, what is required may give every file a constant.
pub(crate) fn of_library(db: &Db, file: FileId, name: Name, scope: ScopeId) -> Option<Rc<str>> {
    let language = db.program.known(file).language;
    if !language.manifest.modules.pastes_files() || db.tier(file) != Tier::Full {
        return None;
    }
    let root = Space::root(language);
    let text = db.program.text(name);
    if language.manifest.resolution.open_types {
        let is_unknown = db.program.named_alone(name).is_none() && is_of_no_file(db, root, name);
        return is_unknown.then(|| Rc::from(text));
    }
    let unit = db.program.known(file);
    let mut space = db.program.space_around(file, unit, scope);
    while let Some(around) = space {
        if db.program.in_space(around, name).is_some() {
            return None;
        }
        space = db.program.spaces().parent(around);
    }
    let is_unknown = db.program.macros(name).is_none() && db.program.members(name).is_none();
    (is_unknown && begins_as_library(db, file, text)).then(|| Rc::from(text))
}

/// True for a constant of a namespace that nothing in the repository defines.
fn is_of_no_file(db: &Db, around: Space, name: Name) -> bool {
    let text = db.program.text(name);
    text.starts_with(char::is_uppercase)
        && db.program.in_space(around, name).is_none()
        && db.program.openings(around.below(text)).is_none()
        && !db.program.is_implied(around.below(text))
}

/// Returns the name of a constant in a type that files may open again, which nothing in the
/// repository defines: a library has the type as well. `path` is the expression.
pub(crate) fn of_opened(
    db: &Db,
    file: FileId,
    path: ExprId,
    of: &Ty,
    name: Name,
) -> Option<Rc<str>> {
    match of {
        Ty::Namespace(space) if is_of_no_file(db, *space, name) => written_path(db, file, path),
        Ty::Type(symbol, _) => {
            let space = db.program.space_of_symbol(*symbol)?;
            let language = db.program.known(symbol.file).language;
            let is_open = language.manifest.resolution.open_types;
            (is_open && is_of_no_file(db, space, name)).then(|| qualified(db, *symbol, name))
        }
        _ => None,
    }
}

/// Returns the qualified name of a constant in a type.
fn qualified(db: &Db, of: SymbolRef, name: Name) -> Rc<str> {
    let mut path = vec![db.program.text(name)];
    let mut around = of;
    while around.symbol.is_some() && path.len() < MAX_NESTED {
        path.push(db.program.text(db.program.name_of(around)));
        around.symbol = db.program.symbol(around).container;
    }
    path.reverse();
    Rc::from(path.join("."))
}

/// Returns the path of names that an expression is.
fn written_path(db: &Db, file: FileId, path: ExprId) -> Option<Rc<str>> {
    let unit = db.program.known(file);
    let (mut names, mut next) = (Vec::new(), path);
    while names.len() < MAX_NESTED {
        match unit.facts.exprs[next.get()?] {
            Expr::Member(object, name) => {
                names.push(unit.text(name));
                next = object;
            }
            Expr::Name(name, _) => {
                names.push(unit.text(name));
                names.reverse();
                return Some(Rc::from(names.join(".")));
            }
            _ => return None,
        }
    }
    None
}

/// True if a name begins with a word of the path of a header that the repository does not have, and
/// the language neither: `greet_new` of `greet/greet.h`.
fn begins_as_library(db: &Db, file: FileId, name: &str) -> bool {
    let words = db.wildcards.libraries.get(&file).unwrap_or_else(|| {
        let words = library_words(db, file);
        db.wildcards.libraries.insert(file, Rc::clone(&words));
        words
    });
    words
        .iter()
        .any(|word| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
}

/// Returns the words of the paths of headers of libraries that a file includes, itself or by what
/// it includes.
fn library_words(db: &Db, file: FileId) -> Rc<[Box<str>]> {
    let mut words: Vec<Box<str>> = Vec::new();
    let mut take = |file: FileId| {
        let Some(unit) = db.program.unit(file) else { return };
        let prelude = &unit.language.manifest.modules.prelude;
        for (import, target) in unit.facts.imports.iter().zip(db.program.import_targets(file)) {
            let is_library = import.kind == ImportKind::Include
                && matches!(target, ImportTarget::External(_))
                && !prelude.iter().any(|known| *known == *import.module);
            if is_library {
                words.extend(words_of(&import.module));
            }
        }
    };
    take(file);
    let targets = db.program.import_targets(file);
    targets.iter().flat_map(ImportTarget::files).for_each(take);
    words.sort_unstable();
    words.dedup();
    words.into()
}

/// Words of the path of a header that names of its library may begin with. Headers of the
/// language's library have no ending.
fn words_of(path: &str) -> impl Iterator<Item = Box<str>> + '_ {
    let path = path.trim_start_matches("./").trim_start_matches("../");
    let whole = path.rsplit_once('.').map(|(whole, _)| whole);
    let parts = whole.into_iter().flat_map(|whole| whole.split(['/', '-', '.']));
    parts.filter(|word| word.len() >= LIBRARY_WORD).map(Box::from)
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
        // What files share are packages, unless files say that they are types.
        return (!of_members || outside.next().is_some()).then_some(None);
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
