//! A trace as it is written: the query and its result.

use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::CONTENT;
use crate::answers::render::groups::{Entry, Groups, Place};
use crate::answers::render::sources::Sources;
use crate::answers::render::{TOP, by_directory, counts, like_it, name, path, plural};
use crate::base::escape::SafeLine;
use crate::tools::trace::json;
use crate::tools::trace::text::entry::{entry_text, named};
use crate::tools::trace::text::marks::{heading_mark, shared_mark};
use crate::tools::trace::text::paths::{path_lines, why_none};
use crate::tools::trace::text::tree::{indented, nearest_first};
use crate::tools::trace::text::vague::{ends, uncertain, unfollowed, vague};
use cograph_query::trace::{Direction, TraceEnd, TraceFinding, TraceLink, TraceNode, TraceTree};
use cograph_query::{Certainty, SiteInfo, Tests, TraceParams, TraceResult};
use serde_json::Value;
use std::collections::HashSet;

/// Query and result.
pub(crate) struct Traced {
    /// Query.
    pub(crate) params: TraceParams,
    /// Result.
    pub(crate) result: TraceResult,
    /// Source lines of the sites, where these are few.
    pub(crate) sources: Sources,
}

impl Answer for Traced {
    fn render(&self, page: &mut Page) -> String {
        let root = &self.result.root;
        let this = named(root);
        match &self.result.finding {
            TraceFinding::Tree(tree) => self.tree(tree, page),
            TraceFinding::Path(steps) => {
                page.add_all(path_lines(steps));
                let to = self.result.to.as_ref().map(named).unwrap_or_default();
                let calls = plural(steps.len().saturating_sub(1) as u64, "call");
                let possible = steps.iter().filter(|step| step.certainty > Certainty::Likely);
                let unsure = match possible.count() {
                    0 => String::new(),
                    count => format!(", {count} of them possible"),
                };
                format!("{this} reaches {to} in {calls}{unsure}")
            }
            TraceFinding::NoPath { not_followed, first, visited, .. } => {
                let to = self.result.to.as_ref().map(named).unwrap_or_default();
                let why = why_none(&self.result.finding, self.params.depth);
                unfollowed(first, *not_followed, page);
                let also = like_it(self.result.also.len());
                let or = like_it(usize::try_from(self.result.also_to).unwrap_or(usize::MAX));
                format!(
                    "no path of calls from {this}{also} to {to}{or}: {why} ({visited} symbols seen)"
                )
            }
        }
    }

    fn least(&self) -> Option<usize> {
        let TraceFinding::Tree(tree) = &self.result.finding else { return None };
        let nodes: Vec<&TraceNode> = tree.nodes.iter().filter(|node| !node.in_tests).collect();
        let mut groups = Groups::inline(usize::MAX);
        groups.fill(&entries(self.is_up(), &nodes, FIRST_LINES));
        Some(FIRST_LINE + groups.bytes())
    }

    fn json(&self) -> Value {
        let mut reply = json::trace(&self.params, &self.result, &self.sources);
        if let finding @ TraceFinding::NoPath { .. } = &self.result.finding {
            reply["no_path"]["why"] = Value::from(why_none(finding, self.params.depth));
        }
        reply
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
    fn tree(&self, tree: &TraceTree, page: &mut Page) -> String {
        let root = &self.result.root;
        let callers = self.is_up();
        let what = if callers { "callers" } else { "callees" };
        let totals = by_directory(&tree.by_directory);
        if let Some(totals) = &totals {
            page.add(&format!("call sites {totals}"));
        }
        let shown = if self.params.depth == 1 {
            self.flat(tree, what, page)
        } else if tree.is_list {
            let shown = nearest_first(tree, page);
            page.left_out(shown, tree.distinct.number(), what, NARROW);
            shown
        } else {
            let shown = distinct(&indented(tree, callers, page));
            page.left_out(shown, tree.distinct.number(), what, NARROW);
            shown
        };
        vague(tree, callers, page);
        if let Some(ends) = ends(tree) {
            page.note(ends);
        }
        // The list of direct callers has them next to its sites.
        if !callers || self.params.depth > 1 {
            self.sources.add(page);
        }
        let of = if shown as u64 == tree.distinct.number() {
            String::new()
        } else {
            format!(" of {}", tree.distinct)
        };
        let depth = if self.params.depth > 1 {
            format!(" within {} steps", self.params.depth)
        } else {
            String::new()
        };
        let what = if shown == 1 && of.is_empty() { &what[..what.len() - 1] } else { what };
        let which = match self.params.tests {
            Tests::Include => "",
            Tests::Exclude => " outside of tests",
            Tests::Only => " in tests",
        };
        let sites = if of.is_empty() && totals.is_none() {
            uncertain(&tree.root_counts)
        } else {
            format!("; call sites: {}", counts(&tree.root_counts))
        };
        let whose = named(root);
        let also = like_it(self.result.also.len());
        let values = match tree.values {
            0 => String::new(),
            count => {
                let places = plural(count, "place");
                format!("; used without a call at {places}: `references`")
            }
        };
        format!("{shown}{of} {what}{which} of {whose}{also}{depth}{sites}{values}")
    }

    /// One level. Callers through overridden or implemented symbols are only counted, unless they
    /// are few: they call the base symbol and are listed there.
    fn flat(&self, tree: &TraceTree, what: &str, page: &mut Page) -> usize {
        let (direct, dispatched): (Vec<&TraceNode>, Vec<&TraceNode>) =
            tree.nodes.iter().partition(|node| node.link == TraceLink::Sites);
        // Truncation affects dynamic dispatch only: the most certain come first.
        let apart = tree.distinct.number().saturating_sub(distinct(&direct) as u64);
        let all: Vec<&TraceNode> = tree.nodes.iter().collect();
        let is_whole = distinct(&all) as u64 == tree.distinct.number();
        let few = is_whole && dispatched.len() as u64 <= FEW;
        let listed = if direct.is_empty() || few { all } else { direct };
        let shown = distinct(&listed[..self.list(&listed, page)]);
        if listed.len() == tree.nodes.len() {
            page.left_out(shown, tree.distinct.number(), what, NARROW);
            return shown;
        }
        page.left_out(shown, distinct(&listed) as u64, what, NARROW);
        if apart == 0 {
            return shown;
        }
        let mut through: Vec<String> =
            dispatched.iter().filter_map(|node| node.through.as_deref().map(named)).collect();
        through.sort();
        through.dedup();
        let others = if through.len() > 1 {
            format!(" and {} more", through.len() - 1)
        } else {
            String::new()
        };
        page.omit(format!("… {apart} more {what} through {}{others}", through[0]));
        shown
    }

    /// Writes nodes grouped by file: few callers with the source of their calls, others with all
    /// lines of their calls if they all fit, else with the first ones of each, as many as fit.
    fn list(&self, nodes: &[&TraceNode], page: &mut Page) -> usize {
        let callers = self.is_up();
        if callers
            && let Some(text) = self.sources.list(nodes.iter().flat_map(|node| sites(node)))
            && page.add(&format!("{CONTENT}:\n{text}"))
        {
            return nodes.len();
        }
        let title = shared_mark(nodes);
        let least = entries(callers, nodes, FIRST_LINES);
        let of_title = title.as_ref().map_or(0, |title| title.len() + 1);
        let room = page.room().saturating_sub(of_title);
        let fill = |entries: &[Entry]| {
            let mut groups = Groups::inline(room);
            let (count, _) = groups.fill(entries);
            (groups, count)
        };
        let (mut groups, mut count) = fill(&entries(callers, nodes, usize::MAX));
        if count < nodes.len() {
            (groups, count) = fill(&least);
        }
        if let Some(title) = title.filter(|_| count > 0) {
            page.add(&title);
        }
        groups.write(page);
        count
    }

    fn is_up(&self) -> bool {
        self.params.direction == Direction::Callers
    }
}

/// Bytes for the first line and a note.
pub(crate) const FIRST_LINE: usize = 240;

/// Maximum number of lines of one caller or callee where not all fit.
pub(crate) const FIRST_LINES: usize = 2;

/// Maximum number of callers or callees by dynamic dispatch that are listed with the direct ones.
pub(crate) const FEW: u64 = 3;

/// Hint for entries that did not fit.
pub(crate) const NARROW: &str =
    "raise `budget`, or narrow with `tests`, `certainty` or a smaller `depth`";

/// Sites of a caller, one for each line.
pub(crate) fn sites(node: &TraceNode) -> impl Iterator<Item = (&SiteInfo, Place)> {
    let who = match &node.end {
        TraceEnd::Symbol(symbol) => name(symbol).to_string(),
        TraceEnd::File(_) => TOP.to_owned(),
        TraceEnd::External(name) => SafeLine::new(name, 160).to_string(),
    };
    let mut last = None;
    let first_of_line = move |site: &&SiteInfo| last.replace(site.at.line) != Some(site.at.line);
    node.sites.iter().filter(first_of_line).map(move |site| {
        let (mark, who) = (heading_mark(node), who.clone());
        (site, Place { heading: path(&site.path).to_string(), mark, who, line: site.at.line })
    })
}

/// Entries of nodes, with at most this many lines of calls each.
pub(crate) fn entries(callers: bool, nodes: &[&TraceNode], most: usize) -> Vec<Entry> {
    let is_shared = shared_mark(nodes).is_some();
    let entry = |node: &&TraceNode| {
        let (heading, text) = entry_text(node, callers, most);
        let mark = if is_shared { String::new() } else { heading_mark(node) };
        Entry { heading, mark, text, sites: node.sites.len() }
    };
    nodes.iter().map(entry).collect()
}

/// Number of distinct ends of nodes.
pub(crate) fn distinct(nodes: &[&TraceNode]) -> usize {
    let ends = nodes.iter().map(|node| match &node.end {
        TraceEnd::Symbol(symbol) => (Some(symbol.key), symbol.path.as_str()),
        TraceEnd::File(file) => (None, file.as_str()),
        TraceEnd::External(name) => (None, name.as_str()),
    });
    ends.collect::<HashSet<_>>().len()
}
