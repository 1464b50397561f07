//! Files that may have a name in their text, by the index of terms: a few of a large repository.

use crate::graph::error::QueryError;
use crate::graph::having::{Having, having};
use crate::graph::lookup::Lookup;
use crate::grep::is_text;
use crate::references::evidence::place::{Effort, is_read};
use cograph_model::words::{self, NameWords, Term};
use cograph_store::FileRow;

/// Maximum size of all files without words that are read in addition to a list of uses, in bytes.
const MAX_BYTES: u64 = 1 << 19;

/// Files to search.
pub(super) struct Files {
    /// Rows: files without extracted references first, because none of their lines is accounted
    /// for, then by path.
    pub(super) rows: Vec<FileRow>,
    /// Number of files that may have the name and are not among them.
    pub(super) left_out: u64,
}

/// Returns the files with text that may have `name`.
pub(super) fn with_text(
    lookup: &Lookup<'_>,
    name: &str,
    effort: Effort,
) -> Result<Files, QueryError> {
    let terms = words::terms_of(name.as_bytes());
    if terms.is_empty() {
        // A letter is in most files.
        return Ok(Files { rows: Vec::new(), left_out: lookup.snapshot.meta().files });
    }
    let mut files = by_terms(lookup, name, &terms, effort)?;
    files.rows.sort_by_cached_key(|file| (is_read(lookup, file), file.path.clone()));
    Ok(files)
}

fn by_terms(
    lookup: &Lookup<'_>,
    name: &str,
    terms: &[Term],
    effort: Effort,
) -> Result<Files, QueryError> {
    let Having { files: mut with_words, mut without_words, unindexed } = having(lookup, terms)?;
    let mut left_out = with_words.len().saturating_sub(effort.files()) as u64;
    if left_out > 0 {
        with_words.sort_by_key(|file| lookup.order().file(*file));
        with_words.truncate(effort.files());
    }
    let mut rows = Vec::with_capacity(with_words.len());
    for file in with_words {
        lookup.check()?;
        rows.extend(lookup.snapshot.file(file)?.filter(is_text));
    }
    if effort == Effort::Few {
        // The first that fit, in an order that does not depend on the history of the index.
        without_words.sort_by_key(|file| lookup.order().file(*file));
    }
    let (filters, state) = (lookup.snapshot.store().word_filters(), lookup.snapshot.identity());
    let words = NameWords::of(name);
    let (mut read, mut bytes, mut checked) = (0, 0, 0);
    // Rows beyond the bounds are counted, not fetched: a repository has thousands of such files.
    for file in without_words {
        lookup.check()?;
        let row = || lookup.snapshot.file(file);
        if effort != Effort::Few && filters.exclude(state, file, &words, row)? {
            checked += 1;
            continue;
        }
        let Some(row) = row()? else { continue };
        if effort == Effort::Few && bytes + row.size > MAX_BYTES {
            break;
        }
        checked += 1;
        if is_text(&row) {
            (read, bytes) = (read + 1, bytes + row.size);
            rows.push(row);
        }
        if read >= effort.files_without_words() {
            break;
        }
    }
    left_out += unindexed.saturating_sub(checked);
    Ok(Files { rows, left_out })
}
