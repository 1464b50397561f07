//! Order of member lookup, and tables about values: type narrowing, conditions, conversions, and
//! type flow through builtin types.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Order of member lookup in a type and its bases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberLookup {
    /// The type, then its bases depth first, classes before interfaces.
    #[default]
    Chain,
    /// The type, then its traits and modules, its classes and its interfaces, depth first.
    MixinsFirst,
    /// The same with the last trait or module first.
    LastMixinFirst,
    /// The C3 linearisation of the bases.
    C3,
    /// The type, then its embedded types, breadth first.
    Embedding,
    /// Inherent members, then members of implemented and bounding traits, then members through
    /// implicit dereference.
    InherentFirst,
}

/// Type narrowing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Narrowing {
    /// Functions may be declared as type guards of their first argument.
    pub guards: bool,
    /// Operators of negation.
    pub not: Vec<String>,
    /// Operators of conjunction.
    pub and: Vec<String>,
    /// Operators of disjunction.
    pub or: Vec<String>,
}

/// Name whose ending is a condition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndingOf {
    /// The stem of the file: the ending after an underscore is the condition.
    File,
    /// A folder around the file: what stands before the ending is the condition, of definitions
    /// with a modifier `conditional`.
    Folder,
}

/// Syntax of conditional compilation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Conditions {
    /// Words that negate a condition.
    pub negations: Vec<String>,
    /// Words before a tested name (`defined`).
    pub tests: Vec<String>,
    /// Operator of conjunction.
    pub and: Option<String>,
    /// Prefix of a line with the condition of the whole file.
    pub line: Option<String>,
    /// Endings of names that are conditions of whole files.
    pub endings: BTreeMap<EndingOf, Vec<String>>,
}

impl Conditions {
    /// Returns the endings of these names.
    pub fn endings_of(&self, names: EndingOf) -> &[String] {
        self.endings.get(&names).map_or(&[], Vec::as_slice)
    }
}

/// Meaning of a generic type that has no members of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// Transparent: a value of it is a value of one of its arguments.
    Transparent,
    /// A tuple: its arguments are the types of its elements by position.
    Tuple,
    /// A type object: a value of it is the type named by its argument.
    TypeObject,
    /// A function type: the last argument is the result, the others are the parameters.
    Function,
    /// A function type without a result: all arguments are parameters.
    Procedure,
    /// The result of the callable that is its argument.
    Result,
    /// A tuple: the types of the parameters of the callable that is its argument.
    Parameters,
    /// The result type of callables without a result.
    Nothing,
    /// A value of its argument or none, where that has no null among its values.
    Optional,
    /// A range of positions: a subscript with it gives a part of a container, not an element.
    Slice,
    /// The type of no value.
    Empty,
    /// What all types are whose values have no null among them.
    Value,
}

/// Implicit conversions of arguments.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Conversions {
    /// Top type of all objects. If it is set, conversions that these tables do not list are
    /// impossible.
    pub top: Option<String>,
    /// Type of the null value.
    pub null: Option<String>,
    /// Result type of string concatenation.
    pub text: Option<String>,
    /// Narrowest result type of arithmetic.
    pub arithmetic: Option<String>,
    /// Primitive type -> primitive types that it widens to, nearest first.
    pub widening: BTreeMap<String, Vec<String>>,
    /// Primitive type -> its boxed type.
    pub boxes: BTreeMap<String, String>,
    /// Library type -> all its direct supertypes.
    pub supertypes: BTreeMap<String, Vec<String>>,
    /// Library types that no other type derives from.
    pub r#final: Vec<String>,
    /// Library type -> library types that it constructs implicitly.
    pub constructs: BTreeMap<String, Vec<String>>,
}

/// Builtin names.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Builtins {
    /// Builtin functions and values.
    pub functions: Vec<String>,
    /// Builtin types; their members are external.
    pub types: Vec<String>,
    /// Values of the library whose members are all of the library: an assignment to a member
    /// (`console.error = ..`) replaces it for a while and declares none.
    pub sealed: Vec<String>,
    /// Types that take every value.
    pub any: Vec<String>,
    /// Member names that are too common on builtin types for the unique-name heuristic.
    pub common_members: Vec<String>,
    /// Function -> type of its result. `arg0` and `arg1` are the types of arguments, `item0` and
    /// `item1` the types of their items; `callee0` is the first argument as a callable, `like0`
    /// another value of its type, `value0` the type of the first argument or of what a closure in
    /// its place makes.
    pub results: BTreeMap<String, String>,
    /// Function -> types of the parameters of its closure argument; `this T` is its receiver.
    pub callbacks: BTreeMap<String, Vec<String>>,
}

/// Type flow through one builtin type.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct TypeFlow {
    /// Meaning of its type arguments, for a type without members.
    pub kind: Option<FlowKind>,
    /// Type parameters.
    pub params: Vec<String>,
    /// Aliases of the type.
    pub aliases: Vec<String>,
    /// Type of an element in iteration.
    pub element: Option<String>,
    /// Type of a subscript.
    pub index: Option<String>,
    /// Type of a key in a loop over keys, where it is not the first type parameter.
    pub key: Option<String>,
    /// Type of members that are not listed.
    pub any: Option<String>,
    /// Type of an awaited value.
    pub awaited: Option<String>,
    /// Type of an unwrapped value.
    pub unwrapped: Option<String>,
    /// Type of the value that entering a context binds.
    pub entered: Option<String>,
    /// Base type; without type arguments it has those of the type.
    pub base: Option<String>,
    /// Member -> type of its value, or of its result when called; `result` is the result of the
    /// closure argument (`result<T>`: `T` without one), `result1` that of the second closure,
    /// `itemOfResult` the type of its items, `arg0` the type of the first argument, `item0` that of
    /// its items, and `type0` the first type argument that the call writes.
    pub members: BTreeMap<String, String>,
    /// Member that is no method -> type of its value, where a member that is not called may be one;
    /// with any of these, all of `members` are methods.
    pub fields: BTreeMap<String, String>,
    /// Member -> types of the parameters of its closure argument; `this T` is its receiver.
    pub callbacks: BTreeMap<String, Vec<String>>,
    /// Member -> types of its arguments, the last one of all further ones; `()` is the value
    /// itself.
    pub arguments: BTreeMap<String, Vec<String>>,
}
