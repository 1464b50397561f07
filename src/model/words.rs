//! Terms of source text for full-text search: tokenization, stemming, and the term frequencies of a
//! file and of the passages in it (`document`).
//!
//! Identifiers are split (`camelCase`, `snake_case`); digits separate. A term is a hash of its
//! stem, so that no dictionary is needed: two words may collide, about one in a thousand in a very
//! large repository.

mod document;
mod filter;
mod irregular;
mod posting;
mod prose;
mod stem;
pub(crate) mod terms;
mod word_terms;

pub use document::{
    FileWords, MIN_LINES, Passage, PassageFrequency, PassageLength, Postings, is_passage,
    is_passage_of_any_size, of_file,
};
pub use filter::{NameWords, WordFilter};
pub use posting::{FREQUENCY_BITS, Frequency, PostingList, PostingWriter};
pub use stem::stem;
pub use terms::{TERM_BITS, Term, joined, parts, runs, term};
pub use word_terms::MAX_WORDS;

/// Returns terms that every file with this text has in its index: those of the identifiers in it.
/// Empty if it has none that is indexed.
pub fn terms_of(text: &[u8]) -> Vec<Term> {
    let mut terms = Vec::new();
    for (_, run) in runs(text) {
        let before = terms.len();
        parts(run, |part| {
            stem(part);
            terms.push(term(part));
        });
        if terms.len() > before + 1 {
            let mut whole = joined(run);
            stem(&mut whole);
            terms.push(term(&whole));
        }
    }
    terms
}

/// Spans of comments and strings of a text, in order; an approximation in most languages.
pub fn prose_spans(text: &[u8]) -> Vec<(usize, usize)> {
    prose::spans(text)
}

/// Filter for terms: rejects most that are none of a few.
#[derive(Clone)]
pub struct TermFilter(Box<[u64; 1 << 10]>);

impl Default for TermFilter {
    fn default() -> Self {
        Self(Box::new([0; 1 << 10]))
    }
}

impl TermFilter {
    /// Adds a term.
    pub fn insert(&mut self, term: Term) {
        self.0[Self::place(term)] |= 1 << (term.0 & 63);
    }

    /// False if a term was not added.
    pub fn may_have(&self, term: Term) -> bool {
        self.0[Self::place(term)] >> (term.0 & 63) & 1 == 1
    }

    fn place(term: Term) -> usize {
        (term.0 >> 6) as usize & 1023
    }
}

/// Filter for words by their first two letters, which stemming keeps except for a `y` and in
/// irregular verbs: rejects most words whose stem is none of a few.
#[derive(Clone)]
pub struct StemFilter(Box<[u64; 1 << 10]>);

impl Default for StemFilter {
    fn default() -> Self {
        Self(Box::new([0; 1 << 10]))
    }
}

impl StemFilter {
    /// Adds a stem.
    pub fn insert(&mut self, added: &[u8]) {
        self.insert_letters(added);
        for form in stem::irregular_forms(added) {
            self.insert_letters(form);
        }
    }

    fn insert_letters(&mut self, stem: &[u8]) {
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
        for (form, _) in irregular::forms() {
            let mut filter = StemFilter::default();
            let mut stemmed = form.to_vec();
            stem(&mut stemmed);
            filter.insert(&stemmed);
            assert!(filter.may_have(form), "{}", String::from_utf8_lossy(form));
        }
        let mut filter = StemFilter::default();
        filter.insert(b"pars");
        assert!(!filter.may_have(b"other"));
    }
}
