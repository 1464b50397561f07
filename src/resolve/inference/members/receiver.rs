//! Receivers: the type around a scope, the receiver of a method or of a closure, and the members
//! that need none to be written.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty};
use crate::inference::members::{aliases, hierarchy, inherent, lookup, prototypes, type_flow};
use crate::inference::names::{linkage, namespaces, wildcard};
use crate::units::bounds::qualified;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::facts::{Expr, ExprId, ScopeId, ScopeKind, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Maximum number of names of a path before a type, and of expressions between two of them.
const MAX_PATH: usize = 8;
/// Maximum number of expressions between a member and the call of it.
const MAX_ARGUMENTS: usize = 64;

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

/// Returns the qualified name of what a bare name means that nothing in the repository has, and
/// that no import explains: a member that the innermost type around it inherits from a library.
/// `read` is the expression of a name that is not called.
pub(crate) fn inherited_outside(
    db: &Db,
    file: FileId,
    (name, scope): (Name, ScopeId),
    read: Option<ExprId>,
) -> Option<Rc<str>> {
    let unit = db.program.known(file);
    let rules = &unit.language.manifest.resolution;
    // Elsewhere a function of the language's library may be meant, which needs no import.
    if !rules.implicit_receiver || !rules.functions_in_types {
        return None;
    }
    let text = db.program.text(name);
    let is_word = text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase);
    let may_be_type = read.is_some_and(|read| is_word || begins_path(db, file, read));
    if may_be_type || unit.language.is_builtin(text) || may_be_imported(db, file) {
        return None;
    }
    let mut around = scope;
    let mut unnamed: Option<Rc<str>> = None;
    while around.is_some() {
        if unit.type_scope(around) == around {
            match scope_type(db, file, around)? {
                Ty::Instance(symbol, _) => match library_above(db, symbol) {
                    Above::Library(base) if unnamed.is_none() => {
                        return Some(qualified(&base, ".", text));
                    }
                    Above::Nothing => {}
                    Above::Library(_) | Above::Unknown => return None,
                },
                Ty::Members(of, scope) => match prototypes::base_of_unnamed(db, of, scope)? {
                    Ty::Instance(symbol, _) => match library_above(db, symbol) {
                        Above::Library(base) => unnamed = Some(base),
                        Above::Nothing => {}
                        Above::Unknown => return None,
                    },
                    Ty::External(base) | Ty::Builtin(base, _) if unnamed.is_none() => {
                        unnamed = Some(base);
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        around = unit.parent(around);
    }
    unnamed.map(|base| qualified(&base, ".", text))
}

/// True for the first name of a path that leads through packages to a type.
fn begins_path(db: &Db, file: FileId, name: ExprId) -> bool {
    let unit = db.program.known(file);
    let facts = unit.facts;
    let mut inner = name;
    for _ in 0..MAX_PATH {
        let Some(position) = inner.get() else { return false };
        let after = facts.exprs[position + 1..].iter().enumerate().take(MAX_PATH);
        let outer = after.into_iter().find_map(|(offset, expr)| match expr {
            Expr::Member(object, name) if *object == inner => Some((position + 1 + offset, *name)),
            _ => None,
        });
        let Some((outer, name)) = outer else { return false };
        if unit.text(name).starts_with(char::is_uppercase) {
            let mut after = facts.exprs[outer + 1..].iter().take(MAX_ARGUMENTS);
            let callee = ExprId::at(outer);
            return !after.any(|expr| matches!(expr, Expr::Call(called, _) if *called == callee));
        }
        inner = ExprId::at(outer);
    }
    false
}

/// True if an import of all members of a library's type may be that of the name.
fn may_be_imported(db: &Db, file: FileId) -> bool {
    let unit = db.program.known(file);
    let mut all = unit.wildcards().iter().filter_map(|(_, import)| import.get());
    all.any(|import| {
        unit.facts.imports[import].level > 0 && wildcard::leads_outside(db, file, import)
    })
}

/// What is above a type.
enum Above {
    /// Types of the repository alone.
    Nothing,
    /// The type of a library that it extends, or the only one that it implements.
    Library(Rc<str>),
    /// Several types of libraries, or a base that is not known.
    Unknown,
}

fn library_above(db: &Db, symbol: SymbolRef) -> Above {
    let hierarchy = hierarchy::hierarchy(db, symbol);
    if hierarchy.open {
        return Above::Unknown;
    }
    let language = db.program.known(symbol.file).language;
    // The tables have the members of these.
    let is_listed = |base: &str| language.flow(base).is_some() || language.is_builtin(base);
    match &hierarchy.outside[..] {
        [] => return Above::Nothing,
        [only] if is_listed(only) => return Above::Unknown,
        [only] => return Above::Library(Rc::clone(only)),
        _ => {}
    }
    // What is extended comes before what is implemented.
    let mut types = hierarchy.types.iter().map(|(ty, _)| *ty);
    let extended = types.find_map(|ty| match hierarchy::extended(db, ty) {
        Some(Ty::External(base) | Ty::Builtin(base, _) | Ty::BuiltinType(base, _)) => Some(base),
        _ => None,
    });
    extended.filter(|base| !is_listed(base)).map_or(Above::Unknown, Above::Library)
}
