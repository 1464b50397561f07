//! `map`: directories and files as a treemap, coloured by what is known of them, for the page.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::kept::KeptAnswers;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::base::escape::SafeLine;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::impact::coverage::KnownCoverage;
use crate::tools::impact::history::KnownHistory;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool, common};
use cograph_coverage::executed;
use cograph_model::RepoPath;
use cograph_model::facts::flags;
use cograph_page::{Rectangle, treemap};
use cograph_query::QueryError;
use cograph_query::overview::map::{MapNodeKind, MapParams, MapResult, map};
use cograph_query::references::unused::{Class as UnusedClass, UnusedParams, unused};
use serde_json::{Value, json};

/// Maximum number of boxes.
pub(crate) const MAX_BOXES: usize = 700;
/// Maximum time of reading the history on.
const HISTORY_TIME: Duration = Duration::from_secs(5);
/// Area of the map, wide and tall.
const WIDE: Rectangle = Rectangle { x: 0.0, y: 0.0, width: 1200.0, height: 720.0 };
const TALL: Rectangle = Rectangle { x: 0.0, y: 0.0, width: 640.0, height: 960.0 };
/// Border of a directory, and the space of its name.
const BORDER: f64 = 2.0;
const HEAD: f64 = 15.0;
/// Least sides of a directory that shows its name, and least side of a box.
const NAMED: (f64, f64) = (48.0, 40.0);
const LEAST: f64 = 1.5;

pub(crate) static TOOL: Tool = Tool {
    name: "map",
    title: "Module map",
    about: "Directories and files by size, coloured by what is known of them.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("path", Shape::Text { most: 1024 }, "Only this directory"),
        Parameter::new(
            "colour",
            Shape::Word(&["tests", "churn", "unused", "coverage"]),
            "What the colours mean, default tests",
        ),
        Parameter::new("tall", Shape::Flag, "For a narrow screen"),
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

/// Share of each file: a part and the whole that it is of.
type Shares = FxHashMap<RepoPath, (u64, u64)>;

/// Tree with the rectangle of each node.
struct MapLayout {
    result: MapResult,
    places: Vec<Rectangle>,
}

static LAYOUTS: KeptAnswers<MapLayout> = KeptAnswers::new();
/// Of the whole repository, which each question about unused definitions reads.
static UNUSED: KeptAnswers<Shares> = KeptAnswers::new();

/// Map with its layout.
struct ModuleMap {
    layout: Arc<MapLayout>,
    colour: &'static str,
    /// By node, the part and the whole.
    shares: Vec<(u64, u64)>,
    /// Why there are no colours.
    unknown: Option<String>,
}

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let path = common::directory(arguments.text("path").unwrap_or_default());
    let tall = arguments.flag("tall");
    let generation = context.snapshot.meta().identity;
    let layout = LAYOUTS.of(generation, format!("{tall} {path}"), || {
        let params = MapParams { path, limit: MAX_BOXES };
        let result = map(context.snapshot, &params, context.cancel)?;
        let places = places(&result, if tall { TALL } else { WIDE });
        Ok(MapLayout { result, places })
    })?;
    let result = &layout.result;
    let (colour, known) = match arguments.text("colour") {
        Some("churn") => ("churn", churn(context).map(Arc::new)),
        Some("unused") => {
            ("unused", Ok(UNUSED.of(generation, String::new(), || unused_lines(context))?))
        }
        Some("coverage") => ("coverage", covered_functions(context, result)?.map(Arc::new)),
        _ => ("tests", Ok(Arc::default())),
    };
    let mut shares = vec![(0, 0); result.nodes.len()];
    let unknown = match known {
        Ok(_) if colour == "tests" => {
            let nodes = result.nodes.iter();
            shares = nodes.map(|node| (node.test_lines, node.lines)).collect();
            None
        }
        Ok(known) => {
            for (file, node) in &result.files {
                let Some((part, whole)) = known.get(file) else { continue };
                let mut node = Some(*node);
                while let Some(at) = node {
                    shares[at].0 += part;
                    shares[at].1 += whole;
                    node = result.nodes[at].parent;
                }
            }
            None
        }
        Err(reason) => Some(reason),
    };
    Ok(Box::new(ModuleMap { layout, colour, shares, unknown }))
}

/// The rectangle of each node: children lie inside of their parent.
fn places(result: &MapResult, area: Rectangle) -> Vec<Rectangle> {
    let mut children: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (at, node) in result.nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            children.entry(parent).or_default().push(at);
        }
    }
    let mut places = vec![area; result.nodes.len()];
    for parent in 0..result.nodes.len() {
        let Some(mut own) = children.remove(&parent) else { continue };
        // What did not fit may be larger than what did.
        let weight = |at: &usize| result.nodes[*at].lines.max(1);
        own.sort_by_key(|at| (std::cmp::Reverse(weight(at)), *at));
        let place = places[parent];
        let inside = match parent {
            0 => place,
            _ if place.width >= NAMED.0 && place.height >= NAMED.1 => place.inside(BORDER, HEAD),
            _ => place.inside(BORDER.min(place.width / 8.0), BORDER.min(place.height / 8.0)),
        };
        let weights: Vec<u64> = own.iter().map(weight).collect();
        for (at, rectangle) in own.into_iter().zip(treemap(&weights, inside)) {
            places[at] = rectangle;
        }
    }
    places
}

/// Commits of the last year by file, of one.
fn churn(context: &QueryContext<'_>) -> Result<Shares, String> {
    let known = KnownHistory::of(context, HISTORY_TIME)
        .ok_or("there is no history: no git, or no repository of it")?;
    let files = known.files(None).into_iter();
    Ok(files.map(|(path, facts)| (path, (u64::from(facts.recent), 1))).collect())
}

/// Lines of definitions that nothing uses, of the lines of each file.
fn unused_lines(context: &QueryContext<'_>) -> Result<Shares, QueryError> {
    let executed = executed(context.snapshot, &|path: &RepoPath| context.files.read(path))?;
    let params = UnusedParams { path: None, executed };
    let found = unused(context.snapshot, context.files, &params, context.cancel)?;
    let mut shares = Shares::default();
    for file in context.snapshot.files()? {
        shares.insert(file.path, (0, u64::from(file.lines)));
    }
    for one in found.symbols {
        if matches!(one.class, UnusedClass::Unused | UnusedClass::UnusedHere)
            && let Some((part, _)) = shares.get_mut(&one.symbol.path)
        {
            *part += u64::from(one.symbol.last_line - one.symbol.first_line + 1);
        }
    }
    Ok(shares)
}

/// Functions that tests executed with their present bodies, of the functions of each file.
fn covered_functions(
    context: &QueryContext<'_>,
    result: &MapResult,
) -> Result<Result<Shares, String>, QueryError> {
    let Some(known) = KnownCoverage::of(context) else {
        return Ok(Err("no coverage was imported: `cograph coverage add`".to_owned()));
    };
    let covered: rustc_hash::FxHashSet<_> = known
        .covered(context, |covered, _| covered.iter().map(|one| one.symbol).collect::<Vec<_>>())?
        .into_iter()
        .collect();
    let mut shares = Shares::default();
    for (path, _) in &result.files {
        if context.cancel.is_cancelled() {
            return Err(QueryError::Cancelled);
        }
        let Some(file) = context.snapshot.file_at(path.as_str())?.filter(|file| !file.test) else {
            continue;
        };
        let symbols = context.snapshot.symbols_of(&file)?;
        let functions = symbols.iter().filter(|symbol| {
            symbol.kind.is_callable() && symbol.flags & (flags::TEST | flags::DECLARATION) == 0
        });
        let (mut part, mut whole) = (0, 0);
        for function in functions {
            whole += 1;
            part += u64::from(covered.contains(&function.key));
        }
        if whole > 0 {
            shares.insert(path.clone(), (part, whole));
        }
    }
    Ok(Ok(shares))
}

impl ModuleMap {
    /// Colour of a node from 0 to 1; none where nothing is known.
    fn shade(&self, (part, whole): (u64, u64), most: f64) -> Option<f64> {
        if whole == 0 || self.unknown.is_some() {
            return None;
        }
        let share = part as f64 / whole as f64;
        Some(match self.colour {
            // A few files change a hundred times as often as the others.
            "churn" => (1.0 + share).ln() / (1.0 + most).ln().max(f64::MIN_POSITIVE),
            _ => share,
        })
    }
}

impl Answer for ModuleMap {
    fn render(&self, _page: &mut Page) -> String {
        format!("map of {}", SafeLine::new(&self.layout.result.path, 300))
    }

    fn json(&self) -> Value {
        let leaves = self.shares.iter().filter(|(_, whole)| *whole > 0);
        let most = leaves.map(|(part, whole)| *part as f64 / *whole as f64).fold(0.0, f64::max);
        let round = |number: f64| (number * 10.0).round() / 10.0;
        let mut too_small = 0;
        let MapLayout { result, places } = &*self.layout;
        let nodes = result.nodes.iter().zip(places).zip(&self.shares).enumerate();
        let boxes: Vec<Value> = nodes
            .filter_map(|(at, ((node, place), share))| {
                if place.width < LEAST || place.height < LEAST {
                    too_small += u64::from(node.kind != MapNodeKind::Directory);
                    return None;
                }
                Some(json!({
                    "id": at,
                    "parent": node.parent,
                    "path": node.path,
                    "kind": match node.kind {
                        MapNodeKind::Directory => "directory",
                        MapNodeKind::File => "file",
                        MapNodeKind::Others => "others",
                    },
                    "files": node.files, "lines": node.lines, "symbols": node.symbols,
                    "x": round(place.x), "y": round(place.y),
                    "width": round(place.width), "height": round(place.height),
                    "part": share.0, "whole": share.1,
                    "shade": self.shade(*share, most).map(|shade| (shade * 1e3).round() / 1e3),
                }))
            })
            .collect();
        json!({
            "path": result.path,
            "colour": self.colour,
            "unknown": self.unknown,
            "width": places[0].width, "height": places[0].height,
            "boxes": boxes,
            "too_small": too_small,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_query::overview::map::MapNode;

    #[test]
    fn boxes_lie_inside_of_their_parents_and_leave_space_for_names() {
        let node = |path: &str, kind, parent, lines| MapNode {
            path: path.to_owned(),
            kind,
            parent,
            files: 1,
            lines,
            symbols: 0,
            test_lines: 0,
        };
        let nodes = vec![
            node("", MapNodeKind::Directory, None, 10),
            node("a", MapNodeKind::Directory, Some(0), 8),
            node("b", MapNodeKind::File, Some(0), 2),
            node("a/c", MapNodeKind::File, Some(1), 3),
            node("a", MapNodeKind::Others, Some(1), 5),
        ];
        let result = MapResult { path: String::new(), nodes, files: Vec::new() };
        let found = places(&result, WIDE);
        assert_eq!(found[0], WIDE);
        let (outer, file, others) = (found[1], found[3], found[4]);
        assert!((outer.area() / WIDE.area() - 0.8).abs() < 1e-9);
        for inner in [file, others] {
            assert!(inner.y >= outer.y + HEAD && inner.x >= outer.x + BORDER);
            assert!(inner.x + inner.width <= outer.x + outer.width);
            assert!(inner.y + inner.height <= outer.y + outer.height);
        }
        assert!((others.area() / file.area() - 5.0 / 3.0).abs() < 1e-6);
    }
}
