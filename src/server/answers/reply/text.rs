//! JSON of files, rows and the store's state.

use super::{brief, list, path, total};
use crate::query::grep::GrepHit;
use crate::query::sql::{SqlBound, SqlValue};
use crate::query::status::LanguageStatus;
use crate::query::{GrepResult, SqlResult, StatusResult};
use crate::server::workspace::metrics::{Activity, ServerState};
use serde_json::{Map, Value, json};
use std::time::UNIX_EPOCH;

/// Result of `grep`.
pub(in crate::server) fn grep(result: &GrepResult) -> Value {
    json!({
        "total": total(result.total),
        "file_total": total(result.file_total),
        "searched": result.searched,
        "not_text": result.not_text,
        "unreadable": list(
            &result.unreadable, |(file, reason)| json!({"path": path(file), "reason": reason})
        ),
        "files": list(&result.files, |file| json!({
            "path": path(&file.path), "total": file.total, "stale": file.stale,
            "hits": list(&file.hits, hit),
        })),
    })
}

fn hit(hit: &GrepHit) -> Value {
    json!({
        "line": hit.line,
        "column": hit.column,
        "text": hit.text,
        "before": hit.before,
        "after": hit.after,
        "enclosing": hit.enclosing.as_ref().map(brief),
    })
}

/// Result of `sql`.
pub(in crate::server) fn sql(result: &SqlResult) -> Value {
    json!({
        "columns": result.columns,
        "rows": list(&result.rows, |row| list(row, sql_value)),
        "total": total(result.total),
        "stopped_by": result.stopped_by.map(|bound| match bound {
            SqlBound::Rows => "rows",
            SqlBound::Size => "size",
            SqlBound::Time => "time",
            SqlBound::Memory => "memory",
        }),
    })
}

/// Output schema of `sql`, filled by `render`: rows as arrays in column order.
pub(in crate::server) fn sql_shape() -> Value {
    json!({
        "type": "object",
        "properties": {
            "columns": {"type": "array", "items": {"type": "string"}},
            "rows": {"type": "array", "items": {"type": "array"}},
            "total": {"type": "integer"},
            "exact": {"type": "boolean"},
            "left_out": {"type": "integer"},
            "note": {"type": "string"},
            "index": {"type": "string"},
        },
        "required": ["columns", "rows", "total", "exact", "left_out", "index"],
    })
}

fn sql_value(value: &SqlValue) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(number) => json!(number),
        SqlValue::Real(number) => json!(number),
        SqlValue::Text(text) => json!(text),
        SqlValue::Blob(bytes) => json!({"bytes": bytes.len()}),
    }
}

/// Result of `status`.
pub(in crate::server) fn status(result: &StatusResult) -> Value {
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
pub(in crate::server) fn process(server: &ServerState, activity: &Activity) -> Value {
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
            "resolved": sites.resolved, "likely": sites.likely, "ambiguous": sites.ambiguous,
            "external": sites.external, "unresolved": sites.unresolved,
        },
    })
}
