//! Members of types that derive from a type: what a receiver may have of which only a base, or a
//! module that its type includes, is known.

use crate::db::Db;
use crate::inference::members::{hierarchy, lookup};
use crate::inference::names::linkage;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::graph::SymbolRef;

/// Maximum number of types whose members are looked up.
const MAX_DERIVED: usize = 48;

/// Returns the members of a name that types have which derive from a type.
pub(crate) fn members(db: &Db, of: SymbolRef, name: Name) -> Symbols {
    of_each(db, of, |derived| lookup::type_member(db, derived, name))
}

/// Returns the members of a name behind a type in the hierarchies of those that derive from it:
/// what a call of the next member in a module that types include may lead to.
pub(crate) fn next_members(db: &Db, of: SymbolRef, name: Name) -> Symbols {
    let of = linkage::primary(db, of);
    of_each(db, of, |derived| {
        let hierarchy = hierarchy::hierarchy(db, derived);
        let types = hierarchy.types.iter().map(|(ty, _)| *ty);
        let all = hierarchy.before.iter().copied().chain(types);
        let behind = all.skip_while(|ty| *ty != of).skip(1);
        let mut members = behind.map(|ty| lookup::own_members(db, ty, name));
        members.find(|members| !members.is_empty()).unwrap_or_default()
    })
}

/// Returns the types that derive from a type; none if there are too many.
pub(crate) fn types(db: &Db, of: SymbolRef) -> Symbols {
    let of = linkage::primary(db, of);
    if let Some(known) = db.derived.get(&of) {
        return known;
    }
    let found = find_types(db, of);
    db.derived.insert(of, found.clone());
    found
}

fn find_types(db: &Db, of: SymbolRef) -> Symbols {
    let (mut types, mut visited) = (Symbols::from_slice(&[of]), 0);
    while let Some(&ty) = types.get(visited) {
        visited += 1;
        let named = db.program.derived(db.program.name_of(ty));
        for derived in named.into_iter().flatten() {
            let derived = linkage::primary(db, *derived);
            if types.contains(&derived) || !derives(db, derived, ty) {
                continue;
            }
            if types.len() > MAX_DERIVED || !db.budget.take(1) {
                return Symbols::new();
            }
            types.push(derived);
        }
    }
    types.remove(0);
    types
}

/// Joins what a function finds in each type that derives from a type.
fn of_each(db: &Db, of: SymbolRef, find: impl Fn(SymbolRef) -> Symbols) -> Symbols {
    let mut found = Symbols::new();
    for member in types(db, of).into_iter().flat_map(find) {
        if !found.contains(&member) {
            found.push(member);
        }
    }
    found
}

fn derives(db: &Db, derived: SymbolRef, from: SymbolRef) -> bool {
    let hierarchy = hierarchy::hierarchy(db, derived);
    let mut above = hierarchy.types.iter().skip(1);
    above.any(|(base, _)| *base == from) || hierarchy.before.contains(&from)
}
