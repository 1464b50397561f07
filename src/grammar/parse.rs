//! Reads a manifest: its sections, and its rules by the kinds of the grammar. Errors name the line and what does not fit.

use super::inherit;
use super::manifest::Manifest;
use super::pattern::Pattern;
use super::position::line_in;
use super::rule::Rule;
use super::selector::{kind_ids, with_grammar};
use super::type_rule::TypeRule;
use crate::grammar::rule::case::Cases;
use serde::de::DeserializeOwned;

/// A manifest with its rules by kind id.
pub(super) struct Parsed {
    pub(super) manifest: Manifest,
    pub(super) tokens: Vec<bool>,
    pub(super) trims: Vec<Option<Box<str>>>,
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
    let trims =
        table.get("names").and_then(|names| names.get("trim")).and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let manifest = table.try_into().map_err(|error: toml::de::Error| error.to_string())?;
    with_grammar(grammar, || {
        let count = grammar.node_kind_count();
        Ok(Parsed {
            manifest,
            tokens: (0..count).map(|kind| u16::try_from(kind).is_ok_and(|kind| !grammar.node_kind_is_named(kind))).collect(),
            trims: rules(texts, "names.trim", trims, count)?,
            nodes: rules::<Cases>(texts, "nodes", nodes, count)?.into_iter().map(|cases| cases.map(Cases::into_rule)).collect(),
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
