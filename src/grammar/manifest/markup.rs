//! Languages whose files are markup with code of another grammar in it.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Markup around the code of a file: it is masked before parsing. The grammar is that of the code.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Markup {
    /// Elements whose content is code (`script`).
    pub code: Vec<String>,
    /// Elements whose content is neither code nor markup (`style`).
    pub skipped: Vec<String>,
    /// Start of an expression in the markup -> its end (`{{` -> `}}`).
    pub expressions: BTreeMap<String, String>,
    /// Prefixes of the attributes whose value in quotes is an expression.
    pub attributes: Vec<String>,
    /// Prefixes of the attributes that bind names in their element -> texts between the names and
    /// the expression (`v-for` -> ` in `); without one all is names.
    pub binding_attributes: BTreeMap<String, Vec<String>>,
    /// Keyword of a block that binds names -> text between the expression and the names (`each` ->
    /// ` as `).
    pub binders: BTreeMap<String, String>,
    /// Character at the start of an expression, before a keyword -> its meaning.
    pub marks: BTreeMap<char, MarkMeaning>,
}

/// Meaning of a character before a keyword.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkMeaning {
    /// Opens a block (`#if`).
    Open,
    /// Closes a block (`/if`).
    Close,
    /// The keyword is no name (`@html`).
    Keyword,
}
