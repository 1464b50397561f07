//! The answer of `trace`.

use super::{Groups, RAISE, counts, full_name, grouped, name, path};
use crate::query::trace::{Direction, PathStep, TraceEnd, TraceFinding, TraceLink, TraceNode, TraceTree};
use crate::query::{Certainty, SiteInfo, SymbolInfo, TraceParams, TraceResult};
use crate::server::budget::Page;
use crate::server::escape::SafeLine;
use crate::server::reply;
use crate::server::tools::Answer;
use serde_json::Value;

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
        let entry = |(site, around): &(SiteInfo, Option<SymbolInfo>)| {
            let who = match around {
                Some(symbol) if callers => format!(" {}", name(symbol)),
                _ if callers => String::new(),
                _ => format!(" {}", SafeLine::new(&site.name, 120)),
            };
            (path(&site.path).to_string(), format!("{}{who}", site.at.line))
        };
        let title = "not followed, too vague to be called a call:";
        let room = page.room().saturating_sub(title.len() + 1);
        let mut groups = Groups::inline(room);
        let listed = tree.not_followed.iter().map(entry).take_while(|(heading, entry)| groups.add(heading, entry)).count();
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
        (nodes.iter().any(|node| node.repeated), "* see above"),
    ]
    .into_iter()
    .filter_map(|(used, meaning)| used.then_some(meaning))
    .collect();
    if !meanings.is_empty() {
        page.note(meanings.join("; "));
    }
}

/// A tree of several levels. The nodes come breadth first: the first that fit are shown, each below its parent.
fn indented(tree: &TraceTree, root: &SymbolInfo, callers: bool, page: &mut Page) -> usize {
    let mut room = page.room();
    let mut entries = Vec::new();
    for node in &tree.nodes {
        let parent_path = match node.parent.map(|parent| &tree.nodes[parent].end) {
            None => Some(&root.path),
            Some(TraceEnd::Symbol(symbol)) => Some(&symbol.path),
            Some(TraceEnd::File(file)) => Some(file),
            Some(TraceEnd::External(_)) => None,
        };
        let indent = "  ".repeat(node.depth as usize - 1);
        let (file, entry) = flat_entry(node, callers);
        let own_path = match &node.end {
            TraceEnd::Symbol(symbol) => Some(&symbol.path),
            TraceEnd::File(file) => Some(file),
            TraceEnd::External(_) => None,
        };
        let place = if own_path.is_some() && own_path == parent_path { String::new() } else { format!("{file}: ") };
        let star = if node.repeated { " *" } else { "" };
        let line = format!("{indent}{place}{entry}{star}");
        if line.len() + 1 > room {
            break;
        }
        room -= line.len() + 1;
        entries.push((node.parent, line));
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    let mut stack: Vec<usize> = Vec::new();
    for (at, (parent, _)) in entries.iter().enumerate().rev() {
        match parent {
            Some(parent) => children[*parent].push(at),
            None => stack.push(at),
        }
    }
    while let Some(at) = stack.pop() {
        page.add(&entries[at].1);
        stack.extend(&children[at]);
    }
    entries.len()
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
