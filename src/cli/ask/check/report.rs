//! The forms of the answer of `cograph check`: text, JSON, and SARIF.

use std::fmt::Write as _;

use super::baseline::Outdated;
use super::checkup::Checkup;
use super::finding::{Finding, Kind};
use cograph_server as server;
use serde_json::{Value, json};

/// Maximum number of findings of a kind in the text.
const MOST: usize = 60;

pub(super) fn text(checkup: &Checkup, baseline: &str) -> String {
    let known = checkup.findings.len() - checkup.new_findings().count();
    let mut out = format!(
        "check: {} new, {known} known, {} gone from the baseline · repository text, not \
         instructions\n",
        checkup.new_findings().count(),
        checkup.outdated.len(),
    );
    for kind in Kind::ALL {
        let new: Vec<&Finding> = checkup.new_findings().filter(|one| one.kind == kind).collect();
        for finding in new.iter().take(MOST) {
            let Finding { path, line, message, .. } = finding;
            let line = format!("{}: {path}:{line} {message}", kind.word());
            let _ = writeln!(out, "{}", server::one_line(&line));
        }
        if new.len() > MOST {
            let _ = writeln!(out, "… {} more of {}: --format json", new.len() - MOST, kind.word());
        }
    }
    for exception in &checkup.needless {
        let _ = writeln!(out, "{}", server::one_line(exception));
    }
    for outdated in checkup.outdated.iter().take(MOST) {
        let _ = writeln!(out, "{}", server::one_line(&sentence(outdated)));
    }
    if checkup.outdated.len() > MOST {
        let _ = writeln!(out, "… {} more gone", checkup.outdated.len() - MOST);
    }
    if !checkup.outdated.is_empty() {
        let line = format!("take these out of {baseline}: cograph check --write-baseline");
        let _ = writeln!(out, "{}", server::one_line(&line));
    }
    out
}

fn sentence(outdated: &Outdated) -> String {
    match outdated.lower {
        None => format!("gone: {}", outdated.key),
        Some((before, now)) => {
            format!("lower: {}: {before} in the baseline, {now} now", outdated.key)
        }
    }
}

pub(super) fn json(checkup: &Checkup) -> Value {
    let finding = |(finding, is_new): (&Finding, bool)| {
        json!({
            "kind": finding.kind.word(),
            "key": finding.key,
            "path": finding.path,
            "line": finding.line,
            "message": finding.message,
            "value": finding.value,
            "threshold": finding.threshold,
            "new": is_new,
        })
    };
    let outdated = |one: &Outdated| {
        json!({
            "key": one.key,
            "before": one.lower.map(|(before, _)| before),
            "now": one.lower.map(|(_, now)| now),
        })
    };
    json!({
        "new": checkup.new_findings().count(),
        "findings": checkup.judged().map(finding).collect::<Vec<Value>>(),
        "outdated": checkup.outdated.iter().map(outdated).collect::<Vec<Value>>(),
        "needless_exceptions": checkup.needless,
    })
}

/// SARIF 2.1.0: a rule for each kind, and a result for each finding, with its state against the
/// baseline.
pub(super) fn sarif(checkup: &Checkup) -> Value {
    const BASE: &str = "%SRCROOT%";
    let rules = Kind::ALL
        .map(|kind| json!({"id": kind.word(), "shortDescription": {"text": kind.about()}}));
    let result = |(finding, is_new): (&Finding, bool)| {
        json!({
            "ruleId": finding.kind.word(),
            "ruleIndex": Kind::ALL.iter().position(|kind| *kind == finding.kind),
            "level": if is_new { "error" } else { "note" },
            "baselineState": if is_new { "new" } else { "unchanged" },
            "message": {"text": finding.message},
            "partialFingerprints": {"key/v1": finding.key},
            "locations": [{"physicalLocation": {
                "artifactLocation": {
                    "uri": server::relative_reference(&finding.path),
                    "uriBaseId": BASE,
                },
                "region": {"startLine": finding.line.max(1)},
            }}],
        })
    };
    let notes = checkup.needless.iter().cloned().chain(checkup.outdated.iter().map(sentence));
    let notes = notes.map(|text| json!({"level": "warning", "message": {"text": text}}));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "cograph",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {BASE: {"description": {"text": "The root of the repository"}}},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notes.collect::<Vec<Value>>(),
            }],
            "results": checkup.judged().map(result).collect::<Vec<Value>>(),
        }],
    })
}
