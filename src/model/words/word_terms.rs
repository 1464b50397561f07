//! Terms of words, memoized by thread: a program writes few words, each in many identifiers, and a
//! stem takes several times as long as a lookup.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::stem::stem;
use super::terms::term;

/// Maximum number of words of a memo, which is emptied when it is full.
pub const MAX_WORDS: usize = 1 << 14;

thread_local! {
    /// Terms by hash of the word.
    static KNOWN: RefCell<FxHashMap<u64, u32>> = RefCell::default();
}

/// Returns the term of a word in lower case. The word may be stemmed.
pub(super) fn term_of_word(word: &mut Vec<u8>) -> u32 {
    let hash = xxh3_64(word);
    KNOWN.with_borrow_mut(|known| {
        if let Some(&term) = known.get(&hash) {
            return term;
        }
        if known.len() >= MAX_WORDS {
            known.clear();
        }
        stem(word);
        let found = term(word).0;
        known.insert(hash, found);
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_memo_gives_the_same_terms() {
        let of = |word: &str| term_of_word(&mut word.as_bytes().to_vec());
        let before = (of("parsing"), of("parsed"), of("indexes"));
        assert_eq!(before.0, before.1);
        for number in 0..MAX_WORDS + 10 {
            of(&format!("word{number}"));
        }
        assert!(KNOWN.with_borrow(FxHashMap::len) <= MAX_WORDS);
        assert_eq!((of("parsing"), of("parsed"), of("indexes")), before);
    }
}
