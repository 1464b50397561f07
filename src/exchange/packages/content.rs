//! What a manifest or lock says, in whatever form it is written.

use std::collections::BTreeMap;

/// What a manifest or lock says.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// Name of its own package; empty if it has none.
    pub(crate) name: String,
    /// Name that code has for its own package; empty if that is the name.
    pub(crate) written: String,
    /// Version of its own package; empty if it has none.
    pub(crate) version: String,
    /// Wanted versions by the names of packages, as written.
    pub(crate) needs: BTreeMap<String, String>,
    /// Versions by the folded names of packages, without those that have several.
    pub(crate) versions: BTreeMap<String, String>,
}

/// Name without the differences that managers ignore.
pub(crate) fn folded(name: &str) -> String {
    name.to_lowercase().replace(['-', '_', '.'], "-")
}

/// True for a whole version, with nothing that means a range.
pub(crate) fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let starts = text.starts_with(|c: char| c.is_ascii_digit());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    starts && text.contains('.') && text.chars().all(is_plain)
}

/// Versions by name, without those of which there are several.
pub(super) fn without_doubles(
    pairs: impl Iterator<Item = (String, String)>,
) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (name, version) in pairs {
        found
            .entry(name)
            .and_modify(|known| {
                if known.as_ref() != Some(&version) {
                    *known = None;
                }
            })
            .or_insert(Some(version));
    }
    found.into_iter().filter_map(|(name, version)| Some((name, version?))).collect()
}
