//! The manifest of a language: `grammars/<language>/grammar.toml` as data, checked against the grammar while it is read.

use super::inherit;
use super::rule::{Pattern, Rule};
use super::selector::{kind_ids, with_grammar};
use super::type_rule::TypeRule;
use super::values::{Conversions, Narrowing, TypeFlow};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// What a language declares besides the meaning of its node kinds.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// The grammar, as a path in its crate.
    pub grammar: String,
    /// The name people use.
    pub title: String,
    /// Languages of one family see each other's symbols.
    pub family: Option<String>,
    /// How files of the language are recognised.
    pub detect: Detection,
    /// How modules are found.
    pub modules: Modules,
    /// What is done to sources before they are parsed.
    #[serde(default)]
    pub preprocessor: super::preprocessor::Preprocessor,
    /// Special names.
    #[serde(default)]
    pub names: Names,
    /// How names and members are looked up.
    #[serde(default)]
    pub resolution: Resolution,
    /// Words before a definition and what they mean: word -> flag or visibility.
    #[serde(default)]
    pub modifiers: Modifiers,
    /// Who may use what.
    #[serde(default)]
    pub visibility: VisibilityRule,
    /// What other files see.
    #[serde(default)]
    pub exports: ExportRule,
    /// Where documentation is.
    #[serde(default)]
    pub documentation: Documentation,
    /// What is test code.
    #[serde(default)]
    pub tests: TestMarkers,
    /// Names that the language or its library defines.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Builtins {
    /// Functions and values.
    pub functions: Vec<String>,
    /// Types; a member of such a type is external.
    pub types: Vec<String>,
    /// Member names too common on builtin types for the unique-name heuristic.
    pub common_members: Vec<String>,
    /// What functions give: name -> type, in which `arg0` and `arg1` are types of arguments and `item0` and `item1` of their items.
    pub results: BTreeMap<String, String>,
}

/// A manifest with its rules by kind id.
pub(super) struct Parsed {
    pub(super) manifest: Manifest,
    pub(super) nodes: Vec<Option<Rule>>,
    pub(super) types: Vec<Option<TypeRule>>,
    pub(super) patterns: Vec<Option<Pattern>>,
}

/// Reads a manifest after those that it extends. The error names the line and what does not fit.
pub(super) fn parse(texts: &[&str], grammar: &tree_sitter::Language) -> Result<Parsed, String> {
    let mut table = inherit::merge(texts)?;
    let mut section = |name: &str| match table.remove(name) {
        Some(toml::Value::Table(section)) => Ok(section),
        None => Ok(toml::Table::new()),
        Some(_) => Err(format!("`{name}` must be a table")),
    };
    let (nodes, types, patterns) = (section("nodes")?, section("types")?, section("patterns")?);
    let manifest = table.try_into().map_err(|error: toml::de::Error| error.to_string())?;
    with_grammar(grammar, || {
        let count = grammar.node_kind_count();
        Ok(Parsed {
            manifest,
            nodes: rules(texts, "nodes", nodes, count)?,
            types: rules(texts, "types", types, count)?,
            patterns: rules(texts, "patterns", patterns, count)?,
        })
    })
}

fn rules<T: DeserializeOwned + Clone>(
    texts: &[&str],
    section: &str,
    table: toml::Table,
    count: usize,
) -> Result<Vec<Option<T>>, String> {
    let mut by_kind = vec![None; count];
    for (kind, value) in table {
        let at = || format!("line {}: {section}.{kind}", line_in(texts, section, &kind));
        let ids = kind_ids(&kind);
        if ids.is_empty() {
            return Err(format!("{}: the grammar has no such node kind", at()));
        }
        let rule: T = value.try_into().map_err(|error: toml::de::Error| format!("{}: {}", at(), error.message()))?;
        for id in ids {
            by_kind[usize::from(id)] = Some(rule.clone());
        }
    }
    Ok(by_kind)
}

/// The line on which a key of a section stands in the last manifest that has it.
fn line_in(texts: &[&str], section: &str, key: &str) -> usize {
    texts.iter().rev().map(|text| line_of(text, section, key)).find(|&line| line > 0).unwrap_or(0)
}

/// The 1-based line on which a key of a section stands; 0 if it is written in a way this search does not see.
fn line_of(text: &str, section: &str, key: &str) -> usize {
    let header = format!("[{section}]");
    let own_header = format!("[{section}.{key}]");
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line == own_header {
            return number + 1;
        }
        if line.starts_with('[') {
            inside = line == header;
        } else if inside && line.split('=').next().is_some_and(|name| name.trim().trim_matches('"') == key) {
            return number + 1;
        }
    }
    0
}
