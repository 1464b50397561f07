//! JSON of the answers of `explore`: what the text shows, with complete identities.

use super::shown::Shown;
use super::sources::Extract;
use crate::answers::reply::{brief, list, path, symbol, total, with};
use cograph_query::ExploreResult;
use cograph_query::explore::{Explored, Why};
use serde_json::{Value, json};

/// Shown part of a result of `explore`.
pub(super) fn explore(result: &ExploreResult, shown: &Shown<'_>) -> Value {
    let lines = |at: usize| shown.sources.iter().find(|extract| extract.at == at).map(source);
    let symbols = result.symbols[..shown.symbols].iter().enumerate();
    let symbols: Vec<Value> =
        symbols.map(|(at, explored)| symbol_with(explored, lines(at))).collect();
    let others = result.others[..shown.others].iter().enumerate().map(|(at, other)| {
        let found = with(brief(&other.symbol), "why", why(&other.why));
        match lines(result.symbols.len() + at) {
            Some(source) => with(found, "source", source),
            None => found,
        }
    });
    json!({
        "total": total(result.total),
        "symbols": symbols,
        "others": others.collect::<Vec<_>>(),
        "functions": list(&shown.functions, |symbols| {
            let file = symbols.first().map(|symbol| path(&symbol.path));
            json!({"path": file, "symbols": list(symbols, |symbol| brief(symbol))})
        }),
        "connections": list(&result.connections[..shown.connections], |connection| {
            list(&connection.chain, |(end, line)| with(brief(end), "call_line", json!(line)))
        }),
        "tests": list(&result.tests[..shown.tests], |test| {
            json!({"test": brief(&test.symbol), "covers": test.covers, "distance": test.distance})
        }),
        "test_total": total(result.test_total),
        "unmatched": list(&result.unmatched, |unmatched| {
            json!({"word": unmatched.word, "similar": unmatched.similar})
        }),
    })
}

fn symbol_with(explored: &Explored, lines: Option<Value>) -> Value {
    let source = match &explored.source {
        Err(error) => Some(json!({"error": error.to_string()})),
        Ok(_) => lines,
    };
    json!({
        "symbol": symbol(&explored.symbol),
        "why": why(&explored.why),
        "source": source,
        "callers": list(&explored.callers, brief),
        "caller_total": explored.caller_total,
        "callees": list(&explored.callees, brief),
        "callee_total": explored.callee_total,
        "possible_callers": explored.possible_callers,
    })
}

/// Lines that are shown, by run.
fn source(extract: &Extract<'_>) -> Value {
    let excerpt = &extract.source.excerpt;
    let parts = extract.parts();
    json!({
        "path": excerpt.path.as_str(),
        "parts": list(&parts, |(first, lines)| json!({"first_line": first, "lines": lines})),
        "file_lines": excerpt.file_lines,
        "stale": excerpt.stale,
        "lossy": excerpt.lossy,
    })
}

fn why(why: &Why) -> Value {
    json!({"named": why.is_named, "words": why.words})
}
