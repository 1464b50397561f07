//! How deep a language is read: a manifest says it, answers repeat it.

use serde::Deserialize;

/// How deep a language is read. Answers say it: what is not read is no proof that nobody uses a
/// symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Definitions and what they contain. No reference is stored.
    Structure,
    /// References are resolved by scopes, imports and declared types. Nothing is external but what
    /// an import names, and names that are found by nothing but their text are candidates.
    Shared,
    /// All mechanisms, measured against a truth made by a compiler.
    Full,
}

impl Tier {
    /// The word in manifests and answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Shared => "shared",
            Self::Full => "full",
        }
    }
}
