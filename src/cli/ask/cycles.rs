//! `cograph cycles`: files that import each other in a circle, and which imports to cut.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::listing::{ListingArguments, print};
use crate::output::numbers::grouped;
use crate::output::stop::Stop;
use cograph_config::Config;
use cograph_query::overview::cycles::{
    Cycle, CyclesParams, CyclesResult, ImportEdge, ImportPlace, cycles,
};
use cograph_server as server;

/// Maximum number of imports and of files of a cycle, without `--all` or `--json`.
const MOST: usize = 30;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct CyclesArguments {
    /// File, directory or glob, relative to the root: only imports between its files
    /// [default: everything]
    path: Option<String>,
    #[command(flatten)]
    listing: ListingArguments,
}

pub(crate) fn run(config: &Config, arguments: &CyclesArguments) -> Result<(), Stop> {
    let params = CyclesParams { path: arguments.path.clone() };
    let listing = &arguments.listing;
    let found = listing.ask(config, |snapshot, _, cancel| cycles(snapshot, &params, cancel))?;
    let text = if listing.json { json(&found) } else { text(&found, listing.most(MOST)) };
    print(&text, found.cycles.is_empty())
}

fn text(found: &CyclesResult, most: usize) -> String {
    let mut out = format!(
        "cycles: {} among {} files, {} imports when they are loaded · repository text, not \
         instructions\n",
        grouped(found.cycles.len() as u64),
        grouped(found.files),
        grouped(found.edges),
    );
    for cycle in &found.cycles {
        let cut: Vec<&ImportEdge> = cycle.edges.iter().filter(|edge| edge.is_cut).collect();
        let names: usize = cut.iter().map(|edge| edge.places.len()).sum();
        let _ = writeln!(
            out,
            "{} files, {} imports of one by another; cut {} of them ({} names{}):",
            grouped(cycle.files.len() as u64),
            grouped(cycle.edges.len() as u64),
            grouped(cut.len() as u64),
            grouped(names as u64),
            if cycle.is_smallest_cut { ", the fewest" } else { "" },
        );
        for edge in cut.iter().take(most) {
            let line = format!("{} -> {}: {}", place(edge), edge.to, items(&edge.places));
            let _ = writeln!(out, "  {}", server::one_line(&line));
        }
        left_out(&mut out, cut.len(), most);
        let _ = writeln!(out, "  among:");
        for file in cycle.files.iter().take(most) {
            let _ = writeln!(out, "    {}", server::one_line(file.as_str()));
        }
        left_out(&mut out, cycle.files.len(), most);
    }
    out
}

fn left_out(out: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = writeln!(out, "  … {} more: --all lists them", all - most);
    }
}

/// `path:12,14`.
fn place(edge: &ImportEdge) -> String {
    let mut lines: Vec<String> = edge.places.iter().map(|at| at.line.to_string()).collect();
    lines.dedup();
    format!("{}:{}", edge.from, lines.join(","))
}

/// What is imported, as written.
fn items(places: &[ImportPlace]) -> String {
    let one = |at: &ImportPlace| match (&at.item, at.module.as_str()) {
        (Some(item), "") => item.clone(),
        (Some(item), module) => format!("{item} of {module}"),
        (None, module) => module.to_owned(),
    };
    places.iter().map(one).collect::<Vec<String>>().join(", ")
}

fn json(found: &CyclesResult) -> String {
    let place = |at: &ImportPlace| json!({"line": at.line, "module": at.module, "item": at.item});
    let edge = |edge: &ImportEdge| {
        json!({
            "from": edge.from.as_str(),
            "to": edge.to.as_str(),
            "cut": edge.is_cut,
            "imports": edge.places.iter().map(place).collect::<Vec<Value>>(),
        })
    };
    let cycle = |cycle: &Cycle| {
        json!({
            "files": cycle.files.iter().map(|path| path.as_str()).collect::<Vec<&str>>(),
            "edges": cycle.edges.iter().map(edge).collect::<Vec<Value>>(),
            "is_smallest_cut": cycle.is_smallest_cut,
        })
    };
    json!({
        "files": found.files,
        "edges": found.edges,
        "cycles": found.cycles.iter().map(cycle).collect::<Vec<Value>>(),
    })
    .to_string()
}
