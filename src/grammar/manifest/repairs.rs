//! Manifest section of repairs: how a source is read whose tree has errors.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Data for the repair of a source whose tree has errors.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Repairs {
    /// Forms that the grammar does not know. They are written over with forms that it knows, where
    /// fewer lines are lost then.
    pub forms: Vec<Form>,
    /// Words at the start of a line that end what begins at its indentation (`end`), besides
    /// closing brackets.
    pub ends: Vec<String>,
    /// Mark of interpolation that may be repeated before a string: fewer marks inside are text.
    pub interpolation: Option<String>,
    /// Quotes of a string that may begin and end with further quotes (`"""`).
    pub quotes: Option<String>,
}

/// Form that the grammar does not know.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Form {
    /// Elements in order: a token, tokens separated by `|`, or one of these. `()`, `[]`, `{}`,
    /// `<>`: brackets with their contents. `*`: any word. `..`: the fewest tokens on one line, with
    /// brackets as one, and without the last element. `^`: the next token is the first of its line.
    /// `_`: a blank before the next token. A token after `!` is not the next one.
    pub find: Vec<String>,
    /// Element -> text that takes its place, filled up with blanks. The text of a name stays known.
    pub write: BTreeMap<String, String>,
    /// Elements whose words, but for labels, are types: they are references although they are
    /// written over.
    #[serde(default)]
    pub types: Vec<String>,
    /// Elements whose words are values, in the same way; before arguments in parentheses they are
    /// called.
    #[serde(default)]
    pub reads: Vec<String>,
}
