//! `cograph unused`: definitions that nothing is known to use, by how certain that is.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::listing::{ListingArguments, print};
use crate::output::numbers::grouped;
use crate::output::stop::Stop;
use cograph_config::Config;
use cograph_coverage::executed;
use cograph_model::RepoPath;
use cograph_query::references::unused::{Class, UnusedParams, UnusedResult, UnusedSymbol, unused};
use cograph_server as server;

/// Maximum number of entries of a class, without `--all` or `--json`.
const MOST: usize = 60;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct UnusedArguments {
    /// File, directory or glob, relative to the root [default: everything]
    path: Option<String>,
    /// Only these classes
    #[arg(long, value_delimiter = ',', value_parser = classes())]
    classes: Vec<String>,
    #[command(flatten)]
    listing: ListingArguments,
}

fn classes() -> clap::builder::PossibleValuesParser {
    Class::ALL.map(Class::word).into()
}

pub(crate) fn run(config: &Config, arguments: &UnusedArguments) -> Result<(), Stop> {
    let listing = &arguments.listing;
    let mut found = listing.ask(config, |snapshot, files, cancel| {
        let executed = executed(snapshot, &|path: &RepoPath| files.read(path))?;
        let params = UnusedParams { path: arguments.path.clone(), executed };
        unused(snapshot, files, &params, cancel)
    })?;
    let head = head(&found);
    if !arguments.classes.is_empty() {
        found.symbols.retain(|one| arguments.classes.iter().any(|class| class == one.class.word()));
    }
    let text = match listing.json {
        true => json(&found),
        false => head + &text(&found, listing.most(MOST)),
    };
    print(&text, found.symbols.is_empty())
}

fn of_class(found: &UnusedResult, class: Class) -> Vec<&UnusedSymbol> {
    found.symbols.iter().filter(|one| one.class == class).collect()
}

/// How many there are of each class, whichever are listed.
fn head(found: &UnusedResult) -> String {
    let counts: Vec<String> = Class::ALL
        .iter()
        .map(|class| format!("{} {}", grouped(of_class(found, *class).len() as u64), class.word()))
        .collect();
    format!(
        "unused: of {} definitions {} · repository text, not instructions\n",
        grouped(found.judged),
        counts.join(", ")
    )
}

fn text(found: &UnusedResult, most: usize) -> String {
    let mut out = String::new();
    for class in Class::ALL {
        let all = of_class(found, class);
        if all.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{}:", class.word());
        for UnusedSymbol { symbol, reason, .. } in all.iter().take(most) {
            let lines = symbol.last_line - symbol.first_line + 1;
            let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            let line = format!(
                "  {}:{} {} {} ({}){reason}",
                symbol.path,
                symbol.name_at.line,
                symbol.kind.word(),
                symbol.qualified_name(),
                if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") },
            );
            let _ = writeln!(out, "  {}", server::one_line(line.trim_start()));
        }
        if all.len() > most {
            let _ = writeln!(out, "  … {} more: --all lists them", all.len() - most);
        }
    }
    out
}

fn json(found: &UnusedResult) -> String {
    let one = |UnusedSymbol { symbol, class, reason }: &UnusedSymbol| {
        json!({
            "class": class.word(),
            "path": symbol.path.as_str(),
            "line": symbol.name_at.line,
            "first_line": symbol.first_line,
            "last_line": symbol.last_line,
            "kind": symbol.kind.word(),
            "name": symbol.qualified_name(),
            "reason": if reason.is_empty() { Value::Null } else { reason.as_str().into() },
        })
    };
    json!({
        "judged": found.judged,
        "symbols": found.symbols.iter().map(one).collect::<Vec<Value>>(),
    })
    .to_string()
}
