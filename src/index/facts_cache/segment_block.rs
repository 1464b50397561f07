//! Layout of a piece: string table, then key and length per file, then the data of each file. A
//! file has three pieces: facts, results and entry.

use cograph_model::facts::FileFacts;
use cograph_model::graph::FileKey;
use cograph_model::packed::{self, Pass, Reader, Writer};
use cograph_resolve::Shared;

/// Encodes a piece.
#[derive(Default)]
pub(crate) struct PieceWriter {
    /// Key of each file, and length of its facts and of its results.
    entries: Vec<(FileKey, u64, u64)>,
    body: Writer,
}

impl PieceWriter {
    /// Adds a file.
    pub(crate) fn add(
        &mut self,
        key: FileKey,
        facts: impl FnOnce(&mut Writer),
        found: impl FnOnce(&mut Writer),
    ) {
        let start = self.body.len();
        facts(&mut self.body);
        let middle = self.body.len();
        found(&mut self.body);
        self.entries.push((key, (middle - start) as u64, (self.body.len() - middle) as u64));
    }

    /// Returns the piece.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut head = Writer::default();
        let entries = head.list(&self.entries, &NO_ENTRY, |head, &(key, facts, found)| {
            Some((FileKey(head.small(key.0)?), head.number(facts)?, head.number(found)?))
        });
        entries.expect("writing does not fail");
        let (words, body) = self.body.into_parts();
        [words, head.into_parts().1, body].concat()
    }
}

const NO_ENTRY: (FileKey, u64, u64) = (FileKey(0), 0, 0);

/// Decoded piece.
pub(crate) struct Opened<'p> {
    /// String table.
    pub(crate) words: Vec<&'p str>,
    pub(crate) entries: Vec<BlockEntry<'p>>,
}

/// One file of a piece.
pub(crate) struct BlockEntry<'p> {
    pub(crate) key: FileKey,
    /// Facts; empty if the piece has only results.
    pub(crate) facts: &'p [u8],
    pub(crate) found: &'p [u8],
}

impl<'p> Opened<'p> {
    /// Decodes a piece; none if it is malformed.
    pub(crate) fn read(piece: &'p [u8]) -> Option<Self> {
        let (words, rest) = Reader::words(piece)?;
        let mut head = Reader::new(rest, &[]);
        let lengths = head.list(&[], &NO_ENTRY, |head, _| {
            Some((FileKey(head.small(0)?), head.number(0)?, head.number(0)?))
        })?;
        let mut body = head.rest();
        let mut entries = Vec::with_capacity(lengths.len());
        for (key, facts_bytes, found_bytes) in lengths {
            let (facts, rest) = body.split_at_checked(usize::try_from(facts_bytes).ok()?)?;
            let (found, rest) = rest.split_at_checked(usize::try_from(found_bytes).ok()?)?;
            entries.push(BlockEntry { key, facts, found });
            body = rest;
        }
        Some(Self { words, entries })
    }
}

impl<'p> Opened<'p> {
    /// Entry of the file with this key.
    pub(crate) fn entry(&self, key: FileKey) -> Option<&BlockEntry<'p>> {
        let place = self.entries.binary_search_by_key(&key, |entry| entry.key).ok()?;
        self.entries.get(place)
    }
}

/// Encodes a file's facts, and returns the string number of each of its names.
pub(crate) fn write_facts(body: &mut Writer, facts: &FileFacts, shared: &Shared) -> Vec<u32> {
    for number in shared.numbers() {
        body.bits(number).expect("writing does not fail");
    }
    packed::facts::write(body, facts)
}

/// Reads the prefix of a file's facts: the sizes of the exported part.
pub(crate) fn read_head(reader: &mut Reader<'_>) -> Option<[u64; 5]> {
    let mut numbers = [0; 5];
    for number in &mut numbers {
        *number = reader.bits(0)?;
    }
    Some(numbers)
}

/// Decodes the facts of a file with their names.
pub(crate) fn read_facts(bytes: &[u8], words: &[&str]) -> Option<(FileFacts, Shared)> {
    let mut reader = Reader::new(bytes, words);
    let numbers = read_head(&mut reader)?;
    let (facts, _) = packed::facts::read(&mut reader)?;
    let shared = Shared::of_numbers(&facts, numbers)?;
    Some((facts, shared))
}
