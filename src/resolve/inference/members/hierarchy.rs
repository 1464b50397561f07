//! Type hierarchy: the types that a type inherits from, in lookup order.

use crate::db::Db;
use crate::db::ty::{Entity, Hierarchy, Ty, TyList, instance_of, no_types};
use crate::inference::members::aliases;
use crate::inference::members::mro::{breadth_first, depth_first, merge};
use crate::inference::names::{linkage, scopes};
use crate::units::bounds::MAX_BASES;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_grammar::{CallMeaning, MemberLookup};
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, Expr, ExprId, Wrapper, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Type whose hierarchy is being computed.
struct PendingHierarchy {
    pub(super) symbol: SymbolRef,
    /// Its bases, and the number of bases visited.
    pub(super) bases: Vec<Ancestor>,
    visited: usize,
}

/// Base of a type.
struct Ancestor {
    ty: Ty,
    /// True if its members come before those of the type.
    is_first: bool,
}

/// Returns the bases of a type in source order, including external ones.
fn direct_bases(db: &Db, symbol: SymbolRef) -> Vec<Ancestor> {
    let mut bases = Vec::new();
    for part in parts_of_type(db, symbol) {
        let facts = db.program.known(part.file).facts;
        for base in &facts.lists[db.program.clauses(part).bases.range()] {
            if let Some(Expr::Base(base, _)) = base.get().map(|position| facts.exprs[position]) {
                let is_first = is_prepended(db, part.file, base);
                let mut all = vec![base_type(db, part.file, base)];
                given_bases(db, part.file, base, &mut all);
                bases.extend(all.into_iter().map(|ty| Ancestor { ty, is_first }));
            }
        }
    }
    let entry = db.program.symbol(symbol);
    if entry.kind == SymbolKind::Variant && entry.inner.is_some() && entry.container.is_some() {
        // Enum value with members of its own.
        let ty = Ty::instance(SymbolRef { file: symbol.file, symbol: entry.container });
        bases.push(Ancestor { ty, is_first: false });
    }
    bases
}

/// True for a base whose members come before those of the type.
fn is_prepended(db: &Db, file: FileId, base: ExprId) -> bool {
    let unit = db.program.known(file);
    let wrapper = base.get().map(|position| unit.facts.exprs[position]);
    matches!(wrapper, Some(Expr::Wrap(_, Wrapper::Prepended)))
}

/// Adds the bases that a call gives to the type that it returns: arguments for the parameters that
/// this type extends (`extends Mixin(Base)`).
fn given_bases(db: &Db, file: FileId, base: ExprId, bases: &mut Vec<Ty>) {
    let Some(position) = base.get() else { return };
    let facts = db.program.known(file).facts;
    let Expr::Call(callee, args) = facts.exprs[position] else { return };
    let Some(Ty::Type(made, _)) = bases.last().cloned() else { return };
    let Ty::Callable(symbols, _) = db.ty(file, callee) else { return };
    let [callable] = symbols[..] else { return };
    if db.is_too_deep() {
        return;
    }
    let params = db.program.symbol(callable).params().range();
    let own = db.program.known(made.file).facts;
    let extended = own.lists[db.program.clauses(made).bases.range()].to_vec();
    for extended in extended {
        let extended = extended.get().map(|position| own.exprs[position]);
        let Some(Expr::Base(extended, _)) = extended else { continue };
        let Some(Expr::Name(name, scope)) = extended.get().map(|position| own.exprs[position])
        else {
            continue;
        };
        let name = db.program.known(made.file).name(name);
        let bound = scopes::lookup(db, made.file, name, scope, u32::MAX);
        let Some((Entity::Local(of, bindings), _)) = bound else { continue };
        let is_param = |at: &usize| {
            of == callable.file && bindings.iter().any(|binding| binding.get() == Some(*at))
        };
        let place = params.clone().position(|at| is_param(&at));
        let given = place.and_then(|place| facts.lists[args.range()].get(place).copied());
        if let Some(given) = given {
            bases.push(base_type(db, file, given));
            db.deeper(|| given_bases(db, file, given, bases));
        }
    }
}

/// Returns the names of the direct bases of a type that are types of a library.
pub(super) fn direct_outside(db: &Db, symbol: SymbolRef) -> Vec<Box<str>> {
    let name = |base: Ancestor| match base.ty {
        Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
            Some((*name).into())
        }
        _ => None,
    };
    direct_bases(db, symbol).into_iter().filter_map(name).collect()
}

/// Returns the first library type that a value's type inherits from, with its type arguments.
pub(crate) fn library_base(db: &Db, value: &Ty) -> Option<Ty> {
    let (Ty::Instance(symbol, args) | Ty::Type(symbol, args)) = value else { return None };
    let hierarchy = hierarchy(db, *symbol);
    hierarchy.library.as_ref().map(|library| library.map(&db.arguments_of(*symbol, args)))
}

/// Returns the first base that a type extends rather than implements.
pub(crate) fn extended(db: &Db, symbol: SymbolRef) -> Option<Ty> {
    let facts = db.program.known(symbol.file).facts;
    let bases = &facts.lists[db.program.clauses(symbol).bases.range()];
    let base =
        bases.iter().find_map(|base| match base.get().map(|position| facts.exprs[position]) {
            Some(Expr::Base(base, false)) => Some(base),
            _ => None,
        })?;
    Some(db.ty(symbol.file, base))
}

/// Returns the hierarchy of a type in the language's order: the nearest `MAX_BASES`, and open
/// if there are more.
pub(crate) fn hierarchy(db: &Db, symbol: SymbolRef) -> Rc<Hierarchy> {
    if let Some(known) = db.linear.get(&symbol) {
        return known;
    }
    // Bases first, iteratively: a chain of types can be as long as a file.
    let mut waiting = vec![begin_hierarchy(db, symbol)];
    while let Some(PendingHierarchy { bases, visited, .. }) = waiting.last_mut() {
        let next = bases[*visited..]
            .iter()
            .inspect(|_| *visited += 1)
            .filter_map(|base| declared(&base.ty))
            .find(|base| !db.linear.contains(base));
        match next {
            Some(base) => {
                let next = begin_hierarchy(db, base);
                waiting.push(next);
            }
            None => {
                let Some(PendingHierarchy { symbol, bases, .. }) = waiting.pop() else { break };
                let hierarchy = join_hierarchy(db, symbol, &bases);
                db.linear.insert(symbol, Rc::new(hierarchy));
            }
        }
    }
    db.linear.get(&symbol).expect("the loop ended with the type itself")
}

/// Collects the bases of a type, with aliases resolved.
fn begin_hierarchy(db: &Db, symbol: SymbolRef) -> PendingHierarchy {
    // Ends circular bases: a type has no bases while they are being computed.
    db.linear.insert(
        symbol,
        Rc::new(Hierarchy { types: vec![(symbol, no_types())], ..Hierarchy::default() }),
    );
    let mut bases = Vec::new();
    for Ancestor { ty, is_first } in direct_bases(db, symbol) {
        for base in ty.alternatives() {
            let (symbol, args) = match base {
                Ty::Type(base, args) | Ty::Instance(base, args) => (*base, args),
                other => {
                    bases.push(Ancestor { ty: other.clone(), is_first });
                    continue;
                }
            };
            let target = aliases::alias_target(db, symbol);
            let applied = if target.is_none() { of_alias(db, symbol, args) } else { Vec::new() };
            if applied.is_empty() {
                let base = linkage::primary(db, target.unwrap_or(symbol));
                bases.push(Ancestor { ty: Ty::Type(base, args.clone()), is_first });
            }
            bases.extend(applied.into_iter().map(|ty| Ancestor { ty, is_first }));
        }
    }
    PendingHierarchy { symbol, bases, visited: 0 }
}

/// Returns the types that an alias with type arguments joins: `type Both<T> = Partial<T> & Other`.
fn of_alias(db: &Db, alias: SymbolRef, args: &TyList) -> Vec<Ty> {
    let entry = db.program.symbol(alias);
    if entry.kind != SymbolKind::TypeAlias || args.is_empty() || db.is_too_deep() {
        return Vec::new();
    }
    let map = db.arguments_of(alias, args);
    let joined = db.deeper(|| db.instance_of_expr(alias.file, entry.ty)).map(&map);
    let mut types: Vec<Ty> = Vec::new();
    for part in joined.alternatives() {
        if let Ty::Instance(of, args) = part
            && *of != alias
        {
            let ty = Ty::Type(linkage::primary(db, *of), args.clone());
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
    }
    types
}

/// Joins a type with the known hierarchies of its bases.
fn join_hierarchy(db: &Db, symbol: SymbolRef, bases: &[Ancestor]) -> Hierarchy {
    let mut hierarchy = Hierarchy { types: vec![(symbol, no_types())], ..Hierarchy::default() };
    let mut parents: Vec<Vec<(SymbolRef, TyList)>> = Vec::new();
    hierarchy.is_linear = bases.len() <= 1;
    let order = db.program.known(symbol.file).language.manifest.resolution.members;
    let mut bases: Vec<&Ancestor> = bases.iter().collect();
    if order == MemberLookup::LastMixinFirst {
        bases.reverse();
    }
    if matches!(order, MemberLookup::MixinsFirst | MemberLookup::LastMixinFirst) {
        bases.sort_by_key(|base| rank(db, &base.ty));
    }
    for base in bases {
        match &base.ty {
            Ty::Type(ty, _) if base.is_first => {
                let above = db.linear.get(ty).expect("bases come first");
                let own = above.types.iter().map(|(ty, _)| *ty);
                hierarchy.before.extend(above.before.iter().copied().chain(own));
                hierarchy.add_outside(&above.outside);
                hierarchy.open |= above.open;
            }
            Ty::Type(base, args) => {
                let above = db.linear.get(base).expect("bases come first");
                let map = db.arguments_of(*base, args);
                let own = (*base, args.clone());
                let mapped = |args: &TyList| match args.is_empty() {
                    true => args.clone(),
                    false => args.iter().map(|arg| arg.map(&map)).collect(),
                };
                let inherited = above.types.iter().skip(1).map(|(ty, args)| (*ty, mapped(args)));
                let before = above.before.iter().map(|ty| (*ty, no_types()));
                parents.push(before.chain([own]).chain(inherited).collect());
                hierarchy.add_outside(&above.outside);
                if hierarchy.library.is_none() {
                    hierarchy.library = above.library.as_ref().map(|library| library.map(&map));
                }
                hierarchy.open |= above.open;
                hierarchy.is_linear &= above.is_linear;
            }
            Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
                hierarchy.library.get_or_insert_with(|| instance_of(&base.ty));
                hierarchy.add_outside(std::slice::from_ref(name));
            }
            _ => hierarchy.open = true,
        }
    }
    if let Some(interfaces) = db.program.implemented(symbol) {
        hierarchy.is_linear = false;
        parents.extend(interfaces.iter().map(|interface| vec![(*interface, no_types())]));
    }
    match order {
        MemberLookup::C3 if planted(Fault::DepthFirstBases) => {
            depth_first(&mut hierarchy.types, parents)
        }
        MemberLookup::C3 => merge(&mut hierarchy.types, parents),
        MemberLookup::Embedding => breadth_first(&mut hierarchy.types, parents),
        MemberLookup::Chain
        | MemberLookup::MixinsFirst
        | MemberLookup::LastMixinFirst
        | MemberLookup::InherentFirst => depth_first(&mut hierarchy.types, parents),
    }
    if planted(Fault::InheritedFirst) {
        hierarchy.types.rotate_left(1);
    }
    hierarchy.is_linear &= hierarchy.before.is_empty();
    hierarchy.before.truncate(MAX_BASES);
    hierarchy.open |= hierarchy.types.len() > MAX_BASES || !db.budget.take(hierarchy.types.len());
    hierarchy.types.truncate(MAX_BASES);
    hierarchy
}

/// Position of a base among those of other kinds, where mixins come first.
fn rank(db: &Db, base: &Ty) -> u8 {
    match declared(base).map(|symbol| db.program.symbol(symbol).kind) {
        Some(SymbolKind::Trait | SymbolKind::Module) => 0,
        Some(SymbolKind::Interface) => 2,
        _ => 1,
    }
}

/// Returns the type of the repository that a base is.
fn declared(base: &Ty) -> Option<SymbolRef> {
    match base {
        Ty::Type(symbol, _) => Some(*symbol),
        _ => None,
    }
}

/// True if the language has type variables, which several types and callables may share.
pub(crate) fn has_variables(db: &Db, file: FileId) -> bool {
    db.program.known(file).language.manifest.names.has_calls(CallMeaning::TypeParameter)
}

/// Returns the type of a base in a header, where a type variable among the arguments is a type
/// parameter.
fn base_type(db: &Db, file: FileId, base: ExprId) -> Ty {
    if let Some(around) = type_around(db, file, base) {
        return Ty::Type(around, no_types());
    }
    let ty = db.ty(file, base);
    let facts = db.program.known(file).facts;
    match (&ty, base.get().map(|position| facts.exprs[position])) {
        (Ty::Type(symbol, _), Some(Expr::Apply(_, args))) if has_variables(db, file) => {
            let args = facts.lists[args.range()]
                .iter()
                .map(|arg| db.instance_of_expr(file, *arg))
                .collect();
            Ty::Type(*symbol, args)
        }
        (Ty::Type(symbol, args), Some(Expr::Name(..))) => {
            Ty::Type(of_arity(db, *symbol, 0), args.clone())
        }
        _ => ty,
    }
}

/// Returns the type around one that names it as its base by the word for the enclosing type.
fn type_around(db: &Db, file: FileId, base: ExprId) -> Option<SymbolRef> {
    let unit = db.program.known(file);
    let Expr::SelfType(scope) = unit.facts.exprs[base.get()?] else { return None };
    if !unit.language.manifest.resolution.open_types {
        return None;
    }
    let around = unit.type_scope(unit.parent(unit.type_scope(scope)));
    let symbol = unit.scope_symbol(around);
    symbol.is_some().then(|| linkage::primary(db, SymbolRef { file, symbol }))
}

/// Returns the declarations of a type: several of one name in one scope or parts in one package,
/// where the language merges them, and those that open it again.
pub(crate) fn parts_of_type(db: &Db, symbol: SymbolRef) -> Symbols {
    let merged = |kind: SymbolKind| matches!(kind, SymbolKind::Interface | SymbolKind::Class);
    let unit = db.program.known(symbol.file);
    let entry = unit.symbol(symbol.symbol);
    let count = |part: SymbolRef| db.program.clauses(part).type_params.len();
    let own_count = count(symbol);
    let mut parts = linkage::openings(db, symbol);
    if unit.language.manifest.resolution.merged_types && merged(entry.kind) {
        let is_part = |part: &SymbolRef| {
            let other = db.program.symbol(*part);
            *part != symbol && merged(other.kind) && count(*part) == own_count
        };
        parts.extend(declared_sibling(db, symbol).filter(is_part));
    }
    if entry.flags & flags::PARTIAL != 0 {
        let is_part = |part: &SymbolRef| {
            let other = db.program.symbol(*part);
            other.flags & flags::PARTIAL != 0
                && other.kind == entry.kind
                && count(*part) == own_count
        };
        for part in declared_in_package(db, symbol).into_iter().filter(is_part) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    parts
}

/// Keeps the first of the declarations of one merged type, a class before an interface, and of the
/// signatures of a function without a body.
pub(crate) fn merged_once(db: &Db, symbols: Symbols) -> Symbols {
    let [first, ref others @ ..] = symbols[..] else { return symbols };
    let manifest = &db.program.known(first.file).language.manifest;
    if others.is_empty() || !manifest.resolution.merged_types {
        return symbols;
    }
    let scope = db.program.symbol(first).scope;
    let is_signature = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        entry.kind == SymbolKind::Function
            && entry.flags & flags::DECLARATION != 0
            && (symbol.file, entry.scope) == (first.file, scope)
    };
    // Methods without a body are several; a function that has none anywhere is one.
    if symbols.iter().all(is_signature) {
        return Symbols::from_slice(&[first]);
    }
    let is_conditional =
        |symbol: &SymbolRef| db.program.symbol(*symbol).flags & flags::CONDITIONAL != 0;
    let parts = parts_of_type(db, first);
    // Variants of a condition are not merged: one of them is compiled.
    if symbols.iter().any(is_conditional) || !others.iter().all(|other| parts.contains(other)) {
        return symbols;
    }
    let is_class = |symbol: &&SymbolRef| db.program.symbol(**symbol).kind == SymbolKind::Class;
    let shown = symbols.iter().find(is_class).copied().unwrap_or(first);
    Symbols::from_slice(&[shown])
}

/// Returns the part that represents a type of several parts: the first in order of paths, of those
/// that every build has.
pub(crate) fn primary(db: &Db, symbol: SymbolRef) -> SymbolRef {
    if db.program.symbol(symbol).flags & flags::PARTIAL == 0 {
        return linkage::primary(db, symbol);
    }
    let parts = parts_of_type(db, symbol);
    let place = |part: &SymbolRef| {
        (is_conditional(db, *part), db.program.path(part.file).as_str(), part.symbol)
    };
    parts.into_iter().min_by(|one, other| place(one).cmp(&place(other))).unwrap_or(symbol)
}

/// True if a definition or one around it is under a condition.
fn is_conditional(db: &Db, symbol: SymbolRef) -> bool {
    let unit = db.program.known(symbol.file);
    let mut current = symbol.symbol;
    while current.is_some() {
        let entry = unit.symbol(current);
        if entry.flags & flags::CONDITIONAL != 0 {
            return true;
        }
        current = entry.container;
    }
    false
}

/// Returns the type with this number of type parameters instead of another one of its name, where a
/// package may have both.
pub(crate) fn of_arity(db: &Db, symbol: SymbolRef, count: usize) -> SymbolRef {
    let arity = |symbol: SymbolRef| db.program.clauses(symbol).type_params.len() as usize;
    let rules = &db.program.known(symbol.file).language.manifest.modules;
    if arity(symbol) == count || !rules.has_types_by_arity() {
        return symbol;
    }
    let fits =
        |other: &SymbolRef| db.program.symbol(*other).kind.is_type() && arity(*other) == count;
    let sibling = declared_sibling(db, symbol).find(fits);
    sibling
        .or_else(|| declared_in_package(db, symbol).into_iter().find(fits))
        .map_or(symbol, |other| primary(db, other))
}

/// Returns what the scope of a definition has under its name.
fn declared_sibling(db: &Db, symbol: SymbolRef) -> impl Iterator<Item = SymbolRef> {
    let unit = db.program.known(symbol.file);
    let entry = unit.symbol(symbol.symbol);
    let bindings = db.program.bindings(symbol.file, unit, entry.scope, unit.name(entry.name));
    bindings
        .filter(|(_, binding)| binding.kind == BindingKind::Symbol)
        .map(move |(_, binding)| SymbolRef { file: symbol.file, symbol: binding.symbol() })
}

/// Returns what the package of a top-level definition, or the type in parts around another, has
/// under its name.
fn declared_in_package(db: &Db, symbol: SymbolRef) -> Symbols {
    let name = db.program.name_of(symbol);
    let container = db.program.symbol(symbol).container;
    let is_in_type = container.get().is_some_and(|around| {
        let around = db.program.known(symbol.file).facts.symbols[around].kind;
        around != SymbolKind::Namespace
    });
    if is_in_type {
        let around = SymbolRef { file: symbol.file, symbol: container };
        let is_partial = db.program.symbol(around).flags & flags::PARTIAL != 0;
        let parts = if is_partial { parts_of_type(db, around) } else { Symbols::new() };
        return parts.into_iter().flat_map(|part| declared_in_part(db, part, name)).collect();
    }
    let package = db.program.package_of_symbol(symbol);
    package
        .and_then(|package| db.program.package_member(package, name))
        .map(Symbols::from_slice)
        .unwrap_or_default()
}

/// Returns what one part of a type declares under a name.
fn declared_in_part(db: &Db, part: SymbolRef, name: Name) -> Symbols {
    let unit = db.program.known(part.file);
    let bound = db.program.bindings(part.file, unit, unit.symbol(part.symbol).inner, name);
    bound
        .filter(|(_, binding)| binding.kind == BindingKind::Symbol)
        .map(|(_, binding)| SymbolRef { file: part.file, symbol: binding.symbol() })
        .collect()
}
