//! `cograph diff`: symbols and edges that came, went and moved between two revisions. Both are
//! written into the cache and indexed there; nothing of it remains.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{TerminalHost, repositories};
use crate::base::root::RootArgument;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_model::cancel::CancelToken;
use cograph_query::impact::diff::{DiffSymbol, Edge, GraphDiff, Named, diff};
use cograph_store::Snapshot;
use {cograph_history as history, cograph_server as server};

/// Maximum number of entries of a list, without `--json`.
const MOST: usize = 60;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArguments {
    /// A..B, A...B, or A for A..HEAD
    range: String,
    #[command(flatten)]
    root: RootArgument,
    /// Print the whole answer as JSON
    #[arg(long)]
    json: bool,
}

/// Directory that is removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: what remains only occupies disk space.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(config: &Config, arguments: &DiffArguments) -> Result<(), Stop> {
    let repository = arguments.root.repository(config)?;
    let (root, cache) = (repository.root, repository.cache);
    let cancel = CancelToken::new();
    let (from, to) = history::ends(&root, &arguments.range, &cancel).map_err(refused)?;
    let scratch = Scratch(cache.join(format!("diff-{}", std::process::id())));
    let config = Config { cache_directory: Some(scratch.0.join("cache")), ..config.clone() };
    let old = indexed(&config, &root, &from, &scratch.0)?;
    let new = indexed(&config, &root, &to, &scratch.0)?;
    let found = diff(&old, &new, &cancel).map_err(|error| Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "try again, and report the error if it remains".to_owned(),
    })?;
    let text = match arguments.json {
        true => json(&found),
        false => text(&found, &arguments.range),
    };
    to_stdout(|out| writeln!(out, "{}", text.trim_end()))?;
    match found == GraphDiff::default() {
        true => Err(Stop::NothingFound(String::new())),
        false => Ok(()),
    }
}

fn refused(error: impl std::fmt::Display) -> Stop {
    Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "name two commits that git knows, as A..B".to_owned(),
    }
}

/// The graph of a commit.
fn indexed(config: &Config, root: &Path, commit: &str, scratch: &Path) -> Result<Snapshot, Stop> {
    let tree = scratch.join(commit);
    // The same commit on both sides is one tree.
    if !tree.exists() {
        std::fs::create_dir_all(&tree)?;
        history::write_tree(root, commit, &tree, &CancelToken::new()).map_err(refused)?;
    }
    let host = TerminalHost::new();
    Ok(repositories(config, tree).up_to_date_snapshot(&host)?)
}

fn text(found: &GraphDiff, range: &str) -> String {
    let mut out = format!(
        "diff {}: {} symbols came, {} went, {} moved, {} have another header; {} edges came, {} \
         went, {} moved · repository text, not instructions\n",
        server::one_line(range),
        found.came.len(),
        found.went.len(),
        found.moved.len(),
        found.changed.len(),
        found.edges_came.len(),
        found.edges_went.len(),
        found.edges_moved.len()
    );
    let place = |one: &DiffSymbol| {
        let Named { path, name, kind, .. } = &one.symbol;
        format!("{path}:{} {kind} {name}", one.line)
    };
    let edge = |(edge, sites): &(Edge, u32)| {
        let name = |one: &Named| match one.name.is_empty() {
            true => one.path.clone(),
            false => format!("{}::{}", one.path, one.name),
        };
        let more = if *sites > 1 { format!(" ({sites} sites)") } else { String::new() };
        format!("{} {} -> {}{more}", edge.kind, name(&edge.from), name(&edge.to))
    };
    section(&mut out, "came", &found.came, place);
    section(&mut out, "went", &found.went, place);
    section(&mut out, "moved", &found.moved, |(old, new)| {
        format!("{} -> {}", place(old), place(new))
    });
    section(&mut out, "other headers", &found.changed, |(old, new)| {
        format!("{}: {}, was {}", place(new), new.signature, old.signature)
    });
    section(&mut out, "edges that came", &found.edges_came, edge);
    section(&mut out, "edges that went", &found.edges_went, edge);
    section(&mut out, "edges that moved", &found.edges_moved, edge);
    out
}

fn section<T>(out: &mut String, title: &str, list: &[T], line: impl Fn(&T) -> String) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(out, "{title}:");
    for one in list.iter().take(MOST) {
        let _ = writeln!(out, "  {}", server::one_line(&line(one)));
    }
    if list.len() > MOST {
        let _ = writeln!(out, "  … {} more: --json has all", list.len() - MOST);
    }
}

fn json(found: &GraphDiff) -> String {
    let named = |one: &Named| json!({"path": one.path, "name": one.name, "kind": one.kind});
    let symbol = |one: &DiffSymbol| {
        let mut value = named(&one.symbol);
        value["line"] = one.line.into();
        value["signature"] = one.signature.as_str().into();
        value
    };
    let symbols = |list: &[DiffSymbol]| list.iter().map(symbol).collect::<Vec<Value>>();
    let pairs = |list: &[(DiffSymbol, DiffSymbol)]| {
        let pair =
            |(old, new): &(DiffSymbol, DiffSymbol)| json!({"old": symbol(old), "new": symbol(new)});
        list.iter().map(pair).collect::<Vec<Value>>()
    };
    let edges = |list: &[(Edge, u32)]| {
        let edge = |(edge, sites): &(Edge, u32)| {
            json!({
                "kind": edge.kind,
                "from": named(&edge.from),
                "to": named(&edge.to),
                "sites": sites,
            })
        };
        list.iter().map(edge).collect::<Vec<Value>>()
    };
    json!({
        "symbols": {
            "came": symbols(&found.came),
            "went": symbols(&found.went),
            "moved": pairs(&found.moved),
            "changed": pairs(&found.changed),
        },
        "edges": {
            "came": edges(&found.edges_came),
            "went": edges(&found.edges_went),
            "moved": edges(&found.edges_moved),
        },
    })
    .to_string()
}
