//! JSON of the answers of `grep`: lines with their enclosing symbols.

use crate::answers::reply::{brief, list, path, total};
use cograph_query::GrepResult;
use cograph_query::grep::GrepHit;
use serde_json::{Value, json};

/// Result of `grep`.
pub(super) fn grep(result: &GrepResult) -> Value {
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
