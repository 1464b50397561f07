//! Scope in the first line of a question (`client: ..`, `fix(client): ..`, `[client] ..`) and the
//! files that it means.

use rustc_hash::FxHashSet;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::words::{joined, parts, runs, stem};
use cograph_store::FileKey;

/// Maximum length of a scope in bytes.
const MAX_BYTES: usize = 40;

/// Share of the files above which a scope does not distinguish them, in percent.
const MAX_PERCENT: usize = 60;

/// Types of changes: what is done, not where.
const TYPES: &str = "fix feat docs doc chore test tests refactor perf build ci style revert \
                     feature bug bugfix error";

/// Returns the scope of a question's first line.
pub(super) fn scope_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let scope = match line.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => {
            let (head, rest) = line.split_once(':')?;
            if !rest.starts_with(char::is_whitespace) {
                return None;
            }
            let head = head.trim_end_matches('!');
            match head.split_once('(') {
                Some((kind, scope)) if is_word(kind) => scope.strip_suffix(')')?,
                _ => head,
            }
        }
    };
    let is_type = |scope: &str| TYPES.split_whitespace().any(|one| scope.eq_ignore_ascii_case(one));
    // `fix/client: ..`
    let scope = match scope.split_once('/') {
        Some((kind, rest)) if is_type(kind) => rest,
        _ => scope,
    };
    (scope.len() <= MAX_BYTES && is_word(scope) && !is_type(scope)).then_some(scope)
}

/// True for a word, or a path or list of words without blanks.
fn is_word(text: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || "_-./,+".contains(letter);
    text.starts_with(char::is_alphanumeric) && text.chars().all(is_of_word)
}

/// Returns the files whose paths have all parts of the scope, as names or words of names. Empty if
/// those are most of all files.
pub(super) fn files(
    lookup: &Lookup<'_>,
    scope: Option<&str>,
) -> Result<FxHashSet<FileKey>, QueryError> {
    let mut found = FxHashSet::default();
    let wanted: Vec<Vec<u8>> = scope
        .iter()
        .flat_map(|scope| runs(scope.as_bytes()))
        .map(|(_, run)| run.to_ascii_lowercase())
        .collect();
    if wanted.is_empty() {
        return Ok(found);
    }
    let table = lookup.snapshot.path_table()?;
    let all = table.with_part("");
    for (key, _) in &all {
        if table.path(*key).is_some_and(|path| has_all(path, &wanted)) {
            found.insert(*key);
        }
    }
    if found.len() * 100 > all.len() * MAX_PERCENT {
        found.clear();
    }
    Ok(found)
}

/// True if every part is a name in the path or the stem of a word of one.
fn has_all(path: &str, wanted: &[Vec<u8>]) -> bool {
    let stemmed = |word: &[u8]| {
        let mut word = word.to_vec();
        stem(&mut word);
        word
    };
    wanted.iter().all(|part| {
        let (whole, own) = (joined(part), stemmed(part));
        runs(path.as_bytes()).any(|(_, run)| {
            let mut has_word = joined(run) == whole;
            parts(run, |word| has_word |= stemmed(word) == own);
            has_word
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_a_word_before_a_colon_or_in_brackets() {
        for (line, expected) in [
            ("globset: escape braces", Some("globset")),
            ("fix(client): retry", Some("client")),
            ("feat(axum-extra)!: typed headers", Some("axum-extra")),
            ("[query] simplify", Some("query")),
            ("[internal/e2e]: run", Some("internal/e2e")),
            ("fix/tracer: quiet", Some("tracer")),
            ("fix: crash", None),
            ("Docs: more", None),
            ("[CI] run", None),
            ("fix(test): flaky", None),
            ("a crash in the client: it retries", None),
            ("see http://example.com/", None),
            ("std::fmt is slow", None),
            ("no scope", None),
            ("[two words] x", None),
            ("", None),
        ] {
            assert_eq!(scope_of(line), expected, "{line}");
        }
    }

    #[test]
    fn all_parts_are_names_or_words_of_the_path() {
        let has = |path: &str, scope: &str| {
            let runs: Vec<Vec<u8>> = runs(scope.as_bytes()).map(|(_, run)| run.to_vec()).collect();
            has_all(path, &runs)
        };
        assert!(has("crates/globset/src/lib.x", "globset"));
        assert!(has("src/HttpClient.x", "client") && has("src/httpclient.x", "http_client"));
        assert!(has("axum-core/src/body.x", "axum-core") && has("queries/eval.x", "query"));
        assert!(!has("axum/src/body.x", "axum-core") && !has("src/clientele.x", "client"));
    }
}
