//! Conditional compilation: selects among variants of a symbol by the conditions around a
//! reference.

use crate::db::Db;
use crate::inference::names::placement;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_grammar::EndingOf;
use cograph_model::facts::Condition;
use cograph_model::graph::{FileId, SymbolRef};

/// Condition: name, and whether it holds.
pub(super) type Held = (Name, bool);

/// Returns the symbols of one name that may be compiled together with a position: none with a
/// contradicting condition, and of the rest those with the most conditions in common with the
/// position.
pub(crate) fn compiled_with(db: &Db, file: FileId, at: u32, symbols: Symbols) -> Symbols {
    if symbols.len() < 2 || planted(Fault::ConditionsIgnored) {
        return symbols;
    }
    let symbols = compiled(db, file, at, in_one_program(db, file, symbols));
    let here = conditions_at(db, file, at);
    if here.is_empty()
        || symbols.iter().all(|symbol| db.program.known(symbol.file).facts.conditions.is_empty())
    {
        return symbols;
    }
    let needs: Vec<Vec<Held>> = symbols.iter().map(|symbol| conditions_of(db, *symbol)).collect();
    let possible = |needs: &&Vec<Held>| {
        !needs.iter().any(|(tested, holds)| here.contains(&(*tested, !*holds)))
    };
    let shared = |needs: &Vec<Held>| needs.iter().filter(|need| here.contains(need)).count();
    let most = needs.iter().filter(possible).map(shared).max().unwrap_or(0);
    // What has no condition exists as well: in another folder, or by an earlier statement.
    let rules = &db.program.known(file).language.manifest.resolution;
    let keeps_plain = has_folders(db, file) || rules.conditional_definitions;
    let left = symbols.iter().zip(&needs).filter(|(_, needs)| {
        possible(needs) && (shared(needs) == most || keeps_plain && needs.is_empty())
    });
    let left: Symbols = left.map(|(symbol, _)| *symbol).collect();
    if left.is_empty() { symbols } else { left }
}

/// Returns the symbols of one name whose conditions may hold in the build; all if there are none,
/// or if the position is not compiled itself.
fn compiled(db: &Db, file: FileId, at: u32, symbols: Symbols) -> Symbols {
    if symbols.len() < 2
        || !db.program.known(file).language.manifest.modules.pastes_files()
        || is_off(db, file, at)
    {
        return symbols;
    }
    let is_on = |symbol: &SymbolRef| {
        !is_off(db, symbol.file, db.program.symbol(*symbol).end_byte.saturating_sub(1))
    };
    let left: Symbols = symbols.iter().copied().filter(is_on).collect();
    if left.is_empty() { symbols } else { left }
}

/// True if a condition around a position does not hold in the build.
fn is_off(db: &Db, file: FileId, at: u32) -> bool {
    let unit = db.program.known(file);
    around(&unit.facts.conditions, at).any(|condition| {
        db.program.holds(file, unit.text(condition.tested)) == Some(!condition.holds)
    })
}

/// Returns the symbols of one name in files that may be in one program with a file; all if
/// there are none.
pub(crate) fn in_one_program(db: &Db, file: FileId, symbols: Symbols) -> Symbols {
    if !db.program.known(file).language.manifest.modules.pastes_files() {
        return symbols;
    }
    let from = db.program.path(file).as_str();
    let is_possible = |symbol: &SymbolRef| {
        !db.program.exclude_each_other(file, symbol.file)
            && !db.program.is_left_out(file, symbol.file)
            && placement::links_to(from, db.program.path(symbol.file).as_str())
    };
    let left: Symbols = symbols.iter().copied().filter(is_possible).collect();
    if left.is_empty() { symbols } else { left }
}

/// True if two symbols are never compiled together.
pub(super) fn exclude_each_other(db: &Db, a: SymbolRef, b: SymbolRef) -> bool {
    let excludes = || {
        let needs = conditions_of(db, a);
        conditions_of(db, b).iter().any(|(tested, holds)| needs.contains(&(*tested, !*holds)))
    };
    db.program.symbol(a).is_conditional() && db.program.symbol(b).is_conditional() && excludes()
}

/// True if folders have conditions: those of their conditional definitions only.
fn has_folders(db: &Db, file: FileId) -> bool {
    let conditions = &db.program.known(file).language.manifest.conditions;
    !conditions.endings_of(EndingOf::Folder).is_empty()
}

/// True if a symbol, or a type around it, exists only under a condition.
fn is_in_conditional(db: &Db, symbol: SymbolRef) -> bool {
    let unit = db.program.known(symbol.file);
    let mut next = symbol.symbol;
    while next.is_some() {
        let entry = unit.symbol(next);
        if entry.is_conditional() {
            return true;
        }
        next = entry.container;
    }
    false
}

pub(super) fn conditions_of(db: &Db, symbol: SymbolRef) -> Vec<Held> {
    if has_folders(db, symbol.file) && !is_in_conditional(db, symbol) {
        return Vec::new();
    }
    conditions_at(db, symbol.file, db.program.symbol(symbol).end_byte.saturating_sub(1))
}

fn conditions_at(db: &Db, file: FileId, at: u32) -> Vec<Held> {
    let unit = db.program.known(file);
    around(&unit.facts.conditions, at)
        .map(|condition| (unit.name(condition.tested), condition.holds))
        .collect()
}

/// Returns the conditions around a position.
fn around(conditions: &[Condition], at: u32) -> impl Iterator<Item = &Condition> {
    conditions
        .iter()
        .take_while(move |condition| condition.start <= at)
        .filter(move |condition| at < condition.end)
}
