//! Files that have terms in their text, by the index of terms.

use rustc_hash::FxHashSet;

use super::lookup::Lookup;
use crate::graph::error::QueryError;
use cograph_model::words::{FileWords, Term};
use cograph_store::FileKey;

/// Files with terms, and files without an index of their words.
pub(crate) struct Having {
    /// Files that have all terms: possibly a few more, never less.
    pub(crate) files: Vec<FileKey>,
    /// Files whose words are not indexed, and keys of files that are gone.
    pub(crate) without_words: Vec<FileKey>,
    /// Number of the former.
    pub(crate) unindexed: u64,
}

/// Returns the files that have all of these terms. There is at least one.
pub(crate) fn having(lookup: &Lookup<'_>, terms: &[Term]) -> Result<Having, QueryError> {
    let mut files: Option<Vec<FileKey>> = None;
    for &term in terms {
        lookup.check()?;
        let mut with_term = Vec::new();
        lookup.snapshot.visit_postings(term, |file, _| with_term.push(file))?;
        files = Some(match files {
            Some(mut known) => {
                // Both are in order of keys.
                known.retain(|file| with_term.binary_search(file).is_ok());
                known
            }
            None => with_term,
        });
    }
    let mut files = files.unwrap_or_default();
    let (mut changed, mut without_now) = (FxHashSet::default(), Vec::new());
    let (mut with_them, mut indexed) = (Vec::new(), 0_u64);
    lookup.snapshot.visit_later_words(|file, words| {
        changed.insert(file);
        match words.and_then(FileWords::read) {
            Some(words) => {
                indexed += 1;
                let own: FxHashSet<Term> = words.map(|(term, _)| term).collect();
                if terms.iter().all(|term| own.contains(term)) {
                    with_them.push(file);
                }
            }
            None => without_now.push(file),
        }
    })?;
    files.retain(|file| !changed.contains(file));
    files.extend(with_them);
    let mut without_words: Vec<FileKey> =
        lookup.order().added().filter(|file| !changed.contains(file)).collect();
    without_words.extend(without_now);
    without_words.sort_unstable();
    let lengths = lookup.snapshot.file_lengths()?;
    // The lengths end at the last file that has words.
    for key in 1..=lookup.snapshot.meta().last_file {
        let (file, place) = (FileKey(key), usize::try_from(key - 1).unwrap_or(usize::MAX));
        if changed.contains(&file) {
            continue;
        }
        match lengths.get(place).copied().flatten() {
            Some(_) => indexed += 1,
            None => without_words.push(file),
        }
    }
    let unindexed = lookup.snapshot.meta().files.saturating_sub(indexed);
    Ok(Having { files, without_words, unindexed })
}
