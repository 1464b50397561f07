//! JSON of the answers of `explore`: totals, symbols, places.

use crate::query::ExploreResult;
use crate::query::explore::{Explored, Why};
use crate::server::answers::reply::{brief, excerpt, list, symbol, total, with};
use serde_json::{Value, json};

/// Result of `explore`.
pub(super) fn explore(result: &ExploreResult) -> Value {
    json!({
        "total": total(result.total),
        "symbols": list(&result.symbols, explored),
        "others": list(&result.others, |other| with(brief(&other.symbol), "why", why(&other.why))),
        "connections": list(&result.connections, |connection| {
            list(&connection.chain, |(end, line)| with(brief(end), "call_line", json!(line)))
        }),
        "tests": list(&result.tests, |test| {
            json!({"test": brief(&test.symbol), "covers": test.covers, "distance": test.distance})
        }),
        "test_total": total(result.test_total),
    })
}

fn explored(explored: &Explored) -> Value {
    json!({
        "symbol": symbol(&explored.symbol),
        "why": why(&explored.why),
        "source": explored.source.as_ref().map(excerpt).unwrap_or_else(
            |error| json!({"error": error.to_string()})
        ),
        "callers": list(&explored.callers, brief),
        "caller_total": explored.caller_total,
        "callees": list(&explored.callees, brief),
        "callee_total": explored.callee_total,
        "possible_callers": explored.possible_callers,
    })
}

fn why(why: &Why) -> Value {
    json!({"named": why.is_named, "words": why.words})
}
