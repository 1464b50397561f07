//! Rendering of a trace of several levels.

use super::marks::heading_mark;
use crate::answers::budget::Page;
use crate::answers::render::{Entry, Groups, TOP, grouped, name, path};
use crate::base::escape::SafeLine;
use crate::tools::trace::text::entry::entry_text;
use cograph_query::trace::{TraceEnd, TraceNode, TraceTree};
use std::collections::HashMap;

/// Tree of several levels: each level is indented below its parent. Siblings without a level below
/// them share a line with their file; one with a level has a line of its own. Nodes come breadth
/// first: the first that fit are shown. Returns them.
pub(super) fn indented<'t>(
    tree: &'t TraceTree,
    callers: bool,
    page: &mut Page,
) -> Vec<&'t TraceNode> {
    let entries: Vec<Entry> = tree.nodes.iter().map(|node| entry(node, callers)).collect();
    let children = fitting(tree, &entries, page.room());
    let below = |parent: Option<usize>| children.get(&parent).map_or(&[][..], Vec::as_slice);
    let mut shown = Vec::new();
    let mut pending = units(below(None), &entries, &below);
    pending.reverse();
    while let Some(unit) = pending.pop() {
        let Some(first) = unit.first() else { continue };
        let mut groups = Groups::inline(usize::MAX);
        unit.iter().for_each(|at| {
            let Entry { heading, mark, text, .. } = &entries[*at];
            groups.add_marked(heading, mark, text);
        });
        let indent = "  ".repeat(tree.nodes[*first].depth as usize - 1);
        // All fit: what was taken for a line is at least what it takes.
        for line in groups.texts() {
            page.add(&format!("{indent}{line}"));
        }
        shown.extend(unit.iter().map(|at| &tree.nodes[*at]));
        let mut inner = units(below(Some(*first)), &entries, &below);
        inner.reverse();
        pending.extend(inner);
    }
    shown
}

fn entry(node: &TraceNode, callers: bool) -> Entry {
    let (heading, mut text) = entry_text(node, callers, usize::MAX);
    if node.repeated {
        text.push_str(" (repeated)");
    }
    Entry { heading, mark: heading_mark(node), text, sites: node.sites.len() }
}

/// Children by parent, in order: the first nodes whose lines fit.
fn fitting(
    tree: &TraceTree,
    entries: &[Entry],
    mut room: usize,
) -> HashMap<Option<usize>, Vec<usize>> {
    let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    // Lines that siblings without a level below them share: parent, file.
    let mut shared: HashMap<(Option<usize>, &str), usize> = HashMap::new();
    for (at, node) in tree.nodes.iter().enumerate() {
        let line = |entry: &Entry, depth: u32| {
            // The indent, `: ` and the end of the line.
            2 * (depth as usize - 1) + entry.heading.len() + 3
        };
        let own = &entries[at];
        let text = own.text.len() + 2 + own.mark.len() + 1;
        let is_first = !shared.contains_key(&(node.parent, own.heading.as_str()));
        let mut cost = text + if is_first { line(own, node.depth) } else { 0 };
        // The first child takes its parent out of the line that it shares.
        let parent = node.parent.filter(|parent| !children.contains_key(&Some(*parent)));
        if let Some(parent) = parent {
            cost += line(&entries[parent], tree.nodes[parent].depth) + entries[parent].mark.len();
        }
        if cost > room {
            break;
        }
        room -= cost;
        *shared.entry((node.parent, own.heading.as_str())).or_default() += 1;
        children.entry(node.parent).or_default().push(at);
    }
    children
}

/// Siblings by line: those of one file without children together, each of the others alone.
fn units<'c>(
    siblings: &[usize],
    entries: &[Entry],
    below: &impl Fn(Option<usize>) -> &'c [usize],
) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut shared: HashMap<&str, usize> = HashMap::new();
    for at in siblings {
        if !below(Some(*at)).is_empty() {
            units.push(vec![*at]);
            continue;
        }
        let unit = *shared.entry(entries[*at].heading.as_str()).or_insert(units.len());
        match units.get_mut(unit) {
            Some(unit) => unit.push(*at),
            None => units.push(vec![*at]),
        }
    }
    units
}

/// List of what several steps reach, nearest first: by file, each as `name:line`, those of more
/// than one step behind their number. Returns the number of nodes shown.
pub(super) fn nearest_first(tree: &TraceTree, page: &mut Page) -> usize {
    let entries = tree.nodes.iter().map(|node| {
        let mark = if node.depth > 1 { format!("in {} steps:", node.depth) } else { String::new() };
        let (heading, text) = match &node.end {
            TraceEnd::Symbol(symbol) => (
                path(&symbol.path).to_string(),
                format!("{}:{}", name(symbol), symbol.name_at.line),
            ),
            TraceEnd::File(file) => (path(file).to_string(), TOP.to_owned()),
            TraceEnd::External(name) => {
                ("outside".to_owned(), SafeLine::new(name, 160).to_string())
            }
        };
        Entry { heading, mark, text, sites: 1 }
    });
    grouped(page, Groups::inline(page.room()), entries.collect::<Vec<_>>())
}
