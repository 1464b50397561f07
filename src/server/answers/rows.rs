//! Rows for a terminal: one site a line, made from the JSON of an answer. Text of the repository is
//! escaped here; paths are not, because an address is made of them as well.

mod graph;
mod row;

pub use row::{Row, Site};
use row::{around, list, more, number, place, source, text};
use serde_json::Value;

/// True if answers of a tool may be lists of sites.
pub fn may_have_rows(tool: &str) -> bool {
    matches!(tool, "grep" | "outline" | "references" | "search" | "trace")
}

/// Rows of an answer, from its JSON. None for an answer that is no list of sites.
pub fn rows(json: &str) -> Option<Vec<Row>> {
    let answer: Value = serde_json::from_str(json).ok()?;
    let mut rows = Vec::new();
    part(&answer, &mut rows)?;
    let state = text(&answer["index"]["words"]);
    if !state.is_empty() {
        rows.push(Row::Note(state));
    }
    Some(rows)
}

/// Adds the rows of an answer, or of one of several.
fn part(answer: &Value, rows: &mut Vec<Row>) -> Option<()> {
    if let Some(answers) = answer["answers"].as_array() {
        for one in answers {
            match one.get("error") {
                Some(error) => rows.push(Row::Note(text(error))),
                None => part(&one["answer"], rows)?,
            }
        }
    } else if let Some(meanings) = answer["meanings"].as_array() {
        for meaning in meanings {
            part(meaning, rows)?;
        }
        listed("other meanings", &answer["others"], rows);
    } else if answer["symbols"].is_array() && answer.get("offset").is_some() {
        found_symbols(answer, rows);
    } else if answer["sites"].is_array() {
        graph::references(answer, rows);
    } else if answer["entities"].is_array() {
        graph::outside(answer, rows);
    } else if answer["root"].is_object() {
        graph::trace(answer, rows);
    } else if answer.get("searched").is_some() {
        lines_of_text(answer, rows);
    } else if answer["file"].is_object() && answer["symbols"].is_array() {
        let file = &answer["file"];
        let (path, lines) = (text(&file["path"]), number(&file["lines"]));
        rows.push(Row::Title(format!("{path}: {lines} lines")));
        outline(answer, 0, rows);
    } else {
        return None;
    }
    if answer["elsewhere"].is_object() {
        graph::elsewhere(&answer["elsewhere"], rows);
    }
    Some(())
}

/// Names that are only listed.
fn listed(title: &str, names: &Value, rows: &mut Vec<Row>) {
    let names: Vec<String> = list(names).map(text).collect();
    if !names.is_empty() {
        rows.push(Row::Note(format!("{title}: {}", names.join(", "))));
    }
}

/// `search`.
fn found_symbols(answer: &Value, rows: &mut Vec<Row>) {
    let total = number(&answer["total"]["count"]);
    let shown = list(&answer["symbols"]).count() as u64;
    rows.push(Row::Title(format!("{shown} of {total} symbols, best first")));
    rows.extend(list(&answer["symbols"]).map(|symbol| declaration(symbol, 0)));
    more(number(&answer["offset"]) + shown, total, "symbols", rows);
}

/// `outline` of a file.
fn outline(node: &Value, depth: usize, rows: &mut Vec<Row>) {
    let inner = if depth == 0 { &node["symbols"] } else { &node["children"] };
    for symbol in list(inner) {
        rows.push(declaration(symbol, depth));
        outline(symbol, depth + 1, rows);
    }
}

/// Declaration of a symbol: kind, name, header.
fn declaration(symbol: &Value, depth: usize) -> Row {
    let indent = "  ".repeat(depth);
    let (container, name) = (text(&symbol["container"]), text(&symbol["name"]));
    let name = if container.is_empty() { name } else { format!("{container}.{name}") };
    let what = format!("{indent}{} {name}", text(&symbol["kind"]));
    let source = source(&symbol["signature"]);
    Row::Site(Site { what, source, ..place(symbol) })
}

/// `grep`.
fn lines_of_text(answer: &Value, rows: &mut Vec<Row>) {
    let total = number(&answer["total"]["count"]);
    let files = number(&answer["file_total"]["count"]);
    let searched = number(&answer["searched"]);
    rows.push(Row::Title(format!("{total} lines in {files} of {searched} searched files")));
    let mut shown = 0;
    for file in list(&answer["files"]) {
        let path = file["path"].as_str().unwrap_or_default();
        for hit in list(&file["hits"]) {
            shown += 1;
            let at = |line: u64, source: String| Site {
                path: path.to_owned(),
                line,
                column: None,
                what: String::new(),
                source,
            };
            let line = number(&hit["line"]);
            let before: Vec<&Value> = list(&hit["before"]).collect();
            let first = line.saturating_sub(before.len() as u64);
            rows.extend((first..).zip(before).map(|(n, text)| Row::Site(at(n, source(text)))));
            let what = around(&hit["enclosing"]);
            let column = hit["column"].as_u64().map(|column| column + 1);
            rows.push(Row::Site(Site { column, what, ..at(line, source(&hit["text"])) }));
            let after = (line + 1..).zip(list(&hit["after"]));
            rows.extend(after.map(|(n, text)| Row::Site(at(n, source(text)))));
        }
        if file["stale"] == true {
            rows.push(Row::Note(format!(
                "{} has changed since it was indexed",
                text(&file["path"])
            )));
        }
    }
    more(shown, total, "lines", rows);
    for file in list(&answer["unreadable"]) {
        let (path, reason) = (text(&file["path"]), text(&file["reason"]));
        rows.push(Row::Note(format!("not read: {path} ({reason})")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn site(rows: &[Row], at: usize) -> &Site {
        match &rows[at] {
            Row::Site(site) => site,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_site_of_a_list_has_its_place() {
        let enclosing = json!({"symbol": "a.x::C.f", "path": "a.x", "line": 1});
        let hit = json!({
            "line": 7, "column": 4, "text": "\thit()", "before": ["one"], "after": ["two"],
            "enclosing": enclosing
        });
        let answer = json!({
            "searched": 9, "total": {"count": 3}, "file_total": {"count": 1},
            "files": [{"path": "a.x", "hits": [hit]}], "index": {"words": "up to date"}
        });
        let rows = rows(&answer.to_string()).expect("a list of lines");
        let (before, found) = (site(&rows, 1), site(&rows, 2));
        assert_eq!((before.line, before.column, before.source.as_str()), (6, None, "one"));
        assert_eq!((found.line, found.column), (7, Some(5)));
        assert_eq!((found.what.as_str(), found.source.as_str()), ("C.f", "hit()"));
        assert_eq!(site(&rows, 3).line, 8);
        assert_eq!(rows[4], Row::Note("… 2 more lines: raise --budget".to_owned()));
        assert_eq!(rows[5], Row::Note("up to date".to_owned()));
    }

    #[test]
    fn what_is_no_list_of_sites_has_no_rows() {
        for answer in [json!({"items": []}), json!({"directory": "src", "entries": []})] {
            assert_eq!(rows(&answer.to_string()), None);
        }
        assert_eq!(rows("no JSON"), None);
    }

    #[test]
    fn text_of_the_repository_is_escaped() {
        let symbol = json!({
            "symbol": "a\u{1b}.x::f", "name": "f\u{1b}[31m", "container": "C\u{202e}",
            "kind": "function",
            "path": "a\u{1b}.x", "line": 1, "signature": "f(\u{1b}]0;title\u{7}\r)"
        });
        let answer = json!({"symbols": [symbol], "offset": 0, "total": {"count": 1}});
        let rows = rows(&answer.to_string()).expect("a list of symbols");
        let found = site(&rows, 1);
        assert_eq!(found.what, "function C\\u{202e}.f\\u{1b}[31m");
        assert_eq!(found.source, "f(\\u{1b}]0;title\\u{7}\\u{d})");
    }
}
