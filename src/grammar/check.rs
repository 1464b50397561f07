//! Checks for authors of manifests: whether a manifest fits its grammar, and the roles of node
//! kinds. Reads no file.

use super::parse;
use super::table::{self, folders};
use cograph_grammars::merge;
use cograph_model::LanguageId;
use toml::{Table, Value};

/// Result of a successful check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fits {
    /// Display name of the language.
    pub title: String,
    /// Number of node kinds with a rule: as statements, definitions and expressions; as types; as
    /// patterns.
    pub rules: [usize; 3],
    /// Named node kinds without any rule, whose children are visited.
    pub without: Vec<String>,
}

/// Checks the text of a manifest after those that it extends, outermost first. The grammar is one
/// linked into the program. Returns all errors, each with its line.
pub fn check(texts: &[&str]) -> Result<Fits, Vec<String>> {
    let merged = merge(texts).map_err(|error| vec![error])?;
    let grammar = table::linked_grammar(&merged)?();
    let parsed = parse::parse(texts, &grammar)?;
    let rules = [
        parsed.nodes.iter().flatten().count(),
        parsed.types.iter().flatten().count(),
        parsed.patterns.iter().flatten().count(),
    ];
    let has_rule = |kind: usize| {
        parsed.nodes[kind].is_some()
            || parsed.types[kind].is_some()
            || parsed.patterns[kind].is_some()
    };
    let without =
        (0..grammar.node_kind_count()).filter(|&kind| !has_rule(kind)).filter_map(|kind| {
            let id = u16::try_from(kind).ok()?;
            let is_seen = grammar.node_kind_is_named(id) && grammar.node_kind_is_visible(id);
            grammar.node_kind_for_id(id).filter(|_| is_seen)
        });
    let mut without: Vec<String> = without.map(str::to_owned).collect();
    without.sort_unstable();
    without.dedup();
    Ok(Fits { title: parsed.manifest.title, rules, without })
}

/// Returns the errors in the manifest of a built-in language; empty in a release.
pub fn errors(language: LanguageId) -> Vec<String> {
    check(folders()[usize::from(language.0)].manifests).err().unwrap_or_default()
}

/// Roles of node kinds in the manifest of a language, in the manifest's terms.
#[derive(Debug)]
pub struct Roles(Table);

impl Roles {
    /// Reads the roles of a language.
    pub fn of(language: LanguageId) -> Self {
        let merged = merge(folders()[usize::from(language.0)].manifests);
        Self(merged.expect("the manifest was read when the program was built"))
    }

    /// Returns the roles of a node kind, each with its table unless that is `nodes`; several if
    /// conditions choose.
    pub fn of_kind(&self, kind: &str) -> Vec<String> {
        let role = |rule: &Value| rule.get("role").and_then(Value::as_str).map(str::to_owned);
        let mut roles = Vec::new();
        for section in ["nodes", "types", "patterns"] {
            let Some(rule) = self.0.get(section).and_then(|section| section.get(kind)) else {
                continue;
            };
            let cases = rule.as_array().map_or_else(|| vec![rule], |cases| cases.iter().collect());
            let words =
                cases.into_iter().map(|case| role(case).unwrap_or_else(|| "bind".to_owned()));
            roles.extend(
                words.map(
                    |word| if section == "nodes" { word } else { format!("{section}: {word}") },
                ),
            );
        }
        roles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn every_manifest_fits_and_gives_its_roles() {
        for (folder, id) in folders().iter().zip((0..).map(LanguageId)) {
            let fits = check(folder.manifests)
                .unwrap_or_else(|errors| panic!("{}: {errors:?}", folder.name));
            assert!(fits.rules[0] > 0 && !fits.title.is_empty(), "{}", names()[usize::from(id.0)]);
            assert!(errors(id).is_empty(), "{}", folder.name);
            let roles = Roles::of(id);
            assert!(
                fits.without.iter().all(|kind| roles.of_kind(kind).is_empty()),
                "{}: {:?}",
                folder.name,
                fits.without
            );
        }
    }

    #[test]
    fn an_unknown_grammar_is_reported() {
        let errors =
            check(&["grammar = \"tree_sitter_none::LANGUAGE\""]).expect_err("there is none");
        assert!(
            errors.len() == 1 && errors[0].contains("tree_sitter_none::LANGUAGE"),
            "{errors:?}"
        );
        assert!(
            check(&["title = \"X\""]).expect_err("it names no grammar")[0]
                .contains("`grammar` must name")
        );
    }
}
