//! Classes that the declaration file next to their module describes: the members that it states.

use crate::db::Db;
use crate::inference::members::hierarchy;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::RepoPath;
use cograph_model::facts::{BindingKind, ScopeId};
use cograph_model::graph::{FileId, SymbolRef};

/// Returns the members that are stated for a class without one of that name.
pub(super) fn members(db: &Db, class: SymbolRef, name: Name) -> Symbols {
    let stated = types(db, class);
    stated
        .iter()
        .map(|ty| db.own_members(*ty, name))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Returns what is stated for a member of a class that says nothing of its own type: for the class,
/// else for the nearest base.
pub(crate) fn member(db: &Db, member: SymbolRef) -> Option<Symbols> {
    let entry = db.program.symbol(member);
    let class = SymbolRef { file: member.file, symbol: entry.container };
    if entry.ty.is_some() || !class.symbol.is_some() {
        return None;
    }
    let is_same = |other: &SymbolRef| {
        db.program.symbol(*other).kind.is_callable() == entry.kind.is_callable()
    };
    if types(db, class).is_empty() {
        return None;
    }
    let name = db.program.name_of(member);
    let bases = hierarchy::hierarchy(db, class);
    let mut stated = bases.types.iter().map(|(ty, _)| members(db, *ty, name));
    let mut found = stated.find(|found| !found.is_empty())?;
    found.retain(|other| is_same(other));
    (!found.is_empty()).then_some(found)
}

/// Returns the types that are declared for a class of a module under its name, then their bases in
/// the same file.
fn types(db: &Db, class: SymbolRef) -> Symbols {
    if let Some(known) = db.stated_types.get(&class) {
        return known;
    }
    db.stated_types.insert(class, Symbols::new());
    let found = find_types(db, class).unwrap_or_default();
    db.stated_types.insert(class, found.clone());
    found
}

fn find_types(db: &Db, class: SymbolRef) -> Option<Symbols> {
    let entry = db.program.symbol(class);
    let top = ScopeId(0);
    if !entry.kind.is_type() || entry.scope != top {
        return None;
    }
    let file = file(db, class.file)?;
    let unit = db.program.known(file);
    let mut found = Symbols::new();
    for (_, binding) in db.program.bindings(file, unit, top, db.program.name_of(class)) {
        if binding.kind != BindingKind::Symbol || !unit.symbol(binding.symbol()).kind.is_type() {
            continue;
        }
        let stated = SymbolRef { file, symbol: binding.symbol() };
        let bases = hierarchy::hierarchy(db, stated);
        let own = bases.types.iter().map(|(ty, _)| *ty).filter(|ty| ty.file == file);
        found.extend(own.filter(|ty| !found.contains(ty)).collect::<Symbols>());
    }
    Some(found)
}

/// Returns the file next to a module that declares what the module has: each of the endings of the
/// two may mean the other.
fn file(db: &Db, module: FileId) -> Option<FileId> {
    let aliases = &db.program.known(module).language.manifest.modules.extension_aliases;
    let (stem, ending) = db.program.path(module).as_str().rsplit_once('.')?;
    let mut mutual = aliases.get(ending)?.iter().filter(|other| {
        aliases.get(*other).is_some_and(|back| back.iter().any(|own| own == ending))
    });
    mutual.find_map(|other| {
        let path = RepoPath::new(&format!("{stem}.{other}"))?;
        db.program.stated_file(&path)
    })
}
