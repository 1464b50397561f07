//! What `explore` adds to the ranked symbols: further functions of the best files, the words of the
//! question in each line of source, and words that are in no file.

use crate::explore::answer::{Source, UnmatchedWord};
use crate::graph::answer::SymbolInfo;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::locate::located::{Located, Location};
use crate::names::text;
use crate::show::answer::Excerpt;
use cograph_store::FileKey;

/// Maximum number of files whose further functions are listed.
const FILES: usize = 3;

/// Number of the best symbols whose names are compared with an unmatched word.
const COMPARED: usize = 200;

/// Maximum number of unmatched words, and of similar names for each.
const MAX_UNMATCHED: usize = 4;
const MAX_SIMILAR: usize = 2;

/// Minimum length of an unmatched word, and of a beginning that two similar words share.
const MIN_LETTERS: usize = 3;
const MIN_BEGINNING: usize = 4;

/// Returns the best functions of the first files, best first, other than the first `skipped`
/// symbols.
pub(super) fn functions(
    lookup: &Lookup<'_>,
    ranked: &[Located],
    skipped: usize,
    limit: usize,
) -> Result<Vec<SymbolInfo>, QueryError> {
    let mut files: Vec<FileKey> = Vec::new();
    for located in ranked {
        if !files.contains(&located.head.file) {
            files.push(located.head.file);
        }
        if files.len() == FILES {
            break;
        }
    }
    let is_one =
        |located: &&Located| located.head.kind.is_callable() && files.contains(&located.head.file);
    let best = ranked.iter().skip(skipped).filter(is_one).take(limit);
    best.map(|located| lookup.info_of(located.head.key)).collect()
}

/// Adds the words of the question in each line to an excerpt.
pub(super) fn with_words(excerpt: Excerpt, found: &Location) -> Source {
    let words = excerpt.lines.iter().map(|line| found.words_in(line)).collect();
    Source { excerpt, words }
}

/// Returns the first words of the question that are in no file, with the names of
/// ranked symbols that resemble them.
pub(super) fn unmatched(
    lookup: &Lookup<'_>,
    found: &Location,
) -> Result<Vec<UnmatchedWord>, QueryError> {
    let words = found.unmatched.iter().filter(|word| word.len() >= MIN_LETTERS);
    let words: Vec<&String> = words.take(MAX_UNMATCHED).collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut names: Vec<String> = Vec::new();
    for located in found.symbols.iter().take(COMPARED) {
        let name = lookup.symbol(located.head.key)?.name_text.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let similar = |word: &str| {
        let is_similar =
            |name: &&String| text::words(name).iter().any(|part| is_similar(word, part));
        names.iter().filter(is_similar).take(MAX_SIMILAR).cloned().collect()
    };
    Ok(words
        .into_iter()
        .map(|word| UnmatchedWord { word: word.clone(), similar: similar(word) })
        .collect())
}

/// True if two words in lower case differ in a few letters, or one begins with most of the other.
fn is_similar(one: &str, other: &str) -> bool {
    let shorter = one.len().min(other.len());
    let shared = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let errors = text::max_edit_distance(shorter);
    (shared >= MIN_BEGINNING && shared * 4 >= shorter * 3)
        || (errors > 0 && text::distance(one, other, errors).is_some())
}

#[cfg(test)]
mod tests {
    use super::is_similar;

    #[test]
    fn similar_words_share_most_letters() {
        for (one, other) in
            [("fortnightly", "fortnight"), ("ovredue", "overdue"), ("authn", "authentication")]
        {
            assert!(is_similar(one, other) && is_similar(other, one), "{one} {other}");
        }
        for (one, other) in [("get", "set"), ("settings", "strings"), ("parser", "printer")] {
            assert!(!is_similar(one, other), "{one} {other}");
        }
    }
}
