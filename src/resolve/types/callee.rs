//! Type of a callee, where callables have a namespace of their own or share a name with a module.

use crate::model::facts::{Expr, ExprId};
use crate::model::graph::FileId;
use crate::resolve::db::Db;
use crate::resolve::db::ty::{Entity, Ty};
use crate::resolve::members::lookup;
use crate::resolve::names::namespaces;
use crate::resolve::types::symbol_types;

/// Returns the type of a callee.
pub(super) fn callee_ty(db: &Db, file: FileId, callee: ExprId) -> Ty {
    let unit = db.program.known(file);
    let rules = &unit.language.manifest.resolution;
    if !rules.separate_callables {
        let of = match callee.get().map(|position| unit.facts.exprs[position]) {
            Some(Expr::Member(object, name)) if rules.library_properties => {
                let object = db.ty(file, object);
                db.member_ty(&object, db.name(file, name))
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
                || db.lookup(file, name, scope, at),
                Option::is_none,
            ) {
                // The implicit receiver binds the parameters of its type.
                Some((Entity::Symbols(symbols), _)) => {
                    let receiver = lookup::scope_type(db, file, scope);
                    symbol_types::symbols_ty(db, &symbols, false, receiver.as_ref())
                }
                Some((entity, _)) => symbol_types::entity_ty(db, &entity, false),
                None => Ty::Unknown,
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
