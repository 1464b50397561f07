//! Explanation of every node of a file: kind, roles, symbols and references. For authors of
//! manifests.

use crate::budget::{Budget, Limits};
use crate::entry::facts::extract;
use crate::repair;
use cograph_grammar::{self as grammar, Roles};
use cograph_model::facts::FileFacts;
use cograph_model::{LanguageId, Position};
use std::collections::BTreeMap;
use tree_sitter::{Node, TreeCursor};

/// AST node with the facts extracted from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explained {
    /// Depth in the tree.
    pub depth: usize,
    /// Start.
    pub at: Position,
    /// Field in the parent node.
    pub field: Option<String>,
    /// Kind.
    pub kind: String,
    /// True for a named node; false for a token.
    pub is_named: bool,
    /// True for a syntax error or a missing node.
    pub is_wrong: bool,
    /// Roles of the kind in the manifest.
    pub roles: Vec<String>,
    /// Symbols and references named by this node.
    pub facts: Vec<String>,
}

/// Explanation of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// Nodes in order of position; empty if parsing exceeded its budget.
    pub nodes: Vec<Explained>,
    /// Symbols and references without a name node, in order of position.
    pub elsewhere: Vec<(Position, String)>,
}

/// Explains every node of one file.
pub fn explain(id: LanguageId, path: &str, source: &[u8], limits: Limits) -> Explanation {
    let language = grammar::language(id);
    let budget = Budget::start(&limits, source.len());
    let Ok((_, tree)) = repair::tree(language, path, source, &budget) else {
        return Explanation::default();
    };
    let Ok(facts) = extract(id, path, source, limits) else { return Explanation::default() };
    let (roles, mut facts) = (Roles::of(id), by_place(&facts));
    let (mut nodes, mut cursor, mut depth) = (Vec::new(), tree.walk(), 0);
    'nodes: loop {
        nodes.push(of_node(&cursor, depth, &roles, &mut facts));
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'nodes;
            }
            depth -= 1;
        }
    }
    let elsewhere =
        facts.into_iter().flat_map(|(at, facts)| facts.into_iter().map(move |fact| (at, fact)));
    Explanation { nodes, elsewhere: elsewhere.collect() }
}

fn of_node(
    cursor: &TreeCursor<'_>,
    depth: usize,
    roles: &Roles,
    facts: &mut BTreeMap<Position, Vec<String>>,
) -> Explained {
    let node = cursor.node();
    let begin = node.start_position();
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let place = Position { line: number(begin.row + 1), column: number(begin.column) };
    // Several nodes begin at one position: its facts belong to the innermost named one.
    let is_innermost = node.is_named() && !begins_inside(node);
    Explained {
        depth,
        at: place,
        field: cursor.field_name().map(str::to_owned),
        kind: node.kind().to_owned(),
        is_named: node.is_named(),
        is_wrong: node.is_error() || node.is_missing(),
        roles: if node.is_named() { roles.of_kind(node.kind()) } else { Vec::new() },
        facts: if is_innermost { facts.remove(&place).unwrap_or_default() } else { Vec::new() },
    }
}

/// True if a named child begins at the start of the node.
fn begins_inside(node: Node<'_>) -> bool {
    node.named_child(0).is_some_and(|child| child.start_byte() == node.start_byte())
}

/// Returns descriptions of symbols and references by the positions of their names.
fn by_place(facts: &FileFacts) -> BTreeMap<Position, Vec<String>> {
    let mut found: BTreeMap<Position, Vec<String>> = BTreeMap::new();
    let text =
        |name: cograph_model::facts::NameId| name.get().map_or("", |name| &*facts.names[name]);
    let mut add = |at: Position, what: String| found.entry(at).or_default().push(what);
    for (symbol, details) in facts.symbols.iter().zip(&facts.details) {
        add(details.name_at, format!("defines {} {}", symbol.kind.word(), text(symbol.name)));
    }
    for site in facts.sites.list().iter() {
        add(site.at, format!("{} {}", site.kind.word(), text(site.name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_listed_at_their_nodes() {
        for language in
            grammar::all().into_iter().filter(|language| language.tier() == grammar::Tier::Full)
        {
            let source = b"first(second(1));\n";
            let facts = extract(language.id, "x", source, Limits::default());
            let facts = facts.expect("the budget is enough");
            let Explanation { nodes, elsewhere } =
                explain(language.id, "x", source, Limits::default());
            let said: usize = nodes.iter().map(|node| node.facts.len()).sum();
            assert_eq!(
                said + elsewhere.len(),
                facts.symbols.len() + facts.sites.list().len(),
                "{}: {nodes:?}",
                language.name
            );
            // Possible macros are masked before parsing.
            let is_masked = language.manifest.preprocessor.directive.is_some();
            assert!(is_masked || elsewhere.is_empty(), "{}: {elsewhere:?}", language.name);
            assert_eq!(nodes.iter().filter(|node| node.depth == 0).count(), 1, "{}", language.name);
        }
    }
}
