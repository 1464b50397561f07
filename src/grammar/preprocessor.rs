//! What a manifest says about a preprocessor that runs over sources before they mean anything.

use serde::Deserialize;

/// The words by which declarations are told from uses of macros around them. Without a directive there is no preprocessor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Preprocessor {
    /// What directives start with.
    pub directive: Option<String>,
    /// Words before a body that is a list of names.
    pub list_words: Vec<String>,
    /// Words before the name of a type.
    pub type_words: Vec<String>,
    /// Words before a body of declarations that is no type.
    pub block_words: Vec<String>,
    /// Words around a type or a name that are neither.
    pub qualifiers: Vec<String>,
    /// Those among them that a declaration can start with.
    pub start_words: Vec<String>,
    /// Words before parameters of types.
    pub parameter_words: Vec<String>,
    /// Words that start a name that is not a plain word.
    pub name_words: Vec<String>,
    /// Names of builtin types; several of them in a row are one type.
    pub builtin_types: Vec<String>,
    /// Words that start statements.
    pub statement_words: Vec<String>,
}
