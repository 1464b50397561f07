//! What a call means instead of the members of its name: an extension, or the member of the top
//! type, or a library type behind an alias; and the callables that its type arguments leave.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty, instance_of};
use crate::inference::{
    call::{self, CallArguments},
    callee, extensions, generics, hierarchy, infer, lists, lookup, overload, scopes, symbol_types,
    type_flow,
};
use crate::references::outcome::{chosen, external};
use crate::units::bounds::{MAX_CANDIDATES, qualified};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::ModifierMeaning;
use cograph_model::facts::{BindingId, BindingKind, Expr, ExprId, ScopeId, Site, flags};
use cograph_model::graph::{FileId, Resolution, SymbolRef};
use cograph_model::{SiteKind, Step, SymbolKind, Verdict};
use std::rc::Rc;

/// Number of expressions after a name among which a member of it is searched.
const MAX_MEMBER: usize = 4;

/// Returns the callables that have as many type parameters as a call has type arguments.
pub(super) fn of_type_arguments(db: &Db, file: FileId, site: &Site, symbols: Symbols) -> Symbols {
    if symbols.len() < 2 || !db.program.known(file).language.manifest.resolution.type_arguments {
        return symbols;
    }
    let count = generics::type_arguments(db, file, site.target);
    let symbols = generics::with_parameters(db, &symbols, count);
    generics::within_bounds(db, file, site.target, symbols)
}

/// Returns the member of the top type, or of a library base, that a call means where no member of
/// its name accepts the number of arguments.
pub(super) fn of_library_base(
    db: &Db,
    file: FileId,
    site: &Site,
    symbols: &Symbols,
) -> Option<Rc<str>> {
    let manifest = &db.program.known(file).language.manifest;
    let count = overload::argument_count(site.args);
    let is_method = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        entry.kind == SymbolKind::Method
            && !overload::accepts(db, *symbol, count, site.spread)
            && entry.flags & flags::PROPERTY == 0
    };
    let first = *symbols.first()?;
    if manifest.conversions.top.is_none() || !symbols.iter().all(is_method) {
        return None;
    }
    let name = db.program.name_of(first);
    if let Some(top) = lookup::of_top(db, file, name) {
        return Some(top);
    }
    let container = SymbolRef { file: first.file, symbol: db.program.symbol(first).container };
    if !manifest.resolution.inherited_overloads || !container.symbol.is_some() {
        return None;
    }
    let hierarchy = hierarchy::hierarchy(db, container);
    hierarchy.outside.first().map(|base| qualified(base, ".", db.program.text(name)))
}

/// Resolves a call of a member that the receiver's type has not, but an extension of it.
pub(super) fn of_extension(
    db: &Db,
    file: FileId,
    site: &Site,
    of: &Ty,
    name: Name,
    found: &Member,
    step: Step,
) -> Option<Resolution> {
    if names_library_type(db, file, site, of) {
        return None;
    }
    let given = extensions::KnownArguments::Types(site.args);
    let extensions = extensions::called(db, file, of, name, found, given)?;
    let mut given = lists::types_of(db, file, site.args);
    given.insert(0, instance_of(of));
    let args = CallArguments::Typed(&given, site.args);
    let symbols = of_type_arguments(db, file, site, extensions.symbols);
    let fitting = call::fitting(db, file, &symbols, args, site.spread);
    if fitting.len() > MAX_CANDIDATES {
        return None;
    }
    let found = chosen(&fitting, step, Step::Overloads);
    let is_guess = !extensions.are_certain && found.verdict == Verdict::Resolved;
    Some(if is_guess { Resolution { verdict: Verdict::Likely, ..found } } else { found })
}

/// True for a call through the name of a library type: extensions are members of its values.
fn names_library_type(db: &Db, file: FileId, site: &Site, of: &Ty) -> bool {
    let unit = db.program.known(file);
    let expr = |id: ExprId| id.get().map(|position| (position, unit.facts.exprs[position]));
    let (Some((_, Expr::Member(object, _))), Ty::Builtin(ty, _) | Ty::External(ty)) =
        (expr(site.target), of)
    else {
        return false;
    };
    let Some((position, Expr::Name(written, scope))) = expr(object) else { return false };
    let (name, at) = (unit.name(written), unit.facts.positions[position]);
    type_flow::last_segment(ty) == db.program.text(name)
        && !matches!(
            scopes::lookup(db, file, name, scope, at),
            Some((Entity::Symbols(_) | Entity::Local(..), _))
        )
}

/// Resolves a call of the member of an extension block through the type that the block is in, with
/// the receiver as the first argument.
pub(super) fn of_holder(
    db: &Db,
    file: FileId,
    site: &Site,
    of: &Ty,
    name: Name,
) -> Option<Resolution> {
    let modifiers = &db.program.known(file).language.manifest.modifiers;
    let Ty::Type(holder, _) = of else { return None };
    if site.kind != SiteKind::Call || !modifiers.has_modifier(ModifierMeaning::Extension) {
        return None;
    }
    let unit = db.program.known(holder.file);
    let body = db.program.symbol(*holder).inner;
    let is_inside = |mut scope: ScopeId| {
        while scope.is_some() && scope != body {
            scope = unit.parent(scope);
        }
        body.is_some() && scope == body
    };
    let given = overload::argument_count(site.args);
    let fits = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        let receivers = u16::from(entry.flags & flags::STATIC == 0);
        symbol.file == holder.file
            && db.program.clauses(*symbol).owner.is_some()
            && is_inside(entry.scope)
            && given
                .checked_sub(receivers)
                .is_some_and(|count| overload::accepts(db, *symbol, count, site.spread))
    };
    let found: Symbols = db.program.members(name)?.iter().copied().filter(fits).collect();
    (!found.is_empty()).then(|| chosen(&found, Step::TypeMember, Step::Overloads))
}

/// Returns what a name means by what is found under it: the value itself where a test has narrowed
/// its type, and the type of the same name before a member of it.
pub(super) fn meant(
    db: &Db,
    file: FileId,
    site: &Site,
    (name, scope): (Name, ScopeId),
    found: (Entity, Step),
) -> (Entity, Step) {
    // An import of everything is less evidence than the base of the type around.
    if let (Entity::External(_), Step::Wildcard) = &found
        && let Some(inherited) = callee::inherited_outside(db, file, site, (name, scope))
    {
        return (Entity::External(inherited), Step::SelfMember);
    }
    let is_narrowed = |entity: &Entity| match entity {
        Entity::Local(of, bindings) => {
            let kind = |id: &BindingId| db.program.known(*of).binding(*id).kind;
            bindings.iter().all(|id| kind(id) == BindingKind::Narrow)
        }
        _ => false,
    };
    let (entity, step) = match is_narrowed(&found.0) {
        true => scopes::lookup_accepted(db, file, name, scope, site.byte, &|entity| {
            !is_narrowed(entity)
        })
        .unwrap_or(found),
        false => generics::with_arity(db, file, site.target, Some(found.clone())).unwrap_or(found),
    };
    (of_own_type(db, file, site, &entity).unwrap_or(entity), step)
}

/// Returns the type that the name of a value of this type means before a member of the type itself.
fn of_own_type(db: &Db, file: FileId, site: &Site, found: &Entity) -> Option<Entity> {
    let unit = db.program.known(file);
    if site.kind != SiteKind::Read || !unit.language.manifest.resolution.typed_positions {
        return None;
    }
    let target = site.target.get()?;
    let after = unit.facts.exprs[target + 1..].iter().take(MAX_MEMBER);
    let member = after.into_iter().find_map(|expr| match expr {
        Expr::Member(object, name) if *object == site.target => Some(unit.name(*name)),
        _ => None,
    })?;
    let Ty::Instance(of, _) = symbol_types::entity_ty(db, found, false) else { return None };
    let is_own = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        let is_constant = matches!(entry.kind, SymbolKind::Variant | SymbolKind::Constant);
        is_constant || entry.kind.is_type() || entry.flags & flags::STATIC != 0
    };
    let members = lookup::type_member(db, of, member);
    let is_type = db.program.name_of(of) == unit.name(site.name)
        && !members.is_empty()
        && members.iter().all(is_own);
    is_type.then(|| Entity::Symbols(Symbols::from_slice(&[of])))
}

/// Returns the library type that an alias names with arguments.
pub(super) fn outside_alias(db: &Db, of: SymbolRef) -> Option<Rc<str>> {
    let entry = db.program.symbol(of);
    let unit = db.program.known(of.file);
    let is_applied =
        |ty: ExprId| matches!(ty.get().map(|at| unit.facts.exprs[at]), Some(Expr::Apply(..)));
    if entry.kind != SymbolKind::TypeAlias
        || unit.language.manifest.resolution.declarations
        || !is_applied(entry.ty)
    {
        return None;
    }
    match infer::type_of(db, of.file, entry.ty) {
        Ty::External(name) | Ty::Builtin(name, _) => Some(name),
        _ => None,
    }
}

/// Returns the name of the member that a reference to one means: of a decorator, with the ending of
/// its type where that has one.
pub(super) fn whole_name(db: &Db, file: FileId, site: &Site, object: ExprId, name: Name) -> Name {
    let of = || infer::type_of(db, file, object);
    scopes::whole_decorator(db, file, name)
        .filter(|_| site.kind == SiteKind::Decorate)
        .filter(|whole| matches!(lookup::member(db, &of(), *whole), Member::Symbols(_)))
        .unwrap_or(name)
}

/// Resolves a decorator that is a member of a property itself, not of its value (`@size.setter`).
pub(super) fn accessor(
    db: &Db,
    file: FileId,
    site: &Site,
    object: ExprId,
    name: Name,
) -> Option<Resolution> {
    let unit = db.program.known(file);
    let position = object.get().filter(|_| site.kind == SiteKind::Decorate)?;
    let Expr::Name(property, scope) = unit.facts.exprs[position] else { return None };
    let at = unit.facts.positions[position];
    let (entity, _) = scopes::lookup(db, file, db.name(file, property), scope, at)?;
    let Entity::Symbols(symbols) = entity else { return None };
    let first = *symbols.first()?;
    let (entry, of) = (db.program.symbol(first), db.program.known(first.file));
    let decorators = of.facts.lists.get(db.program.clauses(first).decorators.range())?;
    let is_property = entry.flags & flags::PROPERTY != 0;
    let decorator = decorators.first().and_then(|of| of.get()).filter(|_| is_property)?;
    let (Expr::Name(decorator, _) | Expr::Member(_, decorator)) = of.facts.exprs[decorator] else {
        return None;
    };
    let outside = format!("{}.{}", of.text(decorator), db.program.text(name));
    Some(external(&outside, Step::Builtin))
}
