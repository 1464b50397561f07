//! Aliases: the type that a type expression names, and the type behind an alias.

use crate::db::Db;
use crate::db::in_progress::{Computation, Operation};
use crate::db::ty::{Member, Ty};
use crate::inference::members::prototypes;
use crate::inference::names::definition;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_grammar::ModifierMeaning;
use cograph_model::SymbolKind;
use cograph_model::facts::{Expr, ExprId, LocalSymbol, Symbol, flags};
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::{SmallVec, smallvec};

/// Returns the type that a type expression names, through wrappers and arguments.
pub(crate) fn named_type(db: &Db, file: FileId, expr: ExprId) -> Option<SymbolRef> {
    match db.ty(file, expr) {
        Ty::Type(symbol, _) | Ty::Instance(symbol, _) => Some(symbol),
        Ty::Union(parts) => parts.iter().find_map(|part| match part {
            Ty::Type(symbol, _) | Ty::Instance(symbol, _) => Some(*symbol),
            _ => None,
        }),
        Ty::Members(of, scope) => prototypes::held_object(db, of, scope),
        other => prototypes::constructor_function(db, &other),
    }
}

/// Returns the interfaces that a block implements: the only one, or the parts of a union.
pub(crate) fn interfaces(db: &Db, file: FileId, implements: ExprId) -> SmallVec<[ExprId; 2]> {
    let facts = db.program.known(file).facts;
    match implements.get().map(|position| facts.exprs[position]) {
        Some(Expr::Union(parts)) => SmallVec::from_slice(&facts.lists[parts.range()]),
        Some(_) => smallvec![implements],
        None => SmallVec::new(),
    }
}

/// Returns the declaration of a type that exists only under a condition: its members are those of
/// the declaration and of all definitions.
pub(crate) fn declaration_of(db: &Db, symbol: SymbolRef) -> Option<SymbolRef> {
    let entry = db.program.symbol(symbol);
    if !entry.kind.is_type() || !entry.is_conditional() || entry.container.is_some() {
        return None;
    }
    of_package(db, symbol, |entry| entry.flags & flags::DECLARATION != 0).first().copied()
}

/// Returns the definitions of such a declaration.
pub(crate) fn definitions_of_type(db: &Db, declaration: SymbolRef) -> Symbols {
    let entry = db.program.symbol(declaration);
    if entry.flags & flags::DECLARATION == 0 || entry.container.is_some() {
        return Symbols::new();
    }
    of_package(db, declaration, Symbol::is_conditional)
}

/// Returns the declarations that a definition under a condition, or a member of one, defines.
pub(crate) fn expected_by(db: &Db, symbol: SymbolRef) -> Symbols {
    let (unit, entry) = (db.program.known(symbol.file), db.program.symbol(symbol));
    if !unit.language.manifest.modifiers.has_modifier(ModifierMeaning::Expected)
        || entry.flags & (flags::DECLARATION | flags::LOCAL) != 0
    {
        return Symbols::new();
    }
    let is_declaration = |entry: &Symbol| entry.flags & flags::DECLARATION != 0;
    let mut found = match entry.container.get() {
        Some(_) => {
            let container = SymbolRef { file: symbol.file, symbol: entry.container };
            let Some(of) = declaration_of(db, container) else { return Symbols::new() };
            let (other, name) = (db.program.known(of.file), unit.text(entry.name));
            let is_member = |member: &Symbol| {
                member.container == of.symbol
                    && is_declaration(member)
                    && other.text(member.name) == name
            };
            let members = other.facts.symbols.iter().enumerate();
            let members = members.filter(|(_, member)| is_member(member));
            members
                .map(|(at, _)| SymbolRef { file: of.file, symbol: LocalSymbol::at(at) })
                .collect()
        }
        None if entry.is_conditional() => of_package(db, symbol, is_declaration),
        None => Symbols::new(),
    };
    found.retain(|other| definition::same_signature(db, symbol, *other));
    found
}

/// Returns the symbols of the name and the package of another.
fn of_package(db: &Db, symbol: SymbolRef, wanted: impl Fn(&Symbol) -> bool) -> Symbols {
    let modifiers = &db.program.known(symbol.file).language.manifest.modifiers;
    if !modifiers.has_modifier(ModifierMeaning::Expected) {
        return Symbols::new();
    }
    let Some(package) = db.program.package_of(symbol.file) else { return Symbols::new() };
    let all = db.program.package_member(package, db.program.name_of(symbol));
    let is_type = db.program.symbol(symbol).kind.is_type();
    let is_wanted = |other: &&SymbolRef| {
        let entry = db.program.symbol(**other);
        entry.kind.is_type() == is_type && wanted(entry)
    };
    all.into_iter().flatten().filter(is_wanted).copied().collect()
}

/// Returns the target of an alias.
pub(crate) fn alias_target(db: &Db, symbol: SymbolRef) -> Option<SymbolRef> {
    if let Some(declaration) = declaration_of(db, symbol) {
        return Some(declaration);
    }
    let entry = db.program.symbol(symbol);
    if entry.kind != SymbolKind::TypeAlias
        || !entry.ty.is_some()
        || planted(Fault::OpaqueAliases)
        || db.program.extensions(symbol).is_some()
    {
        return None;
    }
    named_type(db, symbol.file, entry.ty).filter(|target| *target != symbol)
}

/// Returns the underlying type of a value of a defined type that has members of its own.
pub(crate) fn underlying(db: &Db, value: &Ty) -> Option<Ty> {
    let Ty::Instance(symbol, args) = value else { return None };
    let entry = db.program.symbol(*symbol);
    if entry.kind != SymbolKind::TypeAlias || !entry.ty.is_some() || db.is_too_deep() {
        return None;
    }
    let target = db.deeper(|| db.instance_of_expr(symbol.file, entry.ty));
    let map = db.arguments_of(*symbol, args);
    Some(target.map(&map)).filter(|target| target != value)
}

/// Returns the members of an alias of a type without a name, which a type may derive from.
pub(super) fn members_of(db: &Db, alias: SymbolRef, name: Name) -> Symbols {
    let Some(target @ (Ty::Members(..) | Ty::Union(_))) = underlying(db, &Ty::instance(alias))
    else {
        return Symbols::new();
    };
    // A conditional type may have itself among its alternatives.
    let looking = Computation::Operating(alias, Operation::Member);
    match db.in_progress.once(looking, || db.deeper(|| db.member(&target, name))) {
        Some(Member::Symbols(symbols)) => symbols,
        _ => Symbols::new(),
    }
}

/// Returns what an operation gives for a value of such a type: `None` for a value of another one,
/// unknown where the type leads back to itself.
pub(crate) fn operated(
    db: &Db,
    value: &Ty,
    operation: Operation,
    operate: impl FnOnce(&Ty) -> Ty,
) -> Option<Ty> {
    let Ty::Instance(symbol, _) = value else { return None };
    let underlying = underlying(db, value)?;
    let computation = Computation::Operating(*symbol, operation);
    let given = db.in_progress.once(computation, || operate(&underlying));
    Some(given.unwrap_or(Ty::Unknown))
}

/// Replaces an instance of an alias by an instance of the aliased type. An alias in its own target
/// (`type T = A | List<T>`) stays one until it is used as a value: its expansion has no end.
pub(crate) fn unaliased(db: &Db, ty: Ty) -> Ty {
    let (symbol, args) = match &ty {
        Ty::Instance(symbol, args) => (symbol, args),
        Ty::Union(parts) => return parts.each(|part| unaliased(db, part.clone())),
        _ => return ty,
    };
    if let Some(declaration) = declaration_of(db, *symbol) {
        return Ty::Instance(declaration, args.clone());
    }
    if !is_transparent(db, *symbol) || db.is_too_deep() {
        return ty;
    }
    let entry = db.program.symbol(*symbol);
    if db.in_progress.contains(Computation::Naming(symbol.file, entry.ty)) {
        return ty;
    }
    let target = db.aliased.get(symbol).unwrap_or_else(|| {
        let in_progress = Ty::instance(*symbol);
        db.aliased.insert(*symbol, in_progress.clone());
        let target = db.deeper(|| db.instance_of_expr(symbol.file, entry.ty));
        let others = target.alternatives().iter().filter(|part| **part != in_progress);
        let target = Ty::union(others.cloned());
        db.aliased.insert(*symbol, target.clone());
        target
    });
    match target {
        Ty::Instance(of, _) if of == *symbol => ty,
        Ty::Unknown => Ty::Unknown,
        target => {
            let map = db.arguments_of(*symbol, args);
            target.map(&map)
        }
    }
}

/// True for an alias that is the same type as its target.
fn is_transparent(db: &Db, symbol: SymbolRef) -> bool {
    let entry = db.program.symbol(symbol);
    entry.kind == SymbolKind::TypeAlias
        && entry.ty.is_some()
        && db.program.extensions(symbol).is_none()
}

/// Returns the field that a field represents: the one of its name whose type is its own
/// (`x: Other["x"]`).
fn member_of_type(db: &Db, alias: SymbolRef) -> Option<Symbols> {
    let (unit, entry) = (db.program.known(alias.file), db.program.symbol(alias));
    let Expr::Member(object, name) = unit.facts.exprs[entry.ty.get()?] else { return None };
    if name != entry.name || db.is_too_deep() {
        return None;
    }
    db.deeper(|| {
        let object = db.instance_of_expr(alias.file, object);
        let Member::Symbols(found) = db.member(&object, unit.name(name)) else { return None };
        let is_field = |one: &SymbolRef| db.program.symbol(*one).kind == SymbolKind::Field;
        let is_one = found.len() == 1 && !found.contains(&alias) && found.iter().all(is_field);
        is_one.then_some(found)
    })
}

/// Maximum number of aliases that are followed to the method at the end.
const MAX_ALIASES: usize = 16;

/// Returns the method that a symbol is another name of, through aliases of aliases.
pub(crate) fn aliased_member(db: &Db, symbols: &[SymbolRef]) -> Option<Symbols> {
    let first = aliased_once(db, symbols)?;
    let next = |found: &Symbols| aliased_once(db, found);
    std::iter::successors(Some(first), next).take(MAX_ALIASES).last()
}

/// Returns the method that a symbol is another name of, if it is one that was there before; or the
/// field that a field represents.
fn aliased_once(db: &Db, symbols: &[SymbolRef]) -> Option<Symbols> {
    let [alias] = *symbols else { return None };
    let entry = db.program.symbol(alias);
    if entry.kind == SymbolKind::Field {
        return member_of_type(db, alias);
    }
    if entry.kind != SymbolKind::Method || entry.inner.is_some() || entry.values.len() != 1 {
        return None;
    }
    let unit = db.program.known(alias.file);
    let value = unit.facts.lists[entry.values.range()].first()?.get()?;
    let Expr::Call(callee, args) = unit.facts.exprs[value] else { return None };
    if !args.is_empty() {
        return None;
    }
    let Expr::Member(object, name) = unit.facts.exprs[callee.get()?] else { return None };
    let object = db.ty(alias.file, object);
    match db.member(&object, unit.name(name)) {
        Member::Symbols(found) => {
            let is_before = |one: &SymbolRef| {
                let other = db.program.symbol(*one);
                one.file != alias.file || other.start_byte < entry.start_byte
            };
            let is_method = |one: &SymbolRef| db.program.symbol(*one).kind == SymbolKind::Method;
            let is_original = found.len() == 1
                && found.iter().all(|one| *one != alias && is_before(one) && is_method(one));
            is_original.then_some(found)
        }
        _ => None,
    }
}
