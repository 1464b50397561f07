//! Variants of one definition: symbols of one name of which a program has at most one, because
//! conditional compilation, the include path or the linker selects it.

use crate::model::facts::Symbol;
use crate::model::graph::SymbolRef;
use crate::resolve::db::Db;
use crate::resolve::names::conditions::{Held, conditions_of};
use crate::resolve::names::definition::same_signature;
use crate::resolve::{Name, Symbols};

/// Maximum number of symbols that are compared pairwise. More stay candidates: a repository has one
/// variant for each machine, and there are tens of machines.
const MAX_VARIANTS: usize = 64;

/// True if these symbols are variants of one definition: a program has at most one of them.
pub(in crate::resolve) fn are_variants(db: &Db, symbols: &Symbols) -> bool {
    if symbols.len() > MAX_VARIANTS {
        return false;
    }
    if let Some(known) = db.are_variants.get(symbols) {
        return known;
    }
    let needs: Vec<Vec<Held>> = symbols.iter().map(|symbol| conditions_of(db, *symbol)).collect();
    let are = symbols.iter().enumerate().all(|(at, one)| {
        let mut others = symbols.iter().enumerate().skip(at + 1);
        others.all(|(place, other)| {
            let have_own = needs[at] != needs[place]
                && (!needs[at].is_empty() && !needs[place].is_empty()
                    || may_replace(db, (*one, &needs[at]), (*other, &needs[place])));
            have_own && is_one_name(db, *one, *other) || is_one_entity(db, *one, *other)
        })
    });
    db.are_variants.insert(symbols.clone(), are);
    are
}

/// True if the later one of two definitions, which are statements, replaces the other one under a
/// condition.
fn may_replace(db: &Db, one: (SymbolRef, &[Held]), other: (SymbolRef, &[Held])) -> bool {
    let rules = &db.program.known(one.0.file).language.manifest.resolution;
    let place = |symbol: SymbolRef| (symbol.file, db.program.symbol(symbol).extent.start_byte);
    let later = if place(one.0) < place(other.0) { other } else { one };
    rules.conditional_definitions && one.0.file == other.0.file && !later.1.is_empty()
}

/// True if two symbols of one name, under different conditions, define one entity: they are in one
/// container and no overloads. Whether or not the conditions contradict each other, a program has
/// one of the two: it is an error to have both, or the later one replaces the earlier.
fn is_one_name(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    let rules = &db.program.known(one.file).language.manifest.resolution;
    container_name(db, one) == container_name(db, other)
        && (!rules.overloads || same_signature(db, one, other))
}

/// Returns the name of the type or module around a symbol, if it is inside of one.
fn container_name(db: &Db, symbol: SymbolRef) -> Option<Name> {
    let container = match db.program.container(symbol) {
        Some(&container) => container,
        None => SymbolRef { file: symbol.file, symbol: db.program.symbol(symbol).container },
    };
    container.symbol.is_some().then(|| db.program.name_of(container))
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
        _ => one.file != other.file || left.is_conditional() || right.is_conditional(),
    }
}
