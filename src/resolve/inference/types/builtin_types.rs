//! Results of operations on values: items, keys, parts, and the results of awaiting, unwrapping and
//! entering; for builtin types from the manifest's type flow tables.

use crate::db::Db;
use crate::db::in_progress::{Computation, Operation};
use crate::db::ty::{ARRAY, MAPPING, Ty, instance_of, no_types};
use crate::db::wanted::Wanted;
use crate::inference::members::prototypes::FUNCTION;
use crate::inference::members::type_flow::last_segment;
use crate::inference::members::{aliases, hierarchy, inherent, type_flow};
use crate::inference::types::{generics, return_types};
use crate::units::bounds::qualified;
use crate::units::interner::Name;
use cograph_grammar::{FlowKind, ImplicitUse};
use cograph_model::SymbolKind;
use cograph_model::facts::{
    CALL_SUFFIX, ELEMENT, ExprId, ScopeId, Synthetic, external_callable, is_held_part,
};
use cograph_model::graph::{FileId, SymbolRef};
use std::borrow::Cow;
use std::rc::Rc;

/// Type of a variant that holds a value of the table's own type.
const VARIANT_OF_ITSELF: &str = "tuple<Self>";

/// Returns a generic type with arguments, or the type inside a transparent wrapper.
pub(super) fn applied(db: &Db, file: FileId, base: Ty, args: &[Ty]) -> Ty {
    match &base {
        Ty::Type(symbol, _) => Ty::Type(*symbol, args.into()),
        Ty::Instance(symbol, _) => Ty::Instance(*symbol, args.into()),
        Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
            let Some((canonical, flow)) = type_flow::flow(db, file, name) else {
                let results = &db.program.known(file).language.manifest.builtins.results;
                return match &base {
                    // Type arguments of a builtin function.
                    Ty::BuiltinType(name, _) if results.contains_key(&**name) => {
                        Ty::BuiltinType(name.clone(), args.into())
                    }
                    _ => base,
                };
            };
            match flow.kind {
                Some(FlowKind::Transparent) => Ty::union(args.iter().cloned()),
                Some(FlowKind::Tuple) => Ty::Tuple(args.into()),
                Some(FlowKind::TypeObject) => {
                    args.first().map_or(Ty::Unknown, |of| Ty::type_object(of.clone()))
                }
                Some(FlowKind::Function) => {
                    Ty::function(args.last().cloned().unwrap_or(Ty::Unknown))
                }
                Some(FlowKind::Result) => match args.first() {
                    Some(Ty::Callable(symbols, receiver)) => {
                        return_types::result_of(db, symbols, receiver.as_deref(), &[])
                    }
                    Some(Ty::Function(result)) => (**result).clone(),
                    _ => Ty::Unknown,
                },
                Some(FlowKind::Parameters) => match args.first() {
                    Some(Ty::Callable(symbols, _)) if let [only] = symbols[..] => {
                        Ty::Tuple(db.parameter_types(only).to_vec().into())
                    }
                    _ => Ty::Unknown,
                },
                Some(FlowKind::Procedure) => Ty::function(nothing(db, file)),
                Some(FlowKind::Optional) if is_needless(db, file, args) => args[0].clone(),
                Some(
                    FlowKind::Nothing
                    | FlowKind::Optional
                    | FlowKind::Slice
                    | FlowKind::Empty
                    | FlowKind::Value,
                )
                | None => Ty::builtin(canonical, args),
            }
        }
        Ty::Union(parts) if base.of_build().is_some() => {
            parts.clone().each(|part| applied(db, file, part.clone(), args))
        }
        _ => base,
    }
}

/// True for the type of no value, which is no alternative of others.
pub(super) fn is_empty(db: &Db, file: FileId, ty: &Ty) -> bool {
    matches!(ty, Ty::Builtin(name, _) | Ty::BuiltinType(name, _) if type_flow::flow(db, file, name)
        .is_some_and(|(_, flow)| flow.kind == Some(FlowKind::Empty)))
}

/// True for an optional of a type that has a null of its own.
fn is_needless(db: &Db, file: FileId, args: &[Ty]) -> bool {
    args.first().is_some_and(|held| !type_flow::is_value_type(db, file, held))
}

/// Returns the result type of callables without a result.
fn nothing(db: &Db, file: FileId) -> Ty {
    let name = db.program.known(file).language.nothing();
    name.map_or(Ty::Unknown, |name| Ty::builtin(name, &[]))
}

/// Returns the item type of an iteration over a value.
pub(crate) fn element(db: &Db, file: FileId, value: &Ty) -> Ty {
    match value {
        Ty::Tuple(parts) => Ty::union(parts.iter().cloned()),
        Ty::Union(parts) => parts.clone().each(|part| element(db, file, part)),
        Ty::Builtin(name, args) => {
            match type_flow::through(db, file, value, |flow| flow.element.as_deref()) {
                Some(element) => element,
                None if &**name == ARRAY => args.first().cloned().unwrap_or(Ty::Unknown),
                None => Ty::Unknown,
            }
        }
        Ty::Instance(symbol, _) => {
            let iteration = Computation::Operating(*symbol, Operation::Iteration);
            let item = || item_of_instance(db, file, *symbol, value);
            db.in_progress.once(iteration, item).unwrap_or(Ty::Unknown)
        }
        Ty::External(name) => part_outside(db, file, name, ELEMENT),
        _ => Ty::Unknown,
    }
}

fn item_of_instance(db: &Db, file: FileId, symbol: SymbolRef, value: &Ty) -> Ty {
    if let Some(underlying) = aliases::underlying(db, value) {
        return element(db, file, &underlying);
    }
    match iterated(db, file, symbol, value) {
        Ty::Unknown => hierarchy::library_base(db, value)
            .map_or(Ty::Unknown, |library| element(db, file, &library)),
        item => item,
    }
}

/// Returns the item of an iteration by the members of the value's type that an iteration calls.
fn iterated(db: &Db, file: FileId, symbol: SymbolRef, value: &Ty) -> Ty {
    let names = &db.program.known(symbol.file).language.manifest.names;
    let members = names.members_behind(ImplicitUse::Iterate);
    let Some((first, rest)) = members.split_first() else { return Ty::Unknown };
    let iterator = inherent::result_of_member(db, value, first);
    match iterator {
        Ty::Instance(..) => match rest.first() {
            Some(next) => inherent::result_of_member(db, &iterator, next),
            None => iterator,
        },
        Ty::Unknown => Ty::Unknown,
        other => element(db, file, &other),
    }
}

pub(super) fn indexed(db: &Db, file: FileId, object: &Ty, key: ExprId) -> Ty {
    let language = db.program.known(file).language;
    match object {
        // Where subscripts are calls, a type has no arguments.
        Ty::Type(..) if language.has_operator_methods() => {
            let member = language.manifest.names.member_behind(ImplicitUse::Index);
            member.map_or(Ty::Unknown, |member| inherent::result_of_member(db, object, member))
        }
        // Generic function or type with explicit arguments.
        Ty::Type(symbol, _) => {
            let arg = db.instance_of_expr(file, key);
            Ty::Type(*symbol, vec![arg].into())
        }
        Ty::Callable(..) => object.clone(),
        Ty::Tuple(parts) => Ty::union(parts.iter().cloned()),
        Ty::Union(parts) => parts.clone().each(|part| indexed(db, file, part, key)),
        Ty::Builtin(_, args) if !args.is_empty() && is_slice(db, file, key) => object.clone(),
        Ty::Builtin(name, args) => match type_flow::through(db, file, object, |flow| {
            flow.index.as_deref().or(flow.element.as_deref())
        }) {
            Some(item) => item,
            None if &**name == ARRAY => args.first().cloned().unwrap_or(Ty::Unknown),
            None if &**name == MAPPING => args.get(1).cloned().unwrap_or(Ty::Unknown),
            None => Ty::Unknown,
        },
        Ty::Instance(symbol, _) => {
            let manifest = &db.program.known(symbol.file).language.manifest;
            let member = manifest.names.member_behind(ImplicitUse::Index);
            let of_underlying = |underlying: &Ty| indexed(db, file, underlying, key);
            let given = match member {
                Some(member) => inherent::result_of_member(db, object, member),
                None => aliases::operated(db, object, Operation::Subscript, of_underlying)
                    .unwrap_or(Ty::Unknown),
            };
            let given = match (given, hierarchy::library_base(db, object)) {
                (Ty::Unknown, Some(library)) => indexed(db, file, &library, key),
                (Ty::Unknown, None) => of_index_signature(db, object),
                (given, _) => given,
            };
            // Pointers are treated as their target types, so indexing a pointer keeps the type.
            if !given.is_known() && manifest.resolution.pointers_index {
                object.clone()
            } else {
                given
            }
        }
        Ty::External(name) => applied_outside(db, file, name, key),
        _ => of_index_signature(db, object),
    }
}

/// Returns what a type states of the subscripts of its values, and of members without a name of
/// their own.
pub(super) fn of_index_signature(db: &Db, object: &Ty) -> Ty {
    let name = db.program.synthetic(Synthetic::IndexSignature);
    let in_scope = |file: FileId, scope: ScopeId| {
        let (_, stated) = db.program.known(file).bindings(scope, name).next()?;
        let ty = db.instance_of_expr(file, stated.ty());
        ty.is_known().then_some(ty)
    };
    match object {
        Ty::Members(file, scope) => in_scope(*file, *scope).unwrap_or(Ty::Unknown),
        Ty::Instance(symbol, _) => {
            let hierarchy = hierarchy::hierarchy(db, *symbol);
            let mut inner = hierarchy.types.iter().map(|(ty, _)| (ty.file, db.program.symbol(*ty)));
            let stated = inner.find_map(|(file, ty)| in_scope(file, ty.inner));
            generics::substituted(db, stated.unwrap_or(Ty::Unknown), Some(object))
        }
        Ty::Filled(inner, params, args) => of_index_signature(db, inner).with(params, args),
        Ty::Union(parts) => parts.clone().each(|part| of_index_signature(db, part)),
        _ => Ty::Unknown,
    }
}

/// True for a key that is a range of positions.
fn is_slice(db: &Db, file: FileId, key: ExprId) -> bool {
    match db.ty(file, key) {
        Ty::Builtin(name, _) => type_flow::flow(db, file, &name)
            .is_some_and(|(_, flow)| flow.kind == Some(FlowKind::Slice)),
        _ => false,
    }
}

fn applied_outside(db: &Db, file: FileId, name: &Rc<str>, key: ExprId) -> Ty {
    // A value is no type with arguments.
    if is_held_part(type_flow::last_segment(name)) || external_callable(name).is_some() {
        let element = part_outside(db, file, name, ELEMENT);
        return if element.is_known() { element } else { Ty::External(name.clone()) };
    }
    let arg = db.instance_of_expr(file, key);
    applied(db, file, Ty::External(name.clone()), &[arg])
}

pub(super) fn entered(db: &Db, file: FileId, value: &Ty) -> Ty {
    match value {
        Ty::Instance(symbol, _) => {
            let names = &db.program.known(symbol.file).language.manifest.names;
            match names.member_behind(ImplicitUse::Enter) {
                Some(member) => {
                    let entered = inherent::result_of_member(db, value, member);
                    if entered.is_known() { entered } else { value.clone() }
                }
                None => value.clone(),
            }
        }
        Ty::Union(parts) => parts.clone().each(|part| entered(db, file, part)),
        // What a library makes gives a value of the library, most often itself.
        Ty::External(_) => value.clone(),
        other => type_flow::through(db, file, other, |flow| flow.entered.as_deref())
            .unwrap_or(Ty::Unknown),
    }
}

pub(super) fn item(db: &Db, file: FileId, value: &Ty, position: usize) -> Ty {
    match value {
        Ty::Tuple(parts) => parts.get(position).cloned().unwrap_or(Ty::Unknown),
        Ty::Union(parts) => parts.clone().each(|part| item(db, file, part, position)),
        Ty::Callable(symbols, receiver) => {
            // Variant that is destructured.
            let Some(&variant) = symbols.first() else { return Ty::Unknown };
            let entry = db.program.symbol(variant);
            if entry.kind != SymbolKind::Variant {
                return Ty::Unknown;
            }
            let parts = db.instance_of_expr(variant.file, entry.ty);
            let parts = generics::substituted(db, parts, receiver.as_deref());
            match parts {
                Ty::Tuple(parts) => parts.get(position).cloned().unwrap_or(Ty::Unknown),
                _ => Ty::Unknown,
            }
        }
        Ty::Builtin(..) if let Some(part) = part_in_table(db, file, value, position) => part,
        Ty::Builtin(name, _) if &**name == ARRAY || type_flow::flow(db, file, name).is_some() => {
            element(db, file, value)
        }
        // Variant of a builtin type, with its parts from a type flow table.
        Ty::Function(parts) if matches!(**parts, Ty::Tuple(_)) => item(db, file, parts, position),
        Ty::Type(..) | Ty::Instance(..) => positional(db, value, position),
        Ty::External(name) if has_parts(db, file, name) => {
            part_outside(db, file, name, &position.to_string())
        }
        _ => Ty::Unknown,
    }
}

/// Names what a value outside holds, in languages whose types are declared: elsewhere it may be
/// anything that was put in.
fn part_outside(db: &Db, file: FileId, name: &Rc<str>, part: &str) -> Ty {
    match db.program.known(file).language.manifest.resolution.is_dynamic() {
        true => Ty::Unknown,
        false => Ty::External(qualified(name, ".", part)),
    }
}

/// True for a value outside that may have parts by position: not for the member of a value by the
/// name of a variant that is the repository's, or unknown.
fn has_parts(db: &Db, file: FileId, outside: &str) -> bool {
    let last = type_flow::last_segment(outside);
    let is_member_of_value = outside[..outside.len() - last.len()].contains(CALL_SUFFIX);
    let tables = &db.program.known(file).language.manifest.flow;
    !is_member_of_value
        || external_callable(last).is_some()
        || is_held_part(last)
        || tables.values().any(|table| table.members.contains_key(last))
}

/// Returns a part of a value by the member for its position in the type flow table.
fn part_in_table(db: &Db, file: FileId, value: &Ty, position: usize) -> Option<Ty> {
    let names = &db.program.known(file).language.manifest.names;
    let member = format!("{}{}", names.member_behind(ImplicitUse::Part)?, position + 1);
    type_flow::through(db, file, value, |flow| flow.members.get(&member).map(String::as_str))
}

/// Returns the type of a member of a builtin value, from its type flow table.
pub(crate) fn outside_member(db: &Db, object: &Ty, name: Name, qualified_name: &Rc<str>) -> Ty {
    if let Some(result) = inherent::outside_member_of(db, object, name) {
        return if db.wanted() == Some(Wanted::Others) { result } else { Ty::function(result) };
    }
    let none = no_types();
    let inherited: Rc<str>;
    let library: Option<Ty>;
    let (outer, args) = match object {
        Ty::Builtin(outer, args) | Ty::BuiltinType(outer, args) => (outer, args),
        Ty::External(outer) => (outer, &none),
        Ty::Callable(..) | Ty::Lambda(..) | Ty::Function(_) => {
            inherited = Rc::from(FUNCTION);
            (&inherited, &none)
        }
        // External members are inherited from an external base.
        _ => match qualified_name.rsplit_once('.') {
            Some((base, _)) => {
                library = hierarchy::library_base(db, object);
                match &library {
                    Some(Ty::Builtin(outer, args)) if **outer == *base => (outer, args),
                    _ => {
                        inherited = Rc::from(base);
                        (&inherited, &none)
                    }
                }
            }
            None => return Ty::External(qualified_name.clone()),
        },
    };
    let text = db.program.text(name);
    let language = db.program.known(db.origin.get()).language;
    let mut next = language.flow(outer).or_else(|| language.flow(last_segment(outer)));
    let mut args: Cow<'_, [Ty]> = Cow::Borrowed(args);
    for _ in 0..8 {
        let Some((_, flow)) = next else { break };
        if let Some(template) = flow.fields.get(text) {
            return type_flow::instantiated(template, flow, &args, object);
        }
        if let Some(template) = flow.members.get(text).or(flow.any.as_ref()) {
            // A type of a library by the same name has variants with types of their own.
            if matches!(object, Ty::External(_)) && template == VARIANT_OF_ITSELF {
                return Ty::External(qualified_name.clone());
            }
            if flow.any.is_some() && !flow.members.contains_key(text) {
                return type_flow::instantiated(template, flow, &args, object);
            }
            let result = type_flow::instantiated(template, flow, &args, object);
            // Where callables have a namespace of their own, a member that is not called is the
            // value, unless the table has the fields apart.
            let is_value = db.wanted() == Some(Wanted::Others) && flow.fields.is_empty();
            return if is_value { result } else { Ty::function(result) };
        }
        let Some((base, of_base)) = type_flow::base(flow, &args, object) else { break };
        args = of_base;
        next = language.flow(base);
    }
    let top = language.manifest.conversions.top.as_deref().and_then(|top| language.flow(top));
    if let Some((_, flow)) = top
        && let Some(template) = flow.members.get(text)
    {
        let result = type_flow::instantiated(template, flow, &[], object);
        let is_value = db.wanted() == Some(Wanted::Others);
        return if is_value { result } else { Ty::function(result) };
    }
    Ty::External(qualified_name.clone())
}

/// Returns the field of a value by position.
fn positional(db: &Db, value: &Ty, position: usize) -> Ty {
    let value = &instance_of(value);
    if let Ty::Instance(symbol, _) = value {
        let names = &db.program.known(symbol.file).language.manifest.names;
        let beginning = names.member_behind(ImplicitUse::Part);
        let part = beginning.map_or(Ty::Unknown, |beginning| {
            inherent::result_of_member(db, value, &format!("{beginning}{}", position + 1))
        });
        // The parts of a record are the parameters in its header.
        let field = || db.parameter_types(*symbol).get(position).cloned().unwrap_or(Ty::Unknown);
        let part = if part.is_known() { part } else { field() };
        if part.is_known() || beginning.is_some() {
            return generics::substituted(db, part, Some(value));
        }
    }
    let name = db.program.named(&position.to_string());
    match db.member_ty(value, name) {
        // No external type has members with such names.
        Ty::External(_) => Ty::Unknown,
        found => found,
    }
}
