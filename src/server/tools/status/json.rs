//! JSON of the answers of `status`: the store, its languages, and the server.

use crate::answers::reply::{list, path};
use crate::workspace::metrics::{Activity, ServerState};
use cograph_query::StatusResult;
use cograph_query::status::LanguageStatus;
use serde_json::{Map, Value, json};
use std::time::UNIX_EPOCH;

/// Result of `status`.
pub(super) fn status(result: &StatusResult) -> Value {
    let skipped: Map<String, Value> = result
        .skipped
        .iter()
        .map(|skipped| (skipped.reason.word().to_owned(), json!(skipped.files)))
        .collect();
    json!({
        "root": result.root.to_string_lossy(),
        "uid": format!("{:016x}", result.identity.uid),
        "generation": result.identity.generation,
        "built_at": result.built_at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        "build_seconds": result.build_duration.as_secs_f64(),
        "store_bytes": result.store_bytes,
        "files": result.files,
        "languages": list(&result.languages, language),
        "manifest_errors": result.manifest_errors,
        "builds": list(&result.builds, path),
        "stated": list(&result.stated, |stated| json!({
            "tool": stated.tool, "files": stated.files, "present": stated.present,
            "references": stated.edges,
        })),
        "skipped": skipped,
        "problems": list(&result.problems, |(file, problem)| json!({
            "path": path(file), "kind": problem.kind.word(), "first_line": problem.first_line,
            "last_line": problem.last_line,
        })),
        "problem_total": result.problem_total,
        "problem_files": result.problem_files,
    })
}

/// Server process.
pub(super) fn process(server: &ServerState, activity: &Activity) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": server.uptime.as_secs_f64(),
        "memory_bytes": server.memory,
        "in_flight": server.in_flight,
        "not_stopped": server.lingering,
        "classes": list(&server.lanes, |lane| json!({
            "class": lane.class.word(), "running": lane.running, "waiting": lane.waiting,
            "permits": lane.permits,
        })),
        "calls": list(&server.calls, |call| json!({
            "tool": call.tool, "stage": call.stage, "age_ms": call.age.as_millis() as u64,
        })),
        "stores": {
            "open": activity.stores.open, "leases": activity.stores.leases,
            "opening": activity.stores.opening
        },
        "repositories": list(
            &activity.repositories,
            |(repository, watched)| json!({"repository": repository, "state": watched})
        ),
        "index_runs": list(&activity.runs, |(repository, progress)| json!({
            "repository": repository, "thousandths": progress.thousandths,
            "message": progress.message,
        })),
    })
}

fn language(language: &LanguageStatus) -> Value {
    let sites = &language.sites;
    json!({
        "name": language.name,
        "tier": language.tier.word(),
        "files": language.files,
        "partial": language.partial,
        "lines": language.lines,
        "bytes": language.bytes,
        "symbols": language.symbols,
        "sites": {
            "resolved": sites.resolved, "likely": sites.likely, "possible": sites.possible,
            "ambiguous": sites.ambiguous,
            "external": sites.external, "unresolved": sites.unresolved,
        },
    })
}
