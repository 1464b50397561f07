//! Inverted index of one file: its terms with their frequencies, and for each term the passages
//! that have it. The first is scanned for all files, the second is read for the best ones.
//!
//! A passage is the text of a symbol outside of the symbols in it. A term is that of a word, or of
//! an identifier of several words as a whole.

use std::ops::Range;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::posting::{Frequency, PostingList, PostingWriter};
use super::{prose, stem};
use crate::SymbolKind;
use crate::facts::DocumentTerms;
use crate::packed::{put_varint, take_varint};
use crate::words::terms::{Term, joined, parts, runs, term};
use crate::words::word_terms::term_of_word;

/// Minimum number of lines of a variable, constant or field to be a passage.
pub const MIN_LINES: u32 = 3;

/// Weight of a word in the path, as a number of occurrences in the text.
const PATH_WEIGHT: u32 = 3;

/// Bytes of text for one distinct identifier, about: for the capacity of a table.
const BYTES_OF_AN_IDENTIFIER: usize = 40;

/// True for symbols of the kinds and sizes that are passages.
pub fn is_passage(kind: SymbolKind, lines: u32) -> bool {
    is_passage_of_any_size(kind) || lines >= MIN_LINES
}

/// True for the kinds whose symbols are passages whatever their size.
pub fn is_passage_of_any_size(kind: SymbolKind) -> bool {
    kind.is_callable() || kind.is_type()
}

/// Part of a file whose terms are counted apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Position of the symbol among those of its file.
    pub symbol: u32,
    /// First byte.
    pub start: u32,
    /// Byte behind the last.
    pub end: u32,
}

/// Quantized term frequency in a passage: in code, and in comments and strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassageFrequency(u8);

/// Number of bits of a quantized term frequency in a passage.
const PASSAGE_FREQUENCY_BITS: u32 = 4;

/// Typical counts of each step: in code, and in comments and strings. Long passages are compared by
/// frequent terms: the steps have to go far.
const STEPS: [(f32, f32); 1 << PASSAGE_FREQUENCY_BITS] = [
    (0.0, 1.0),
    (0.0, 2.4),
    (0.0, 6.0),
    (1.0, 0.0),
    (2.0, 0.0),
    (3.5, 0.0),
    (6.0, 0.0),
    (12.0, 0.0),
    (23.0, 0.0),
    (50.0, 0.0),
    (1.4, 1.0),
    (1.4, 3.0),
    (5.0, 1.0),
    (5.0, 3.0),
    (16.0, 1.0),
    (16.0, 3.0),
];

impl PassageFrequency {
    fn of(code: u32, prose: u32) -> Self {
        Self(match (code, prose) {
            (0, 0..=1) => 0,
            (0, 2..=3) => 1,
            (0, _) => 2,
            (1, 0) => 3,
            (2, 0) => 4,
            (3..=4, 0) => 5,
            (5..=8, 0) => 6,
            (9..=16, 0) => 7,
            (17..=32, 0) => 8,
            (_, 0) => 9,
            (1..=2, 1) => 10,
            (1..=2, _) => 11,
            (3..=8, 1) => 12,
            (3..=8, _) => 13,
            (_, 1) => 14,
            _ => 15,
        })
    }

    /// Typical counts of this step: in code, and in comments and strings.
    pub fn counts(self) -> (f32, f32) {
        STEPS[usize::from(self.0) & (STEPS.len() - 1)]
    }
}

/// Occurrences of an identifier in a passage.
struct Occurrences {
    identifier: u32,
    /// Position of the passage from 1, or 0 for text outside of all.
    passage: u32,
    code: u32,
    prose: u32,
}

/// Distinct identifiers of a file and where they occur.
#[derive(Default)]
struct Identifiers<'t> {
    /// Identifier with the position of its latest occurrences, by hash of the identifier.
    known: FxHashMap<u64, (u32, u32)>,
    texts: Vec<&'t [u8]>,
    found: Vec<Occurrences>,
}

impl<'t> Identifiers<'t> {
    fn add(&mut self, run: &'t [u8], passage: u32, code: u32, prose: u32) {
        let next = u32::try_from(self.found.len()).expect("a file has far fewer than 2^32 words");
        let (identifier, latest) = self.known.entry(xxh3_64(run)).or_insert_with(|| {
            self.texts.push(run);
            (u32::try_from(self.texts.len() - 1).expect("as above"), u32::MAX)
        });
        match self.found.get_mut(*latest as usize) {
            Some(latest) if latest.passage == passage => {
                latest.code += code;
                latest.prose += prose;
            }
            _ => {
                *latest = next;
                let identifier = *identifier;
                self.found.push(Occurrences { identifier, passage, code, prose });
            }
        }
    }
}

/// Counts the identifiers of a text by passage.
fn identifiers<'t>(path: &'t str, text: &'t [u8], passages: &[Passage]) -> Identifiers<'t> {
    let mut identifiers = Identifiers::default();
    identifiers.known.reserve(text.len() / BYTES_OF_AN_IDENTIFIER);
    let mut next = passages.iter().zip(1_u32..).peekable();
    // Passages around the current position, with their ends.
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut prose = prose::spans(text).into_iter().peekable();
    let (mut next_event, mut current) = (0, 0);
    for (at, run) in runs(text) {
        if at >= next_event {
            while let Some((passage, number)) =
                next.next_if(|(passage, _)| passage.start as usize <= at)
            {
                open.push((number, passage.end));
            }
            open.retain(|(_, end)| *end as usize > at);
            current = open.last().map_or(0, |(number, _)| *number);
            let ends = open.iter().map(|(_, end)| *end).min().unwrap_or(u32::MAX);
            next_event = next.peek().map_or(ends, |(next, _)| next.start.min(ends)) as usize;
        }
        while prose.next_if(|(_, end)| *end <= at).is_some() {}
        let is_prose = prose.peek().is_some_and(|(start, _)| *start <= at);
        identifiers.add(run, current, u32::from(!is_prose), u32::from(is_prose));
    }
    for (_, run) in runs(path.as_bytes()) {
        identifiers.add(run, 0, PATH_WEIGHT, 0);
    }
    identifiers
}

/// Terms of an identifier: a range of a list, and the number of words; the term of the whole
/// follows.
struct IdentifierTerms {
    range: Range<usize>,
    words: u32,
}

/// Occurrences of a term in a passage.
#[derive(Clone, Copy)]
struct Found {
    term: u32,
    passage: u32,
    code: u32,
    prose: u32,
}

/// Encodes the terms of a file. The passages come in order of their starts.
pub fn of_file(path: &str, text: &[u8], passages: &[Passage]) -> DocumentTerms {
    let Identifiers { texts, found, .. } = identifiers(path, text, passages);
    let mut terms: Vec<u32> = Vec::with_capacity(texts.len() * 3);
    let of_identifier = |run: &&[u8]| {
        let (first, mut words) = (terms.len(), 0);
        parts(run, |part| {
            words += 1;
            terms.push(term_of_word(part));
        });
        if words > 1 {
            let mut whole = joined(run);
            stem(&mut whole);
            terms.push(term(&whole).0);
        }
        IdentifierTerms { range: first..terms.len(), words }
    };
    let by_identifier: Vec<IdentifierTerms> = texts.iter().map(of_identifier).collect();
    let mut lengths = vec![(0_u64, 0_u64); passages.len()];
    let mut all: Vec<Found> = Vec::with_capacity(found.len() * 2);
    let mut length = 0;
    for Occurrences { identifier, passage, code, prose } in found {
        let IdentifierTerms { range, words } = &by_identifier[identifier as usize];
        length += u64::from(*words) * u64::from(code + prose);
        if let Some(own) = (passage as usize).checked_sub(1) {
            lengths[own].0 += u64::from(words * code);
            lengths[own].1 += u64::from(words * prose);
        }
        let of_identifier = terms[range.clone()].iter();
        all.extend(of_identifier.map(|&term| Found { term, passage, code, prose }));
    }
    all.sort_unstable_by_key(|found| u64::from(found.term) << 32 | u64::from(found.passage));
    encode(length, passages, &lengths, &all)
}

fn encode(
    length: u64,
    passages: &[Passage],
    lengths: &[(u64, u64)],
    found: &[Found],
) -> DocumentTerms {
    let (mut words, mut postings) = (Vec::with_capacity(found.len()), Vec::new());
    put_varint(&mut words, length);
    put_varint(&mut postings, passages.len() as u64);
    let mut before = 0;
    for (passage, (code, prose)) in passages.iter().zip(lengths) {
        put_varint(&mut postings, u64::from(passage.symbol - before));
        put_varint(&mut postings, *code);
        put_varint(&mut postings, *prose);
        before = passage.symbol;
    }
    let mut terms = PostingWriter::new(&mut words, 0);
    for alike in found.chunk_by(|one, other| one.term == other.term) {
        let term = alike[0].term;
        let count = alike
            .iter()
            .fold(0_u32, |sum, found| sum.saturating_add(found.code).saturating_add(found.prose));
        terms.add(term, Frequency::of(count));
        put_postings(&mut postings, alike);
    }
    DocumentTerms { words: words.into(), postings: postings.into() }
}

/// Encodes the passages of a term as differences, with a bit for the last one; 0 for none.
fn put_postings(postings: &mut Vec<u8>, of_term: &[Found]) {
    let mut before = 0;
    let mut groups = of_term.chunk_by(|one, other| one.passage == other.passage).peekable();
    groups.next_if(|group| group[0].passage == 0);
    if groups.peek().is_none() {
        postings.push(0);
    }
    while let Some(group) = groups.next() {
        let passage = group[0].passage;
        let (code, prose) =
            group.iter().fold((0, 0), |sum, found| (sum.0 + found.code, sum.1 + found.prose));
        let frequency = PassageFrequency::of(code, prose);
        let mark = u64::from(frequency.0) << 1 | u64::from(groups.peek().is_none());
        put_varint(postings, u64::from(passage - before) << (PASSAGE_FREQUENCY_BITS + 1) | mark);
        before = passage;
    }
}

/// Decoder of the terms of a file, as encoded by [`of_file`]. `None` for invalid bytes.
pub struct FileWords<'w> {
    /// Number of words of the file.
    pub length: u32,
    terms: PostingList<'w>,
}

impl<'w> FileWords<'w> {
    /// Starts decoding.
    pub fn read(mut bytes: &'w [u8]) -> Option<Self> {
        let length = u32::try_from(take_varint(&mut bytes)?).unwrap_or(u32::MAX);
        Some(Self { length, terms: PostingList::new(bytes, 0) })
    }
}

impl Iterator for FileWords<'_> {
    type Item = (Term, Frequency);

    fn next(&mut self) -> Option<Self::Item> {
        self.terms.next().map(|(term, frequency)| (Term(term), frequency))
    }
}

/// Length of a passage in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassageLength {
    /// Position of the symbol among those of its file.
    pub symbol: u32,
    /// Words in code.
    pub code: u32,
    /// Words in comments and strings.
    pub prose: u32,
}

/// Decoder of the passages of each term, in the order of the terms.
pub struct Postings<'w> {
    /// Passages by position.
    pub passages: Vec<PassageLength>,
    rest: &'w [u8],
}

impl<'w> Postings<'w> {
    /// Starts decoding. `None` for invalid bytes.
    pub fn read(mut bytes: &'w [u8]) -> Option<Self> {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let count = usize::try_from(take_varint(&mut bytes)?).ok()?;
        // Each takes three bytes at least.
        let mut passages = Vec::with_capacity(count.min(bytes.len() / 3));
        let mut symbol = 0_u32;
        for _ in 0..count {
            symbol = symbol.checked_add(u32::try_from(take_varint(&mut bytes)?).ok()?)?;
            let (code, prose) = (small(take_varint(&mut bytes)?), small(take_varint(&mut bytes)?));
            passages.push(PassageLength { symbol, code, prose });
        }
        Some(Self { passages, rest: bytes })
    }

    /// Passes the positions of the passages of the next term, with the frequencies, to `visit`.
    pub fn next_term(&mut self, mut visit: impl FnMut(usize, PassageFrequency)) -> Option<()> {
        let mut passage = 0_usize;
        loop {
            let number = take_varint(&mut self.rest)?;
            if number == 0 {
                return Some(());
            }
            let (frequency, is_last) = (number >> 1 & (STEPS.len() as u64 - 1), number & 1 == 1);
            passage = passage
                .checked_add(usize::try_from(number >> (PASSAGE_FREQUENCY_BITS + 1)).ok()?)?;
            visit(passage.checked_sub(1)?, PassageFrequency(frequency as u8));
            if is_last {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashMap;

    fn term_of(word: &str) -> Term {
        let mut letters = word.as_bytes().to_vec();
        stem(&mut letters);
        term(&letters)
    }

    #[test]
    fn words_of_a_file_are_read_as_they_were_written() {
        let text = "parse(parsed) parses; other = parser_of(OTHER)";
        let packed = of_file("src/deep/file.x", text.as_bytes(), &[]).words;
        let read = FileWords::read(&packed).expect("it was written just now");
        assert_eq!(read.length, 7 + 3 * PATH_WEIGHT);
        let read: FxHashMap<Term, f32> =
            read.map(|(term, frequency)| (term, frequency.count())).collect();
        let count = |word: &str| read.get(&term_of(word)).copied();
        assert_eq!(
            (count("parse"), count("other"), count("deep")),
            (Some(2.5), Some(2.5), Some(2.5))
        );
        assert_eq!((count("of"), count("parserof"), count("absent")), (Some(1.0), Some(1.0), None));
    }

    /// Term, symbol, and counts in code and prose.
    type Posting = (Term, u32, f32, f32);

    /// Postings, and the lengths by symbol.
    fn passages_of(text: &str, passages: &[Passage]) -> (Vec<Posting>, Vec<[u32; 3]>) {
        let packed = of_file("f.x", text.as_bytes(), passages);
        let mut postings = Postings::read(&packed.postings).expect("it was written just now");
        let lengths: Vec<PassageLength> = postings.passages.clone();
        let mut found = Vec::new();
        for (term, _) in FileWords::read(&packed.words).expect("as above") {
            postings
                .next_term(|passage, frequency| {
                    let (code, prose) = frequency.counts();
                    found.push((term, lengths[passage].symbol, code, prose));
                })
                .expect("there is one for each term");
        }
        assert_eq!(postings.next_term(|_, _| ()), None);
        (found, lengths.iter().map(|own| [own.symbol, own.code, own.prose]).collect())
    }

    #[test]
    fn each_word_counts_for_the_innermost_passage() {
        let text = "outside { outer getUser // inner?\n { inner inner } \"outer\" }";
        let start = |what: &str| text.find(what).expect("it exists") as u32;
        let end = text.len() as u32;
        let passages = [
            Passage { symbol: 1, start: start("{ outer"), end },
            Passage { symbol: 4, start: start("{ inner"), end: start(" \"outer") },
        ];
        let (found, lengths) = passages_of(text, &passages);
        assert_eq!(lengths, [[1, 3, 2], [4, 2, 0]]);
        let of = |word: &str| -> Vec<(u32, f32, f32)> {
            let wanted = term_of(word);
            let own = found.iter().filter(|(term, ..)| *term == wanted);
            own.map(|&(_, symbol, code, prose)| (symbol, code, prose)).collect()
        };
        assert_eq!(of("outer"), [(1, 1.4, 1.0)]);
        assert_eq!(of("inner"), [(1, 0.0, 1.0), (4, 2.0, 0.0)]);
        assert_eq!((of("user"), of("getuser")), (vec![(1, 1.0, 0.0)], vec![(1, 1.0, 0.0)]));
        assert_eq!(of("outside"), []);
    }

    #[test]
    fn damage_ends_the_words() {
        let passages = [Passage { symbol: 0, start: 0, end: 13 }];
        let DocumentTerms { words, postings } = of_file("a.x", b"one two three", &passages);
        assert!(FileWords::read(&[]).is_none());
        let cut = FileWords::read(&words[..words.len() - 1]).expect("the length is present");
        assert!(cut.count() < 4);
        for length in 0..postings.len() {
            let Some(mut cut) = Postings::read(&postings[..length]) else { continue };
            assert!((0..4).any(|_| cut.next_term(|_, _| ()).is_none()));
        }
        assert!(Postings::read(&[255, 255, 255, 255, 255, 255, 255, 1]).is_none());
    }
}
