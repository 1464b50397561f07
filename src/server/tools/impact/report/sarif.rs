//! SARIF 2.1.0: one run, a rule for each kind of break, a result for each break, and a notification
//! for what is not known.

use crate::tools::impact::report::items::{items, text};
use cograph_query::impact::BreakKind;
use serde_json::{Value, json};

/// Shape that the standard requires of a log.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Base of the paths, which the reader of a log resolves.
const BASE: &str = "%SRCROOT%";

/// Log of an answer.
pub(super) fn sarif(answer: &Value) -> Value {
    let rules = BreakKind::ALL
        .iter()
        .map(|(_, word, about)| json!({"id": word, "shortDescription": {"text": about}}));
    let notes = items(answer, "unknown").iter().filter_map(Value::as_str).map(|sentence| {
        let is_open = items(answer, "unjudged").iter().any(|open| open == sentence);
        let level = if is_open { "warning" } else { "note" };
        json!({"level": level, "message": {"text": sentence}})
    });
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": cograph_version::NAME,
                "version": cograph_version::VERSION,
                "rules": rules.collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {BASE: {"description": {"text": "The root of the repository"}}},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notes.collect::<Vec<_>>(),
            }],
            "results": items(answer, "breaks").iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(found: &Value) -> Value {
    let (kind, path) = (text(found, "kind"), text(found, "path"));
    let (symbol, reason) = (text(found, "symbol"), text(found, "reason"));
    let level = match text(found, "certainty") {
        "certain" | "likely" => "error",
        _ => "warning",
    };
    json!({
        "ruleId": kind,
        "ruleIndex": BreakKind::ALL.iter().position(|(_, word, _)| *word == kind),
        "level": level,
        "message": {"text": format!("{symbol}: {reason}")},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": address(path), "uriBaseId": BASE},
            "region": {"startLine": found["line"].as_u64().unwrap_or(1).max(1)},
        }}],
        "properties": {"certainty": found["certainty"]},
    })
}

/// A path as a relative reference: bytes that have a meaning in an address are escaped.
pub fn address(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
    let one = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_references() {
        assert_eq!(address("src/a b#1.rs"), "src/a%20b%231.rs");
        assert_eq!(address("ä:x"), "%C3%A4%3Ax");
    }

    #[test]
    fn a_log_has_what_the_standard_requires() {
        let answer = json!({
            "breaks": [
                {"kind": "gone", "path": "a.py", "line": 3, "symbol": "f", "reason": "removed",
                 "certainty": "certain"},
                {"kind": "order", "path": "b.py", "line": 1, "symbol": "g", "reason": "order",
                 "certainty": "possible"},
            ],
            "unknown": ["history: none", "open"],
            "unjudged": ["open"],
        });
        let log = sarif(&answer);
        assert_eq!((&log["version"], &log["$schema"]), (&json!("2.1.0"), &json!(SCHEMA)));
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        assert!(driver["name"].is_string());
        for rule in driver["rules"].as_array().expect("rules") {
            assert!(rule["id"].is_string() && rule["shortDescription"]["text"].is_string());
        }
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        let notes = run["invocations"][0]["toolExecutionNotifications"].as_array();
        let levels: Vec<&Value> =
            notes.expect("a list").iter().map(|note| &note["level"]).collect();
        assert_eq!(levels, ["note", "warning"]);
        let results = run["results"].as_array().expect("results");
        assert_eq!(results.len(), 2);
        for (result, level) in results.iter().zip(["error", "warning"]) {
            assert!(result["message"]["text"].is_string());
            assert_eq!(result["level"], level);
            let rule = result["ruleIndex"].as_u64().expect("an index") as usize;
            assert_eq!(driver["rules"][rule]["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["artifactLocation"]["uri"].is_string());
            assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0));
            let base = place["artifactLocation"]["uriBaseId"].as_str().expect("a base");
            assert!(run["originalUriBaseIds"][base].is_object());
        }
    }
}
