//! Type of a callee, where callables have a namespace of their own or share a name with a module.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty};
use crate::inference::members::{hierarchy, lookup, receiver, type_flow};
use crate::inference::names::{namespaces, scopes};
use crate::inference::types::symbol_types;
use crate::units::interner::Name;
use cograph_grammar::ImplicitUse;
use cograph_model::facts::{Expr, ExprId, Run, ScopeId, Site, flags};
use cograph_model::graph::FileId;
use cograph_model::{SiteKind, Step};
use std::rc::Rc;

/// Returns the type of a callee.
pub(crate) fn callee_ty(db: &Db, file: FileId, callee: ExprId, args: &[Ty], written: Run) -> Ty {
    let unit = db.program.known(file);
    let rules = &unit.language.manifest.resolution;
    if !rules.separate_callables {
        let of = match callee.get().map(|position| unit.facts.exprs[position]) {
            Some(Expr::Member(object, name)) if rules.library_properties => {
                let object = db.ty(file, object);
                symbol_types::member_ty(db, &object, db.name(file, name))
            }
            Some(Expr::Name(name, scope)) => {
                let name = db.name(file, name);
                or_inherited(db, file, (name, scope), db.ty(file, callee))
            }
            _ => db.ty(file, callee),
        };
        return if matches!(of, Ty::Module(_)) {
            called_ignoring_modules(db, file, callee)
        } else {
            of
        };
    }
    let Some(position) = callee.get() else { return Ty::Unknown };
    match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            let (name, at) = (db.name(file, name), unit.facts.positions[position]);
            match namespaces::among(
                db,
                file,
                true,
                || called(db, file, (name, scope, at), args, written),
                Option::is_none,
            ) {
                // The implicit receiver binds the parameters of its type.
                Some((Entity::Symbols(symbols), _)) => {
                    let receiver = receiver::receiver_type(db, file, scope);
                    symbol_types::symbols_ty(db, &symbols, false, receiver.as_ref())
                }
                Some((Entity::External(_), Step::SelfMember)) => {
                    implicit_outside(db, file, name, scope)
                }
                Some((entity, _)) => {
                    let found = symbol_types::entity_ty(db, &entity, false);
                    or_inherited(db, file, (name, scope), found)
                }
                None => match implicit_outside(db, file, name, scope) {
                    Ty::Unknown => {
                        let found = member_of_receiver(db, file, scope, name);
                        or_inherited(db, file, (name, scope), found)
                    }
                    known => known,
                },
            }
        }
        Expr::Member(object, name) => {
            let object = db.ty(file, object);
            let name = db.name(file, name);
            namespaces::among(
                db,
                file,
                true,
                || symbol_types::member_ty(db, &object, name),
                |ty| !ty.is_known(),
            )
        }
        _ => db.ty(file, callee),
    }
}

/// Looks up a called name: where closures have receivers, the innermost meaning that accepts the
/// arguments.
pub(crate) fn called(
    db: &Db,
    file: FileId,
    (name, scope, at): (Name, ScopeId, u32),
    args: &[Ty],
    written: Run,
) -> Option<(Entity, Step)> {
    if !db.program.known(file).language.manifest.resolution.closure_receivers {
        return scopes::lookup(db, file, name, scope, at);
    }
    let accepts = |entity: &Entity| db.is_applicable(file, entity, args, written);
    scopes::lookup_accepted(db, file, name, scope, at, &accepts)
}

/// Returns the type of a name without a definition: of a library member of the implicit receiver
/// that the type flow tables list.
pub(super) fn implicit_outside(db: &Db, file: FileId, name: Name, scope: ScopeId) -> Ty {
    let receiver = library_receiver(db, file, name, scope);
    receiver.map_or(Ty::Unknown, |receiver| symbol_types::member_ty(db, &receiver, name))
}

/// Returns the type of a called name, or the member of a library that it must be.
fn or_inherited(db: &Db, file: FileId, (name, scope): (Name, ScopeId), found: Ty) -> Ty {
    let is_open = match &found {
        Ty::Unknown => true,
        // A name that an import of everything may bring.
        Ty::External(outside) => is_last(outside, db.program.text(name)),
        _ => false,
    };
    let inherited = || receiver::inherited_outside(db, file, (name, scope), None);
    is_open.then(inherited).flatten().map_or(found, Ty::External)
}

/// True for a qualified name with this end.
fn is_last(qualified: &str, end: &str) -> bool {
    let before = qualified.strip_suffix(end);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['.', '/', ':']))
}

/// Returns the qualified name of such a member, or of another one that a type inherits.
pub(crate) fn implicit_outside_name(
    db: &Db,
    file: FileId,
    site: &Site,
    (name, scope): (Name, ScopeId),
) -> Option<Rc<str>> {
    if let Some(receiver) = library_receiver(db, file, name, scope)
        && let Member::Outside(outside) = lookup::member(db, &receiver, name)
    {
        return Some(outside);
    }
    inherited_outside(db, file, site, (name, scope))
}

/// Returns the qualified name of the member that a bare name in a call, read or write must be: of a
/// library's type that the type around extends.
pub(crate) fn inherited_outside(
    db: &Db,
    file: FileId,
    site: &Site,
    place: (Name, ScopeId),
) -> Option<Rc<str>> {
    let read = match site.kind {
        SiteKind::Call => None,
        SiteKind::Read | SiteKind::Write => Some(site.target),
        _ => return None,
    };
    receiver::inherited_outside(db, file, place, read)
}

/// Returns the implicit receiver if its type, or the library type that it inherits from, is known
/// to have a member.
fn library_receiver(db: &Db, file: FileId, name: Name, scope: ScopeId) -> Option<Ty> {
    let rules = &db.program.known(file).language.manifest.resolution;
    let receiver = match rules.closure_receivers {
        true => receiver::receiver_type(db, file, scope)?,
        false if rules.implicit_receiver => receiver::receiver_around(db, file, scope)?,
        false => return None,
    };
    let library = hierarchy::library_base(db, &receiver);
    let known = library.as_ref().unwrap_or(&receiver);
    type_flow::has_member(db, file, known, name).then_some(receiver)
}

/// Returns the type of a member of the implicit receiver that no source defines.
fn member_of_receiver(db: &Db, file: FileId, scope: ScopeId, name: Name) -> Ty {
    let rules = &db.program.known(file).language.manifest.resolution;
    if !rules.implicit_receiver || !rules.open_types {
        return Ty::Unknown;
    }
    let receiver = receiver::receiver_around(db, file, scope);
    receiver.map_or(Ty::Unknown, |receiver| symbol_types::member_ty(db, &receiver, name))
}

/// Returns the type whose instance a call of the member for that makes: of a type as the receiver,
/// or of the implicit one.
pub(crate) fn made_by(db: &Db, file: FileId, callee: ExprId) -> Option<Ty> {
    let unit = db.program.known(file);
    let maker = unit.language.manifest.names.member_behind(ImplicitUse::Make)?;
    let is_maker = |name| unit.text(name) == maker;
    let of = match unit.facts.exprs[callee.get()?] {
        Expr::Member(object, name) if is_maker(name) => db.ty(file, object),
        Expr::Name(name, scope) if is_maker(name) => receiver::receiver_around(db, file, scope)?,
        _ => return None,
    };
    let types = of.alternatives().iter().filter(|ty| matches!(ty, Ty::Type(..))).cloned();
    let made = Ty::union(types);
    let name = db.program.named(maker);
    let has_own = |ty: &Ty| {
        let own = lookup::member_symbols(db, ty, name);
        own.iter().any(|own| db.program.symbol(*own).flags & flags::STATIC != 0)
    };
    (made.is_known() && !made.alternatives().iter().any(has_own)).then_some(made)
}

/// Returns the type of a callee whose name is also that of a module.
fn called_ignoring_modules(db: &Db, file: FileId, callee: ExprId) -> Ty {
    let unit = db.program.known(file);
    let Some(position) = callee.get() else { return Ty::Unknown };
    match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            let (name, at) = (db.name(file, name), unit.facts.positions[position]);
            let found =
                namespaces::ignoring_modules(db, || scopes::lookup(db, file, name, scope, at));
            found.map_or(Ty::Unknown, |(entity, _)| symbol_types::entity_ty(db, &entity, false))
        }
        Expr::Member(object, name) => {
            let (object, name) = (db.ty(file, object), db.name(file, name));
            namespaces::ignoring_modules(db, || symbol_types::member_ty(db, &object, name))
        }
        _ => Ty::Unknown,
    }
}
