//! JSON of the answers of `references`: totals, symbols, places.

use crate::answers::render::sources::Sources;
use crate::answers::reply::{brief, counts, list, site, symbol, with, with_source};
use cograph_query::ReferencesResult;
use serde_json::{Value, json};

/// Result of `references`.
pub(super) fn references(result: &ReferencesResult, sources: &Sources) -> Value {
    let sites: Vec<Value> = result
        .files
        .iter()
        .flat_map(|file| &file.references)
        .map(|reference| {
            let place = with_source(site(&reference.site), sources.text(&reference.site));
            let sure = with(place, "certainty", json!(reference.certainty.word()));
            with(sure, "enclosing", json!(reference.enclosing.as_ref().map(brief)))
        })
        .collect();
    json!({
        "symbol": symbol(&result.symbol),
        "declarations": list(&result.declarations, brief),
        "counts": counts(&result.counts),
        "by_kind": result.by_kind.iter().map(
            |(kind, count)| (kind.word().to_owned(), json!(count))
        ).collect::<serde_json::Map<_, _>>(),
        "reasons": list(&result.reasons, |(certainty, step, count)| {
            json!({"certainty": certainty.word(), "reason": step.word(), "count": count})
        }),
        "files": result.file_count,
        "by_directory": list(
            &result.by_directory, |(path, count)| json!({"path": path, "count": count})
        ),
        "sites": sites,
        "related": list(&result.related, |related| {
            json!({
                "relation": related.kind.word(), "incoming": related.incoming,
                "symbol": brief(&related.symbol)
            })
        }),
    })
}
