//! Rendering of a trace of several levels.

use super::flat_entry;
use crate::query::SymbolInfo;
use crate::query::trace::{TraceEnd, TraceNode, TraceTree};
use crate::server::answers::budget::Page;
use crate::server::answers::render::elide::Elision;
use crate::server::answers::render::{Groups, grouped, path};
use crate::server::base::escape::SafeLine;

/// Tree of several levels. Nodes come breadth first: the first that fit are shown, each below its
/// parent. A line without a path is in the file of the previous line. Returns the nodes shown.
pub(super) fn indented<'t>(
    tree: &'t TraceTree,
    root: &SymbolInfo,
    callers: bool,
    page: &mut Page,
) -> Vec<&'t TraceNode> {
    let entries: Vec<(String, String)> =
        tree.nodes.iter().map(|node| flat_entry(node, callers, usize::MAX, None)).collect();
    let root_file = path(&root.path).to_string();
    let mut room = page.room();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
    let mut top = Vec::new();
    for (at, node) in tree.nodes.iter().enumerate() {
        let siblings = node.parent.map_or(&mut top, |parent| &mut children[parent]);
        let above =
            siblings.last().copied().or(node.parent).map_or(&root_file, |above| &entries[above].0);
        let (file, entry) = &entries[at];
        let cost = tree_line(node, file, entry, above).len() + 1;
        if cost > room {
            break;
        }
        room -= cost;
        siblings.push(at);
    }
    let mut shown = Vec::new();
    let mut above = &root_file;
    let mut pending: Vec<usize> = top.into_iter().rev().collect();
    while let Some(at) = pending.pop() {
        // The space was calculated in breadth-first order; an additional path may not fit at the
        // end.
        let (file, entry) = &entries[at];
        if !page.add(&tree_line(&tree.nodes[at], file, entry, above)) {
            break;
        }
        shown.push(&tree.nodes[at]);
        above = file;
        pending.extend(children[at].iter().rev());
    }
    shown
}

/// List of what several steps reach, nearest first: by file, each as `name:line`, with the number
/// of steps after the first. Returns the number of nodes shown.
pub(super) fn nearest_first(tree: &TraceTree, root: &str, page: &mut Page) -> usize {
    let mut elision = Elision::below(root);
    let entries = tree.nodes.iter().map(|node| {
        let steps = if node.depth > 1 { format!(" [{}]", node.depth) } else { String::new() };
        match &node.end {
            TraceEnd::Symbol(symbol) => {
                let file = path(&symbol.path).to_string();
                let container = SafeLine::new(&symbol.container, 120).to_string();
                let own = SafeLine::new(&symbol.name, 120).to_string();
                let who = elision.entry(&file, &container, &own);
                (elision.heading(&file), format!("{who}:{}{steps}", symbol.name_at.line))
            }
            TraceEnd::File(file) => {
                (elision.heading(&path(file).to_string()), format!("(top){steps}"))
            }
            TraceEnd::External(name) => {
                ("outside".to_owned(), format!("{}{steps}", SafeLine::new(name, 160)))
            }
        }
    });
    let entries: Vec<(String, String)> = entries.collect();
    let several = tree.nodes.iter().any(|node| node.depth > 1);
    let shown = grouped(page, Groups::inline(page.room()), entries);
    if several {
        page.note("line of each name; [n] steps away, nearest first");
    }
    shown
}

/// One line for a node: indented, with its file unless that is the file of the previous line.
fn tree_line(node: &TraceNode, file: &str, entry: &str, above: &str) -> String {
    let indent = "  ".repeat(node.depth as usize - 1);
    let place = if file == above { String::new() } else { format!("{file}: ") };
    let star = if node.repeated { " *" } else { "" };
    format!("{indent}{place}{entry}{star}")
}
