//! Tiers of analysis: stated by the manifest, and repeated in answers.

use serde::Deserialize;

/// Tier of analysis. Answers repeat it: without extracted references an empty result is no proof
/// that a symbol is unused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Definitions and what they contain. No reference is stored.
    Structure,
    /// References are resolved by scopes, imports and declared types. Only names of imports are
    /// external, and matches by name alone are candidates.
    Shared,
    /// All mechanisms, measured against a ground truth from a compiler.
    Full,
}

impl Tier {
    /// Word in manifests and answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Shared => "shared",
            Self::Full => "full",
        }
    }
}
