//! Codec of postings: increasing keys, each with a quantized frequency. A posting is one varint:
//! the difference of its key to the previous one, above the bits of the frequency. A file has such
//! a list of its terms, and a term one of its files.

use crate::packed::{put_varint, take_varint};

/// Bits of a posting that hold the frequency.
pub const FREQUENCY_BITS: u32 = 2;

/// Quantized term frequency in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frequency(u8);

impl Frequency {
    /// Quantizes a count.
    pub(super) fn of(count: u32) -> Self {
        Self(match count {
            0..=1 => 0,
            2..=3 => 1,
            4..=8 => 2,
            _ => 3,
        })
    }

    /// Step from the [`FREQUENCY_BITS`] low bits of a number.
    pub fn from_step(step: u8) -> Self {
        Self(step & 3)
    }

    /// Number of the step, below 4.
    pub fn step(self) -> u8 {
        self.0 & 3
    }

    /// Typical count of this step.
    pub fn count(self) -> f32 {
        [1.0, 2.5, 5.5, 14.0][usize::from(self.0 & 3)]
    }
}

/// Encoder of postings, which are appended to `bytes`.
pub struct PostingWriter<'b> {
    bytes: &'b mut Vec<u8>,
    key: u32,
}

impl<'b> PostingWriter<'b> {
    /// Starts encoding. `before` is the key that the first difference refers to.
    pub fn new(bytes: &'b mut Vec<u8>, before: u32) -> Self {
        Self { bytes, key: before }
    }

    /// Appends a posting. Its key is greater than that of the previous one.
    #[inline]
    pub fn add(&mut self, key: u32, frequency: Frequency) {
        let step = u64::from(key - self.key);
        put_varint(self.bytes, step << FREQUENCY_BITS | u64::from(frequency.step()));
        self.key = key;
    }
}

/// Decoder of postings: keys with frequencies. Malformed bytes end it early.
pub struct PostingList<'b> {
    rest: &'b [u8],
    key: u32,
}

impl<'b> PostingList<'b> {
    /// Starts decoding. `before` is the key that the first difference refers to.
    pub fn new(bytes: &'b [u8], before: u32) -> Self {
        Self { rest: bytes, key: before }
    }
}

impl Iterator for PostingList<'_> {
    type Item = (u32, Frequency);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let number = take_varint(&mut self.rest)?;
        self.key = self.key.wrapping_add((number >> FREQUENCY_BITS) as u32);
        Some((self.key, Frequency::from_step(number as u8)))
    }
}
