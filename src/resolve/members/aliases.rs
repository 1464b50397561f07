//! Aliases: the type that a type expression names, and the type behind an alias.

use crate::model::SymbolKind;
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::db::Db;
use crate::resolve::db::ty::Ty;
use crate::resolve::members::prototypes;

/// Returns the type that a type expression names, through wrappers and arguments.
pub(in crate::resolve) fn named_type(
    db: &Db,
    file: FileId,
    expr: crate::model::facts::ExprId,
) -> Option<SymbolRef> {
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

/// Returns the target of an alias.
pub(in crate::resolve) fn alias_target(db: &Db, symbol: SymbolRef) -> Option<SymbolRef> {
    let entry = db.program.symbol(symbol);
    if entry.kind != SymbolKind::TypeAlias
        || !entry.ty.is_some()
        || db.program.extensions(symbol).is_some()
    {
        return None;
    }
    named_type(db, symbol.file, entry.ty).filter(|target| *target != symbol)
}

/// Returns the underlying type of a value of a defined type that has members of its own.
pub(in crate::resolve) fn underlying(db: &Db, value: &Ty) -> Option<Ty> {
    let Ty::Instance(symbol, args) = value else { return None };
    let entry = db.program.symbol(*symbol);
    if entry.kind != SymbolKind::TypeAlias || !entry.ty.is_some() || db.is_too_deep() {
        return None;
    }
    let target = db.deeper(|| db.instance_of_expr(symbol.file, entry.ty));
    let map = db.arguments_of(*symbol, args);
    Some(target.map(&map)).filter(|target| target != value)
}

/// Replaces an instance of an alias by an instance of the aliased type.
pub(in crate::resolve) fn unaliased(db: &Db, ty: Ty) -> Ty {
    if let Ty::Instance(symbol, args) = &ty {
        let entry = db.program.symbol(*symbol);
        let distinct = db.program.extensions(*symbol).is_some();
        if entry.kind == SymbolKind::TypeAlias
            && entry.ty.is_some()
            && !distinct
            && !db.is_too_deep()
        {
            let target = db.deeper(|| db.instance_of_expr(symbol.file, entry.ty));
            let map = db.arguments_of(*symbol, args);
            return if target.is_known() { target.map(&map) } else { Ty::Unknown };
        }
    }
    ty
}
