//! JSON of the answers of `outline`: totals, symbols, places.

use crate::answers::reply::{brief, list, path, symbol, with};
use cograph_query::OutlineResult;
use cograph_query::outline::{DirectoryEntry, DirectoryInfo, FileInfo, OutlineNode};
use serde_json::{Value, json};

/// Result of `outline`.
pub(super) fn outline(result: &OutlineResult) -> Value {
    match result {
        OutlineResult::File(outline) => json!({
            "file": file(&outline.file),
            "symbols": list(&outline.symbols, outline_node),
            "imports": list(&outline.imports, |import| json!({
                "module": import.module,
                "item": import.item,
                "line": import.line,
                "target": import.target.as_ref().map(path),
            })),
            "problems": list(&outline.problems, |problem| json!({
                "kind": problem.kind.word(), "first_line": problem.first_line,
                "last_line": problem.last_line,
            })),
        }),
        OutlineResult::Directory { info, entries } => {
            with(directory(info), "entries", list(entries, entry))
        }
    }
}

fn outline_node(node: &OutlineNode) -> Value {
    with(symbol(&node.symbol), "children", list(&node.children, outline_node))
}

fn file(file: &FileInfo) -> Value {
    json!({
        "path": file.path.as_str(),
        "language": file.language,
        "lines": file.lines,
        "size": file.size,
        "symbols": file.symbols,
        "skipped": file.skipped.map(|reason| reason.word()),
        "generated": file.generated,
        "test": file.test,
    })
}

fn directory(info: &DirectoryInfo) -> Value {
    json!({
        "directory": info.path, "files": info.files, "lines": info.lines, "symbols": info.symbols
    })
}

fn entry(entry_of: &DirectoryEntry) -> Value {
    match entry_of {
        DirectoryEntry::Directory { info, entries } => {
            with(directory(info), "entries", list(entries, entry))
        }
        DirectoryEntry::File { info, top } => with(file(info), "top", list(top, brief)),
    }
}
