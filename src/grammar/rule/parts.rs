//! Tables that are values of keys in rules, words for kinds of symbols, and how values are read.

use crate::selector::Selector;
use cograph_model::SymbolKind;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// What a member of a type without a name says of its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signature {
    /// How they are called.
    Call,
    /// What their subscripts give: the result.
    Index,
}

/// Body of a macro: lists of tokens that invocations become.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Body {
    /// Nodes whose last child is such a list.
    pub of: Selector,
    /// Expressions among the tokens.
    pub read: TokenWords,
    /// Tokens before a name that belongs to the list itself.
    pub binds: Vec<String>,
}

/// Tokens by which expressions among the tokens of a macro are recognised.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TokenWords {
    /// Tokens between a value or module and its member.
    pub joiners: Vec<String>,
    /// Token that opens an argument list.
    pub call: String,
    /// Token between arguments.
    pub separator: String,
    /// Token after a value that is unwrapped.
    pub unwrap: String,
    /// Member name that awaits the value.
    pub awaits: String,
    /// Tokens after a name that is a label and no value.
    pub labels: Vec<String>,
    /// A label with a leading capital is a name: fields have none (`kind: Kind => Comma: ","`).
    pub capital_labels: bool,
    /// Token that opens type arguments, after a joiner.
    pub open: String,
    /// Token that closes type arguments.
    pub close: String,
}

/// Binding of a `for`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Yielded {
    /// The elements.
    #[default]
    Items,
    /// The keys.
    Keys,
    /// With two names the key and the element, with one the key.
    KeyAndItem,
}

/// What a cast does to the value that it names, besides giving it a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CastEffect {
    /// The value keeps its own type.
    Keeps,
    /// A name has the type from the cast on.
    Narrows,
}

/// The bases of a type, or a part of them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BaseRule {
    /// The node that holds the bases.
    pub of: Selector,
    /// The bases are interfaces to implement.
    #[serde(default)]
    pub implement: bool,
    /// The node represents this base from the library (a keyword).
    pub library: Option<String>,
}

/// Members that a list of names makes.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Listed {
    /// The names.
    pub of: Selector,
    /// Kind of the members.
    #[serde(deserialize_with = "symbol_kind")]
    pub kind: SymbolKind,
    /// Texts behind a name, with a member for each.
    pub suffixes: Vec<String>,
}

pub(super) fn dot() -> String {
    ".".to_owned()
}

pub(super) fn function() -> SymbolKind {
    SymbolKind::Function
}

pub(super) fn namespace() -> SymbolKind {
    SymbolKind::Namespace
}

fn kind_of_word<E: serde::de::Error>(word: &str) -> Result<SymbolKind, E> {
    SymbolKind::from_word(word).ok_or_else(|| E::custom(format!("no symbol kind `{word}`")))
}

pub(crate) fn symbol_kind<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<SymbolKind, D::Error> {
    kind_of_word(&String::deserialize(deserializer)?)
}

pub(super) fn optional_symbol_kind<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SymbolKind>, D::Error> {
    symbol_kind(deserializer).map(Some)
}

pub(super) fn symbol_kinds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, SymbolKind>, D::Error> {
    BTreeMap::<String, String>::deserialize(deserializer)?
        .into_iter()
        .map(|(node, word)| Ok((node, kind_of_word(&word)?)))
        .collect()
}
