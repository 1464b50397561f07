//! Rendering of a trace of several levels.

use super::flat_entry;
use crate::query::SymbolInfo;
use crate::query::trace::{TraceNode, TraceTree};
use crate::server::answers::budget::Page;
use crate::server::answers::render::path;

/// Tree of several levels. Nodes come breadth first: the first that fit are shown, each below its
/// parent. A line without a path is in the file of the previous line. Returns the number of nodes
/// shown.
pub(super) fn indented(
    tree: &TraceTree,
    root: &SymbolInfo,
    callers: bool,
    page: &mut Page,
) -> usize {
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
    let mut shown = 0;
    let mut above = &root_file;
    let mut pending: Vec<usize> = top.into_iter().rev().collect();
    while let Some(at) = pending.pop() {
        // The space was calculated in breadth-first order; an additional path may not fit at the
        // end.
        let (file, entry) = &entries[at];
        if !page.add(&tree_line(&tree.nodes[at], file, entry, above)) {
            break;
        }
        shown += 1;
        above = file;
        pending.extend(children[at].iter().rev());
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
