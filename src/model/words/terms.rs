//! Words of a text and their terms.

use xxhash_rust::xxh3::xxh3_64;

/// Length of a word in letters: shorter and longer ones carry no information (`x`, base64).
pub(crate) const LETTERS: std::ops::RangeInclusive<usize> = 2..=32;

/// Number of bits of a term.
pub const TERM_BITS: u32 = 26;

/// Term: hash of a stem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub u32);

/// Returns the identifiers and words of a text with their offsets: maximal runs of letters, digits
/// and `_` that do not begin with a digit.
pub fn runs(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            while !IS_OF_RUN[usize::from(*text.get(at)?)] {
                at += 1;
            }
            let start = at;
            while at < text.len() && IS_OF_RUN[usize::from(text[at])] {
                at += 1;
            }
            if !text[start].is_ascii_digit() {
                return Some((start, &text[start..at]));
            }
        }
    })
}

/// Table of the bytes of a run. Letters that are not ASCII consist of other bytes only.
pub(crate) const IS_OF_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || letter == b'_' || letter >= 0x80;
        byte += 1;
    }
    table
};

/// Passes every word of an identifier to `visit`, in lower case.
pub fn parts(run: &[u8], mut visit: impl FnMut(&mut Vec<u8>)) {
    let mut part = Vec::with_capacity(run.len());
    let mut finish = |part: &mut Vec<u8>| {
        if LETTERS.contains(&part.len()) {
            visit(part);
        }
        part.clear();
    };
    for (at, &byte) in run.iter().enumerate() {
        if byte == b'_' || byte.is_ascii_digit() {
            finish(&mut part);
            continue;
        }
        if byte.is_ascii_uppercase() && at > 0 {
            let after_small = run[at - 1].is_ascii_lowercase();
            // The last capital of a run belongs to the next word: `HTTPServer` is `http`, `server`.
            let before_small = run[at - 1].is_ascii_uppercase()
                && run.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            // A plural acronym is one word: `URLs`.
            let is_plural = before_small
                && run.get(at + 1) == Some(&b's')
                && !run.get(at + 2).is_some_and(u8::is_ascii_lowercase);
            if after_small || (before_small && !is_plural) {
                finish(&mut part);
            }
        }
        part.push(byte.to_ascii_lowercase());
    }
    finish(&mut part);
}

/// Normalizes an identifier to lower case without separators: `get_user` and `getUser` are equal.
pub fn joined(run: &[u8]) -> Vec<u8> {
    run.iter().filter(|byte| **byte != b'_').map(u8::to_ascii_lowercase).collect()
}

/// Returns the term of a stem.
pub fn term(stem: &[u8]) -> Term {
    Term((xxh3_64(stem) & ((1 << TERM_BITS) - 1)) as u32)
}
