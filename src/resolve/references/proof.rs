//! Proof that a member is one of a library: that its receiver is a module or a type of it, or a
//! value that cannot be of the repository. What a call of a library gives back may be anything that
//! was passed to it, registered with it or loaded by it.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::inference::{derived, extensions, hierarchy, infer, lookup, outside, scopes, type_flow};
use crate::references::heuristic;
use crate::references::outcome::{external, unresolved};
use crate::units::import_target::family;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::MemberLookup;
use cograph_model::facts::{Expr, ExprId, Run, ScopeId, Site, external_callable, flags};
use cograph_model::graph::{FileId, Resolution, SymbolRef, Target};
use cograph_model::{SiteKind, Step, SymbolKind, Verdict};

/// Marks at the start of a module's name that no library has: paths of the repository, or aliases
/// of such.
const OWN_PATHS: [&str; 5] = [".", "/", "@/", "~", "#"];

/// True for the name of something in a module that was looked for in the repository and not found.
pub(super) fn is_unfound(name: &str) -> bool {
    OWN_PATHS.iter().any(|mark| name.starts_with(mark))
}

/// Returns the resolution of a name that is found nowhere, and that a library must have.
pub(super) fn or_library(
    db: &Db,
    file: FileId,
    found: Resolution,
    (name, scope, _): (Name, ScopeId, u32),
) -> Resolution {
    if found.step != Step::NoSuchName {
        return found;
    }
    match outside::of_library(db, file, name, scope) {
        Some(library) => external(&library, Step::ExternalImport),
        None => found,
    }
}

/// Returns the resolution of a member of a library value: outside, where nothing in the repository
/// may be meant.
pub(super) fn or_outside(of: &Ty, outside: &str, found: Resolution) -> Resolution {
    match (of, found.verdict) {
        (Ty::External(_), Verdict::Unresolved) => external(outside, Step::Builtin),
        _ => found,
    }
}

/// Returns the resolution of a member that its receiver does not have: of a type of the
/// repository, or of a namespace of a library that the repository adds to.
pub(super) fn or_added_to(db: &Db, file: FileId, site: &Site, of: &Ty, name: Name) -> Resolution {
    let found = heuristic::by_receiver(db, file, site, Some(of), name);
    if found.verdict != Verdict::Unresolved {
        return found;
    }
    match outside::of_opened(db, file, site.target, of, name) {
        Some(outside) => external(&outside, Step::Builtin),
        None => found,
    }
}

/// Returns the resolution of a member of a library value that may be one of the repository, which
/// defines a member of that name.
pub(super) fn unproven(
    db: &Db,
    file: FileId,
    site: &Site,
    (object, of, name): (ExprId, &Ty, Name),
) -> Option<Resolution> {
    if matches!(of, Ty::External(outer) if is_unfound(outer)) {
        return Some(possible(db, file, site, name));
    }
    if is_loaded_module(db, file, of) {
        return Some(unresolved(Step::Dynamic));
    }
    if site.kind == SiteKind::Call {
        let extensions = extensions::possible(db, file, of, name, site.args);
        if !extensions.is_empty() {
            return Some(heuristic::candidates(extensions));
        }
    }
    let is_value = match of {
        Ty::External(_) => true,
        Ty::Builtin(made, _) => is_result_of_builtin(db, file, made),
        _ => false,
    };
    if !is_value || !has_members(db, file, name) || !is_open(db, file, object, name) {
        return None;
    }
    let found = possible(db, file, site, name);
    if !has_declared_type(db, file, object) {
        return Some(found);
    }
    // A value of a declared type of a library is of a type that derives from it.
    match found.target {
        Target::Candidates(symbols) => {
            let may_be = symbols.iter().filter(|symbol| is_below_library(db, **symbol));
            let may_be: Symbols = may_be.copied().collect();
            (!may_be.is_empty()).then(|| heuristic::candidates(may_be))
        }
        _ => {
            own_members(db, file, name).any(|symbol| is_below_library(db, symbol)).then_some(found)
        }
    }
}

/// True for a value whose type is written, in languages in which that says all about its members.
fn has_declared_type(db: &Db, file: FileId, value: ExprId) -> bool {
    let unit = db.program.known(file);
    let Some(position) = value.get() else { return false };
    let is_declared = |symbol: &SymbolRef| db.program.symbol(*symbol).ty.is_some();
    let are_declared = |symbols: &Symbols| !symbols.is_empty() && symbols.iter().all(is_declared);
    unit.language.manifest.conversions.top.is_some()
        && match unit.facts.exprs[position] {
            Expr::Name(name, scope) => {
                let (name, at) = (db.name(file, name), unit.facts.positions[position]);
                match scopes::lookup(db, file, name, scope, at) {
                    Some((Entity::Symbols(symbols), _)) => are_declared(&symbols),
                    Some((Entity::Local(of, bindings), _)) => {
                        bindings.iter().all(|id| db.program.known(of).binding(*id).ty().is_some())
                    }
                    _ => false,
                }
            }
            Expr::Member(object, name) => {
                let of = infer::ty(db, file, object);
                are_declared(&lookup::member_symbols(db, &of, db.name(file, name)))
            }
            Expr::Construct(..) | Expr::OfType(_) => true,
            _ => false,
        }
}

/// True if the type of a member may derive from one of a library, or a type that derives from it.
fn is_below_library(db: &Db, member: SymbolRef) -> bool {
    let entry = db.program.symbol(member);
    let container = SymbolRef { file: member.file, symbol: entry.container };
    let is_below = |ty: SymbolRef| {
        let hierarchy = hierarchy::hierarchy(db, ty);
        hierarchy.open || !hierarchy.outside.is_empty()
    };
    // The body of a type without a name says nothing of its bases.
    let is_named = container.symbol.is_some()
        && db.program.symbol(container).kind.is_type()
        && db.program.known(member.file).scope_symbol(entry.scope) == container.symbol;
    if !is_named || entry.flags & flags::EXTENSION != 0 || is_below(container) {
        return true;
    }
    let named = db.program.derived(db.program.name_of(container));
    let derived = derived::types(db, container);
    // Too many types are not compared.
    let is_unknown = derived.is_empty() && named.is_some_and(|named| !named.is_empty());
    is_unknown || derived.into_iter().any(is_below)
}

/// True for the type of what a builtin function gives of which nothing is known.
fn is_result_of_builtin(db: &Db, file: FileId, name: &str) -> bool {
    let builtins = &db.program.known(file).language.manifest.builtins;
    let is = |list: &[String]| list.iter().any(|one| one == name);
    is(&builtins.functions) && !is(&builtins.types)
}

/// True if the repository defines a member of a name in the language of a file.
fn has_members(db: &Db, file: FileId, name: Name) -> bool {
    own_members(db, file, name).next().is_some()
}

fn own_members<'d>(
    db: &'d Db<'_>,
    file: FileId,
    name: Name,
) -> impl Iterator<Item = SymbolRef> + 'd {
    let own = family(db.program.known(file).language);
    let is_own = move |symbol: &SymbolRef| family(db.program.known(symbol.file).language) == own;
    let lists = [db.program.members(name), db.program.fields(name)];
    lists.into_iter().flatten().flatten().copied().filter(is_own)
}

/// Returns the members of a name as candidates: nothing but the name is evidence for them.
fn possible(db: &Db, file: FileId, site: &Site, name: Name) -> Resolution {
    heuristic::possible(heuristic::by_unique_name(db, file, site, name))
}

/// True for a module that is loaded by a name which is not known: it may be one of the repository.
fn is_loaded_module(db: &Db, file: FileId, of: &Ty) -> bool {
    let loads = |function: &str| {
        db.program.known(file).language.manifest.names.import_calls.contains_key(function)
    };
    matches!(of, Ty::External(called) if external_callable(called).is_some_and(loads))
}

/// True if a value of a library type may be one of the repository that has a member.
fn is_open(db: &Db, file: FileId, value: ExprId, member: Name) -> bool {
    let Some(position) = value.get() else { return false };
    if db.is_too_deep() || !db.budget.take(1) {
        return false;
    }
    let unit = db.program.known(file);
    let inner = |value| is_open(db, file, value, member);
    db.deeper(|| match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            let name = db.name(file, name);
            match scopes::lookup(db, file, name, scope, unit.facts.positions[position]) {
                Some((Entity::Symbols(symbols), _)) => {
                    symbols.iter().any(|symbol| holds_open(db, *symbol, member))
                }
                Some((Entity::Local(of, bindings), _)) => bindings.iter().any(|id| {
                    let binding = db.program.known(of).binding(*id);
                    match binding.ty().is_some() {
                        true => may_give_own(db, of, binding.ty(), member),
                        false => is_open(db, of, binding.value, member),
                    }
                }),
                _ => false,
            }
        }
        Expr::Member(object, name) => match infer::ty(db, file, object) {
            of @ (Ty::Instance(..) | Ty::Type(..)) => {
                let fields = lookup::member_symbols(db, &of, db.name(file, name));
                fields.is_empty() || fields.iter().any(|symbol| holds_open(db, *symbol, member))
            }
            _ => inner(object) || is_dynamic(db, file) && !is_path(db, file, object),
        },
        Expr::Call(callee, args) => is_open_result(db, file, (callee, args), member),
        Expr::Construct(ty, _) | Expr::OfType(ty) => may_give_own(db, file, ty, member),
        Expr::Await(value) | Expr::Unwrapped(value) | Expr::Argument(value, _) => inner(value),
        Expr::Index(value, _)
        | Expr::Element(value)
        | Expr::Item(value, _)
        | Expr::Key(value)
        | Expr::Enter(value) => is_dynamic(db, file) || inner(value),
        Expr::Union(parts) | Expr::Tuple(parts) => {
            unit.facts.lists[parts.range()].iter().any(|part| inner(*part))
        }
        _ => false,
    })
}

/// True if a variable or field may hold a value of the repository, or a property or function give
/// one.
fn holds_open(db: &Db, symbol: SymbolRef, name: Name) -> bool {
    let entry = db.program.symbol(symbol);
    if entry.ty.is_some() {
        return may_give_own(db, symbol.file, entry.ty, name);
    }
    let values = &db.program.known(symbol.file).facts.lists[entry.values.range()];
    values.iter().any(|value| is_open(db, symbol.file, *value, name))
}

/// True if the result of calling a library may be of the repository: where types are declared,
/// only with arguments or a receiver of it.
fn is_open_result(db: &Db, file: FileId, (callee, args): (ExprId, Run), member: Name) -> bool {
    let unit = db.program.known(file);
    let Some(position) = callee.get() else { return true };
    let called = unit.facts.exprs[position];
    let (object, name) = match called {
        Expr::Member(object, name) => (Some(object), name),
        Expr::Name(name, _) => (None, name),
        _ => return true,
    };
    let is_open_object = || object.is_some_and(|object| is_open(db, file, object, member));
    if makes_instance(db, file, unit.text(name)) {
        return is_open_object();
    }
    if is_dynamic(db, file) {
        return true;
    }
    // A function of the repository gives what its header says.
    if let Ty::Callable(symbols, _) = infer::ty(db, file, callee)
        && symbols.iter().all(|symbol| db.program.symbol(*symbol).ty.is_some())
    {
        return symbols.iter().any(|symbol| holds_open(db, *symbol, member));
    }
    if is_open_object() {
        return true;
    }
    let is_own = |ty: &Ty| {
        let own = |ty: &Ty| {
            matches!(
                ty,
                Ty::Instance(..)
                    | Ty::Type(..)
                    | Ty::TypeObject(_)
                    | Ty::Callable(..)
                    | Ty::Lambda(..)
            )
        };
        ty.alternatives().iter().any(own)
    };
    object.is_some_and(|object| is_own(&infer::ty(db, file, object)))
        || unit.facts.lists[args.range()].iter().any(|arg| is_own(&infer::ty(db, file, *arg)))
}

/// True if a call of this name makes an instance, by the custom of the language that only types
/// have capitals.
fn makes_instance(db: &Db, file: FileId, name: &str) -> bool {
    let manifest = &db.program.known(file).language.manifest;
    manifest.resolution.call_constructs
        && !manifest.visibility.capital
        && name.starts_with(char::is_uppercase)
}

/// True if a value of a type, as it is written, may give one of the repository that has a member: a
/// library's type has it among its arguments. What the language's own types hold is known.
fn may_give_own(db: &Db, file: FileId, ty: ExprId, name: Name) -> bool {
    let Some(position) = ty.get() else { return false };
    if db.is_too_deep() || !db.budget.take(1) {
        return true;
    }
    let facts = db.program.known(file).facts;
    let any = |parts: Run| {
        let mut parts = facts.lists[parts.range()].iter();
        parts.any(|part| may_give_own(db, file, *part, name))
    };
    db.deeper(|| match facts.exprs[position] {
        Expr::Wrap(inner, _) | Expr::OfType(inner) => may_give_own(db, file, inner, name),
        Expr::Tuple(parts) | Expr::Union(parts) | Expr::Function(parts) if has_traits(db, file) => {
            any(parts)
        }
        // Elsewhere it may be of a type that derives from it.
        Expr::Apply(..) if !has_traits(db, file) => true,
        Expr::Apply(base, args) => match infer::type_of(db, file, base) {
            Ty::External(of) if type_flow::flow(db, file, &of).is_none() => {
                let args = facts.lists[args.range()].iter();
                args.map(|arg| infer::type_of(db, file, *arg)).any(|arg| may_be_own(db, &arg, name))
            }
            _ => any(args),
        },
        _ => false,
    })
}

/// True if a type may be one of the repository that has a member, or hold one.
fn may_be_own(db: &Db, of: &Ty, name: Name) -> bool {
    match of {
        Ty::External(_) => false,
        Ty::Builtin(_, args) | Ty::BuiltinType(_, args) | Ty::Tuple(args) | Ty::Union(args) => {
            args.iter().any(|arg| may_be_own(db, arg, name))
        }
        // A type parameter has the members of its bounds.
        Ty::Param(file, _) => {
            own_members(db, *file, name).any(|member| is_of_interface(db, member))
        }
        _ => true,
    }
}

/// True in languages whose types derive from none: members are a type's own, or those of traits.
fn has_traits(db: &Db, file: FileId) -> bool {
    let resolution = &db.program.known(file).language.manifest.resolution;
    resolution.members == MemberLookup::InherentFirst
}

/// True for a member of a trait or interface.
fn is_of_interface(db: &Db, member: SymbolRef) -> bool {
    let container = db.program.symbol(member).container;
    container.is_some() && {
        let container = db.program.symbol(SymbolRef { file: member.file, symbol: container });
        matches!(container.kind, SymbolKind::Trait | SymbolKind::Interface)
    }
}

/// True for the name of a module or type of a library, or for a path that starts with one.
fn is_path(db: &Db, file: FileId, value: ExprId) -> bool {
    let unit = db.program.known(file);
    let mut value = value;
    while let Some(position) = value.get() {
        match unit.facts.exprs[position] {
            Expr::Member(object, _) => value = object,
            Expr::Name(name, scope) => {
                let (name, at) = (db.name(file, name), unit.facts.positions[position]);
                let found = scopes::lookup(db, file, name, scope, at);
                return matches!(
                    found,
                    None | Some((Entity::External(_) | Entity::Builtin(_) | Entity::Module(_), _))
                );
            }
            _ => return false,
        }
    }
    false
}

/// True in languages in which results have no declared type.
fn is_dynamic(db: &Db, file: FileId) -> bool {
    db.program.known(file).language.manifest.resolution.is_dynamic()
}
