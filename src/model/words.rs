//! Terms of source text for full-text search: tokenization, stemming, and the term frequencies of a
//! file.
//!
//! Identifiers are split (`camelCase`, `snake_case`); digits separate. A term is a hash of its
//! stem, so that no dictionary is needed: two words may collide, about one in a thousand in a very
//! large repository.

mod stem;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::packed::{put, take};

pub use stem::stem;

/// Length of a word in letters: shorter and longer ones carry no information (`x`, base64).
const LETTERS: std::ops::RangeInclusive<usize> = 2..=32;

/// Number of bits of a term.
const TERM_BITS: u32 = 26;

/// Weight of a word in the path, as a number of occurrences in the text.
const PATH_WEIGHT: u32 = 3;

/// Bytes of text for one distinct identifier, about: for the capacity of a table.
const BYTES_OF_AN_IDENTIFIER: usize = 40;

/// Term: hash of a stem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub u32);

/// Quantized term frequency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frequency(u8);

impl Frequency {
    fn of(count: u32) -> Self {
        Self(match count {
            0..=1 => 0,
            2..=3 => 1,
            4..=8 => 2,
            _ => 3,
        })
    }

    /// Typical count of this step.
    pub fn count(self) -> f32 {
        [1.0, 2.5, 5.5, 14.0][usize::from(self.0 & 3)]
    }
}

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
const IS_OF_RUN: [bool; 256] = {
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

/// Returns the term of a stem.
pub fn term(stem: &[u8]) -> Term {
    Term((xxh3_64(stem) & ((1 << TERM_BITS) - 1)) as u32)
}

/// Filter for words by their first two letters, which stemming keeps except for a `y`: rejects most
/// words whose stem is none of a few.
#[derive(Clone)]
pub struct StemFilter(Box<[u64; 1 << 10]>);

impl Default for StemFilter {
    fn default() -> Self {
        Self(Box::new([0; 1 << 10]))
    }
}

impl StemFilter {
    /// Adds a stem.
    pub fn insert(&mut self, stem: &[u8]) {
        match *stem {
            [first, second, ..] => {
                self.set(first, second);
                if second == b'i' {
                    self.set(first, b'y');
                }
            }
            [first] => (0..=u8::MAX).for_each(|second| self.set(first, second)),
            [] => {}
        }
    }

    /// False if the stem of a word was not added.
    pub fn may_have(&self, word: &[u8]) -> bool {
        let [first, second, ..] = *word else { return true };
        let (place, bit) = Self::place(first, second);
        self.0[place] & bit != 0
    }

    fn set(&mut self, first: u8, second: u8) {
        let (place, bit) = Self::place(first, second);
        self.0[place] |= bit;
    }

    fn place(first: u8, second: u8) -> (usize, u64) {
        let letters = usize::from(first) << 8 | usize::from(second);
        (letters >> 6, 1 << (letters & 63))
    }
}

/// Encodes the terms of a file: number of words, then terms in order with quantized frequencies.
pub fn of_file(path: &str, text: &[u8]) -> Box<[u8]> {
    let mut identifiers: FxHashMap<u64, (&[u8], u32)> = FxHashMap::default();
    identifiers.reserve(text.len() / BYTES_OF_AN_IDENTIFIER);
    for (_, run) in runs(text) {
        identifiers.entry(xxh3_64(run)).or_insert((run, 0)).1 += 1;
    }
    for (_, run) in runs(path.as_bytes()) {
        identifiers.entry(xxh3_64(run)).or_insert((run, 0)).1 += PATH_WEIGHT;
    }
    let mut found: Vec<(Term, u32)> = Vec::with_capacity(identifiers.len() * 2);
    for (run, count) in identifiers.into_values() {
        parts(run, |part| {
            stem(part);
            found.push((term(part), count));
        });
    }
    found.sort_unstable_by_key(|(term, _)| *term);
    let all: u64 = found.iter().map(|(_, count)| u64::from(*count)).sum();
    let mut packed = Vec::with_capacity(found.len() * 3);
    put(&mut packed, all);
    let mut before = 0;
    for alike in found.chunk_by(|one, other| one.0 == other.0) {
        let (term, count) =
            (alike[0].0.0, alike.iter().fold(0_u32, |sum, (_, count)| sum.saturating_add(*count)));
        put(&mut packed, u64::from(term - before) << 2 | u64::from(Frequency::of(count).0));
        before = term;
    }
    packed.into()
}

/// Decoder of the terms of a file, as encoded by [`of_file`]. `None` for invalid bytes.
pub struct FileWords<'w> {
    /// Number of words of the file.
    pub length: u32,
    rest: &'w [u8],
    before: u32,
}

impl<'w> FileWords<'w> {
    /// Starts decoding.
    pub fn read(mut bytes: &'w [u8]) -> Option<Self> {
        let length = u32::try_from(take(&mut bytes)?).unwrap_or(u32::MAX);
        Some(Self { length, rest: bytes, before: 0 })
    }
}

impl Iterator for FileWords<'_> {
    type Item = (Term, Frequency);

    fn next(&mut self) -> Option<Self::Item> {
        let number = take(&mut self.rest)?;
        self.before = self.before.wrapping_add((number >> 2) as u32);
        Some((Term(self.before), Frequency((number & 3) as u8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (_, run) in runs(text.as_bytes()) {
            parts(run, |part| words.push(String::from_utf8_lossy(part).into_owned()));
        }
        words
    }

    #[test]
    fn text_falls_into_words() {
        for (text, expected) in [
            ("getUserName(x)", "get user name"),
            ("HTTPServer.URLs", "http server urls"),
            ("snake_case_name + 0x1f", "snake case name"),
            ("utf8Decode \"renders a title\"", "utf decode renders title"),
            ("Größe", "größe"),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_filter_has_every_word_whose_stem_was_added() {
        let letters = b"abdeginsty";
        let mut word = Vec::new();
        for number in 0..100_000_usize {
            word.clear();
            let mut rest = number;
            while rest > 0 {
                word.push(letters[rest % letters.len()]);
                rest /= letters.len();
            }
            let mut filter = StemFilter::default();
            let mut stemmed = word.clone();
            stem(&mut stemmed);
            filter.insert(&stemmed);
            assert!(filter.may_have(&word), "{}", String::from_utf8_lossy(&word));
        }
        let mut filter = StemFilter::default();
        filter.insert(b"pars");
        assert!(!filter.may_have(b"other"));
    }

    #[test]
    fn words_of_a_file_are_read_as_they_were_written() {
        let text = "parse(parsed) parses; other = parser_of(OTHER)";
        let packed = of_file("src/deep/file.x", text.as_bytes());
        let read = FileWords::read(&packed).expect("it was written just now");
        assert_eq!(read.length, 7 + 3 * PATH_WEIGHT);
        let read: FxHashMap<Term, f32> =
            read.map(|(term, frequency)| (term, frequency.count())).collect();
        let count = |word: &str| {
            let mut letters = word.as_bytes().to_vec();
            stem(&mut letters);
            read.get(&term(&letters)).copied()
        };
        assert_eq!(
            (count("parse"), count("other"), count("deep")),
            (Some(2.5), Some(2.5), Some(2.5))
        );
        assert_eq!((count("of"), count("absent")), (Some(1.0), None));
    }

    #[test]
    fn damage_ends_the_words() {
        let packed = of_file("a.x", b"one two three");
        assert!(FileWords::read(&[]).is_none());
        assert!(
            FileWords::read(&packed[..packed.len() - 1]).expect("the length is there").count() < 4
        );
    }
}
