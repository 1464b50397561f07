//! Rendering of a path of calls, and of why there is none.

use super::marks::is_variant;
use super::{named, site_lines};
use crate::query::Certainty;
use crate::query::trace::{PathStep, TraceFinding, TraceLink};
use crate::server::answers::render::{path, plural};

/// Why no path was found: only a walk that could follow every call, through bodies that were
/// understood, knows that there is none.
pub(super) fn why_none(finding: &TraceFinding, depth: u32) -> String {
    let TraceFinding::NoPath { exhausted, not_followed, unread, first_unread, .. } = finding else {
        return String::new();
    };
    let mut others = String::new();
    if *not_followed > 0 {
        others.push_str(&format!("; {} on the way not followed", plural(*not_followed, "other")));
    }
    if let Some(symbol) = first_unread {
        let bodies = if *unread == 1 { "body" } else { "bodies" };
        others.push_str(&format!(
            "; {unread} {bodies} on the way not understood ({}:{})",
            path(&symbol.path),
            symbol.first_line
        ));
    }
    match exhausted {
        true if others.is_empty() => "there is none at any depth".to_owned(),
        true => format!("none along calls whose target is known{others}"),
        false => {
            format!("none within {depth} calls whose target is known: raise `depth`{others}")
        }
    }
}

/// A step, with the line of the call in the previous step that leads to it.
pub(super) fn path_step(steps: &[PathStep], at: usize, step: &PathStep) -> String {
    let what = named(&step.symbol);
    let Some(before) = at.checked_sub(1).map(|before| &steps[before]) else { return what };
    let by = match step.link {
        Some(TraceLink::Dispatch) => "by dispatch",
        Some(TraceLink::Value) => "by a function value",
        _ => "called",
    };
    let at = match step.sites.is_empty() {
        true => String::new(),
        false => {
            format!(" at {}:{}", path(&before.symbol.path), site_lines(&step.sites, usize::MAX))
        }
    };
    let how = format!("{by}{at}");
    let sure = match step.certainty {
        Certainty::Certain if is_variant(&step.sites) => ", one variant".to_owned(),
        Certainty::Certain => String::new(),
        certainty => format!(", {}", certainty.word()),
    };
    format!("→ {what} {how}{sure}")
}
