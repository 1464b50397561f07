//! Types of entities: symbols, bindings, and members read through a receiver.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty, no_types};
use crate::inference::members::lookup::stated;
use crate::inference::members::{aliases, hierarchy, inherent, lookup, prototypes, type_flow};
use crate::inference::names::{bindings, definition, scopes, variants};
use crate::inference::types::{builtin_types, generics, lists, return_types};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::{CallMeaning, FlowKind, ImplicitUse};
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingId, BindingKind, Expr, ExprId, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Returns the named fields of a variant, where an expression in type position names one
/// (`value` is its type as a type expression).
pub(super) fn variant_members(db: &Db, file: FileId, named: ExprId, value: &Ty) -> Option<Ty> {
    let Ty::Instance(of, _) = value else { return None };
    if db.program.symbol(*of).kind != SymbolKind::Enum {
        return None;
    }
    let unit = db.program.known(file);
    let position = named.get()?;
    let found = match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            match scopes::lookup(db, file, unit.name(name), scope, unit.facts.positions[position])?
            {
                (Entity::Symbols(symbols), _) => symbols,
                _ => return None,
            }
        }
        Expr::Member(object, name) => {
            let object = db.type_of(file, object);
            lookup::member_symbols(db, &object, unit.name(name))
        }
        _ => return None,
    };
    let variant =
        found.into_iter().find(|symbol| db.program.symbol(*symbol).kind == SymbolKind::Variant)?;
    let parts = db.program.symbol(variant).inner;
    parts.is_some().then_some(Ty::Members(variant.file, parts))
}

/// Returns an associated type defined in the enclosing block, which takes precedence over
/// others.
pub(super) fn associated_here(db: &Db, file: FileId, object: ExprId, name: Name) -> Option<Ty> {
    let unit = db.program.known(file);
    let Expr::SelfType(scope) = unit.facts.exprs[object.get()?] else { return None };
    let here = unit.type_scope(scope);
    let found: Symbols = unit
        .bindings(here, name)
        .filter(|(_, binding)| binding.symbol().is_some())
        .map(|(_, binding)| SymbolRef { file, symbol: binding.symbol() })
        .filter(|symbol| db.program.symbol(*symbol).kind == SymbolKind::TypeAlias)
        .collect();
    (!found.is_empty()).then(|| symbols_ty(db, &found, true, None))
}

/// Returns the type of an entity.
pub(crate) fn entity_ty(db: &Db, entity: &Entity, as_type: bool) -> Ty {
    match entity {
        Entity::Symbols(symbols) => symbols_ty(db, symbols, as_type, None),
        Entity::Module(module) => Ty::Module(*module),
        Entity::External(name) => Ty::External(name.clone()),
        Entity::Variants(parts) => {
            Ty::variants(parts.iter().map(|part| entity_ty(db, part, as_type)).collect::<Vec<_>>())
        }
        Entity::Builtin(name) => Ty::BuiltinType(Rc::from(db.program.text(*name)), no_types()),
        Entity::Local(file, bindings) => {
            let parts: Vec<Ty> =
                bindings.iter().map(|binding| binding_ty(db, *file, *binding)).collect();
            // The union drops unknown parts.
            Ty::union(parts)
        }
    }
}

fn binding_ty(db: &Db, file: FileId, id: BindingId) -> Ty {
    let binding = db.program.known(file).binding(id);
    match binding.kind {
        BindingKind::TypeParam => parameter_of_owner(db, file, id).unwrap_or(Ty::Param(file, id)),
        BindingKind::Narrow if binding.ty().is_some() => db.instance_of_expr(file, binding.ty()),
        BindingKind::Narrow => bindings::guarded(db, file, binding.value).unwrap_or(Ty::Unknown),
        _ if binding.ty().is_some() => db.instance_of_expr(file, binding.ty()),
        _ => db.ty(file, binding.value),
    }
}

/// Returns the type parameter of a member's type that a name in the member refers to (`func (l
/// List[T]) …`).
fn parameter_of_owner(db: &Db, file: FileId, id: BindingId) -> Option<Ty> {
    let unit = db.program.known(file);
    let binding = unit.binding(id);
    let mut owner = unit.member_owner(binding.scope);
    while let Expr::Wrap(inner, _) = unit.facts.exprs[owner.get()?] {
        owner = inner;
    }
    let Expr::Apply(base, args) = unit.facts.exprs[owner.get()?] else { return None };
    let is_named = |arg: &ExprId| {
        matches!(
            arg.get().map(|arg| unit.facts.exprs[arg]),
            Some(Expr::Name(name, _)) if name == binding.name
        )
    };
    let position = unit.facts.lists[args.range()].iter().position(is_named)?;
    let ty = aliases::named_type(db, file, base)?;
    let own = db.program.clauses(ty).type_params.range().nth(position)?;
    Some(Ty::Param(ty.file, BindingId::at(own)))
}

/// True for a namespace whose members are also those of a function or type of its name.
fn adds_members(db: &Db, symbol: SymbolRef) -> bool {
    let is_namespace =
        matches!(db.program.symbol(symbol).kind, SymbolKind::Namespace | SymbolKind::Module);
    is_namespace && db.program.known(symbol.file).language.manifest.resolution.merged_types
}

/// Returns the type of a reference to symbols of one name, with or without a receiver.
pub(crate) fn symbols_ty(db: &Db, symbols: &Symbols, as_type: bool, receiver: Option<&Ty>) -> Ty {
    let program = db.program;
    let kind = |symbol: &SymbolRef| program.symbol(*symbol).kind;
    if variants::are_modules(db, symbols) {
        let types = symbols.iter().map(|symbol| Ty::Type(*symbol, no_types()));
        return Ty::variants(types);
    }
    if as_type && let Some(each) = conditional_types(db, symbols) {
        return each;
    }
    let chosen = match as_type {
        true => filled(db, symbols.iter().filter(|symbol| is_scope(kind(symbol)))),
        false => {
            let is_value =
                |of: &SymbolRef| !matches!(kind(of), SymbolKind::Interface | SymbolKind::TypeAlias);
            let mut values = symbols.iter().filter(|of| is_value(of));
            // A namespace adds members to the function of its name.
            match values.next() {
                Some(first) if adds_members(db, *first) => {
                    values.find(|of| kind(of).is_callable()).or(Some(first))
                }
                first => first,
            }
        }
    };
    let Some(&chosen) = chosen.or(symbols.first()) else { return Ty::Unknown };
    let chosen = aliases::declaration_of(db, chosen).unwrap_or(chosen);
    let chosen = match db.program.symbol(chosen) {
        entry if entry.kind.is_type() && entry.flags & flags::DECLARATION != 0 => {
            filled(db, definition::definitions_of(db, chosen).iter()).copied().unwrap_or(chosen)
        }
        _ => chosen,
    };
    let entry = db.program.symbol(chosen);
    match entry.kind {
        kind if is_scope(kind) => Ty::Type(hierarchy::primary(db, chosen), no_types()),
        SymbolKind::Variant if entry.ty.is_some() => Ty::callable(symbols.clone(), receiver),
        SymbolKind::Variant => return_types::container_instance(db, chosen, receiver),
        kind if kind.is_callable() => {
            if entry.flags & flags::PROPERTY != 0 {
                return return_types::result_of(db, &Symbols::from_slice(&[chosen]), receiver, &[]);
            }
            if let Some(replaced) = return_types::decorated(db, chosen) {
                return replaced;
            }
            let callables = symbols
                .iter()
                .copied()
                .filter(|symbol| db.program.symbol(*symbol).kind.is_callable())
                .collect();
            Ty::callable(callables, receiver)
        }
        _ => {
            if is_enum_value(db, chosen) {
                return return_types::container_instance(db, chosen, receiver);
            }
            if let Some(parameter) = as_type.then(|| type_variable(db, chosen)).flatten() {
                return parameter;
            }
            let value = field_ty(db, chosen, symbols);
            let value = described(db, chosen, value, receiver);
            generics::substituted(db, value, receiver)
        }
    }
}

/// Returns the alternatives of one type that a file defines under conditions.
fn conditional_types(db: &Db, symbols: &Symbols) -> Option<Ty> {
    let file = symbols.first().filter(|_| symbols.len() > 1)?.file;
    if !db.program.known(file).language.manifest.resolution.declarations {
        return None;
    }
    let is_alternative = |symbol: &&SymbolRef| {
        let entry = db.program.symbol(**symbol);
        entry.kind.is_type()
            && entry.kind != SymbolKind::TypeAlias
            && !is_empty(db, **symbol)
            && variants::is_under_condition(db, **symbol)
    };
    let each: Symbols = symbols.iter().filter(is_alternative).copied().collect();
    let is_one = each.len() > 1
        && each.iter().all(|symbol| symbol.file == file)
        && variants::are_variants(db, &each);
    is_one.then(|| Ty::variants(each.iter().map(|symbol| Ty::Type(*symbol, no_types()))))
}

/// True for a type without members that is declared alone or under a condition.
fn is_empty(db: &Db, symbol: SymbolRef) -> bool {
    let (entry, unit) = (db.program.symbol(symbol), db.program.known(symbol.file));
    // Members follow their type.
    let next = symbol.symbol.get().and_then(|symbol| unit.facts.symbols.get(symbol + 1));
    (entry.is_conditional() || entry.flags & flags::DECLARATION != 0)
        && unit.facts.clauses_of(entry).bases.is_empty()
        && next.is_none_or(|next| next.container != symbol.symbol)
}

/// Returns the first type that is not empty where a condition holds, else the first: an empty
/// variant represents the others where these are not compiled, as in documentation.
fn filled<'s>(db: &Db, mut symbols: impl Iterator<Item = &'s SymbolRef>) -> Option<&'s SymbolRef> {
    let first = symbols.next()?;
    match is_empty(db, *first) {
        true => symbols.find(|symbol| !is_empty(db, **symbol)).or(Some(first)),
        false => Some(first),
    }
}

/// Returns the type of a member read through an instance: a descriptor determines it itself.
fn described(db: &Db, symbol: SymbolRef, value: Ty, receiver: Option<&Ty>) -> Ty {
    let (Some(Ty::Instance(..)), Ty::Instance(..)) = (receiver, &value) else { return value };
    let names = &db.program.known(symbol.file).language.manifest.names;
    let Some(member) = names.member_behind(ImplicitUse::Read) else { return value };
    let given = inherent::result_of_member(db, &value, member);
    if given.is_known() { given } else { value }
}

/// Returns the type parameter that a variable declares, by the constructor of its value.
fn type_variable(db: &Db, symbol: SymbolRef) -> Option<Ty> {
    let unit = db.program.known(symbol.file);
    let calls = &unit.language.manifest.names.special_calls;
    let entry = db.program.symbol(symbol);
    let value = unit.facts.lists[entry.values.range()].first()?;
    let Expr::Call(callee, _) = unit.facts.exprs[value.get()?] else { return None };
    let (Expr::Name(name, _) | Expr::Member(_, name)) = unit.facts.exprs[callee.get()?] else {
        return None;
    };
    let name = unit.text(name);
    if calls.get(name) != Some(&CallMeaning::TypeParameter) {
        return None;
    }
    let mut bound = db.program.bindings(symbol.file, unit, entry.scope, unit.name(entry.name));
    bound
        .find(|(_, binding)| binding.symbol() == symbol.symbol)
        .map(|(id, _)| Ty::Param(symbol.file, id))
}

/// True if a member is a value of its enum, because its type derives from an enum base of the
/// library.
fn is_enum_value(db: &Db, symbol: SymbolRef) -> bool {
    let bases = &db.program.known(symbol.file).language.manifest.names.enum_bases;
    let entry = db.program.symbol(symbol);
    if bases.is_empty() || entry.ty.is_some() || entry.container.get().is_none() {
        return false;
    }
    let container = SymbolRef { file: symbol.file, symbol: entry.container };
    db.program.symbol(container).inner == entry.scope
        && hierarchy::hierarchy(db, container).outside.iter().any(|base| {
            bases
                .iter()
                .any(|name| name == crate::inference::members::type_flow::last_segment(base))
        })
}

/// Returns the type of a field that several declarations of one type assign, or of one variable.
fn field_ty(db: &Db, chosen: SymbolRef, symbols: &Symbols) -> Ty {
    let is_field = |symbol: &SymbolRef| db.program.symbol(*symbol).kind == SymbolKind::Field;
    let is_open = db.program.known(chosen.file).language.manifest.resolution.open_types;
    if symbols.len() < 2 || !is_open || !symbols.iter().all(is_field) {
        return value_ty(db, chosen);
    }
    let parts: Vec<Ty> = symbols.iter().map(|symbol| value_ty(db, *symbol)).collect();
    Ty::union(parts)
}

/// Returns the type of a variable, field or constant: declared, or the union of its values.
fn value_ty(db: &Db, symbol: SymbolRef) -> Ty {
    if let Some(known) = db.results.get(&symbol) {
        return known;
    }
    db.results.insert(symbol, Ty::Unknown);
    if let Some(stated) = stated::member(db, symbol) {
        let parts: Vec<Ty> = stated.iter().map(|one| value_ty(db, *one)).collect();
        let ty = Ty::union(parts);
        db.results.insert(symbol, ty.clone());
        return ty;
    }
    let entry = db.program.symbol(symbol);
    let stated = match entry.ty.is_some() {
        true => Some(db.instance_of_expr(symbol.file, entry.ty)),
        false => None,
    };
    let ty = match stated {
        Some(stated) if !states_nothing(db, symbol.file, &stated) => stated,
        _ => Ty::union(lists::types_of(db, symbol.file, entry.values)),
    };
    db.results.insert(symbol, ty.clone());
    ty
}

/// True for a stated type that says how a variable is used and leaves its type to the value
/// (`Final`).
fn states_nothing(db: &Db, file: FileId, stated: &Ty) -> bool {
    match stated {
        Ty::External(name) => type_flow::flow(db, file, name)
            .is_some_and(|(_, flow)| flow.kind == Some(FlowKind::Transparent)),
        _ => false,
    }
}

/// Returns the type of a member of a value: by its name, or by what the type of the value states of
/// others.
pub(crate) fn member_ty(db: &Db, object: &Ty, name: Name) -> Ty {
    match named_member_ty(db, object, name) {
        Ty::Unknown => builtin_types::of_index_signature(db, object),
        known => known,
    }
}

fn named_member_ty(db: &Db, object: &Ty, name: Name) -> Ty {
    if let Ty::Union(parts) = object {
        let parts = parts.clone();
        return parts.each(|part| named_member_ty(db, part, name));
    }
    if let Ty::Filled(inner, params, args) = object {
        return named_member_ty(db, inner, name).with(params, args);
    }
    if let Ty::Tuple(parts) = object
        && let Ok(place) = db.program.text(name).parse::<usize>()
    {
        return parts.get(place).cloned().unwrap_or(Ty::Unknown);
    }
    if let Some(instance) = prototypes::of_instances(db, object, name) {
        return instance;
    }
    match lookup::member(db, object, name) {
        Member::Symbols(symbols) => {
            let holder = inherent::holder(db, object, &symbols);
            symbols_ty(db, &symbols, false, Some(holder.as_ref().unwrap_or(object)))
        }
        Member::Entity(entity) => entity_ty(db, &entity, false),
        Member::Outside(qualified) => builtin_types::outside_member(db, object, name, &qualified),
        Member::None | Member::Unknown => Ty::Unknown,
    }
}

fn is_scope(kind: SymbolKind) -> bool {
    kind.is_type() || matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
}
