//! `cograph export dot` and `mermaid`: modules, the neighbourhood of a symbol or a path, as a graph
//! in the language of a program that draws it into documents.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::ask;
use crate::base::root::RootArgument;
use crate::output::note;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_query::explore::neighbourhood::{AroundParams, around};
use cograph_query::overview::matrix::{MatrixParams, matrix};
use cograph_query::trace::{TraceEnd, TraceFinding, TraceResult};
use cograph_query::{Certainty, QueryError, SymbolInfo, TraceParams};
use cograph_server::{self as server, Host};

/// Maximum length of a path.
const PATH_DEPTH: u32 = 20;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct DrawingArguments {
    /// Callers and callees of this symbol, instead of modules
    #[arg(long, value_name = "SYMBOL", conflicts_with_all = ["from", "to", "path", "depth"])]
    around: Option<String>,
    /// The calls from this symbol, instead of modules
    #[arg(long, value_name = "SYMBOL", requires = "to", conflicts_with_all = ["path", "depth"])]
    from: Option<String>,
    /// to this one
    #[arg(long, value_name = "SYMBOL", requires = "from")]
    to: Option<String>,
    /// Only modules of this directory
    #[arg(long, value_name = "DIR")]
    path: Option<String>,
    /// Levels of directories that count as modules [default: as many as give some dozen]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    depth: u32,
    /// Modules of test code too
    #[arg(long)]
    tests: bool,
    /// Maximum number of modules, or of callers and of callees
    #[arg(long, value_name = "N", default_value_t = 30)]
    limit: usize,
    #[command(flatten)]
    root: RootArgument,
}

/// Language of a drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    /// Graphviz.
    Dot,
    /// Mermaid, which is drawn where Markdown is shown.
    Mermaid,
}

/// How an edge is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EdgeStyle {
    Solid,
    /// Not certain.
    Dashed,
    /// Part of a cycle.
    Bold,
}

/// Graph to draw: labels of nodes, and edges with a label.
#[derive(Default)]
struct Drawing {
    nodes: Vec<String>,
    edges: Vec<(usize, usize, String, EdgeStyle)>,
    /// What is left out; empty for nothing.
    left_out: String,
}

pub(super) fn run(
    config: &Config,
    arguments: &DrawingArguments,
    language: Language,
) -> Result<(), Stop> {
    let repositories = ask::repositories(config, arguments.root.repository(config)?.root);
    let host = ask::TerminalHost::new();
    let (snapshot, files) = repositories.up_to_date_snapshot_and_files(&host)?;
    let drawing = match (&arguments.around, &arguments.from, &arguments.to) {
        (Some(symbol), ..) => {
            let params = AroundParams {
                symbol: symbol.clone(),
                line: None,
                lines: 1,
                limit: arguments.limit,
            };
            around(&snapshot, &files, &params, host.cancel())
                .map(|found| Drawing::around(&found.symbol, &found.callers, &found.callees))
        }
        (None, Some(from), Some(to)) => {
            let params = TraceParams {
                symbol: from.clone(),
                to: Some(to.clone()),
                depth: PATH_DEPTH,
                ..TraceParams::default()
            };
            cograph_query::trace(&snapshot, &params, host.cancel())
                .map(|found| Drawing::path(&found))
        }
        _ => {
            let params = MatrixParams {
                path: arguments.path.clone().unwrap_or_default(),
                depth: arguments.depth,
                tests: arguments.tests,
                limit: arguments.limit,
            };
            matrix(&snapshot, &params, host.cancel()).map(|found| Drawing::modules(&found))
        }
    };
    drop(host);
    let drawing = drawing.map_err(|error| stop(&error))?;
    if drawing.nodes.is_empty() {
        return Err(Stop::NothingFound("no path along known calls".to_owned()));
    }
    let text = match language {
        Language::Dot => drawing.dot(),
        Language::Mermaid => drawing.mermaid(),
    };
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    if !drawing.left_out.is_empty() {
        note(&drawing.left_out);
    }
    Ok(())
}

fn stop(error: &QueryError) -> Stop {
    let message = server::one_line(&error.to_string());
    match error {
        QueryError::NoSuchSymbol { .. } | QueryError::NoSuchPath { .. } => {
            Stop::NothingFound(message)
        }
        QueryError::AmbiguousSymbol { choices, .. } => {
            let choices: Vec<String> =
                choices.iter().map(|one| server::one_line(&one.full_name())).collect();
            Stop::Usage(format!("{message}: {}", choices.join(", ")))
        }
        _ => Stop::Failure { message, hint: "see `cograph export --help`".to_owned() },
    }
}

impl Drawing {
    fn modules(found: &cograph_query::overview::matrix::MatrixResult) -> Self {
        let is_in_cycle = |from: usize, to: usize| {
            found.cycles.iter().any(|cycle| cycle.contains(&from) && cycle.contains(&to))
        };
        let edges = found.cells.iter().filter(|cell| cell.of_production > 0).map(|cell| {
            let line =
                if is_in_cycle(cell.from, cell.to) { EdgeStyle::Bold } else { EdgeStyle::Solid };
            (cell.from, cell.to, cell.of_production.to_string(), line)
        });
        let more = found.total - found.modules.len() as u64;
        Self {
            nodes: found.modules.iter().map(|module| module.path.clone()).collect(),
            edges: edges.collect(),
            left_out: match more {
                0 => String::new(),
                more => format!("{more} modules with fewer dependencies are left out: --limit"),
            },
        }
    }

    fn around(symbol: &SymbolInfo, callers: &TraceResult, callees: &TraceResult) -> Self {
        let mut drawing = Self { nodes: vec![label(symbol)], ..Self::default() };
        let mut more = 0;
        for (traced, is_caller) in [(callers, true), (callees, false)] {
            let TraceFinding::Tree(tree) = &traced.finding else { continue };
            more += tree.total.number() - tree.nodes.len() as u64;
            for node in &tree.nodes {
                let other = match &node.end {
                    TraceEnd::Symbol(other) => label(other),
                    TraceEnd::File(file) => file.as_str().to_owned(),
                    TraceEnd::External(name) => name.clone(),
                };
                let other = drawing.node(other);
                let (from, to) = if is_caller { (other, 0) } else { (0, other) };
                let sites = node.sites.len();
                let label = if sites > 1 { sites.to_string() } else { String::new() };
                drawing.edges.push((from, to, label, line_of(node.certainty)));
            }
        }
        if more > 0 {
            drawing.left_out = format!("{more} callers and callees are left out: --limit");
        }
        drawing
    }

    fn path(found: &TraceResult) -> Self {
        let mut drawing = Self::default();
        let TraceFinding::Path(steps) = &found.finding else { return drawing };
        for (at, step) in steps.iter().enumerate() {
            drawing.nodes.push(label(&step.symbol));
            if at > 0 {
                let lines: Vec<String> =
                    step.sites.iter().take(3).map(|site| site.at.line.to_string()).collect();
                let lines = lines.join(", ");
                drawing.edges.push((at - 1, at, lines, line_of(step.certainty)));
            }
        }
        drawing
    }

    fn node(&mut self, label: String) -> usize {
        self.nodes.iter().position(|known| *known == label).unwrap_or_else(|| {
            self.nodes.push(label);
            self.nodes.len() - 1
        })
    }

    fn dot(&self) -> String {
        let mut out = "digraph {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
        let quoted = |text: &str| {
            format!("\"{}\"", server::one_line(text).replace('\\', "\\\\").replace('"', "\\\""))
        };
        // Writing to a string cannot fail.
        for (at, node) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "  n{at} [label={}];", quoted(node));
        }
        for (from, to, label, line) in &self.edges {
            let style = match line {
                EdgeStyle::Solid => "",
                EdgeStyle::Dashed => ", style=dashed",
                EdgeStyle::Bold => ", style=bold, color=red",
            };
            let _ = writeln!(out, "  n{from} -> n{to} [label={}{style}];", quoted(label));
        }
        out + "}\n"
    }

    fn mermaid(&self) -> String {
        let mut out = "flowchart LR\n".to_owned();
        for (at, node) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "  n{at}[\"{}\"]", entities(node));
        }
        for (from, to, label, line) in &self.edges {
            let arrow = match line {
                EdgeStyle::Solid => "-->",
                EdgeStyle::Dashed => "-.->",
                EdgeStyle::Bold => "==>",
            };
            let label = match label.as_str() {
                "" => String::new(),
                label => format!("|\"{}\"|", entities(label)),
            };
            let _ = writeln!(out, "  n{from} {arrow}{label} n{to}");
        }
        out
    }
}

/// Name of a symbol, with the file that it is in.
fn label(symbol: &SymbolInfo) -> String {
    format!("{} ({})", symbol.qualified_name(), symbol.path)
}

fn line_of(certainty: Certainty) -> EdgeStyle {
    if certainty == Certainty::Certain { EdgeStyle::Solid } else { EdgeStyle::Dashed }
}

/// Text of a label: everything that Mermaid or the HTML that it makes could read as more than text
/// is an entity in its notation.
fn entities(text: &str) -> String {
    let mut out = String::new();
    for letter in server::one_line(text).chars() {
        match letter {
            letter if letter.is_alphanumeric() || " ./:_-,()".contains(letter) => out.push(letter),
            letter => {
                let _ = write!(out, "#{};", u32::from(letter));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile() -> Drawing {
        Drawing {
            nodes: vec!["a\"]; click n0 \"data:x\"".to_owned(), "<b>\u{202e}\\".to_owned()],
            edges: vec![
                (0, 1, "1".to_owned(), EdgeStyle::Bold),
                (1, 0, String::new(), EdgeStyle::Dashed),
            ],
            left_out: String::new(),
        }
    }

    #[test]
    fn names_are_labels_and_nothing_else() {
        assert_eq!(
            hostile().dot(),
            "digraph {\n  rankdir=LR;\n  node [shape=box];\n  n0 [label=\"a\\\"]; click n0 \
             \\\"data:x\\\"\"];\n  n1 [label=\"<b>\\\\u{202e}\\\\\"];\n  n0 -> n1 \
             [label=\"1\", style=bold, color=red];\n  n1 -> n0 [label=\"\", style=dashed];\n}\n"
        );
        assert_eq!(
            hostile().mermaid(),
            "flowchart LR\n  n0[\"a#34;#93;#59; click n0 #34;data:x#34;\"]\n  \
             n1[\"#60;b#62;#92;u#123;202e#125;#92;\"]\n  n0 ==>|\"1\"| n1\n  n1 -.-> n0\n"
        );
    }
}
