//! JSON of the answers of `impact`: the whole lists, as `docs/impact.schema.json` describes.

use super::history::in_json;
use super::shell::command_line;
use crate::answers::reply::{list, path, with};
use cograph_model::RepoPath;
use cograph_model::change::{ChangedFile, FileHistory};
use cograph_query::impact::{AffectedTest, Dependent, ImpactResult, ImpactSeed};
use serde_json::{Value, json};

/// Result of `impact`.
pub(super) fn impact(result: &ImpactResult, history: &[(RepoPath, FileHistory)]) -> Value {
    let certain = result.dependents.iter().filter(|dependent| dependent.certainty.is_sure());
    json!({
        "between": result.between,
        "files": list(&result.files, file),
        "changed": list(&result.seeds, seed),
        "breaks": list(&result.breaks, |found| json!({
            "path": path(&found.path), "line": found.line, "symbol": found.symbol,
            "kind": found.kind.word(), "reason": found.reason,
            "certainty": found.certainty.word(),
        })),
        "dependents": list(&result.dependents, dependent),
        "tests": list(&result.tests, test),
        "commands": list(&result.commands, |command| json!({
            "runner": command.runner, "arguments": command.arguments,
            "line": command_line(command), "tests": command.tests,
        })),
        "forces": list(&result.forcing, |forcing| json!({
            "path": path(&forcing.path), "reason": forcing.reason,
        })),
        "history": list(history, |(file, facts)| with(in_json(facts), "path", json!(path(file)))),
        "unknown": result.unknown,
        "unjudged": result.unjudged,
        "totals": {
            "breaks": result.breaks.len(),
            "dependents": {
                "certain": certain.count(),
                "possible": result.dependents.iter()
                    .filter(|dependent| !dependent.certainty.is_sure()).count(),
                "more": result.more_dependents || result.more_possible,
            },
            "tests": result.by_class.iter().map(
                |(class, count)| (class.word().to_owned(), json!(count))
            ).collect::<serde_json::Map<_, _>>(),
            "weaker_tests": result.weaker,
            "test_files": result.test_files,
        },
    })
}

fn file(file: &ChangedFile) -> Value {
    json!({
        "path": path(file.path()),
        "old_path": file.old.as_ref().map(path),
        "removed": file.new.is_none(),
        "added_lines": file.lines.0,
        "removed_lines": file.lines.1,
        "outside_of_symbols": file.outside,
        "unread": file.unread,
    })
}

fn seed(seed: &ImpactSeed) -> Value {
    match (&seed.changed, &seed.symbol) {
        (Some(changed), _) => {
            let side = changed.side();
            json!({
                "path": path(&side.path), "name": side.qualified_name(),
                "kind": side.kind.word(), "line": side.name_at.line,
                "change": changed.kind.word(), "signature": side.signature,
                "old": changed.old.as_ref().filter(|old| changed.new.as_ref() != Some(*old)).map(
                    |old| json!({
                        "path": path(&old.path), "name": old.qualified_name(),
                        "line": old.name_at.line, "signature": old.signature,
                    })
                ),
            })
        }
        (None, Some(symbol)) => json!({
            "path": path(&symbol.path), "name": symbol.qualified_name(),
            "kind": symbol.kind.word(), "line": symbol.name_at.line,
            "change": "named", "signature": symbol.signature, "old": null,
        }),
        (None, None) => Value::Null,
    }
}

fn dependent(dependent: &Dependent) -> Value {
    json!({
        "path": path(&dependent.path), "line": dependent.line,
        "symbol": dependent.symbol.as_ref().map(|symbol| symbol.qualified_name()),
        "distance": dependent.distance, "certainty": dependent.certainty.word(),
        "test": dependent.in_tests,
    })
}

fn test(test: &AffectedTest) -> Value {
    let evidence = &test.evidence;
    json!({
        "path": path(&test.symbol.path), "name": test.symbol.qualified_name(),
        "line": test.symbol.name_at.line, "class": test.class.word(),
        "score": rounded(test.score), "chain": test.chain,
        "evidence": {
            "changed": evidence.changed, "executed": rounded(evidence.executed),
            "distance": evidence.distance,
            "calls": evidence.by_calls, "imports": evidence.imports,
            "alike": rounded(evidence.alike), "stem": rounded(evidence.stem),
            "together": rounded(evidence.together),
            "lines": rounded(evidence.lines), "names": rounded(evidence.names),
            "title": rounded(evidence.title), "possible": evidence.possible,
        },
    })
}

/// A number with three decimals.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1000.0).round() / 1000.0
}
