//! Rendering of a path of calls, and of why there is none.

use super::marks::is_variant;
use crate::answers::render::{name, path, plural};
use crate::tools::trace::text::entry::site_lines;
use cograph_query::Certainty;
use cograph_query::trace::{PathStep, TraceFinding, TraceLink};

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
            symbol.name_at.line
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

/// Lines of a path: the callers in order, below their files, each with the lines of the call that
/// leads on. The first line of the answer has both ends.
pub(super) fn path_lines(steps: &[PathStep]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (caller, callee) in steps.iter().zip(steps.iter().skip(1)) {
        let file = path(&caller.symbol.path).to_string();
        match groups.last_mut() {
            Some((last, calls)) if *last == file => calls.push(call(caller, callee)),
            _ => groups.push((file, vec![call(caller, callee)])),
        }
    }
    groups.into_iter().map(|(file, calls)| format!("{file}: {}", calls.join(", "))).collect()
}

/// `name:12 calls at 15,18`, where `callee` is the next symbol of the path.
fn call(caller: &PathStep, callee: &PathStep) -> String {
    let how = match callee.link {
        Some(TraceLink::Dispatch) => "calls by dispatch",
        Some(TraceLink::Value) => "calls by a function value",
        Some(TraceLink::Passed) => "passes it",
        _ => "calls",
    };
    let at = match callee.sites.is_empty() {
        true => String::new(),
        false => format!(" at {}", site_lines(&callee.sites, usize::MAX)),
    };
    let sure = match callee.certainty {
        Certainty::Certain if is_variant(&callee.sites) => " (one variant)".to_owned(),
        Certainty::Certain => String::new(),
        certainty => format!(" ({})", certainty.word()),
    };
    format!("{}:{} {how}{at}{sure}", name(&caller.symbol), caller.symbol.name_at.line)
}
