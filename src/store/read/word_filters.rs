//! Cache of the word filters of files that the index of terms does not have (templates,
//! translations, documents) while a store is open: evidence that a name has no use reads all of
//! them, and most questions are about names that none of them has. Knows no SQL.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::format::rows::{FileKey, FileRow, Identity};
use cograph_model::graph::FileStamp;
use cograph_model::words::{NameWords, WordFilter};

/// Capacity in bytes, for all files: files beyond it are read for every question.
const MAX_BYTES: usize = 12 << 20;

/// See the module.
#[derive(Debug, Default)]
pub struct WordFilters {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    files: FxHashMap<FileKey, StampedFilter>,
    /// Size of all filters.
    bytes: usize,
}

#[derive(Debug)]
struct StampedFilter {
    filter: WordFilter,
    /// Stamp of the file whose text it was made of.
    stamp: FileStamp,
    /// Generation whose row of the file has this stamp: the row need not be read in it.
    state: Identity,
}

impl WordFilters {
    /// True if the file of this generation is known not to have a name as a whole word. `row`
    /// reads its row, which is needed once for each generation.
    pub fn exclude<E>(
        &self,
        state: Identity,
        file: FileKey,
        name: &NameWords,
        row: impl FnOnce() -> Result<Option<FileRow>, E>,
    ) -> Result<bool, E> {
        let mut kept = self.kept.lock();
        let Some(entry) = kept.files.get_mut(&file) else { return Ok(false) };
        if entry.state != state {
            let now = row()?.map(|row| row.stamp());
            if !now.is_some_and(|now| entry.stamp.suggests_same_bytes(&now)) {
                let removed = kept.files.remove(&file);
                kept.bytes -= removed.map_or(0, |entry| entry.filter.bytes());
                return Ok(false);
            }
            entry.state = state;
        }
        Ok(!entry.filter.may_have(name))
    }

    /// Caches the filter of a file that `make` makes of its text, unless it is known for this
    /// generation or the stamp of the file is no evidence of what is in it later.
    pub fn keep(&self, state: Identity, file: &FileRow, make: impl FnOnce() -> WordFilter) {
        let stamp = file.stamp();
        let is_known = |entry: &StampedFilter| entry.state == state;
        if !stamp.suggests_same_bytes(&stamp)
            || self.kept.lock().files.get(&file.key).is_some_and(is_known)
        {
            return;
        }
        let filter = make();
        let mut kept = self.kept.lock();
        let size = filter.bytes();
        if kept.bytes + size > MAX_BYTES {
            return;
        }
        kept.bytes += size;
        let before = kept.files.insert(file.key, StampedFilter { filter, stamp, state });
        kept.bytes -= before.map_or(0, |entry| entry.filter.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreError;
    use cograph_model::graph::UNTRUSTED_TIME;
    use cograph_model::{RepoPath, Verdict};

    fn row(changed_ns: i64) -> FileRow {
        FileRow {
            key: FileKey(1),
            path: RepoPath::new("notes.txt").expect("a path"),
            language: None,
            size: 9,
            modified_ns: 1,
            changed_ns,
            inode: 7,
            hash: 0,
            lines: 0,
            skipped: None,
            generated: false,
            test: false,
            first_symbol: 0,
            symbols: 0,
            first_site: 0,
            sites: 0,
            verdicts: [0; Verdict::ALL.len()],
            package: None,
        }
    }

    fn excludes(filters: &WordFilters, generation: u64, name: &str, now: Option<FileRow>) -> bool {
        let state = Identity { uid: 1, generation };
        let name = NameWords::of(name);
        let excluded = filters.exclude(state, FileKey(1), &name, || Ok::<_, StoreError>(now));
        excluded.expect("nothing fails")
    }

    #[test]
    fn a_filter_holds_while_the_file_has_its_stamp() {
        let filters = WordFilters::default();
        let state = Identity { uid: 1, generation: 1 };
        assert!(!excludes(&filters, 1, "other", Some(row(5))), "nothing is known of it");
        filters.keep(state, &row(5), || WordFilter::of(b"some word"));
        filters.keep(state, &row(5), || panic!("it is known"));
        assert!(excludes(&filters, 1, "other", None), "the row is not needed again");
        assert!(!excludes(&filters, 1, "word", None));
        assert!(excludes(&filters, 2, "other", Some(row(5))), "a generation with the same stamp");
        assert!(!excludes(&filters, 3, "other", Some(row(6))), "it has changed");
        assert!(!excludes(&filters, 3, "other", Some(row(5))), "and is forgotten");
    }

    #[test]
    fn a_stamp_without_evidence_and_a_filter_too_many_are_not_kept() {
        let filters = WordFilters::default();
        let state = Identity { uid: 1, generation: 1 };
        filters.keep(state, &row(UNTRUSTED_TIME), || WordFilter::of(b"some word"));
        assert!(!excludes(&filters, 1, "other", Some(row(UNTRUSTED_TIME))));
        let words: String = (0..200_000).map(|number| format!("w{number} ")).collect();
        let large = WordFilter::of(words.as_bytes());
        let most = MAX_BYTES / large.bytes();
        for key in 0..=most {
            let file = FileRow { key: FileKey(key as u32), ..row(5) };
            filters.keep(state, &file, || large.clone());
        }
        let excludes = |key| {
            let name = NameWords::of("other");
            let excluded = filters.exclude(state, FileKey(key as u32), &name, || {
                Ok::<_, StoreError>(None::<FileRow>)
            });
            excluded.expect("nothing fails")
        };
        assert!(excludes(most - 1) && !excludes(most), "beyond the capacity");
    }
}
