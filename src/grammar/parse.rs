//! Parser of manifests: sections, and rules by node kind. Errors have the line and a description.

use super::manifest::position::{line_in, line_of_section};
use super::manifest::{ComplexityTable, Manifest};
use super::pattern::Pattern;
use super::rule::Rule;
use super::selector::{kind_ids, with_grammar};
use super::type_rule::TypeRule;
use crate::rule::case::Cases;
use cograph_grammars::{Tier, merge};
use serde::de::DeserializeOwned;

/// Manifest with its rules by kind id.
pub(super) struct Parsed {
    pub(super) manifest: Manifest,
    pub(super) complexity: ComplexityTable,
    pub(super) tokens: Vec<bool>,
    pub(super) trims: Vec<Option<Box<str>>>,
    pub(super) nodes: Vec<Option<Rule>>,
    pub(super) types: Vec<Option<TypeRule>>,
    pub(super) patterns: Vec<Option<Pattern>>,
}

/// Parses a manifest after those that it extends. Returns all errors, each with its line.
pub(super) fn parse(
    texts: &[&str],
    grammar: &tree_sitter::Language,
) -> Result<Parsed, Vec<String>> {
    let mut table = merge(texts).map_err(|error| vec![error])?;
    let mut errors = Vec::new();
    let mut section = |name: &str| match table.remove(name) {
        Some(toml::Value::Table(section)) => section,
        None => toml::Table::new(),
        Some(_) => {
            errors.push(format!("`{name}` must be a table"));
            toml::Table::new()
        }
    };
    let (nodes, types, patterns) = (section("nodes"), section("types"), section("patterns"));
    let trims = table
        .get("names")
        .and_then(|names| names.get("trim"))
        .and_then(toml::Value::as_table)
        .cloned()
        .unwrap_or_default();
    let manifest = manifest(texts, table, &mut errors);
    let rules = with_grammar(grammar, || {
        let count = grammar.node_kind_count();
        let nodes = rules::<Cases>(texts, "nodes", nodes, count, &mut errors);
        (
            rules(texts, "names.trim", trims, count, &mut errors),
            nodes.into_iter().map(|cases| cases.map(Cases::into_rule)).collect(),
            rules(texts, "types", types, count, &mut errors),
            rules(texts, "patterns", patterns, count, &mut errors),
            (0..count)
                .map(|kind| u16::try_from(kind).is_ok_and(|kind| !grammar.node_kind_is_named(kind)))
                .collect(),
        )
    });
    match (manifest, rules) {
        (Some(manifest), (trims, nodes, types, patterns, tokens)) if errors.is_empty() => {
            errors.extend(unknown_kinds(&manifest, grammar));
            // An extending manifest of another tier may have another grammar.
            let complexity = match manifest.tier {
                Tier::Full => ComplexityTable::of(&manifest.complexity, grammar),
                _ => Ok(ComplexityTable::default()),
            };
            let complexity = complexity.unwrap_or_else(|unknown| {
                errors.extend(unknown);
                ComplexityTable::default()
            });
            if errors.is_empty() {
                Ok(Parsed { manifest, complexity, tokens, trims, nodes, types, patterns })
            } else {
                Err(errors)
            }
        }
        _ => Err(errors),
    }
}

/// Parses the sections other than rules. An invalid section is removed to find the errors of the
/// others.
fn manifest(texts: &[&str], mut table: toml::Table, errors: &mut Vec<String>) -> Option<Manifest> {
    let mut left_out = Vec::new();
    loop {
        let error = match table.clone().try_into::<Manifest>() {
            Ok(manifest) => return Some(manifest),
            Err(error) => error.message().to_owned(),
        };
        let fails_otherwise_without = |section: &&String| {
            let mut others = table.clone();
            others.remove(*section);
            others.try_into::<Manifest>().err().is_none_or(|other| other.message() != error)
        };
        // A removed section that is mandatory hides further errors.
        if left_out.iter().any(|section| error == format!("missing field `{section}`")) {
            return None;
        }
        let Some(section) = table.keys().find(fails_otherwise_without).cloned() else {
            errors.push(error);
            return None;
        };
        table.remove(&section);
        errors.push(format!("line {}: {section}: {error}", line_of_section(texts, &section)));
        left_out.push(section);
    }
}

/// Returns the node kinds in lists that the grammar does not have.
fn unknown_kinds(manifest: &Manifest, grammar: &tree_sitter::Language) -> Vec<String> {
    let documentation = &manifest.documentation;
    let listed = documentation
        .comments
        .iter()
        .chain(&manifest.modifiers.nodes)
        .chain(&documentation.body_string);
    let unknown = listed.filter(|kind| grammar.id_for_node_kind(kind, true) == 0);
    unknown
        .map(|kind| {
            format!("documentation or modifiers: the grammar has no such node kind: `{kind}`")
        })
        .collect()
}

fn rules<T: DeserializeOwned + Clone>(
    texts: &[&str],
    section: &str,
    table: toml::Table,
    count: usize,
    errors: &mut Vec<String>,
) -> Vec<Option<T>> {
    let mut by_kind = vec![None; count];
    for (kind, value) in table {
        let at = || format!("line {}: {section}.{kind}", line_in(texts, section, &kind));
        let ids = kind_ids(&kind);
        if ids.is_empty() {
            errors.push(format!("{}: the grammar has no such node kind", at()));
            continue;
        }
        match value.try_into::<T>() {
            Ok(rule) => {
                ids.into_iter().for_each(|id| by_kind[usize::from(id)] = Some(rule.clone()))
            }
            Err(error) => errors.push(format!("{}: {}", at(), error.message())),
        }
    }
    by_kind
}
