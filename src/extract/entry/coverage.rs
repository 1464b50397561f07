//! Coverage of call sites: compares the call nodes of a tree with the references extracted from
//! them.

use crate::budget::{Budget, Limits};
use crate::entry::facts::extract;
use crate::repair;
use cograph_grammar::{self as grammar, CallMeaning, Language, Rule};
use cograph_model::facts::{FileFacts, Site};
use cograph_model::{LanguageId, Problem, SiteKind};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Suffixes of the node kinds of calls in grammars: a kind with such a suffix and without a rule is
/// a call that is not extracted.
const CALL_ENDS: &[&str] = &[
    "call",
    "call_expression",
    "invocation",
    "invocation_expression",
    "creation_expression",
    "message_expression",
];

/// Coverage of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Number of call nodes.
    pub calls: u64,
    /// Number of calls with a reference.
    pub stored: u64,
    /// Number of calls without a reference in regions that are reported as incomplete.
    pub in_problems: u64,
    /// Remaining calls in order: first line and node kind.
    pub lost: Vec<(u32, String)>,
    /// Symbols of the file: line and name.
    pub symbols: Vec<(u32, String)>,
    /// Number of lines.
    pub lines: u32,
    /// Lines in regions that are reported as incomplete.
    pub incomplete: Vec<u32>,
}

/// Compares the tree of one file with its facts.
pub fn coverage(id: LanguageId, path: &str, source: &[u8], limits: Limits) -> Coverage {
    let Ok(facts) = extract(id, path, source, limits) else { return Coverage::default() };
    let symbols = symbols(&facts);
    let (lines, incomplete) = (facts.lines, incomplete(&facts.problems));
    let language = grammar::language(id);
    let budget = Budget::start(&limits, source.len());
    let tree = repair::tree(language, path, source, &budget).ok().map(|(_, tree)| tree);
    let tree = tree.filter(|_| language.tier() != grammar::Tier::Structure);
    match tree {
        Some(tree) => Coverage {
            symbols,
            lines,
            incomplete,
            ..compared(language, tree.root_node(), source, &facts)
        },
        None => Coverage { symbols, lines, incomplete, ..Coverage::default() },
    }
}

/// Compares the calls below a node with references.
fn compared(
    language: &'static Language,
    root: Node<'_>,
    source: &[u8],
    facts: &FileFacts,
) -> Coverage {
    let mut coverage = Coverage::default();
    let mut sites: Vec<u32> =
        facts.sites.list().iter().filter(|site| is_of_call(site)).map(|site| site.byte).collect();
    sites.sort_unstable();
    // Inner calls first: each takes its own reference and leaves those of the enclosing calls.
    for node in calls(language, root, source) {
        coverage.calls += 1;
        let from = sites.partition_point(|&byte| (byte as usize) < node.start_byte());
        let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
        if sites.get(from).is_some_and(|&byte| (byte as usize) < node.end_byte()) {
            let until =
                from + sites[from..].partition_point(|&byte| (byte as usize) < node.end_byte());
            sites.remove(own(node, &sites[from..until]) + from);
            coverage.stored += 1;
        } else if is_incomplete(&facts.problems, line) {
            coverage.in_problems += 1;
        } else {
            coverage.lost.push((line, node.kind().to_owned()));
        }
    }
    coverage.lost.sort();
    coverage
}

/// Returns the index of a call's own reference: the last one before its arguments, or else the
/// first.
fn own(node: Node<'_>, inside: &[u32]) -> usize {
    let arguments = node
        .named_child_count()
        .checked_sub(1)
        .and_then(|last| node.named_child(u32::try_from(last).ok()?));
    let before = arguments
        .map_or(0, |last| inside.partition_point(|&byte| (byte as usize) < last.start_byte()));
    before.saturating_sub(1)
}

fn symbols(facts: &FileFacts) -> Vec<(u32, String)> {
    let name = |symbol: &cograph_model::facts::Symbol| {
        symbol.name.get().map_or("", |name| &facts.names[name]).to_owned()
    };
    let lines = facts.details.iter().map(|details| details.name_at.line);
    lines.zip(facts.symbols.iter().map(name)).collect()
}

fn is_of_call(site: &Site) -> bool {
    matches!(
        site.kind,
        SiteKind::Call
            | SiteKind::Construct
            | SiteKind::Import
            | SiteKind::Decorate
            | SiteKind::Inherit
    )
}

/// Returns the lines in the regions of problems.
fn incomplete(problems: &[Problem]) -> Vec<u32> {
    let lines = problems.iter().flat_map(|problem| problem.first_line..=problem.last_line);
    lines.collect::<BTreeSet<u32>>().into_iter().collect()
}

fn is_incomplete(problems: &[Problem], line: u32) -> bool {
    problems.iter().any(|problem| problem.first_line <= line && line <= problem.last_line)
}

/// Returns the call nodes, inner ones before enclosing ones.
fn calls<'t>(language: &'static Language, root: Node<'t>, source: &[u8]) -> Vec<Node<'t>> {
    let (mut found, mut waiting, mut cursor) = (Vec::new(), vec![root], root.walk());
    let mut parts: FxHashSet<usize> = FxHashSet::default();
    while let Some(node) = waiting.pop() {
        let rule = rule_of(language, node, source);
        if matches!(rule, Some(Rule::Skip {})) {
            continue;
        }
        parts.extend(rule.into_iter().flat_map(|rule| parts_of(language, rule, node)));
        if is_call(language, node, source) && !parts.contains(&node.id()) {
            found.push(node);
        }
        waiting.extend(node.named_children(&mut cursor));
    }
    found.sort_by_key(|node| {
        (node.end_byte() - node.start_byte(), std::cmp::Reverse(node.start_byte()))
    });
    found
}

/// Returns the nodes that are parts of a call or of a callable's header by its rule: those on the
/// way to its name, callee or parameters, and lists of arguments without a rule of their own.
fn parts_of(language: &Language, rule: &Rule, node: Node<'_>) -> Vec<usize> {
    let (selectors, args) = match rule {
        Rule::Call { callee, object, name, args, .. } => ([callee, object, name], args),
        Rule::Function { name, declarator, params, .. } => ([name, declarator, params], &None),
        _ => return Vec::new(),
    };
    let mut parts = Vec::new();
    for chosen in selectors.into_iter().flatten().filter_map(|selector| selector.first(node)) {
        let around = std::iter::successors(chosen.parent(), |parent| parent.parent());
        parts.extend(around.map(|parent| parent.id()).take_while(|parent| *parent != node.id()));
    }
    let args = args.as_ref().and_then(|selector| selector.first(node));
    parts.extend(args.filter(|args| language.rule(args.kind_id()).is_none()).map(|args| args.id()));
    parts
}

fn text_of<'s>(language: &Language, node: Node<'_>, source: &'s [u8]) -> &'s str {
    let text = source.get(node.byte_range()).and_then(|text| std::str::from_utf8(text).ok());
    language.trimmed(node.kind_id(), text.unwrap_or_default())
}

fn rule_of(language: &'static Language, node: Node<'_>, source: &[u8]) -> Option<&'static Rule> {
    match language.rule(node.kind_id()) {
        Some(Rule::Cases { cases }) => {
            let found =
                cases.iter().find(|(when, _)| when.holds(node, |of| text_of(language, of, source)));
            found.map(|(_, rule)| rule)
        }
        rule => rule,
    }
}

fn is_call(language: &'static Language, node: Node<'_>, source: &[u8]) -> bool {
    let text = |child: Node<'_>| text_of(language, child, source);
    match rule_of(language, node, source) {
        // A cast in the form of a call is no call.
        Some(Rule::Call { .. }) => !language
            .manifest
            .names
            .special_calls
            .iter()
            .filter(|(_, meaning)| **meaning == CallMeaning::Cast)
            .any(|(cast, _)| text(node).starts_with(cast.as_str())),
        // An initializer list without a type has no reference.
        Some(Rule::Construct { ty: None, args: None, .. }) => false,
        Some(Rule::Construct { .. }) => true,
        Some(_) => false,
        None => {
            let is_read_as_type = language.type_rule(node.kind_id()).is_some()
                || language.pattern(node.kind_id()).is_some();
            !is_read_as_type
                && node.is_named()
                && CALL_ENDS.iter().any(|end| node.kind().ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;

    #[test]
    fn a_call_without_a_reference_is_lost() {
        let known = |language: &&&'static Language| language.tier() == grammar::Tier::Full;
        let mut complete = 0;
        for language in grammar::all().iter().filter(known) {
            let source = b"first(second(1), third());\n";
            let budget = Budget::unlimited();
            let tree = parse(language, source, &budget, &[]).expect("the budget is enough");
            let facts = extract(language.id, "x", source, Limits::default());
            let facts = facts.expect("the budget is enough");
            let problems = facts.problems.clone();
            let whole = compared(language, tree.root_node(), source, &facts);
            complete += u32::from(whole.calls == 3 && whole.stored == 3);
            let none = compared(language, tree.root_node(), source, &FileFacts::default());
            assert_eq!((none.stored, none.lost.len() as u64), (0, none.calls), "{}", language.name);
            let said = compared(
                language,
                tree.root_node(),
                source,
                &FileFacts { problems, ..FileFacts::default() },
            );
            assert_eq!(said.in_problems + said.lost.len() as u64, said.calls, "{}", language.name);
        }
        assert!(
            complete > 1,
            "where calls may stand outside of functions, all three are there: {complete}"
        );
    }
}
