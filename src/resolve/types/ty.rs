//! Types as inference knows them. Values and types are told apart: `Instance` is a value of a type,
//! `Type` the type itself.

use crate::model::facts::{BindingId, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::units::import_target::Module;
use crate::resolve::{Name, Symbols};
use std::rc::Rc;

/// The names under which arrays, slices and mappings without a name of their own stand in tables of
/// type flow.
pub(in crate::resolve) const ARRAY: &str = "[]";
pub(in crate::resolve) const MAPPING: &str = "{}";

/// What is known of a value.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::resolve) enum Ty {
    /// Nothing.
    Unknown,
    /// A value of a type of the repository, with type arguments.
    Instance(SymbolRef, TyList),
    /// A type of the repository.
    Type(SymbolRef, TyList),
    /// The receiver seen as one of the bases of this type.
    Super(SymbolRef),
    /// A function or its overloads, and the value it was taken from.
    Callable(Symbols, Option<Rc<Ty>>),
    /// A closure.
    Lambda(FileId, ScopeId),
    /// A module.
    Module(Module),
    /// A value of a type that the language or its library defines, by name.
    Builtin(Rc<str>, TyList),
    /// Such a type itself.
    BuiltinType(Rc<str>, TyList),
    /// A value or type from outside of the repository, by qualified name.
    External(Rc<str>),
    /// A tuple.
    Tuple(TyList),
    /// A value whose members are the bindings of a scope.
    Members(FileId, ScopeId),
    /// A type parameter.
    Param(FileId, BindingId),
    /// A value that is itself the type inside: what a declaration `Type[T]` gives.
    TypeObject(Rc<Ty>),
    /// A function type: result.
    Function(Rc<Ty>),
    /// One of several.
    Union(TyList),
}

/// Types in a row: arguments, parts, alternatives. They are shared, so that a type can be
/// exponentially large when it is written out; a list knows its size, and one that is too large has
/// as many unknown types.
#[derive(Clone, Debug)]
pub(in crate::resolve) struct TyList {
    types: Rc<[Ty]>,
    /// Nodes of all of them, written out.
    weight: u32,
}

impl TyList {
    fn of(types: Rc<[Ty]>) -> Self {
        let weight = types.iter().fold(0_u32, |sum, ty| sum.saturating_add(ty.weight()));
        if is_too_large(weight) {
            return Self { types: types.iter().map(|_| Ty::Unknown).collect(), weight: 0 };
        }
        Self { types, weight }
    }
}

impl std::ops::Deref for TyList {
    type Target = [Ty];

    fn deref(&self) -> &[Ty] {
        &self.types
    }
}

impl PartialEq for TyList {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.types, &other.types)
            || (self.weight == other.weight && self.types == other.types)
    }
}

impl From<Vec<Ty>> for TyList {
    fn from(types: Vec<Ty>) -> Self {
        Self::of(types.into())
    }
}

impl From<&[Ty]> for TyList {
    fn from(types: &[Ty]) -> Self {
        Self::of(types.into())
    }
}

impl FromIterator<Ty> for TyList {
    fn from_iter<I: IntoIterator<Item = Ty>>(types: I) -> Self {
        Self::of(types.into_iter().collect())
    }
}

impl Ty {
    /// How many nodes it has, written out.
    pub(in crate::resolve) fn weight(&self) -> u32 {
        let (mut ty, mut weight) = (self, 1_u32);
        loop {
            match ty {
                Ty::Callable(_, Some(inner)) | Ty::TypeObject(inner) | Ty::Function(inner) => {
                    (ty, weight) = (inner, weight.saturating_add(1));
                }
                Ty::Instance(_, list)
                | Ty::Type(_, list)
                | Ty::Builtin(_, list)
                | Ty::BuiltinType(_, list)
                | Ty::Tuple(list)
                | Ty::Union(list) => return weight.saturating_add(list.weight),
                _ => return weight,
            }
        }
    }

    /// A function that gives a value of this type.
    pub(in crate::resolve) fn function(result: Ty) -> Ty {
        Ty::Function(Rc::new(bounded(result)))
    }

    /// A value that is itself this type.
    pub(super) fn type_object(of: Ty) -> Ty {
        Ty::TypeObject(Rc::new(bounded(of)))
    }

    /// Functions that were taken from a value.
    pub(in crate::resolve) fn callable(symbols: Symbols, receiver: Option<&Ty>) -> Ty {
        Ty::Callable(symbols, receiver.map(|receiver| Rc::new(bounded(receiver.clone()))))
    }

    pub(in crate::resolve) fn instance(symbol: SymbolRef) -> Ty {
        Ty::Instance(symbol, no_types())
    }

    pub(in crate::resolve) fn builtin(name: &str, args: &[Ty]) -> Ty {
        Ty::Builtin(Rc::from(name), if args.is_empty() { no_types() } else { args.into() })
    }

    pub(in crate::resolve) fn is_known(&self) -> bool {
        !matches!(self, Ty::Unknown)
    }

    /// One of several types; the same ones count once, unknown ones not at all.
    pub(in crate::resolve) fn union(parts: impl IntoIterator<Item = Ty>) -> Ty {
        let mut distinct: Vec<Ty> = Vec::new();
        for part in parts {
            match part {
                Ty::Unknown => {}
                Ty::Union(inner) => inner.iter().for_each(|ty| add(&mut distinct, ty.clone())),
                other => add(&mut distinct, other),
            }
        }
        match distinct.len() {
            0 => Ty::Unknown,
            1 => distinct.swap_remove(0),
            _ if is_too_large(
                distinct.iter().fold(0, |sum, ty| ty.weight().saturating_add(sum)),
            ) =>
            {
                Ty::Unknown
            }
            _ => Ty::Union(distinct.into()),
        }
    }

    /// The alternatives of a union, or the type alone.
    pub(in crate::resolve) fn alternatives(&self) -> &[Ty] {
        match self {
            Ty::Union(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// The type with every part replaced for which `replace` has something else.
    pub(in crate::resolve) fn map(&self, replace: &impl Fn(&Ty) -> Option<Ty>) -> Ty {
        if let Some(other) = replace(self) {
            return other;
        }
        let all =
            |parts: &TyList| -> TyList { parts.iter().map(|part| part.map(replace)).collect() };
        match self {
            Ty::Instance(symbol, args) if !args.is_empty() => Ty::Instance(*symbol, all(args)),
            Ty::Type(symbol, args) if !args.is_empty() => Ty::Type(*symbol, all(args)),
            Ty::Builtin(name, args) if !args.is_empty() => Ty::Builtin(name.clone(), all(args)),
            Ty::BuiltinType(name, args) if !args.is_empty() => {
                Ty::BuiltinType(name.clone(), all(args))
            }
            Ty::Tuple(parts) => Ty::Tuple(all(parts)),
            Ty::Union(parts) => Ty::union(parts.iter().map(|part| part.map(replace))),
            Ty::Function(result) => Ty::function(result.map(replace)),
            Ty::TypeObject(inner) => Ty::type_object(inner.map(replace)),
            other => other.clone(),
        }
    }
}

thread_local! {
    static NO_TYPES: TyList = Vec::new().into();
}

/// No type arguments, which most types have: a thread has them once.
pub(in crate::resolve) fn no_types() -> TyList {
    NO_TYPES.with(TyList::clone)
}

fn add(distinct: &mut Vec<Ty>, ty: Ty) {
    if !distinct.contains(&ty) {
        distinct.push(ty);
    }
}

/// What a name means.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::resolve) enum Entity {
    /// One symbol or overloads.
    Symbols(Symbols),
    /// A module.
    Module(Module),
    /// Something outside, by qualified name.
    External(Rc<str>),
    /// A local variable, parameter or type parameter: the bindings that may reach here.
    Local(FileId, smallvec::SmallVec<[BindingId; 2]>),
    /// A name that the language or its library defines.
    Builtin(Name),
}

/// Nodes of the largest type: what contains a larger one is not known.
const LARGEST_TYPE: u32 = 2_000;

/// A type that is part of another one, in a box; not known if it is too large.
fn bounded(ty: Ty) -> Ty {
    if ty.weight() > LARGEST_TYPE { Ty::Unknown } else { ty }
}

/// Whether types of so many nodes together are too large to be parts of one.
fn is_too_large(weight: u32) -> bool {
    weight > LARGEST_TYPE
}

/// What is found under a name.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::resolve) enum Member {
    Symbols(Symbols),
    Entity(Entity),
    /// It exists outside, under this qualified name.
    Outside(Rc<str>),
    /// The type is known and has no such member.
    None,
    /// Nothing can be said.
    Unknown,
}
