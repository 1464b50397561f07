//! Rendering of `trace`.

mod marks;
mod paths;
mod tree;
mod vague;

use super::json;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::sources::Sources;
use crate::answers::render::{
    CONTENT, Entry, Groups, Place, TOP, by_directory, counts, like_it, name, path, place, plural,
};
use crate::base::escape::SafeLine;
use cograph_query::trace::{Direction, TraceEnd, TraceFinding, TraceLink, TraceNode, TraceTree};
use cograph_query::{Certainty, SiteInfo, SymbolInfo, Tests, TraceParams, TraceResult};
use marks::{heading_mark, shared_mark};
use paths::{path_lines, why_none};
use serde_json::Value;
use std::collections::HashSet;
use tree::{indented, nearest_first};
use vague::{ends, uncertain, unfollowed};

/// Divisor: share of the space for sites that were not followed, if others were. All are counted in
/// any case.
const VAGUE_PART: usize = 20;

/// Bytes for the first line and a note.
const FIRST_LINE: usize = 240;

/// Maximum number of lines of one caller or callee where not all fit.
const FIRST_LINES: usize = 2;

/// Maximum number of callers or callees by dynamic dispatch that are listed with the direct ones.
const FEW: u64 = 3;

/// Hint for entries that did not fit.
const NARROW: &str = "raise `budget`, or narrow with `tests`, `certainty` or a smaller `depth`";

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
        if let Some(totals) = by_directory(&tree.by_directory) {
            page.add(&totals);
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
        self.vague(tree, callers, page);
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
        let sites = if of.is_empty() {
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

/// `Container.name (path:12)`.
fn named(symbol: &SymbolInfo) -> String {
    format!("{} ({})", name(symbol), place(symbol))
}

/// Sites of a caller, one for each line.
fn sites(node: &TraceNode) -> impl Iterator<Item = (&SiteInfo, Place)> {
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
fn entries(callers: bool, nodes: &[&TraceNode], most: usize) -> Vec<Entry> {
    let is_shared = shared_mark(nodes).is_some();
    let entry = |node: &&TraceNode| {
        let (heading, text) = entry_text(node, callers, most);
        let mark = if is_shared { String::new() } else { heading_mark(node) };
        Entry { heading, mark, text, sites: node.sites.len() }
    };
    nodes.iter().map(entry).collect()
}

/// Number of distinct ends of nodes.
fn distinct(nodes: &[&TraceNode]) -> usize {
    let ends = nodes.iter().map(|node| match &node.end {
        TraceEnd::Symbol(symbol) => (Some(symbol.key), symbol.path.as_str()),
        TraceEnd::File(file) => (None, file.as_str()),
        TraceEnd::External(name) => (None, name.as_str()),
    });
    ends.collect::<HashSet<_>>().len()
}

/// File and text of a node: a caller as `name:line,line`, a callee as `name:line at line`.
fn entry_text(node: &TraceNode, callers: bool, most: usize) -> (String, String) {
    let at = site_lines(&node.sites, most);
    match &node.end {
        TraceEnd::Symbol(symbol) => {
            let (file, who) = (path(&symbol.path).to_string(), name(symbol));
            let text = if callers {
                format!("{who}:{at}")
            } else {
                format!("{who}:{} at {at}", symbol.name_at.line)
            };
            (file, text)
        }
        TraceEnd::File(file) => (path(file).to_string(), format!("{TOP}:{at}")),
        TraceEnd::External(external) => {
            ("outside".to_owned(), format!("{} at {at}", SafeLine::new(external, 160)))
        }
    }
}

/// `12,34`, with ` +5 more` for the lines beyond `most`.
fn site_lines(sites: &[SiteInfo], most: usize) -> String {
    let mut lines: Vec<String> = sites.iter().map(|site| site.at.line.to_string()).collect();
    lines.dedup();
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    let first = lines.join(",");
    if more > 0 { format!("{first} +{more} more") } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::Verdict;
    use cograph_model::{Position, RepoPath, SiteKind, Step, SymbolKind, Visibility};
    use cograph_query::Total;
    use cograph_query::{Certainty, Counts};
    use cograph_store::SymbolKey;

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
            in_tests: false,
            repeated: false,
            not_followed: Counts::default(),
        }
    }

    fn traced(nodes: Vec<TraceNode>, depth: u32) -> Traced {
        let total = nodes.len() as u64;
        let root_counts = Counts { certain: total, ..Counts::default() };
        let tree = TraceTree {
            nodes,
            is_list: false,
            total: Total::Exact(total),
            distinct: Total::Exact(total),
            root_counts,
            values: 0,
            other_uses: 0,
            by_directory: Vec::new(),
            not_followed: Vec::new(),
            ends: 0,
            first_ends: Vec::new(),
        };
        let root = symbol("src/package/module/base.x", "Container", "target", 10);
        let params = TraceParams { depth, ..TraceParams::default() };
        Traced {
            params,
            result: TraceResult {
                root,
                also: Vec::new(),
                to: None,
                also_to: 0,
                finding: TraceFinding::Tree(tree),
            },
            sources: Sources::default(),
        }
    }

    #[test]
    fn callers_are_dense() {
        let caller = |number: u32| {
            let path = format!("src/package/module_{}/handlers.x", number / 6);
            node(
                symbol(&path, "RequestHandler", &format!("handle_request_{number}"), number * 30),
                None,
                1,
                &[number * 30 + 7],
            )
        };
        let mut page = Page::new(1000);
        let head = traced((0..200).map(caller).collect(), 1).render(&mut page);
        let text = page.finish(&head);
        let shown = text.matches("handle_request_").count();
        assert!(text.len() <= 4000 && shown >= 45, "{shown} callers in {} bytes", text.len());
        assert!(
            head.starts_with(&format!(
                "{shown} of 200 callers of Container.target (src/package/module/base.x:10); call \
                 sites: 200"
            )) && text.contains(&format!("… {} more callers", 200 - shown))
        );
    }

    #[test]
    fn paths_and_names_are_written_whole() {
        let nodes = vec![
            node(symbol("src/package/module/base.x", "Container", "a", 50), None, 1, &[51, 52]),
            node(symbol("src/package/module/other.x", "C", "f", 1), None, 1, &[2]),
            node(symbol("src/package/module/other.x", "C", "g", 8), None, 1, &[9]),
        ];
        let mut page = Page::new(1000);
        let head = traced(nodes, 1).render(&mut page);
        let expected = "3 callers of Container.target (src/package/module/base.x:10)\n\
                        src/package/module/base.x: Container.a:51,52\n\
                        src/package/module/other.x: C.f:2, C.g:9";
        assert_eq!(page.finish(&head), expected);
    }

    #[test]
    fn what_dispatch_reaches_is_counted_beside_what_is_named() {
        let through = symbol("src/package/interface.x", "Interface", "target", 3);
        let mut nodes = vec![node(symbol("src/a.x", "", "direct", 5), None, 1, &[6])];
        nodes.extend((0..100).map(|number| {
            let caller = symbol(&format!("src/file_{number}.x"), "Class", "caller", 7);
            let through = Some(Box::new(through.clone()));
            TraceNode { link: TraceLink::Dispatch, through, ..node(caller, None, 1, &[8]) }
        }));
        let mut page = Page::new(1000);
        let head = traced(nodes.clone(), 1).render(&mut page);
        let text = page.finish(&head);
        assert_eq!(
            text,
            "1 of 101 callers of Container.target (src/package/module/base.x:10); call sites: 101 \
             certain\nsrc/a.x: direct:6\n\
             … 100 more callers through Interface.target (src/package/interface.x:3)"
        );
        let mut page = Page::new(1000);
        let head = traced(nodes[..3].to_vec(), 1).render(&mut page);
        assert!(page.finish(&head).ends_with(
            "base.x:10)\nsrc/a.x: direct:6\n\
            src/file_0.x: by dispatch: Class.caller:8\n\
            src/file_1.x: by dispatch: Class.caller:8"
        ));
        let mut page = Page::new(1000);
        let head = traced(nodes.split_off(1), 1).render(&mut page);
        assert!(
            page.finish(&head).contains("\nby dispatch:\nsrc/file_0.x: Class.caller:8\n"),
            "alone they have the whole room"
        );
    }

    #[test]
    fn where_not_all_lines_fit_the_first_of_each_caller_are_listed() {
        let lines: Vec<u32> = (100..140).collect();
        let nodes: Vec<TraceNode> = (0..40)
            .map(|at| node(symbol("src/a.x", "C", &format!("caller_{at:02}"), 1), None, 1, &lines))
            .collect();
        let mut page = Page::new(500);
        let head = traced(nodes.clone(), 1).render(&mut page);
        let text = page.finish(&head);
        assert!(
            text.contains("src/a.x: C.caller_00:100,101 +38 more, C.caller_01:100,101 +38 more"),
            "{text}"
        );
        assert!(text.contains("C.caller_39:"), "{text}");
        let mut page = Page::new(5000);
        let head = traced(nodes, 1).render(&mut page);
        let text = page.finish(&head);
        assert!(text.contains("C.caller_39:100,101,102,") && !text.contains('+'), "{text}");
    }

    #[test]
    fn a_tree_stands_below_its_parents_with_whole_paths() {
        let nodes = vec![
            node(symbol("src/package/module/base.x", "", "a", 50), None, 1, &[51, 52]),
            node(symbol("src/b.x", "", "b", 1), None, 1, &[2]),
            node(symbol("src/b.x", "", "b2", 8), None, 1, &[9]),
            node(symbol("src/c.x", "C", "c", 7), Some(0), 2, &[8]),
        ];
        let mut page = Page::new(1000);
        let head = traced(nodes, 2).render(&mut page);
        let text = page.finish(&head);
        let tree = "\nsrc/package/module/base.x: a:51,52\n  src/c.x: C.c:8\nsrc/b.x: b:2, b2:9";
        assert!(text.ends_with(tree), "{text}");
    }
}
