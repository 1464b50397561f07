//! Tables about values: what tests tell about them, what conditions say, what they may be passed as, how types flow through those of the library.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Tests of a value's type.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Narrowing {
    /// Functions `f(value, Type)` that tell whether the value is of the type.
    pub calls: Vec<String>,
    /// Functions may say by their result that they tell whether their first argument is of a type.
    pub guards: bool,
    /// Operators that negate a condition.
    pub not: Vec<String>,
    /// Operators that join conditions that all hold.
    pub and: Vec<String>,
    /// Operators that join conditions of which one holds.
    pub or: Vec<String>,
}

/// How conditions under which code is compiled are written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Conditions {
    /// Words before what must not hold.
    pub negations: Vec<String>,
    /// Words before the name that is tested.
    pub tests: Vec<String>,
    /// Between conditions that must all hold.
    pub and: Option<String>,
    /// What a line starts with that gives the condition of the whole file.
    pub line: Option<String>,
    /// Ends of file names, after an underscore, that are conditions of the whole file.
    pub file_endings: Vec<String>,
}

/// What a generic wrapper does with its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// A value of it is a value of one of its arguments.
    Transparent,
    /// Its arguments are the types of its items by position.
    Tuple,
    /// A value of it is the type that its argument names.
    TypeObject,
    /// A function whose result is the last argument.
    Function,
}

/// What a value may be passed as besides its own type: tells overloads apart.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Conversions {
    /// The type that every object has. With it, what these tables do not allow does not happen.
    pub top: Option<String>,
    /// The type of the value that stands for no object.
    pub null: Option<String>,
    /// The type that texts are joined to, whatever they are joined with.
    pub text: Option<String>,
    /// The narrowest type that arithmetic gives.
    pub arithmetic: Option<String>,
    /// Type -> types of values without identity that hold all its values, nearest first.
    pub widening: BTreeMap<String, Vec<String>>,
    /// Type of values without identity -> type of the objects that hold them.
    pub boxes: BTreeMap<String, String>,
    /// Type -> its direct bases, all of them.
    pub supertypes: BTreeMap<String, Vec<String>>,
}

/// How types flow through one builtin type: its parameters, its bases and what its members give.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct TypeFlow {
    /// What it does with its arguments, if it is not a type with members.
    pub kind: Option<FlowKind>,
    /// Names of its type parameters.
    pub params: Vec<String>,
    /// Other names of the same type.
    pub aliases: Vec<String>,
    /// What iterating yields.
    pub element: Option<String>,
    /// What indexing yields.
    pub index: Option<String>,
    /// What a loop over its keys yields, where that is not its first parameter.
    pub key: Option<String>,
    /// What members that are not listed give.
    pub any: Option<String>,
    /// What awaiting yields.
    pub awaited: Option<String>,
    /// What unwrapping yields.
    pub unwrapped: Option<String>,
    /// What entering yields.
    pub entered: Option<String>,
    /// Its base.
    pub base: Option<String>,
    /// Member -> type of its value, or of its result when called; `result` is what its closure gives back.
    pub members: BTreeMap<String, String>,
    /// Member -> what it gives the closure that it is called with.
    pub callbacks: BTreeMap<String, Vec<String>>,
}

/// Names of members that builtin types have, whether a table says what they give or not.
pub(super) fn common_members(manifest: &super::Manifest) -> FxHashSet<String> {
    let known = manifest.flow.values().flat_map(|flow| flow.members.keys());
    known.chain(&manifest.builtins.common_members).cloned().collect()
}

/// Which kinds of tokens are words that say something about a definition.
pub(super) fn modifier_tokens(manifest: &super::Manifest, tokens: &[bool], grammar: &tree_sitter::Language) -> Vec<bool> {
    let rules = &manifest.modifiers;
    let lists = [&rules.r#static, &rules.r#abstract, &rules.r#async, &rules.property, &rules.generator, &rules.constant];
    let words = lists.into_iter().flatten().chain(manifest.visibility.words.keys());
    let words: FxHashSet<&str> = words.map(String::as_str).collect();
    let is_word = |kind: u16| grammar.node_kind_for_id(kind).is_some_and(|text| words.contains(text));
    tokens.iter().zip(0..).map(|(is_token, kind)| *is_token && is_word(kind)).collect()
}

/// Names that every file knows without an import.
pub(super) fn builtin_names(manifest: &super::Manifest) -> FxHashSet<String> {
    let builtins = &manifest.builtins;
    builtins.functions.iter().chain(&builtins.types).chain(&manifest.modules.prelude).cloned().collect()
}

/// Every name of a type with a table of type flow -> the name of the table.
pub(super) fn flow_names(manifest: &super::Manifest) -> FxHashMap<String, String> {
    let named = |(name, flow): (&String, &TypeFlow)| -> Vec<(String, String)> {
        std::iter::once(name).chain(&flow.aliases).map(|alias| (alias.clone(), name.clone())).collect()
    };
    manifest.flow.iter().flat_map(named).collect()
}
