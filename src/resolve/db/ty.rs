//! Types of inference, and what lookups give. Values and types are distinct: `Instance` is a value
//! of a type, `Type` is the type itself.

use crate::units::import_target::Module;
use crate::units::interner::Name;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use cograph_model::facts::{BindingId, ScopeId};
use cograph_model::graph::{FileId, SymbolRef};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Type and all its ancestors in lookup order, each with the type arguments of the inheritance.
#[derive(Debug, Default)]
pub(crate) struct Hierarchy {
    pub(crate) types: Vec<(SymbolRef, TyList)>,
    /// Types whose members come before those of the type itself.
    pub(crate) before: Vec<SymbolRef>,
    /// Names of external bases.
    pub(crate) outside: Vec<Rc<str>>,
    /// Instance of the first external base.
    pub(crate) library: Option<Ty>,
    /// True if a base is unknown.
    pub(crate) open: bool,
    /// True for single inheritance: the hierarchy is then the type and the hierarchy of its base.
    pub(crate) is_linear: bool,
}

/// Packages by their declared names.
pub(crate) type OwnNames<'a> = FxHashMap<&'a str, Module>;

/// Type parameter, identified by its binding.
pub(crate) type Parameter = (FileId, BindingId);

/// Names of arrays, slices and mappings without a named type in type flow tables.
pub(crate) const ARRAY: &str = "[]";

pub(crate) const MAPPING: &str = "{}";

/// Inferred type of a value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ty {
    /// Unknown.
    Unknown,
    /// Instance of a type of the repository, with type arguments.
    Instance(SymbolRef, TyList),
    /// Type of the repository, as a value.
    Type(SymbolRef, TyList),
    /// Receiver as an instance of one of the bases of this type.
    Super(SymbolRef),
    /// Callable or its overloads, with the receiver that it was read from.
    Callable(Symbols, Option<Rc<Ty>>),
    /// Closure.
    Lambda(FileId, ScopeId),
    /// Module.
    Module(Module),
    /// Namespace that only the paths of definitions below it name, as far as is known: a type of
    /// the name may be behind it.
    Namespace(Space),
    /// Instance of a builtin or library type, by name.
    Builtin(Rc<str>, TyList),
    /// Builtin or library type, as a value.
    BuiltinType(Rc<str>, TyList),
    /// External value or type, by qualified name.
    External(Rc<str>),
    /// Tuple.
    Tuple(TyList),
    /// Value whose members are the bindings of a scope.
    Members(FileId, ScopeId),
    /// Value of a type without a name, with type parameters around it and what they are.
    Filled(Rc<Ty>, Rc<[Parameter]>, TyList),
    /// Type parameter.
    Param(FileId, BindingId),
    /// Value that is the inner type itself: what a declaration `Type[T]` gives.
    TypeObject(Rc<Ty>),
    /// Function type with its result.
    Function(Rc<Ty>),
    /// Union.
    Union(TyList),
}

/// Type list: arguments, parts, alternatives. Shared, because a type can be exponentially large
/// when it is expanded; a list has its expanded size, and beyond the limit all its types are
/// unknown.
#[derive(Clone, Debug)]
pub(crate) struct TyList {
    types: Rc<[Ty]>,
    /// Number of nodes of all types, expanded.
    weight: u32,
    /// True for alternatives of which the build of a program selects one.
    by_build: bool,
}

/// Result of a name lookup.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Entity {
    /// Symbol or overloads.
    Symbols(Symbols),
    /// Module.
    Module(Module),
    /// External name, qualified.
    External(Rc<str>),
    /// Alternatives of which the build of a program selects one.
    Variants(Rc<[Entity]>),
    /// Local variable, parameter or type parameter: the bindings that may reach the reference.
    Local(FileId, smallvec::SmallVec<[BindingId; 2]>),
    /// Name of the language or its library.
    Builtin(Name),
}

/// Maximum number of nodes of a type; a larger part of a type is unknown.
const MAX_TYPE_NODES: u32 = 2_000;

/// Result of a member lookup.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Member {
    Symbols(Symbols),
    Entity(Entity),
    /// Exists outside the repository, under this qualified name.
    Outside(Rc<str>),
    /// The type is known and has no such member.
    None,
    /// The lookup is inconclusive.
    Unknown,
}

impl Entity {
    /// Creates the meaning of a name with these alternatives; `None` if there are none.
    pub(crate) fn variants(parts: impl IntoIterator<Item = Entity>) -> Option<Self> {
        let mut distinct: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::Variants(inner) => {
                    let new = inner.iter().filter(|one| !distinct.contains(one)).cloned();
                    distinct.extend(new.collect::<Vec<_>>());
                }
                other if !distinct.contains(&other) => distinct.push(other),
                _ => {}
            }
        }
        match distinct.len() {
            0 | 1 => distinct.pop(),
            _ => Some(Self::Variants(distinct.into())),
        }
    }
}

impl Hierarchy {
    /// Adds external bases without duplicates.
    pub(crate) fn add_outside(&mut self, names: &[Rc<str>]) {
        for name in names {
            if !self.outside.contains(name) {
                self.outside.push(name.clone());
            }
        }
    }
}

/// Returns an instance of a type; any other value unchanged.
pub(crate) fn instance_of(ty: &Ty) -> Ty {
    match ty {
        Ty::Type(symbol, args) => Ty::Instance(*symbol, args.clone()),
        Ty::BuiltinType(name, args) => Ty::Builtin(name.clone(), args.clone()),
        Ty::TypeObject(of) => match &**of {
            Ty::Instance(symbol, args) => Ty::Type(*symbol, args.clone()),
            _ => Ty::Unknown,
        },
        Ty::Union(parts) => parts.each(instance_of),
        Ty::Callable(..) => Ty::Unknown,
        other => other.clone(),
    }
}

pub(crate) fn unify(declared: &Ty, given: &Ty, known: &mut Vec<((FileId, BindingId), Ty)>) {
    match (declared, given) {
        // The first argument that binds a parameter decides.
        (Ty::Param(file, binding), given)
            if given.is_known() && !known.iter().any(|(param, _)| *param == (*file, *binding)) =>
        {
            known.push(((*file, *binding), given.clone()));
        }
        (Ty::Instance(a, declared), Ty::Instance(b, given)) if a == b => {
            declared
                .iter()
                .zip(given.iter())
                .for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Builtin(a, declared), Ty::Builtin(b, given)) if a == b => {
            declared
                .iter()
                .zip(given.iter())
                .for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Builtin(a, declared), Ty::Builtin(_, given)) if &**a == ARRAY && given.len() == 1 => {
            declared
                .iter()
                .zip(given.iter())
                .for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Type(a, _), Ty::Type(b, _)) if a == b => {}
        (Ty::Function(declared), Ty::Function(given)) => unify(declared, given, known),
        (Ty::Union(parts), given) => parts.iter().for_each(|part| unify(part, given, known)),
        _ => {}
    }
}

impl TyList {
    fn of(types: Rc<[Ty]>) -> Self {
        let weight = types.iter().fold(0_u32, |sum, ty| sum.saturating_add(ty.weight()));
        if is_too_large(weight) {
            let types = types.iter().map(|_| Ty::Unknown).collect();
            return Self { types, weight: 0, by_build: false };
        }
        Self { types, weight, by_build: false }
    }

    /// Returns the union of what a function gives for each type: again alternatives of a build if
    /// these are.
    pub(crate) fn each(&self, of: impl FnMut(&Ty) -> Ty) -> Ty {
        let parts: Vec<Ty> = self.iter().map(of).collect();
        if self.by_build { Ty::variants(parts) } else { Ty::union(parts) }
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
        (Rc::ptr_eq(&self.types, &other.types) && self.by_build == other.by_build)
            || (self.weight == other.weight
                && self.by_build == other.by_build
                && self.types == other.types)
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
    /// Returns the number of nodes, expanded.
    pub(crate) fn weight(&self) -> u32 {
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
                | Ty::Filled(_, _, list)
                | Ty::Union(list) => return weight.saturating_add(list.weight),
                _ => return weight,
            }
        }
    }

    /// Creates a function type with this result.
    pub(crate) fn function(result: Ty) -> Ty {
        Ty::Function(Rc::new(bounded(result)))
    }

    /// Creates a value that is this type itself.
    pub(crate) fn type_object(of: Ty) -> Ty {
        Ty::TypeObject(Rc::new(bounded(of)))
    }

    /// Creates a callable with the receiver that it was read from.
    pub(crate) fn callable(symbols: Symbols, receiver: Option<&Ty>) -> Ty {
        Ty::Callable(symbols, receiver.map(|receiver| Rc::new(bounded(receiver.clone()))))
    }

    pub(crate) fn instance(symbol: SymbolRef) -> Ty {
        Ty::Instance(symbol, no_types())
    }

    pub(crate) fn builtin(name: &str, args: &[Ty]) -> Ty {
        Ty::Builtin(Rc::from(name), if args.is_empty() { no_types() } else { args.into() })
    }

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Ty::Unknown | Ty::Namespace(_))
    }

    /// Creates a union without duplicates and unknown types. Of values that all have the same
    /// alternatives of a build, it has these.
    pub(crate) fn union(parts: impl IntoIterator<Item = Ty>) -> Ty {
        let mut distinct: Vec<Ty> = Vec::new();
        let (mut by_build, mut most) = (true, 0);
        for part in parts {
            match part {
                Ty::Unknown => {}
                Ty::Union(inner) => {
                    by_build &= inner.by_build;
                    most = most.max(inner.len());
                    inner.iter().for_each(|ty| add(&mut distinct, ty.clone()));
                }
                other => {
                    by_build = false;
                    add(&mut distinct, other);
                }
            }
        }
        let by_build = by_build && most == distinct.len();
        Self::of_distinct(distinct, by_build)
    }

    /// Creates a union of alternatives of which the build of a program selects one.
    pub(crate) fn variants(parts: impl IntoIterator<Item = Ty>) -> Ty {
        let mut distinct: Vec<Ty> = Vec::new();
        let mut by_build = true;
        for part in parts {
            match part {
                Ty::Unknown => {}
                Ty::Union(inner) => {
                    by_build &= inner.by_build;
                    inner.iter().for_each(|ty| add(&mut distinct, ty.clone()));
                }
                other => add(&mut distinct, other),
            }
        }
        Self::of_distinct(distinct, by_build)
    }

    fn of_distinct(mut distinct: Vec<Ty>, by_build: bool) -> Ty {
        match distinct.len() {
            0 => Ty::Unknown,
            1 => distinct.swap_remove(0),
            _ if is_too_large(
                distinct.iter().fold(0, |sum, ty| ty.weight().saturating_add(sum)),
            ) =>
            {
                Ty::Unknown
            }
            _ => Ty::Union(TyList { by_build, ..distinct.into() }),
        }
    }

    /// Returns the alternatives of which the build of a program selects one.
    pub(crate) fn of_build(&self) -> Option<&TyList> {
        match self {
            Ty::Union(parts) if parts.by_build => Some(parts),
            _ => None,
        }
    }

    /// Returns the alternatives of a union, or the type alone.
    pub(crate) fn alternatives(&self) -> &[Ty] {
        match self {
            Ty::Union(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// Returns what a type is whose parameters are known: of one without a name its members may
    /// have them.
    pub(crate) fn filled(&self, known: &[(Parameter, Ty)]) -> Option<Ty> {
        match self {
            Ty::Param(file, binding) => known
                .iter()
                .find(|(param, _)| *param == (*file, *binding))
                .map(|(_, ty)| ty.clone()),
            Ty::Members(file, _) => {
                let is_new = |((of, binding), ty): &&(Parameter, Ty)| {
                    of == file && *ty != Ty::Param(*of, *binding)
                };
                let new: Vec<&(Parameter, Ty)> = known.iter().filter(is_new).collect();
                (!new.is_empty()).then(|| {
                    let params = new.iter().map(|(param, _)| *param).collect();
                    let args = new.iter().map(|(_, ty)| ty.clone()).collect();
                    Ty::Filled(Rc::new(self.clone()), params, args)
                })
            }
            _ => None,
        }
    }

    /// Returns the type of a member of a type without a name, with the parameters that are known.
    pub(crate) fn with(&self, params: &[Parameter], args: &TyList) -> Ty {
        let known: Vec<(Parameter, Ty)> =
            params.iter().copied().zip(args.iter().cloned()).collect();
        self.map(&|ty: &Ty| ty.filled(&known))
    }

    /// Returns the type with every part replaced for which `replace` returns one.
    pub(crate) fn map(&self, replace: &impl Fn(&Ty) -> Option<Ty>) -> Ty {
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
            Ty::Filled(inner, params, args) => Ty::Filled(inner.clone(), params.clone(), all(args)),
            Ty::Union(parts) => parts.each(|part| part.map(replace)),
            Ty::Function(result) => Ty::function(result.map(replace)),
            Ty::TypeObject(inner) => Ty::type_object(inner.map(replace)),
            other => other.clone(),
        }
    }
}

thread_local! {
    static NO_TYPES: TyList = Vec::new().into();
}

/// Returns the empty list, the most frequent one: shared per thread.
pub(crate) fn no_types() -> TyList {
    NO_TYPES.with(TyList::clone)
}

fn add(distinct: &mut Vec<Ty>, ty: Ty) {
    if !distinct.contains(&ty) {
        distinct.push(ty);
    }
}

/// Boxed part of a type; unknown if it is too large.
fn bounded(ty: Ty) -> Ty {
    if ty.weight() > MAX_TYPE_NODES { Ty::Unknown } else { ty }
}

/// True if this number of nodes is too large for the parts of one type.
fn is_too_large(weight: u32) -> bool {
    weight > MAX_TYPE_NODES
}
