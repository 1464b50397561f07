//! Inverted index over files: for each term the files that have it, with the frequency in each. It
//! is the transpose of the terms of files (`model::words`). Pure: bytes in, postings out.
//!
//! Posting lists are stored in blocks of consecutive terms; the key of a block is its first term. A
//! block has for each term its difference to the previous one, the length of its list in bytes, and
//! the list (`model::words`): keys of files with frequencies. Numbers are varints.
//!
//! Blocks are written by a build and immutable: files that have changed since are read from
//! `file_words`.

use cograph_model::packed::{put_varint, take_varint};
use cograph_model::words::{
    FREQUENCY_BITS, FileWords, Frequency, PostingList, PostingWriter, TERM_BITS, Term,
};

/// Bytes at which a block ends.
const BLOCK: usize = 2_048;

/// Bits of a term that select its partition, and those that remain.
const PARTITION_BITS: u32 = 6;
const REST_BITS: u32 = TERM_BITS - PARTITION_BITS;

/// Terms of files, collected by ranges of terms: one range at a time is sorted.
pub(crate) struct TermIndexBuilder {
    /// By range of terms: for each file the list of its terms.
    partitions: Vec<PostingLists>,
    /// Length of each file in words plus 1, by key, from key 1; 0 for a file without terms.
    lengths: Vec<u8>,
    /// Number of encoded lengths.
    files: u32,
}

/// Encoded posting lists by increasing key: for each the difference of its key to the previous one,
/// its length in bytes, and the list.
#[derive(Clone, Default)]
struct PostingLists {
    bytes: Vec<u8>,
    last: u32,
}

impl Default for TermIndexBuilder {
    fn default() -> Self {
        let partitions = vec![PostingLists::default(); 1 << PARTITION_BITS];
        Self { partitions, lengths: Vec::new(), files: 0 }
    }
}

impl TermIndexBuilder {
    /// Adds the terms of the file with the next key, or a greater one. Damaged terms end early.
    pub(crate) fn add(&mut self, file: u32, words: &[u8]) {
        let Some(words) = FileWords::read(words) else { return };
        while self.files + 1 < file {
            self.lengths.push(0);
            self.files += 1;
        }
        put_varint(&mut self.lengths, u64::from(words.length) + 1);
        self.files += 1;
        let mut terms = words.peekable();
        while let Some((Term(first), _)) = terms.peek().copied() {
            let range = first >> REST_BITS;
            let mut list = Vec::new();
            let mut postings = PostingWriter::new(&mut list, range << REST_BITS);
            while let Some((Term(term), frequency)) =
                terms.next_if(|(term, _)| term.0 >> REST_BITS == range)
            {
                postings.add(term, frequency);
            }
            self.partitions[range as usize].add(file, &list);
        }
    }

    /// Returns the lengths of the files, for [`lengths`].
    pub(crate) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Passes the blocks with their keys to `write`, in order.
    pub(crate) fn finish<E>(
        self,
        mut write: impl FnMut(u32, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut first, mut block) = (0, PostingLists::default());
        for (range, partition) in (0_u32..).zip(self.partitions) {
            let mut postings = postings_of(&partition, range << REST_BITS);
            drop(partition);
            postings.sort_unstable();
            for of_term in postings.chunk_by(|one, other| one.term() == other.term()) {
                let term = of_term[0].term();
                if block.bytes.is_empty() {
                    (first, block.last) = (term, term);
                }
                let mut list = Vec::with_capacity(of_term.len() * 2);
                let mut files = PostingWriter::new(&mut list, 0);
                for found in of_term {
                    files.add(found.file(), found.frequency());
                }
                block.add(term, &list);
                if block.bytes.len() >= BLOCK {
                    write(first, &block.bytes)?;
                    block = PostingLists::default();
                }
            }
        }
        if block.bytes.is_empty() { Ok(()) } else { write(first, &block.bytes) }
    }
}

impl PostingLists {
    fn add(&mut self, key: u32, list: &[u8]) {
        put_varint(&mut self.bytes, u64::from(key - self.last));
        put_varint(&mut self.bytes, list.len() as u64);
        self.bytes.extend(list);
        self.last = key;
    }
}

/// Decodes posting lists with their keys. `before` is the key that the first difference refers to.
/// Damaged bytes end early.
fn lists(mut bytes: &[u8], before: u32) -> impl Iterator<Item = (u32, &[u8])> {
    let mut key = before;
    std::iter::from_fn(move || {
        let (step, length) = (take_varint(&mut bytes)?, take_varint(&mut bytes)?);
        key = key.wrapping_add(step as u32);
        let (list, rest) = bytes.split_at_checked(length as usize)?;
        bytes = rest;
        Some((key, list))
    })
}

/// Returns the postings of the partition whose range begins at `first_term`, not sorted by term.
fn postings_of(partition: &PostingLists, first_term: u32) -> Vec<SortedPosting> {
    let mut postings = Vec::new();
    for (file, terms) in lists(&partition.bytes, 0) {
        let terms = PostingList::new(terms, first_term);
        postings.extend(terms.map(|(term, frequency)| SortedPosting::new(term, file, frequency)));
    }
    postings
}

/// Term, file and frequency in one number, which orders postings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortedPosting(u64);

impl SortedPosting {
    fn new(term: u32, file: u32, frequency: Frequency) -> Self {
        let (term, file) = (u64::from(term), u64::from(file));
        let frequency = u64::from(frequency.step());
        Self(term << (u32::BITS + FREQUENCY_BITS) | file << FREQUENCY_BITS | frequency)
    }

    fn term(self) -> u32 {
        (self.0 >> (u32::BITS + FREQUENCY_BITS)) as u32
    }

    fn file(self) -> u32 {
        (self.0 >> FREQUENCY_BITS) as u32
    }

    fn frequency(self) -> Frequency {
        Frequency::from_step(self.0 as u8)
    }
}

/// Finds the posting list of a term in the block that has it if any does. Damaged blocks end early.
pub(crate) fn list_in(first: u32, block: &[u8], wanted: Term) -> PostingList<'_> {
    let found = lists(block, first).find(|(term, _)| *term >= wanted.0);
    let list = found.filter(|(term, _)| *term == wanted.0).map_or(&[][..], |(_, list)| list);
    PostingList::new(list, 0)
}

/// Decodes the lengths of the files by key, from key 1.
pub(crate) fn lengths(mut bytes: &[u8]) -> impl Iterator<Item = Option<u32>> {
    std::iter::from_fn(move || take_varint(&mut bytes))
        .map(|number| u32::try_from(number.checked_sub(1)?).ok())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use cograph_model::words;

    #[test]
    fn postings_are_the_transpose_of_the_terms_of_files() {
        // Enough text for several blocks; the second file has no terms at all.
        let word = |number: u32| -> String {
            let letter = |power| char::from(b'a' + (number / 26_u32.pow(power) % 26) as u8);
            (0..3).map(letter).collect()
        };
        let text = |file: u32| -> String {
            (0..600).map(|place| format!("common {} ", word(place * file))).collect()
        };
        let mut builder = TermIndexBuilder::default();
        let mut expected: BTreeMap<u32, Vec<(u32, u8)>> = BTreeMap::new();
        let mut of_files = vec![];
        for file in [1_u32, 3, 4, 9] {
            let terms = words::of_file("src/a.x", text(file).as_bytes(), &[]).words;
            builder.add(file, &terms);
            let read = FileWords::read(&terms).expect("terms of a file");
            of_files.push((file, read.length));
            for (Term(term), frequency) in read {
                expected.entry(term).or_default().push((file, frequency.step()));
            }
        }
        let found: Vec<(u32, u32)> = (1..)
            .zip(lengths(builder.lengths()))
            .filter_map(|(file, length)| Some((file, length?)))
            .collect();
        assert_eq!(found, of_files);
        let mut blocks = BTreeMap::new();
        let written: Result<(), ()> = builder.finish(|first, bytes| {
            blocks.insert(first, bytes.to_vec());
            Ok(())
        });
        written.expect("the writer does not fail");
        assert!(blocks.len() > 2 && expected.len() > 1_000, "{}", blocks.len());
        let list = |term: u32| -> Vec<(u32, u8)> {
            let (first, block) = blocks.range(..=term).next_back().expect("a block before it");
            let list = list_in(*first, block, Term(term));
            list.map(|(file, frequency)| (file, frequency.step())).collect()
        };
        for (term, postings) in &expected {
            assert_eq!(&list(*term), postings);
            if !expected.contains_key(&(term + 1)) {
                assert!(list(term + 1).is_empty());
            }
        }
    }

    #[test]
    fn damaged_bytes_end_early() {
        let mut builder = TermIndexBuilder::default();
        builder.add(1, &words::of_file("a", b"alpha beta gamma", &[]).words);
        builder.add(2, &[0x80]);
        let mut blocks = Vec::new();
        let written: Result<(), ()> = builder.finish(|first, bytes| {
            blocks.push((first, bytes.to_vec()));
            Ok(())
        });
        written.expect("the writer does not fail");
        let (first, block) = &blocks[0];
        let whole = list_in(*first, block, Term(*first)).count();
        assert_eq!(whole, 1);
        for end in 0..block.len() {
            assert!(list_in(*first, &block[..end], Term(*first)).count() <= whole);
        }
    }
}
