//! Variants of one definition: symbols of one name of which a program has at most one, because
//! conditional compilation, the include path or the linker selects it.

use crate::model::facts::{Symbol, flags};
use crate::model::graph::SymbolRef;
use crate::resolve::Symbols;
use crate::resolve::db::Db;
use crate::resolve::names::conditions::conditions_of;
use crate::resolve::names::definition::same_signature;

/// True if these symbols are variants of one definition: a program has at most one of them.
pub(in crate::resolve) fn are_variants(db: &Db, symbols: &Symbols) -> bool {
    if let Some(known) = db.are_variants.get(symbols) {
        return known;
    }
    let are = symbols.iter().enumerate().all(|(at, one)| {
        let mut others = symbols[at + 1..].iter();
        others.all(|other| have_own_conditions(db, *one, *other) || is_one_entity(db, *one, *other))
    });
    db.are_variants.insert(symbols.clone(), are);
    are
}

/// True if two symbols of one name are compiled under different conditions. Languages with such
/// conditions reject a program with both, whether or not the conditions contradict each other.
fn have_own_conditions(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    let (left, right) = (conditions_of(db, one), conditions_of(db, other));
    !left.is_empty() && !right.is_empty() && left != right
}

/// True if a program has at most one of two symbols of one name by the rules of languages that
/// are compiled from pasted text: an external name has one definition, a macro one replacement.
fn is_one_entity(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    let program = db.program;
    let rules = &program.known(one.file).language.manifest.resolution;
    if !rules.declarations {
        return false;
    }
    let (left, right) = (program.symbol(one), program.symbol(other));
    let is_conditional = |entry: &Symbol| entry.flags & flags::CONDITIONAL != 0;
    match (left.is_macro(), right.is_macro()) {
        (false, false) => {
            let space = |symbol: SymbolRef, entry: &Symbol| {
                program.space_of_scope(symbol.file, entry.scope)
            };
            let spaces = (space(one, left), space(other, right));
            spaces.0.is_some()
                && spaces.0 == spaces.1
                && (!rules.overloads || program.exclude_each_other(one.file, other.file))
                && same_signature(db, one, other)
        }
        // Next to a function in another file, a macro is that of another include path.
        _ => one.file != other.file || is_conditional(left) || is_conditional(right),
    }
}
