//! Fields that an assignment to a member of the receiver makes, where a base declares them: one
//! object has one field of a name.

use crate::db::Db;
use crate::inference::members::lookup::stated;
use crate::inference::members::{hierarchy, lookup};
use crate::units::symbols::Symbols;
use cograph_model::facts::{Site, flags};
use cograph_model::graph::{FileId, SymbolRef};
use cograph_model::{SiteKind, SymbolKind, Visibility};

/// Replaces assigned fields by the declarations of bases. Returns nothing for the assignment that
/// makes the field where no base declares it, nor for the function that it makes a member.
pub(crate) fn declared(db: &Db, file: FileId, site: &Site, symbols: Symbols) -> Option<Symbols> {
    let is_made_here = |member: &SymbolRef| {
        member.file == file
            && db.program.symbol(*member).kind.is_callable()
            && db.program.own_details(*member).is_some_and(|own| own.name_at == site.at)
    };
    if site.kind == SiteKind::Write && symbols.iter().any(is_made_here) {
        return None;
    }
    let is_assigned = |field: &SymbolRef| db.program.symbol(*field).flags & flags::ASSIGNED != 0;
    if !symbols.iter().any(is_assigned) {
        return Some(symbols);
    }
    let mut found = Symbols::new();
    for field in symbols {
        let entry = db.program.symbol(field);
        let is_open = is_assigned(&field) && !entry.ty.is_some();
        let of_base = if is_open { of_base(db, field) } else { None };
        let makes = is_assigned(&field)
            && site.kind == SiteKind::Write
            && field.file == file
            && (entry.start_byte..entry.end_byte).contains(&site.byte);
        match of_base {
            None if makes => return None,
            None if !found.contains(&field) => found.push(field),
            Some(declared) if !found.contains(&declared) => found.push(declared),
            _ => {}
        }
    }
    Some(found)
}

/// Returns the field with a stated type, or the property, that the nearest base has for a field. In
/// languages whose values take any member, one that an assignment makes in the farthest base too.
fn of_base(db: &Db, field: SymbolRef) -> Option<SymbolRef> {
    if stated::member(db, field).is_some() {
        return None;
    }
    let entry = db.program.symbol(field);
    let name = db.program.name_of(field);
    let owner = SymbolRef { file: field.file, symbol: entry.container };
    if !owner.symbol.is_some() {
        return None;
    }
    let takes_any = db.program.known(field.file).language.manifest.names.values_member.is_some();
    let mut made = None;
    for (base, _) in hierarchy::hierarchy(db, owner).types.iter().skip(1) {
        if !db.budget.take(1) {
            return None;
        }
        let found = lookup::own_members(db, *base, name);
        let Some(first) = found.first() else { continue };
        let of_base = db.program.symbol(*first);
        if takes_any && of_base.flags & flags::ASSIGNED != 0 && !of_base.ty.is_some() {
            made = Some(*first);
            continue;
        }
        let is_property = of_base.flags & flags::PROPERTY != 0;
        if of_base.visibility == Visibility::Private || of_base.kind.is_callable() && !is_property {
            return None;
        }
        if is_property || of_base.kind == SymbolKind::Field && of_base.ty.is_some() {
            return Some(*first);
        }
    }
    made
}
