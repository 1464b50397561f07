//! Text of hooks: a line per name or broken symbol, and one line about the index.

use super::broken::Broken;
use crate::answers::render::plural;
use crate::base::escape::SafeLine;
use crate::workspace::repositories::open_repository::rough;
use cograph_config::Limits;
use cograph_index::{Verified, compare_some};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_model::change::ChangeKind;
use cograph_query::impact::{Break, BreakKind, Unfit};
use cograph_query::{Glance, GlanceUses};
use cograph_source::Sweep;
use cograph_store::Snapshot;
use std::collections::BTreeSet;
use std::time::SystemTime;

/// Maximum length of a name and of a path, in bytes.
const MAX_TEXT: usize = 160;

/// Maximum length of a header, in bytes.
const MAX_HEADER: usize = 100;

/// Maximum number of symbols with a line of their own, and of places on it.
const MAX_BROKEN: usize = 3;
const MAX_PLACES: usize = 5;

/// Maximum number of files that are read because their stamps differ from those of the index.
const MAX_COMPARED: usize = 20;

/// What is indexed, and three commands; none for an empty index.
pub(super) fn of_index(snapshot: &Snapshot) -> Option<String> {
    let meta = snapshot.meta();
    if meta.symbols == 0 {
        return None;
    }
    Some(format!(
        "cograph has a code graph of this repository ({}, {}). In a shell: `cograph \
         explore WORDS` (how it works, with source), `cograph trace NAME` (every caller), \
         `cograph references NAME` (every use); more complete than grep.",
        plural(meta.files, "file"),
        plural(meta.symbols, "symbol"),
    ))
}

/// A line for each name; none without names.
pub(super) fn of_names(
    snapshot: &Snapshot,
    known: &[Glance],
    limits: &Limits,
    cancel: &CancelToken,
) -> Option<String> {
    if known.is_empty() {
        return None;
    }
    let age = rough(SystemTime::now().duration_since(snapshot.meta().built_at).unwrap_or_default());
    let mut lines = vec![format!("cograph, from the index made {age} ago:")];
    lines.extend(known.iter().map(of_name));
    let changed = changed(snapshot, limits, cancel);
    if let Some(first) = changed.first() {
        let first = SafeLine::new(first.as_str(), MAX_TEXT);
        lines.push(match changed.len() - 1 {
            0 => format!("{first} has changed since"),
            more => format!("{first} and {more} more of these files have changed since"),
        });
    }
    Some(lines.join("\n"))
}

/// A line for each symbol whose uses no longer fit; none without any.
pub(super) fn of_broken(broken: &Broken) -> Option<String> {
    let shown = broken.symbols.iter().take(MAX_BROKEN);
    let mut lines: Vec<String> = shown.map(|unfit| of_unfit(unfit, broken.is_cut)).collect();
    lines.first_mut()?.insert_str(0, "cograph: ");
    let mut rest = "`cograph impact` for all".to_owned();
    if let Some(more @ 1..) = broken.symbols.len().checked_sub(MAX_BROKEN) {
        rest = format!("{} more with such uses; {rest}", plural(more as u64, "symbol"));
    }
    if broken.changed > 0 {
        let files = plural(broken.changed as u64, "file");
        rest += &format!("; not compared: {files} that changed since the index was made");
    }
    lines.push(rest);
    Some(lines.join("\n"))
}

fn of_unfit(unfit: &Unfit, is_cut: bool) -> String {
    let breaks = &unfit.breaks;
    let (old, new) = (unfit.symbol.old.as_ref(), unfit.symbol.new.as_ref());
    let side = new.filter(|_| unfit.symbol.kind == ChangeKind::Signature).or(old);
    let name = side.map(|side| side.qualified_name()).unwrap_or_default();
    let header = side.map_or("", |side| &side.signature);
    let is_gone = breaks.iter().all(|found| found.kind == BreakKind::Gone);
    let what = if is_gone { "use" } else { "call site" };
    let count = plural(breaks.len() as u64, what);
    let count = if is_cut && !is_gone { format!("at least {count}") } else { count };
    let mut line = match (is_gone, unfit.symbol.kind, new) {
        (true, ChangeKind::Renamed, Some(new)) => {
            let now = SafeLine::new(&new.name, MAX_TEXT);
            format!("{count} left of `{}`, which is `{now}` now", SafeLine::new(&name, MAX_TEXT))
        }
        (true, ..) => {
            format!("{count} left of `{}`, which is gone", SafeLine::new(&name, MAX_TEXT))
        }
        _ => {
            let verb = if breaks.len() == 1 { "fits" } else { "fit" };
            format!("{count} no longer {verb} `{}`", SafeLine::new(header, MAX_HEADER))
        }
    };
    let places: Vec<String> = breaks.iter().take(MAX_PLACES).map(place).collect();
    line += &format!(": {}", places.join(", "));
    if breaks.len() > MAX_PLACES {
        line += &format!(" and {} more", breaks.len() - MAX_PLACES);
    }
    line
}

fn place(found: &Break) -> String {
    let path = SafeLine::new(found.path.as_str(), MAX_TEXT);
    let place = format!("{path}:{}", found.line);
    match found.reason.is_empty() {
        true => place,
        false => format!("{place} ({})", SafeLine::new(&found.reason, MAX_TEXT)),
    }
}

/// Files behind the lines whose contents are not those of the index.
fn changed(snapshot: &Snapshot, limits: &Limits, cancel: &CancelToken) -> Vec<RepoPath> {
    let suspects = Sweep::new(&snapshot.meta().root, snapshot.asked_files()).changed(1);
    let suspects: BTreeSet<RepoPath> = suspects.into_iter().take(MAX_COMPARED).collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    match compare_some(&suspects, snapshot, limits, &Verified::new(), cancel) {
        Ok(found) => found.changes.paths().cloned().collect(),
        Err(_) => suspects.into_iter().collect(),
    }
}

fn of_name(known: &Glance) -> String {
    let name = SafeLine::new(&known.name, MAX_TEXT);
    let mut line = format!("`{name}`");
    if known.name != known.asked {
        line += &format!(" (for `{}`)", SafeLine::new(&known.asked, MAX_TEXT));
    }
    let path = SafeLine::new(known.first.path.as_str(), MAX_TEXT);
    let place = format!("{path}:{}", known.first.name_at.line);
    let kind = known.first.kind.word();
    line += &match (known.symbols, known.has_more) {
        (1, false) => format!(": {kind} at {place}"),
        (count, false) => format!(": {count} definitions, first {kind} at {place}"),
        (count, true) => format!(": more than {count} definitions, most used {kind} at {place}"),
    };
    let callable = known.first.kind.is_callable();
    match &known.uses {
        Some(uses) => line += &format!("; {}", of_uses(uses, known.references)),
        None if !known.has_more => line += &format!("; {}", plural(known.references, "reference")),
        None => {}
    }
    let command = match (known.has_more, callable) {
        (true, _) => "search",
        (false, true) => "trace",
        (false, false) => "references",
    };
    line + &format!("; `cograph {command} {name}`")
}

fn of_uses(uses: &GlanceUses, references: u64) -> String {
    let what = if uses.are_callers { "caller" } else { "reference" };
    let sure = uses.certain + uses.likely;
    let mut text = match (uses.certain, uses.likely) {
        (0, 0) => format!("no certain {what}s"),
        (certain, 0) => format!("{certain} certain {what}{}", ending(certain)),
        (0, likely) => format!("{likely} likely {what}{}", ending(likely)),
        (certain, likely) => format!("{certain} certain and {likely} likely {what}s"),
    };
    if sure > 0 {
        text += &format!(" in {}", plural(uses.files as u64, "file"));
    }
    // A function without callers may be passed or stored.
    if sure == 0 && references > 0 {
        text += &format!(", {}", plural(references, "other reference"));
    }
    if uses.possible > 0 {
        text += &format!(", {} possible", uses.possible);
    }
    text
}

fn ending(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
