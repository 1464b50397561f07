//! Types as inference knows them. Values and types are told apart: `Instance` is a value of a type, `Type` the type itself.

use super::modules::Module;
use super::{Name, Symbols};
use crate::model::facts::{BindingId, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// What is known of a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ty {
    /// Nothing.
    Unknown,
    /// A value of a type of the repository, with type arguments.
    Instance(SymbolRef, Rc<[Ty]>),
    /// A type of the repository.
    Type(SymbolRef, Rc<[Ty]>),
    /// The receiver seen as one of the bases of this type.
    Super(SymbolRef),
    /// A function or its overloads, and the value it was taken from.
    Callable(Symbols, Option<Rc<Ty>>),
    /// A closure.
    Lambda(FileId, ScopeId),
    /// A module.
    Module(Module),
    /// A value of a type that the language or its library defines, by name.
    Builtin(Rc<str>, Rc<[Ty]>),
    /// Such a type itself.
    BuiltinType(Rc<str>, Rc<[Ty]>),
    /// A value or type from outside of the repository, by qualified name.
    External(Rc<str>),
    /// A tuple.
    Tuple(Rc<[Ty]>),
    /// A value whose members are the bindings of a scope.
    Members(FileId, ScopeId),
    /// A type parameter.
    Param(FileId, BindingId),
    /// A value that is itself the type inside: what a declaration `Type[T]` gives.
    TypeObject(Rc<Ty>),
    /// A function type: result.
    Function(Rc<Ty>),
    /// One of several.
    Union(Rc<[Ty]>),
}

impl Ty {
    pub(super) fn instance(symbol: SymbolRef) -> Ty {
        Ty::Instance(symbol, no_types())
    }

    pub(super) fn builtin(name: &str, args: &[Ty]) -> Ty {
        Ty::Builtin(Rc::from(name), if args.is_empty() { no_types() } else { Rc::from(args) })
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Ty::Unknown)
    }

    /// One of several types; the same ones count once, unknown ones not at all.
    pub(super) fn union(parts: impl IntoIterator<Item = Ty>) -> Ty {
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
            _ => Ty::Union(distinct.into()),
        }
    }

    /// The alternatives of a union, or the type alone.
    pub(super) fn alternatives(&self) -> &[Ty] {
        match self {
            Ty::Union(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// The type with every part replaced for which `replace` has something else.
    pub(super) fn map(&self, replace: &impl Fn(&Ty) -> Option<Ty>) -> Ty {
        if let Some(other) = replace(self) {
            return other;
        }
        let all = |parts: &Rc<[Ty]>| -> Rc<[Ty]> { parts.iter().map(|part| part.map(replace)).collect() };
        match self {
            Ty::Instance(symbol, args) if !args.is_empty() => Ty::Instance(*symbol, all(args)),
            Ty::Type(symbol, args) if !args.is_empty() => Ty::Type(*symbol, all(args)),
            Ty::Builtin(name, args) if !args.is_empty() => Ty::Builtin(name.clone(), all(args)),
            Ty::BuiltinType(name, args) if !args.is_empty() => Ty::BuiltinType(name.clone(), all(args)),
            Ty::Tuple(parts) => Ty::Tuple(all(parts)),
            Ty::Union(parts) => Ty::union(parts.iter().map(|part| part.map(replace))),
            Ty::Function(result) => Ty::Function(Rc::new(result.map(replace))),
            Ty::TypeObject(inner) => Ty::TypeObject(Rc::new(inner.map(replace))),
            other => other.clone(),
        }
    }
}

thread_local! {
    static NO_TYPES: Rc<[Ty]> = Rc::new([]);
}

/// No type arguments, which most types have: a thread has them once.
pub(super) fn no_types() -> Rc<[Ty]> {
    NO_TYPES.with(Rc::clone)
}

fn add(distinct: &mut Vec<Ty>, ty: Ty) {
    if !distinct.contains(&ty) {
        distinct.push(ty);
    }
}

/// What a name means.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Entity {
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
