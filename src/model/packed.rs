//! Binary encoding of facts and results, for the segment of a store and for its rows about changed
//! files.
//!
//! Numbers are varints (LEB128), most of them as deltas to a neighbour. One description of each
//! type is both encoder and decoder (`Pass`), so that the two cannot diverge. Decoding returns
//! `None` for invalid input; it never panics.

pub mod facts;
pub mod graph;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::ops::Range;

/// Bidirectional codec: one traversal of a value. An encoder writes the given value and returns it,
/// except texts and lists; a decoder ignores it and returns the value read.
pub trait Pass: Sized {
    /// Number, usually small: varint.
    fn number(&mut self, value: u64) -> Option<u64>;

    /// Fixed 8 bytes: hash.
    fn bits(&mut self, value: u64) -> Option<u64>;

    /// Text that rarely repeats: inline.
    fn text(&mut self, value: &str) -> Option<Box<str>>;

    /// Text that often repeats: interned.
    fn word(&mut self, value: &str) -> Option<Box<str>>;

    /// Encoded bytes.
    fn bytes(&mut self, value: &[u8]) -> Option<Box<[u8]>>;

    /// List; `each` visits one item, which is `blank` when decoding.
    fn list<T>(
        &mut self,
        items: &[T],
        blank: &T,
        each: impl FnMut(&mut Self, &T) -> Option<T>,
    ) -> Option<Vec<T>>;

    /// Small number.
    fn small(&mut self, value: u32) -> Option<u32> {
        u32::try_from(self.number(u64::from(value))?).ok()
    }

    /// Id, usually small, or the null id.
    fn id(&mut self, value: u32) -> Option<u32> {
        Some(self.small(value.wrapping_add(1))?.wrapping_sub(1))
    }

    /// Number as a delta to another one.
    fn near(&mut self, value: u32, other: u32) -> Option<u32> {
        Some(other.wrapping_add(unzigzag(self.small(zigzag(value.wrapping_sub(other)))?)))
    }

    /// Id as a delta to its neighbour, or the null id. It becomes the neighbour of the next.
    fn id_near(&mut self, value: u32, other: &mut u32) -> Option<u32> {
        let step = zigzag(value.wrapping_sub(*other));
        match self.number(if value == u32::MAX { 0 } else { u64::from(step) + 1 })? {
            0 => Some(u32::MAX),
            step => {
                *other = other.wrapping_add(unzigzag(u32::try_from(step - 1).ok()?));
                Some(*other)
            }
        }
    }

    /// Boolean.
    fn flag(&mut self, value: bool) -> Option<bool> {
        match self.number(u64::from(value))? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A few booleans, in one byte.
    fn flags<const N: usize>(&mut self, values: [bool; N]) -> Option<[bool; N]> {
        let bits = (0..).zip(values).map(|(at, value)| u64::from(value) << at).sum();
        let bits = self.number(bits)?;
        (bits >> N == 0).then(|| std::array::from_fn(|at| bits >> at & 1 == 1))
    }

    /// Member of a closed set, by its position.
    fn one_of<T: Copy + PartialEq>(&mut self, value: T, all: &[T]) -> Option<T> {
        let place = all.iter().position(|one| *one == value).unwrap_or_default();
        all.get(usize::try_from(self.number(place as u64)?).ok()?).copied()
    }

    /// Optional interned text.
    fn word_if_any(&mut self, value: Option<&str>) -> Option<Option<Box<str>>> {
        if self.flag(value.is_some())? {
            self.word(value.unwrap_or_default()).map(Some)
        } else {
            Some(None)
        }
    }
}

/// Zigzag encoding of a delta.
fn zigzag(step: u32) -> u32 {
    (step << 1) ^ 0_u32.wrapping_sub(step >> 31)
}

fn unzigzag(number: u32) -> u32 {
    (number >> 1) ^ 0_u32.wrapping_sub(number & 1)
}

/// Encoder. Words are interned, shared by all values of the encoder.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// Word numbers, by the hashes in `places`.
    ids: HashTable<u32>,
    /// Words, each with its length before it.
    words: Vec<u8>,
    /// Hash of each word, and its range in `words`.
    places: Vec<(u64, Range<usize>)>,
}

impl Writer {
    /// Number of bytes written.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True if nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the word table, and the bytes that refer to it.
    pub fn into_parts(self) -> (Vec<u8>, Vec<u8>) {
        let mut words = Self::default();
        words.put(self.places.len() as u64);
        words.bytes.extend(self.words);
        (words.bytes, self.bytes)
    }

    fn put(&mut self, number: u64) {
        put_varint(&mut self.bytes, number);
    }

    /// Writes a word, interned, and returns its number.
    pub(crate) fn put_word(&mut self, value: &str) -> u32 {
        let Self { ids, words, places, .. } = self;
        let hash = FxBuildHasher.hash_one(value);
        let is_value = |id: &u32| {
            let (of_word, place) = &places[*id as usize];
            *of_word == hash && words[place.clone()] == *value.as_bytes()
        };
        let id = ids.find(hash, is_value).copied().unwrap_or_else(|| {
            let next = u32::try_from(places.len())
                .expect("what shares a writer has far fewer than 2^32 words");
            put_varint(words, value.len() as u64);
            words.extend(value.as_bytes());
            places.push((hash, words.len() - value.len()..words.len()));
            ids.insert_unique(hash, next, |id| places[*id as usize].0);
            next
        });
        self.put(u64::from(id));
        id
    }
}

/// Appends a varint (LEB128: seven bits per byte, little-endian, with a continuation bit).
#[inline]
pub fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a varint (LEB128) and advances.
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, mut rest) = bytes.split_first()?;
    let mut number = u64::from(first & 0x7f);
    let mut byte = first;
    let mut shift = 7;
    while byte >= 0x80 {
        (byte, rest) =
            rest.split_first().map(|(byte, rest)| (*byte, rest)).filter(|_| shift < 64)?;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
    }
    *bytes = rest;
    Some(number)
}

impl Pass for Writer {
    fn number(&mut self, value: u64) -> Option<u64> {
        self.put(value);
        Some(value)
    }

    fn bits(&mut self, value: u64) -> Option<u64> {
        self.bytes.extend(value.to_le_bytes());
        Some(value)
    }

    fn text(&mut self, value: &str) -> Option<Box<str>> {
        self.put(value.len() as u64);
        self.bytes.extend(value.as_bytes());
        Some(Box::default())
    }

    fn word(&mut self, value: &str) -> Option<Box<str>> {
        self.put_word(value);
        Some(Box::default())
    }

    fn bytes(&mut self, value: &[u8]) -> Option<Box<[u8]>> {
        self.put(value.len() as u64);
        self.bytes.extend(value);
        Some(Box::default())
    }

    fn list<T>(
        &mut self,
        items: &[T],
        _blank: &T,
        mut each: impl FnMut(&mut Self, &T) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.put(items.len() as u64);
        for item in items {
            each(self, item)?;
        }
        Some(Vec::new())
    }
}

/// Decoder.
pub struct Reader<'b> {
    bytes: &'b [u8],
    words: &'b [&'b str],
}

impl<'b> Reader<'b> {
    /// Creates a decoder of bytes that refer to a word table.
    pub fn new(bytes: &'b [u8], words: &'b [&'b str]) -> Self {
        Self { bytes, words }
    }

    /// Decodes a word table, and returns the bytes behind it.
    pub fn words(bytes: &'b [u8]) -> Option<(Vec<&'b str>, &'b [u8])> {
        let mut reader = Self::new(bytes, &[]);
        let count = reader.count()?;
        let mut words = Vec::with_capacity(count);
        for _ in 0..count {
            words.push(reader.borrowed_text()?);
        }
        Some((words, reader.bytes))
    }

    /// Bytes that have not been read.
    pub fn rest(&self) -> &'b [u8] {
        self.bytes
    }

    /// Reads the number of a word.
    pub(crate) fn word_number(&mut self) -> Option<usize> {
        usize::try_from(self.get()?).ok().filter(|&number| number < self.words.len())
    }

    /// Skips a list of words.
    fn pass_over_words(&mut self) -> Option<()> {
        (0..self.count()?).try_for_each(|_| self.word_number().map(drop))
    }

    /// Reads a list of words with their numbers.
    fn words_by_number(&mut self) -> Option<(Vec<Box<str>>, Vec<u32>)> {
        let count = self.count()?;
        let (mut words, mut numbers) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let number = self.word_number()?;
            words.push(Box::from(self.words[number]));
            numbers.push(u32::try_from(number).ok()?);
        }
        Some((words, numbers))
    }

    /// Reads the length of a list with items of at least one byte.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.get()?).ok().filter(|&count| count <= self.bytes.len())
    }

    fn borrowed_text(&mut self) -> Option<&'b str> {
        let len = self.count()?;
        let (text, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        std::str::from_utf8(text).ok()
    }

    fn get(&mut self) -> Option<u64> {
        take_varint(&mut self.bytes)
    }
}

impl Pass for Reader<'_> {
    fn number(&mut self, _value: u64) -> Option<u64> {
        self.get()
    }

    fn bits(&mut self, _value: u64) -> Option<u64> {
        let (number, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn text(&mut self, _value: &str) -> Option<Box<str>> {
        self.borrowed_text().map(Box::from)
    }

    fn word(&mut self, _value: &str) -> Option<Box<str>> {
        let number = self.word_number()?;
        Some(Box::from(self.words[number]))
    }

    fn bytes(&mut self, _value: &[u8]) -> Option<Box<[u8]>> {
        let len = self.count()?;
        let (bytes, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        Some(bytes.into())
    }

    fn list<T>(
        &mut self,
        _items: &[T],
        blank: &T,
        mut each: impl FnMut(&mut Self, &T) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.count()?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(each(self, blank)?);
        }
        Some(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes or decodes numbers in every form.
    fn pass_over(pass: &mut impl Pass, numbers: &[u32]) -> Option<Vec<u32>> {
        let mut before = 0;
        let list = pass.list(numbers, &0, |pass, number| {
            let id = pass.id(*number)?;
            let near = pass.near(id, 7)?;
            pass.id_near(near, &mut before)
        })?;
        pass.bits(u64::MAX)?;
        pass.word("often")?;
        pass.text("once")?;
        pass.word("often").filter(|word| word.is_empty() || &**word == "often")?;
        Some(list)
    }

    #[test]
    fn encoding_round_trips() {
        let numbers = [
            0,
            1,
            6,
            7,
            8,
            127,
            128,
            1 << 20,
            u32::MAX / 2,
            u32::MAX / 2 + 1,
            u32::MAX - 1,
            u32::MAX,
            3,
        ];
        let mut writer = Writer::default();
        pass_over(&mut writer, &numbers).expect("writing does not fail");
        let (words, bytes) = writer.into_parts();
        let (words, rest) = Reader::words(&words).expect("words were written");
        assert_eq!((words.as_slice(), rest.len()), (&["often"][..], 0));
        let mut reader = Reader::new(&bytes, &words);
        assert_eq!(pass_over(&mut reader, &[]).as_deref(), Some(&numbers[..]));
        assert!(reader.rest().is_empty());
        for end in 0..bytes.len() {
            assert_eq!(
                pass_over(&mut Reader::new(&bytes[..end], &words), &[]),
                None,
                "{end} bytes are not all"
            );
        }
    }
}
