//! Prototypes: members assigned to callables and objects, and instances that constructor functions
//! create.

use crate::db::Db;
use crate::db::in_progress::Computation;
use crate::db::ty::{Entity, Member, Ty};
use crate::inference::names::module_members;
use crate::inference::names::scopes::imported;
use crate::inference::names::visited::Visited;
use crate::units::import_target::Module;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, Expr, ScopeId, Symbol, Synthetic, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Name of the type flow table for members of callables.
pub(crate) const FUNCTION: &str = "Function";

/// Returns the constructor function of a type, in languages where callables create instances.
pub(super) fn constructor_function(db: &Db, ty: &Ty) -> Option<SymbolRef> {
    let Ty::Callable(symbols, _) = ty else { return None };
    let symbol = *symbols.last()?;
    let manifest = &db.program.known(symbol.file).language.manifest;
    manifest.names.values_member.as_ref().map(|_| symbol)
}

/// Returns an instance of a type or of a constructor function.
pub(crate) fn made(db: &Db, ty: &Ty) -> Ty {
    match constructor_function(db, ty) {
        Some(symbol) => Ty::instance(symbol),
        None => crate::db::ty::instance_of(ty),
    }
}

/// Returns the type of the member of a type or constructor function that holds the members of its
/// instances: an instance.
pub(crate) fn of_instances(db: &Db, of: &Ty, name: Name) -> Option<Ty> {
    let symbol = match of {
        Ty::Type(symbol, _) => *symbol,
        other => constructor_function(db, other)?,
    };
    let names = &db.program.known(symbol.file).language.manifest.names;
    (names.values_member.as_deref() == Some(db.program.text(name))).then(|| made(db, of))
}

/// Returns the variable that holds an object, in languages where objects can be assigned
/// members.
pub(super) fn held_object(db: &Db, file: FileId, scope: ScopeId) -> Option<SymbolRef> {
    let unit = db.program.known(file);
    let takes_members = unit.language.manifest.names.values_member.is_some();
    let symbol = unit.scope_symbol(scope);
    (takes_members && symbol.is_some()).then_some(SymbolRef { file, symbol })
}

/// Returns the type of the object literal that a variable or field holds, by the scope of its
/// members: the type that is declared for it, else these members.
pub(super) fn object_ty(db: &Db, file: FileId, scope: ScopeId) -> Option<Ty> {
    let holder = db.program.symbol(held_object(db, file, scope)?);
    if !matches!(holder.kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field) {
        return None;
    }
    match db.instance_of_expr(file, holder.ty) {
        declared @ Ty::Instance(..) if holder.ty.is_some() => Some(declared),
        _ => Some(Ty::Members(file, scope)),
    }
}

/// Returns the member of an object: in its literal, assigned to it, or of its prototype.
pub(super) fn scope_members(db: &Db, file: FileId, scope: ScopeId, name: Name) -> Member {
    let unit = db.program.known(file);
    let mut found = Symbols::new();
    let mut local = None;
    for (id, binding) in db.program.bindings(file, unit, scope, name) {
        match binding.kind {
            BindingKind::Symbol => found.push(SymbolRef { file, symbol: binding.symbol() }),
            BindingKind::Field | BindingKind::Value => local = Some(id),
            _ => {}
        }
    }
    if found.is_empty()
        && let Some(object) = held_object(db, file, scope)
        && let Some(given) = db.program.extensions(object).and_then(|members| members.get(&name))
    {
        found.extend(given.iter().copied());
    }
    if are_accessors(db, &found) {
        // The getter of a property precedes its setter.
        found.truncate(1);
    }
    if !found.is_empty() {
        return Member::Symbols(found);
    }
    if let Some(id) = local {
        let own = smallvec::smallvec![id];
        return Member::Entity(match is_export(db, file, scope) {
            true => imported::alias_of(db, file, own, &mut Visited::default())
                .unwrap_or_else(|| Entity::Local(file, smallvec::smallvec![id])),
            false => Entity::Local(file, own),
        });
    }
    match base_of_unnamed(db, file, scope) {
        Some(base) => db.member(&base, name),
        None => spread_member(db, file, scope, name)
            .or_else(|| sibling_export(db, held_object(db, file, scope)?, name))
            .unwrap_or(Member::None),
    }
}

/// Returns the member of what is spread in an object literal, given by the scope of its members. A
/// variable that is given what it holds (`a = { ...a }`) has no more members by that.
fn spread_member(db: &Db, file: FileId, scope: ScopeId, name: Name) -> Option<Member> {
    let synthetic = db.program.synthetic(Synthetic::Spread);
    let (_, spread) = db.program.known(file).bindings(scope, synthetic).next()?;
    let following = Computation::Following(file, spread.value, name);
    db.in_progress.each_once(following, || db.member(&db.ty(file, spread.value), name))
}

/// Returns the last one of members of one name; of a method of the type and a member of its
/// instances, where these are separate, both.
pub(super) fn effective(db: &Db, found: &[SymbolRef]) -> Symbols {
    let is_of_type = |member: &SymbolRef| {
        let entry = db.program.symbol(*member);
        entry.kind.is_callable() && entry.flags & flags::STATIC != 0
    };
    let Some(last) = found.last() else { return Symbols::new() };
    let rules = &db.program.known(last.file).language.manifest.resolution;
    let is_other = |member: &&SymbolRef| is_of_type(member) != is_of_type(last);
    let other = found.iter().rfind(|member| rules.separate_statics && is_other(member));
    other.into_iter().chain([last]).copied().collect()
}

/// Returns the members of a type, or those of its instances, where these are separate and both have
/// one of the name.
pub(super) fn of_receiver(db: &Db, symbols: &Symbols, is_type: bool) -> Symbols {
    let fits = |member: &SymbolRef| {
        let rules = &db.program.known(member.file).language.manifest.resolution;
        let is_static = db.program.symbol(*member).flags & flags::STATIC != 0;
        !rules.separate_statics || is_static == is_type
    };
    if symbols.len() < 2 || symbols.iter().all(fits) || !symbols.iter().any(fits) {
        return symbols.clone();
    }
    symbols.iter().copied().filter(fits).collect()
}

/// Returns the members from outside of a type's body that are added to those inside: what one
/// object got by an assignment may replace a member of its type, and is no other one.
pub(super) fn added(db: &Db, inside: &Symbols, outside: &[SymbolRef]) -> Symbols {
    // An assignment through a setter makes no member.
    let are_set = !inside.is_empty() && are_accessors(db, inside);
    let is_added = |member: &SymbolRef| {
        let is_set = are_set && !are_accessors(db, &[*member]) && may_be_given(db, *member);
        !inside.contains(member)
            && !is_set
            && (inside.is_empty() || !is_given_to_instance(db, *member))
    };
    outside.iter().copied().filter(is_added).collect()
}

/// True for a member that an assignment may have given to a value or a type.
fn may_be_given(db: &Db, member: SymbolRef) -> bool {
    let takes_members =
        db.program.known(member.file).language.manifest.names.values_member.is_some();
    takes_members && db.program.clauses(member).owner.is_some()
}

fn is_given_to_instance(db: &Db, member: SymbolRef) -> bool {
    may_be_given(db, member)
        && matches!(db.ty(member.file, db.program.clauses(member).owner), Ty::Instance(..))
}

/// True for the accessors of properties.
pub(super) fn are_accessors(db: &Db, symbols: &[SymbolRef]) -> bool {
    symbols.iter().all(|symbol| db.program.symbol(*symbol).flags & flags::PROPERTY != 0)
}

/// Returns the base of a type without a name, given by its body.
pub(crate) fn base_of_unnamed(db: &Db, file: FileId, scope: ScopeId) -> Option<Ty> {
    let owner = db.program.known(file).scope_owner(scope);
    owner.is_some().then(|| db.instance_of_expr(file, owner))
}

/// True for the object that a file exports as a whole or by default: its members are exports, and
/// those that are named values are the values.
fn is_export(db: &Db, file: FileId, scope: ScopeId) -> bool {
    let unit = db.program.known(file);
    let Some(object) = unit.language.manifest.names.export_objects.first() else { return false };
    [object, Synthetic::DefaultExport.text()].into_iter().any(|name| {
        let name = db.program.named(name);
        db.program.bindings(file, unit, ScopeId(0), name).any(|(_, binding)| {
            let value = binding.value.get().map(|value| unit.facts.exprs[value]);
            value == Some(Expr::Members(scope))
        })
    })
}

/// Returns a member assigned to a callable.
pub(super) fn callable_member(db: &Db, of: &Ty, name: Name) -> Member {
    let outside = || Member::Outside(Rc::from(db.program.text(name)));
    let Some(function) = constructor_function(db, of) else { return outside() };
    match db.program.extensions(function).and_then(|members| members.get(&name)) {
        Some(found) => Member::Symbols(Symbols::from_slice(found)),
        None => in_sibling_namespace(db, function, name)
            .or_else(|| sibling_export(db, function, name))
            .unwrap_or_else(outside),
    }
}

/// Returns the member of a namespace of the same name in the same scope, in languages that merge
/// the two.
pub(super) fn in_sibling_namespace(db: &Db, symbol: SymbolRef, name: Name) -> Option<Member> {
    let unit = db.program.known(symbol.file);
    if !unit.language.manifest.resolution.merged_types {
        return None;
    }
    let is_namespace =
        |entry: &Symbol| matches!(entry.kind, SymbolKind::Module | SymbolKind::Namespace);
    let entry = unit.symbol(symbol.symbol);
    let own = unit.name(entry.name);
    let mut bound = db.program.bindings(symbol.file, unit, entry.scope, own);
    let (_, sibling) = bound.find(|(_, binding)| {
        binding.kind == BindingKind::Symbol && is_namespace(unit.symbol(binding.symbol()))
    })?;
    let sibling = SymbolRef { file: symbol.file, symbol: sibling.symbol() };
    let is_other = sibling != symbol && !is_namespace(entry);
    is_other
        .then(|| module_members::symbol_member(db, sibling, name, &mut Visited::default()))?
        .map(Member::Entity)
}

/// Returns what a file exports under a name as a member of a callable or type, because that is
/// itself what the file exports as a whole.
pub(super) fn sibling_export(db: &Db, whole: SymbolRef, name: Name) -> Option<Member> {
    let exported = |symbol: &SymbolRef| db.program.symbol(*symbol).flags & flags::EXPORTED != 0;
    if db.program.known(whole.file).language.manifest.names.export_objects.is_empty()
        || !exported(&whole)
    {
        return None;
    }
    let module = Module::File(whole.file);
    match imported::whole_export(db, module, &mut Visited::default())? {
        Entity::Symbols(symbols) if symbols.contains(&whole) => {}
        _ => return None,
    }
    match module_members::module_member(db, module, name, &mut Visited::default())? {
        Entity::Symbols(symbols) if symbols.iter().all(exported) => Some(Member::Symbols(symbols)),
        entity @ Entity::Local(..) => Some(Member::Entity(entity)),
        _ => None,
    }
}

/// True if unindexed code may have assigned a member to a function: any one in languages where
/// functions are objects, except those that every function has.
pub(crate) fn may_have_member(db: &Db, of: &Ty, name: Name) -> bool {
    if !matches!(of, Ty::Callable(..) | Ty::Lambda(..) | Ty::Function(_)) {
        return false;
    }
    let language = db.program.known(db.origin.get()).language;
    let Some((_, functions)) = language.flow(FUNCTION) else { return false };
    let objects = functions.base.as_deref().and_then(|base| language.flow(base));
    let text = db.program.text(name);
    !functions.members.contains_key(text)
        && !objects.is_some_and(|(_, flow)| flow.members.contains_key(text))
}
