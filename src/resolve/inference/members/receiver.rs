//! Receivers: the type around a scope, the receiver of a method or of a closure, and the members
//! that need none to be written.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty};
use crate::inference::members::{aliases, hierarchy, inherent, lookup, prototypes, type_flow};
use crate::inference::names::{linkage, namespaces};
use crate::units::bounds::qualified;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::facts::{ScopeId, ScopeKind, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Returns the type of the implicit receiver in a scope.
pub(crate) fn scope_type(db: &Db, file: FileId, scope: ScopeId) -> Option<Ty> {
    let unit = db.program.known(file);
    if unit.language.manifest.names.values_member.is_some()
        && let Some(object) = unit.unnamed_object(scope)
    {
        return Some(Ty::Members(file, object));
    }
    let type_scope = unit.type_scope(scope);
    let symbol = unit.scope_symbol(type_scope);
    let owner = unit.scope_owner(type_scope);
    if unit.is_unnamed_type(type_scope) {
        return Some(Ty::Members(file, type_scope));
    }
    if owner.is_some() {
        let owner = db.type_of(file, owner);
        let made = prototypes::made(db, &owner);
        return Some(aliases::unaliased(db, made));
    }
    if let Some(object) = prototypes::object_ty(db, file, type_scope) {
        return Some(object);
    }
    let symbol = SymbolRef { file, symbol };
    symbol.symbol.get()?;
    if let Some(declaration) = aliases::declaration_of(db, symbol) {
        return Some(Ty::instance(declaration));
    }
    let symbol = hierarchy::primary(db, symbol);
    let file = symbol.file;
    let params = db.program.clauses(symbol).type_params;
    let args: Vec<Ty> = params
        .range()
        .map(|position| Ty::Param(file, cograph_model::facts::BindingId::at(position)))
        .collect();
    Some(Ty::Instance(symbol, args.into()))
}

/// Returns the receiver of the method around a scope, through closures.
pub(crate) fn receiver_around(db: &Db, file: FileId, scope: ScopeId) -> Option<Ty> {
    let unit = db.program.known(file);
    let mut around = scope;
    while around.is_some() {
        let symbol = unit.scope_symbol(around);
        if symbol.is_some() || unit.scope_kind(around) == ScopeKind::Type {
            return method_receiver(db, file, around);
        }
        around = unit.parent(around);
    }
    None
}

/// Returns the receiver of a method: the type itself in a static one, and directly in the body of a
/// type, where a type and its instances have separate members.
fn method_receiver(db: &Db, file: FileId, scope: ScopeId) -> Option<Ty> {
    let unit = db.program.known(file);
    let ty = scope_type(db, file, scope)?;
    if !lookup::has_separate_statics(unit.language) {
        return Some(ty);
    }
    let is_static = match unit.scope_symbol(scope) {
        _ if unit.scope_kind(scope) == ScopeKind::Type => true,
        symbol if symbol.is_some() => unit.symbol(symbol).flags & flags::STATIC != 0,
        _ => false,
    };
    Some(match ty {
        Ty::Instance(symbol, args) if is_static => Ty::Type(symbol, args),
        other => other,
    })
}

/// Returns the type of the receiver at a scope: that of the innermost closure that has one, else
/// that of the method.
pub(crate) fn receiver_type(db: &Db, file: FileId, scope: ScopeId) -> Option<Ty> {
    let unit = db.program.known(file);
    let outer = unit.type_scope(scope);
    let mut current = scope;
    while current.is_some() && current != outer {
        if let Some(receiver) = unit.given_receiver(current) {
            let given = db.ty(file, receiver);
            if given.is_known() {
                return Some(given);
            }
        }
        current = unit.parent(current);
    }
    method_receiver(db, file, scope)
}

/// Returns the implicit receiver of a member that a bare name means: that of the innermost type
/// around the scope which has the member.
pub(crate) fn receiver_of(db: &Db, file: FileId, scope: ScopeId, member: SymbolRef) -> Option<Ty> {
    let unit = db.program.known(file);
    let container = db.program.container_or_own(member);
    let has_member = |ty: &Ty| match ty {
        Ty::Instance(symbol, _) => {
            let hierarchy = hierarchy::hierarchy(db, *symbol);
            hierarchy.types.iter().any(|(of, _)| *of == container)
        }
        _ => false,
    };
    let mut around = unit.type_scope(scope);
    while around.is_some() {
        let receiver = match scope_type(db, file, around)? {
            Ty::Members(of, scope) => prototypes::base_of_unnamed(db, of, scope)?,
            other => other,
        };
        if has_member(&receiver) {
            return Some(receiver);
        }
        around = unit.type_scope(unit.parent(around));
    }
    None
}

/// Returns the member of the receiver that a closure may be given; of a library type if its type
/// flow table lists it.
pub(crate) fn closure_member(
    db: &Db,
    file: FileId,
    closure: ScopeId,
    name: Name,
) -> Option<Entity> {
    let receiver = db.ty(file, db.program.known(file).given_receiver(closure)?);
    match lookup::member(db, &receiver, name) {
        Member::Symbols(found) => Some(Entity::Symbols(found)),
        Member::Outside(outside) if type_flow::has_own_member(db, file, &receiver, name) => {
            Some(Entity::External(outside))
        }
        _ if receiver.is_known() => top_member(db, file, name),
        _ => None,
    }
}

/// Returns the member of the implicit receiver in a scope that every value has.
pub(crate) fn implicit_top(db: &Db, file: FileId, scope: ScopeId, name: Name) -> Option<Entity> {
    let is_own = db.program.known(file).type_scope(scope) == scope;
    if is_own { top_member(db, file, name) } else { None }
}

/// Returns a member of the top type; functions that take closures may be extensions of it.
fn top_member(db: &Db, file: FileId, name: Name) -> Option<Entity> {
    let language = db.program.known(file).language;
    let top = language.manifest.conversions.top.as_deref()?;
    let (_, flow) = language.flow(top)?;
    let text = db.program.text(name);
    let takes_closure = flow.callbacks.contains_key(text);
    (flow.members.contains_key(text) && !takes_closure)
        .then(|| Entity::External(qualified(&Rc::from(top), ".", text)))
}

/// Returns the extensions of every type that a bare name means where there is an implicit receiver.
pub(crate) fn implicit_extension(
    db: &Db,
    file: FileId,
    scope: ScopeId,
    name: Name,
) -> Option<Symbols> {
    let rules = &db.program.known(file).language.manifest.resolution;
    if !rules.implicit_receiver || !rules.closure_receivers {
        return None;
    }
    let found = inherent::extensions_of_all(db, name)?;
    scope_type(db, file, scope).map(|_| found)
}

pub(crate) fn implicit_member(
    db: &Db,
    file: FileId,
    scope: ScopeId,
    name: Name,
) -> Option<Symbols> {
    let unit = db.program.known(file);
    if unit.type_scope(scope) != scope {
        return None;
    }
    let declarations = unit.language.manifest.resolution.declarations;
    let mut found = match scope_type(db, file, scope)? {
        Ty::Instance(symbol, _) if declarations => linkage::enclosing_member(db, symbol, name),
        Ty::Instance(symbol, _) => lookup::type_member(db, symbol, name),
        unnamed @ Ty::Members(..) => lookup::member_symbols(db, &unnamed, name),
        // The receiver of an extension.
        outside @ (Ty::Builtin(..) | Ty::External(_) | Ty::Param(..)) if !declarations => {
            lookup::member_symbols(db, &outside, name)
        }
        _ => Symbols::new(),
    };
    found.retain(|symbol| namespaces::is_wanted(db, *symbol));
    (!found.is_empty()).then_some(found)
}
