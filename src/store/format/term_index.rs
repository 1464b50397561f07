//! Inverted index over files: for each term the files that have it, with the frequency in each. It
//! is the transpose of the terms of files (`model::words`). Pure: bytes in, postings out.
//!
//! Posting lists are stored in blocks of consecutive terms; the key of a block is its first term. A
//! block has for each term its difference to the previous one, the length of its list in bytes, and
//! the list: for each file the difference of its key to the previous one, and the frequency.
//! Numbers are varints.
//!
//! Blocks are written by a build and immutable: files that have changed since are read from
//! `file_words`.

use crate::model::packed::{put_varint, take_varint};
use crate::model::words::{FileWords, Frequency, TERM_BITS, Term};

/// Bytes at which a block ends.
const BLOCK: usize = 2_048;

/// Bits of a term that select its partition, and those that remain.
const PARTITION_BITS: u32 = 6;
const REST_BITS: u32 = TERM_BITS - PARTITION_BITS;

/// Bits of a posting that hold the frequency.
const FREQUENCY_BITS: u32 = 2;

/// Terms of files, collected by ranges of terms: one range at a time is sorted.
pub(in crate::store) struct TermIndexBuilder {
    partitions: Vec<Partition>,
    /// Length of each file in words plus 1, by key, from key 1; 0 for a file without terms.
    lengths: Vec<u8>,
    /// Number of encoded lengths.
    files: u32,
}

/// Terms of one range: for each file the difference of its key to the previous one, the number of
/// its terms, and their differences with the frequencies.
#[derive(Clone, Default)]
struct Partition {
    bytes: Vec<u8>,
    last_file: u32,
}

impl Default for TermIndexBuilder {
    fn default() -> Self {
        let partitions = vec![Partition::default(); 1 << PARTITION_BITS];
        Self { partitions, lengths: Vec::new(), files: 0 }
    }
}

impl TermIndexBuilder {
    /// Adds the terms of the file with the next key, or a greater one. Damaged terms end early.
    pub(in crate::store) fn add(&mut self, file: u32, words: &[u8]) {
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
            let Partition { bytes, last_file } = &mut self.partitions[range as usize];
            put_varint(bytes, u64::from(file - *last_file));
            *last_file = file;
            let (mut own, mut count, mut before) = (Vec::new(), 0, range << REST_BITS);
            while let Some((Term(term), frequency)) =
                terms.next_if(|(term, _)| term.0 >> REST_BITS == range)
            {
                put_varint(&mut own, posting(term - before, frequency));
                (count, before) = (count + 1, term);
            }
            put_varint(bytes, count);
            bytes.extend(own);
        }
    }

    /// Returns the lengths of the files, for [`lengths`].
    pub(in crate::store) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Passes the blocks with their keys to `write`, in order.
    pub(in crate::store) fn finish<E>(
        self,
        mut write: impl FnMut(u32, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut block = Block::default();
        for (range, partition) in (0_u32..).zip(self.partitions) {
            let mut postings = partition.postings(range << REST_BITS);
            drop(partition);
            postings.sort_unstable();
            for of_term in postings.chunk_by(|one, other| one.term() == other.term()) {
                block.add(of_term);
                if block.bytes.len() >= BLOCK {
                    write(block.first, &block.bytes)?;
                    block = Block::default();
                }
            }
        }
        if block.bytes.is_empty() { Ok(()) } else { write(block.first, &block.bytes) }
    }
}

impl Partition {
    fn postings(&self, range: u32) -> Vec<SortedPosting> {
        let (mut postings, mut rest, mut file) = (Vec::new(), self.bytes.as_slice(), 0);
        while let Some(step) = take_varint(&mut rest) {
            file += step as u32;
            let mut term = range;
            for _ in 0..take_varint(&mut rest).unwrap_or_default() {
                let Some(number) = take_varint(&mut rest) else { break };
                term += (number >> FREQUENCY_BITS) as u32;
                postings.push(SortedPosting::new(term, file, frequency(number)));
            }
        }
        postings
    }
}

/// Term, file and frequency in one number, which orders postings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortedPosting(u64);

impl SortedPosting {
    fn new(term: u32, file: u32, frequency: Frequency) -> Self {
        Self(u64::from(term) << (u32::BITS + FREQUENCY_BITS) | posting(file, frequency))
    }

    fn term(self) -> u32 {
        (self.0 >> (u32::BITS + FREQUENCY_BITS)) as u32
    }

    fn file(self) -> u32 {
        (self.0 >> FREQUENCY_BITS) as u32
    }

    fn frequency(self) -> Frequency {
        frequency(self.0)
    }
}

/// Block under construction.
#[derive(Default)]
struct Block {
    first: u32,
    last: u32,
    bytes: Vec<u8>,
}

impl Block {
    fn add(&mut self, postings: &[SortedPosting]) {
        let term = postings[0].term();
        if self.bytes.is_empty() {
            (self.first, self.last) = (term, term);
        }
        let (mut list, mut before) = (Vec::with_capacity(postings.len() * 2), 0);
        for found in postings {
            put_varint(&mut list, posting(found.file() - before, found.frequency()));
            before = found.file();
        }
        put_varint(&mut self.bytes, u64::from(term - self.last));
        put_varint(&mut self.bytes, list.len() as u64);
        self.bytes.extend(list);
        self.last = term;
    }
}

fn posting(step: u32, frequency: Frequency) -> u64 {
    u64::from(step) << FREQUENCY_BITS | u64::from(frequency.step())
}

/// Frequency in the low bits of a posting.
fn frequency(posting: u64) -> Frequency {
    Frequency::from_step(posting as u8)
}

/// Finds the posting list of a term in the block that has it if any does. Damaged blocks end early.
pub(in crate::store) fn list_in(first: u32, mut block: &[u8], wanted: Term) -> PostingList<'_> {
    let mut term = first;
    while let (Some(step), Some(length)) = (take_varint(&mut block), take_varint(&mut block)) {
        term = term.wrapping_add(step as u32);
        let Some((list, rest)) = block.split_at_checked(length as usize) else { break };
        if term == wanted.0 {
            return PostingList { rest: list, file: 0 };
        }
        if term > wanted.0 {
            break;
        }
        block = rest;
    }
    PostingList { rest: &[], file: 0 }
}

/// Posting list of a term: keys of files with frequencies, by key.
pub(in crate::store) struct PostingList<'b> {
    rest: &'b [u8],
    file: u32,
}

impl Iterator for PostingList<'_> {
    type Item = (u32, Frequency);

    fn next(&mut self) -> Option<Self::Item> {
        let number = take_varint(&mut self.rest)?;
        self.file = self.file.wrapping_add((number >> FREQUENCY_BITS) as u32);
        Some((self.file, frequency(number)))
    }
}

/// Decodes the lengths of the files by key, from key 1.
pub(in crate::store) fn lengths(mut bytes: &[u8]) -> impl Iterator<Item = Option<u32>> {
    std::iter::from_fn(move || take_varint(&mut bytes))
        .map(|number| u32::try_from(number.checked_sub(1)?).ok())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::words;

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
