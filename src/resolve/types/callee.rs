//! Type of a callee, where callables have a namespace of their own or share a name with a module.

use crate::model::Step;
use crate::model::facts::{Expr, ExprId, Run, ScopeId};
use crate::model::graph::FileId;
use crate::resolve::Name;
use crate::resolve::db::Db;
use crate::resolve::db::ty::{Entity, Member, Ty};
use crate::resolve::members::{lookup, type_flow};
use crate::resolve::names::namespaces;
use crate::resolve::types::symbol_types;
use std::rc::Rc;

/// Returns the type of a callee.
pub(in crate::resolve) fn callee_ty(
    db: &Db,
    file: FileId,
    callee: ExprId,
    args: &[Ty],
    written: Run,
) -> Ty {
    let unit = db.program.known(file);
    if !unit.language.manifest.resolution.separate_callables {
        let of = db.ty(file, callee);
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
                    let receiver = lookup::receiver_type(db, file, scope);
                    symbol_types::symbols_ty(db, &symbols, false, receiver.as_ref())
                }
                Some((Entity::External(_), Step::SelfMember)) => {
                    implicit_outside(db, file, name, scope)
                }
                Some((entity, _)) => symbol_types::entity_ty(db, &entity, false),
                None => implicit_outside(db, file, name, scope),
            }
        }
        Expr::Member(object, name) => {
            let object = db.ty(file, object);
            let name = db.name(file, name);
            namespaces::among(db, file, true, || db.member_ty(&object, name), |ty| !ty.is_known())
        }
        _ => db.ty(file, callee),
    }
}

/// Looks up a called name: where closures have receivers, the innermost meaning that accepts the
/// arguments.
pub(in crate::resolve) fn called(
    db: &Db,
    file: FileId,
    (name, scope, at): (Name, ScopeId, u32),
    args: &[Ty],
    written: Run,
) -> Option<(Entity, Step)> {
    if !db.program.known(file).language.manifest.resolution.closure_receivers {
        return db.lookup(file, name, scope, at);
    }
    let accepts = |entity: &Entity| db.is_applicable(file, entity, args, written);
    db.lookup_accepted(file, name, scope, at, &accepts)
}

/// Returns the type of a name without a definition: of a library member of the implicit receiver
/// that the type flow tables list.
pub(super) fn implicit_outside(db: &Db, file: FileId, name: Name, scope: ScopeId) -> Ty {
    let rules = &db.program.known(file).language.manifest.resolution;
    if !rules.closure_receivers || !rules.implicit_receiver {
        return Ty::Unknown;
    }
    match lookup::receiver_type(db, file, scope) {
        Some(receiver) if type_flow::has_member(db, file, &receiver, name) => {
            db.member_ty(&receiver, name)
        }
        _ => Ty::Unknown,
    }
}

/// Returns the qualified name of such a member.
pub(in crate::resolve) fn implicit_outside_name(
    db: &Db,
    file: FileId,
    name: Name,
    scope: ScopeId,
) -> Option<Rc<str>> {
    if !db.program.known(file).language.manifest.resolution.closure_receivers {
        return None;
    }
    let receiver = lookup::receiver_type(db, file, scope)?;
    match db.member(&receiver, name) {
        Member::Outside(outside) if type_flow::has_member(db, file, &receiver, name) => {
            Some(outside)
        }
        _ => None,
    }
}

/// Returns the type of a callee whose name is also that of a module.
fn called_ignoring_modules(db: &Db, file: FileId, callee: ExprId) -> Ty {
    let unit = db.program.known(file);
    let Some(position) = callee.get() else { return Ty::Unknown };
    match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            let (name, at) = (db.name(file, name), unit.facts.positions[position]);
            let found = namespaces::ignoring_modules(db, || db.lookup(file, name, scope, at));
            found.map_or(Ty::Unknown, |(entity, _)| symbol_types::entity_ty(db, &entity, false))
        }
        Expr::Member(object, name) => {
            let (object, name) = (db.ty(file, object), db.name(file, name));
            namespaces::ignoring_modules(db, || db.member_ty(&object, name))
        }
        _ => Ty::Unknown,
    }
}
