//! The answer of `trace`.

use super::{Groups, RAISE, counts, full_name, grouped, merged, name, path};
use crate::query::trace::{Direction, PathStep, TraceEnd, TraceFinding, TraceLink, TraceNode, TraceTree};
use crate::query::{Certainty, SiteInfo, SymbolInfo, TraceParams, TraceResult};
use crate::server::budget::Page;
use crate::server::escape::SafeLine;
use crate::server::reply;
use crate::server::tools::Answer;
use serde_json::Value;

/// Bytes for sites that were not followed, where others were.
const VAGUE_ROOM: usize = 800;

/// What was traced and found.
pub(in crate::server) struct Traced {
    /// The question.
    pub(in crate::server) params: TraceParams,
    /// The answer.
    pub(in crate::server) result: TraceResult,
}

impl Answer for Traced {
    fn render(&self, page: &mut Page) -> String {
        let root = &self.result.root;
        let this = format!("{} ({}, line {})", full_name(root), root.kind.word(), root.first_line);
        match &self.result.finding {
            TraceFinding::Tree(tree) => self.tree(tree, &this, page),
            TraceFinding::Path(steps) => {
                let lines = steps.iter().enumerate().map(|(at, step)| path_step(steps, at, step));
                page.add_all(lines);
                let to = self.result.to.as_ref().map(full_name).unwrap_or_default();
                format!("{this} reaches {to} in {} calls", steps.len().saturating_sub(1))
            }
            TraceFinding::NoPath { exhausted, visited } => {
                let to = self.result.to.as_ref().map(full_name).unwrap_or_default();
                let why = if *exhausted {
                    "there is none at any depth".to_owned()
                } else {
                    format!("none within {} calls: raise `depth`", self.params.depth)
                };
                format!("no path of calls from {this} to {to}: {why} ({visited} symbols seen)")
            }
        }
    }

    fn json(&self) -> Value {
        reply::trace(&self.result)
    }

    fn is_empty(&self) -> bool {
        match &self.result.finding {
            TraceFinding::Tree(tree) => tree.nodes.is_empty(),
            TraceFinding::Path(_) => false,
            TraceFinding::NoPath { .. } => true,
        }
    }
}

impl Traced {
    fn tree(&self, tree: &TraceTree, this: &str, page: &mut Page) -> String {
        let callers = self.params.direction == Direction::Callers;
        let shown = if self.params.depth == 1 {
            let groups = Groups::inline(page.room());
            grouped(page, groups, tree.nodes.iter().map(|node| flat_entry(node, callers)))
        } else {
            indented(tree, &self.result.root, callers, page)
        };
        let what = if callers { "callers" } else { "callees" };
        page.left_out(
            shown,
            tree.total.number(),
            what,
            &format!("{RAISE}, or narrow with `tests`, `certainty` or a smaller `depth`"),
        );
        self.vague(tree, callers, page);
        legend(&tree.nodes[..shown.min(tree.nodes.len())], page);
        let sites = counts(&tree.root_counts);
        let depth = if self.params.depth > 1 { format!(" within {} steps", self.params.depth) } else { String::new() };
        format!("{shown} of {} {what} of {this}{depth}; its call sites: {sites}", tree.total)
    }

    /// Sites at the root that are too vague to be followed: listed last, apart from the others.
    fn vague(&self, tree: &TraceTree, callers: bool, page: &mut Page) {
        if tree.not_followed.is_empty() {
            return;
        }
        let place = |(site, around): &(SiteInfo, Option<SymbolInfo>)| {
            let who = match around {
                Some(symbol) if callers => name(symbol).to_string(),
                None if callers => "(top)".to_owned(),
                _ => SafeLine::new(&site.name, 120).to_string(),
            };
            (path(&site.path).to_string(), who, site.at.line)
        };
        let title = "not followed, because their target is not certain:";
        // They are counted in the first line: examples are enough, unless they are all there is.
        let most = if tree.nodes.is_empty() { page.room() } else { page.room().min(VAGUE_ROOM) };
        let mut groups = Groups::inline(most.saturating_sub(title.len() + 1));
        let entries = merged(tree.not_followed.iter().map(place));
        let fitting = entries.iter().take_while(|(heading, entry, _)| groups.add(heading, entry));
        let listed: usize = fitting.map(|(_, _, count)| count).sum();
        if listed > 0 {
            page.add(title);
            groups.write(page);
        }
        let total = tree.root_counts.possible + tree.root_counts.textual;
        page.left_out(
            listed,
            total.max(tree.not_followed.len() as u64),
            "vague sites",
            "`references` with `certainty`: textual lists them",
        );
    }
}

/// A caller as `file: name:line,line`; a callee as `file: name:line of definition@lines of calls`.
fn flat_entry(node: &TraceNode, callers: bool) -> (String, String) {
    let at = site_lines(&node.sites);
    let mark = mark(node);
    match &node.end {
        TraceEnd::Symbol(symbol) if callers => (path(&symbol.path).to_string(), format!("{mark}{}:{at}", name(symbol))),
        TraceEnd::Symbol(symbol) => {
            (path(&symbol.path).to_string(), format!("{mark}{}:{}@{at}", name(symbol), symbol.first_line))
        }
        TraceEnd::File(file) => (path(file).to_string(), format!("{mark}(top):{at}")),
        TraceEnd::External(external) => ("outside".to_owned(), format!("{mark}{}@{at}", SafeLine::new(external, 160))),
    }
}

fn site_lines(sites: &[SiteInfo]) -> String {
    let mut lines: Vec<String> = sites.iter().map(|site| site.at.line.to_string()).collect();
    lines.dedup();
    lines.join(",")
}

fn mark(node: &TraceNode) -> String {
    let certainty = match node.certainty {
        Certainty::Certain => "",
        Certainty::Likely => "~",
        Certainty::Possible => "?",
        Certainty::Textual => "??",
    };
    let link = if node.link == TraceLink::Dispatch { "^" } else { "" };
    format!("{certainty}{link}")
}

fn legend(nodes: &[TraceNode], page: &mut Page) {
    let meanings: Vec<&str> = [
        (nodes.iter().any(|node| node.certainty == Certainty::Likely), "~ likely, not proven"),
        (nodes.iter().any(|node| node.certainty == Certainty::Possible), "? one of several candidates"),
        (nodes.iter().any(|node| node.certainty == Certainty::Textual), "?? same name only"),
        (nodes.iter().any(|node| node.link == TraceLink::Dispatch), "^ through an override or implementation"),
        (nodes.iter().any(|node| node.repeated), "* its callers or callees stand at its other place"),
    ]
    .into_iter()
    .filter_map(|(used, meaning)| used.then_some(meaning))
    .collect();
    if !meanings.is_empty() {
        page.note(meanings.join("; "));
    }
}

/// A tree of several levels. The nodes come breadth first: the first that fit are shown, each below its parent. A line without
/// a path is in the file of the line above. Gives the number of nodes shown.
fn indented(tree: &TraceTree, root: &SymbolInfo, callers: bool, page: &mut Page) -> usize {
    let entries: Vec<(String, String)> = tree.nodes.iter().map(|node| flat_entry(node, callers)).collect();
    let root_file = path(&root.path).to_string();
    let mut room = page.room();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
    let mut top = Vec::new();
    for (at, node) in tree.nodes.iter().enumerate() {
        let siblings = node.parent.map_or(&mut top, |parent| &mut children[parent]);
        let above = siblings.last().copied().or(node.parent).map_or(&root_file, |above| &entries[above].0);
        let cost = tree_line(node, &entries[at], above).len() + 1;
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
        // The room was reckoned for breadth first order; a path more may not fit at the very end.
        if !page.add(&tree_line(&tree.nodes[at], &entries[at], above)) {
            break;
        }
        shown += 1;
        above = &entries[at].0;
        pending.extend(children[at].iter().rev());
    }
    shown
}

/// A node on a line: indented, with its file unless that is the file above.
fn tree_line(node: &TraceNode, (file, entry): &(String, String), above: &str) -> String {
    let indent = "  ".repeat(node.depth as usize - 1);
    let place = if file == above { String::new() } else { format!("{file}: ") };
    let star = if node.repeated { " *" } else { "" };
    format!("{indent}{place}{entry}{star}")
}

/// A step with the line of the call, in the step before, that leads to it.
fn path_step(steps: &[PathStep], at: usize, step: &PathStep) -> String {
    let what = format!("{} (line {})", full_name(&step.symbol), step.symbol.first_line);
    let Some(before) = at.checked_sub(1).map(|before| &steps[before]) else { return what };
    let how = match step.link {
        Some(TraceLink::Dispatch) => "by dispatch".to_owned(),
        _ => format!("called at {}:{}", path(&before.symbol.path), site_lines(&step.sites)),
    };
    let sure = if step.certainty == Certainty::Certain { String::new() } else { format!(", {}", step.certainty.word()) };
    format!("→ {what} {how}{sure}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Position, RepoPath, SiteKind, Step, SymbolKind, Verdict, Visibility};
    use crate::query::{Counts, Total};
    use crate::store::SymbolKey;

    fn symbol(path: &str, container: &str, name: &str, line: u32) -> SymbolInfo {
        SymbolInfo {
            key: SymbolKey(line),
            path: RepoPath::new(path).expect("the paths of the test are well formed"),
            name: name.to_owned(),
            container: container.to_owned(),
            kind: SymbolKind::Method,
            language: "x".to_owned(),
            first_line: line,
            last_line: line + 20,
            name_at: Position { line, column: 4 },
            signature: format!("def {name}(self, request, *arguments)"),
            doc: "What it does.".to_owned(),
            visibility: Visibility::Public,
            flags: 0,
            references: 3,
        }
    }

    fn node(symbol: SymbolInfo, parent: Option<usize>, depth: u32, lines: &[u32]) -> TraceNode {
        let site = |&line: &u32| SiteInfo {
            path: symbol.path.clone(),
            at: Position { line, column: 8 },
            kind: SiteKind::Call,
            name: "target".to_owned(),
            verdict: Verdict::Resolved,
            step: Step::Import,
        };
        let sites = lines.iter().map(site).collect();
        TraceNode {
            end: TraceEnd::Symbol(Box::new(symbol)),
            parent,
            depth,
            link: TraceLink::Sites,
            through: None,
            certainty: Certainty::Certain,
            sites,
            repeated: false,
            not_followed: Counts::default(),
        }
    }

    fn traced(nodes: Vec<TraceNode>, depth: u32) -> Traced {
        let total = nodes.len() as u64;
        let root_counts = Counts { certain: total, ..Counts::default() };
        let tree = TraceTree { nodes, total: Total::Exact(total), root_counts, not_followed: Vec::new() };
        let root = symbol("src/package/module/base.x", "Container", "target", 10);
        let params = TraceParams { depth, ..TraceParams::default() };
        Traced { params, result: TraceResult { root, to: None, finding: TraceFinding::Tree(tree) } }
    }

    #[test]
    fn callers_are_dense() {
        let caller = |number: u32| {
            let path = format!("src/package/module_{}/handlers.x", number / 6);
            node(symbol(&path, "RequestHandler", &format!("handle_request_{number}"), number * 30), None, 1, &[number * 30 + 7])
        };
        let mut page = Page::new(1000);
        let head = traced((0..200).map(caller).collect(), 1).render(&mut page);
        let text = page.finish(&head);
        let shown = text.matches("handle_request_").count();
        assert!(text.len() <= 4000 && shown >= 45, "{shown} callers in {} bytes", text.len());
        assert!(
            head.starts_with(&format!("{shown} of 200 callers")) && text.contains(&format!("… {} more callers", 200 - shown))
        );
    }

    #[test]
    fn a_tree_stands_below_its_parents_without_repeated_paths() {
        let nodes = vec![
            node(symbol("src/package/module/base.x", "", "a", 50), None, 1, &[51, 52]),
            node(symbol("src/b.x", "", "b", 1), None, 1, &[2]),
            node(symbol("src/b.x", "", "b2", 8), None, 1, &[9]),
            node(symbol("src/c.x", "C", "c", 7), Some(0), 2, &[8]),
        ];
        let mut page = Page::new(1000);
        let head = traced(nodes, 2).render(&mut page);
        assert!(page.finish(&head).ends_with("\na:51,52\n  src/c.x: C.c:8\nsrc/b.x: b:2\nb2:9"));
    }
}
