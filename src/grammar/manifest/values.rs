//! Order of member lookup, meanings of decorators, and tables about values: type narrowing,
//! conditions, conversions, and type flow through builtin types.

use rustc_hash::{FxHashMap, FxHashSet};
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

/// Meaning of a decorator for its definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoratorMeaning {
    /// Static member.
    Static,
    /// Class method: its first parameter is the type.
    ClassMethod,
    /// Method that is read like a field.
    Property,
    /// Abstract member.
    Abstract,
    /// One of several signatures of a callable.
    Overload,
    /// Deprecated.
    Deprecated,
    /// Conditional compilation: the arguments are the condition.
    Conditional,
    /// Public, whatever its modifiers are.
    Public,
    /// The arguments name the decorators to apply (`derive`).
    Applying,
    /// Test.
    Test,
}

impl super::Modifiers {
    /// True if a decorator of this name has this meaning.
    pub(crate) fn is_decorator(&self, name: &str, meaning: DecoratorMeaning) -> bool {
        self.decorators.get(name).is_some_and(|meanings| meanings.contains(&meaning))
    }

    /// True if some decorator has this meaning.
    pub(crate) fn has_decorator(&self, meaning: DecoratorMeaning) -> bool {
        self.decorators.values().any(|meanings| meanings.contains(&meaning))
    }
}

/// Type narrowing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Narrowing {
    /// Functions `f(value, Type)` that test the type of a value.
    pub calls: Vec<String>,
    /// Functions may be declared as type guards of their first argument.
    pub guards: bool,
    /// Operators of negation.
    pub not: Vec<String>,
    /// Operators of conjunction.
    pub and: Vec<String>,
    /// Operators of disjunction.
    pub or: Vec<String>,
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
    /// Endings of file names, after an underscore, that are conditions of the whole file.
    pub file_endings: Vec<String>,
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
    /// A function type: the last argument is the result.
    Function,
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
    /// Library type -> library types that it constructs implicitly.
    pub constructs: BTreeMap<String, Vec<String>>,
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
    /// Base type.
    pub base: Option<String>,
    /// Member -> type of its value, or of its result when called; `result` is the result of the
    /// closure argument.
    pub members: BTreeMap<String, String>,
    /// Member -> types of the parameters of its closure argument.
    pub callbacks: BTreeMap<String, Vec<String>>,
}

/// Returns the names of members of builtin types.
pub(in crate::grammar) fn common_members(manifest: &crate::grammar::Manifest) -> FxHashSet<String> {
    let known = manifest.flow.values().flat_map(|flow| flow.members.keys());
    known.chain(&manifest.builtins.common_members).cloned().collect()
}

/// Returns the token kinds of modifiers.
pub(in crate::grammar) fn modifier_tokens(
    manifest: &crate::grammar::Manifest,
    tokens: &[bool],
    grammar: &tree_sitter::Language,
) -> Vec<bool> {
    let rules = &manifest.modifiers;
    let lists = [
        &rules.r#static,
        &rules.r#abstract,
        &rules.r#async,
        &rules.property,
        &rules.generator,
        &rules.constant,
    ];
    let words = lists.into_iter().flatten().chain(manifest.visibility.words.keys());
    let words: FxHashSet<&str> = words.map(String::as_str).collect();
    let is_word =
        |kind: u16| grammar.node_kind_for_id(kind).is_some_and(|text| words.contains(text));
    tokens.iter().zip(0..).map(|(is_token, kind)| *is_token && is_word(kind)).collect()
}

/// Returns the names visible in every file without an import.
pub(in crate::grammar) fn builtin_names(manifest: &crate::grammar::Manifest) -> FxHashSet<String> {
    let builtins = &manifest.builtins;
    builtins
        .functions
        .iter()
        .chain(&builtins.types)
        .chain(&manifest.modules.prelude)
        .cloned()
        .collect()
}

/// Returns the type flow table of each name and alias of a type.
pub(in crate::grammar) fn flow_names(
    manifest: &crate::grammar::Manifest,
) -> FxHashMap<String, String> {
    let named = |(name, flow): (&String, &TypeFlow)| -> Vec<(String, String)> {
        std::iter::once(name)
            .chain(&flow.aliases)
            .map(|alias| (alias.clone(), name.clone()))
            .collect()
    };
    manifest.flow.iter().flat_map(named).collect()
}
