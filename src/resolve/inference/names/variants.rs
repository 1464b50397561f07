//! Variants of one definition: symbols of one name of which a program has at most one, because
//! conditional compilation, the include path or the linker selects it.

use crate::db::Db;
use crate::db::ty::Entity;
use crate::inference::names::conditions::{Held, conditions_of};
use crate::inference::names::definition::same_signature;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::SymbolKind;
use cograph_model::facts::{Expr, Symbol, flags};
use cograph_model::graph::SymbolRef;

/// Maximum number of symbols that are compared pairwise. More stay candidates: a repository has one
/// variant for each machine, and there are tens of machines.
const MAX_VARIANTS: usize = 64;

/// True if these symbols are variants of one definition: a program has at most one of them.
pub(crate) fn are_variants(db: &Db, symbols: &Symbols) -> bool {
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
            have_own && is_one_name(db, *one, *other)
                || is_one_entity(db, *one, *other)
                || is_one_binding(db, *one, *other)
                || is_one_member(db, *one, *other)
                || is_copy(db, *one, *other)
        })
    });
    db.are_variants.insert(symbols.clone(), are);
    are
}

/// True for a symbol that exists only under a condition.
pub(crate) fn is_under_condition(db: &Db, symbol: SymbolRef) -> bool {
    !conditions_of(db, symbol).is_empty()
}

/// True if the later one of two definitions, which are statements, replaces the other one under a
/// condition.
fn may_replace(db: &Db, one: (SymbolRef, &[Held]), other: (SymbolRef, &[Held])) -> bool {
    let rules = &db.program.known(one.0.file).language.manifest.resolution;
    let place = |symbol: SymbolRef| (symbol.file, db.program.symbol(symbol).start_byte);
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

/// True if two symbols have one name in one scope, which has one definition of it.
fn is_one_binding(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    let (left, right) = (db.program.symbol(one), db.program.symbol(other));
    db.program.known(one.file).language.manifest.resolution.one_definition
        && (one.file, left.scope) == (other.file, right.scope)
        && db.program.name_of(one) == db.program.name_of(other)
        && sort(left) == sort(right)
        && !left.is_macro()
}

/// True if two members are written in parts of one type, in two files, and are no overloads:
/// generated code of two projects, each of which has one of the two.
fn is_copy(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    let rules = &db.program.known(one.file).language.manifest.resolution;
    let (left, right) = (db.program.symbol(one), db.program.symbol(other));
    let container = SymbolRef { file: one.file, symbol: left.container };
    let other_container = SymbolRef { file: other.file, symbol: right.container };
    rules.overloads
        && one.file != other.file
        && left.container.is_some()
        && db.program.symbol(container).flags & flags::PARTIAL != 0
        && db.program.name_of(one) == db.program.name_of(other)
        && same_signature(db, one, other)
        && db.parts_of_type(container).contains(&other_container)
}

/// True if two callables have one name among the members of a type without type arguments, which
/// has one definition of it besides those of interfaces.
fn is_one_member(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    let is_inherent = |of: SymbolRef| {
        let (unit, entry) = (db.program.known(of.file), db.program.symbol(of));
        let clauses = unit.facts.clauses_of(entry);
        let owner = clauses.owner.get().map(|owner| unit.facts.exprs[owner]);
        unit.language.manifest.resolution.one_definition
            && entry.kind.is_callable()
            && !clauses.implements.is_some()
            && matches!(owner, Some(Expr::Name(..)))
    };
    let container = db.program.container(one);
    container.is_some()
        && container == db.program.container(other)
        && db.program.name_of(one) == db.program.name_of(other)
        && is_inherent(one)
        && is_inherent(other)
}

/// True if symbols of one name are modules of which the build selects one.
pub(crate) fn are_modules(db: &Db, symbols: &Symbols) -> bool {
    let is_module = |symbol: &SymbolRef| {
        let rules = &db.program.known(symbol.file).language.manifest.resolution;
        db.program.symbol(*symbol).kind == SymbolKind::Module && rules.one_definition
    };
    symbols.len() > 1 && symbols.iter().all(is_module)
}

/// Namespace of a name, in languages with several of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Type,
    Value,
    Macro,
}

fn sort(symbol: &Symbol) -> Sort {
    match symbol.kind {
        _ if symbol.is_macro() => Sort::Macro,
        SymbolKind::Module | SymbolKind::Namespace => Sort::Type,
        kind if kind.is_type() => Sort::Type,
        _ => Sort::Value,
    }
}

/// Joins meanings of one name in a scope that has one definition of it: alternatives, unless they
/// are in separate namespaces. Then the last one is meant.
pub(super) fn joined(db: &Db, parts: Vec<Entity>) -> Option<Entity> {
    let is_outside = |part: &Entity| matches!(part, Entity::External(_) | Entity::Builtin(_));
    let mut sorts = parts.iter().filter(|part| !is_outside(part)).map(|part| sort_of(db, part));
    let first = sorts.next().flatten();
    if first.is_some() && sorts.all(|sort| sort == first) {
        return Entity::variants(parts);
    }
    parts.into_iter().next_back()
}

/// Returns the namespace of a meaning; `None` if it has several.
fn sort_of(db: &Db, entity: &Entity) -> Option<Sort> {
    match entity {
        Entity::Module(_) => Some(Sort::Type),
        Entity::Symbols(symbols) => {
            let mut sorts = symbols.iter().map(|symbol| sort(db.program.symbol(*symbol)));
            let first = sorts.next()?;
            sorts.all(|sort| sort == first).then_some(first)
        }
        Entity::Variants(parts) => parts.iter().find_map(|part| sort_of(db, part)),
        Entity::External(_) | Entity::Builtin(_) | Entity::Local(..) => None,
    }
}
