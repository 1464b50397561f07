//! The index of terms says what the terms of the files say, whatever has changed since it was made.

use std::collections::BTreeMap;
use std::sync::Arc;

use cograph::model::cancel::CancelToken;
use cograph::model::words::{FileWords, Frequency, Term};
use cograph::store::{FileKey, Snapshot, Store};

/// Files with their frequencies by term, and lengths by file.
type Index = (BTreeMap<u32, BTreeMap<FileKey, Frequency>>, BTreeMap<FileKey, u32>);

fn add((terms, lengths): &mut Index, file: FileKey, words: &[u8]) {
    let words = FileWords::read(words).expect("terms of a file");
    lengths.insert(file, words.length);
    for (Term(term), frequency) in words {
        terms.entry(term).or_default().insert(file, frequency);
    }
}

/// What the files say one by one.
fn by_file(snapshot: &Snapshot) -> Index {
    let mut index = Index::default();
    for (file, _) in snapshot.paths().expect("paths") {
        if let Some(terms) = snapshot.terms_of(file).expect("terms") {
            add(&mut index, file, &terms.words);
        }
    }
    index
}

/// What the index says of these terms, with the files that have changed since it was made.
fn by_index(snapshot: &Snapshot, terms: impl Iterator<Item = u32>) -> Index {
    let mut index = Index::default();
    let lengths = snapshot.file_lengths().expect("lengths");
    let lengths = (1..).map(FileKey).zip(lengths).filter_map(|(key, length)| Some((key, length?)));
    let mut as_built: BTreeMap<FileKey, u32> = lengths.collect();
    snapshot
        .visit_later_words(|file, words| {
            as_built.remove(&file);
            if let Some(words) = words {
                add(&mut index, file, words);
            }
        })
        .expect("changed files");
    for term in terms {
        let add = |file, frequency| {
            if as_built.contains_key(&file) {
                let files = index.0.entry(term).or_default();
                assert!(files.insert(file, frequency).is_none(), "{file:?} twice");
            }
        };
        snapshot.visit_postings(Term(term), add).expect("postings");
    }
    index.1.extend(as_built);
    index
}

pub(crate) fn assert_indexed(store: &Arc<Store>) {
    let snapshot = store.snapshot(&CancelToken::new()).expect("it can be read");
    let expected = by_file(&snapshot);
    let found = by_index(&snapshot, expected.0.keys().copied());
    assert_eq!(found.1, expected.1, "lengths");
    assert_eq!(found.0, expected.0, "postings");
}
