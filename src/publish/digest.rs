//! SHA-256: names of objects. A security boundary, unlike the hashes of the store.

use std::fmt;
use std::fs::File;
use std::io;

use cograph_system::positioned::read_exact_at;
use ring::digest::{Context, SHA256, digest};
use serde::{Deserialize, Serialize};

/// SHA-256 of an object or of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest([u8; 32]);

/// First bytes of the digest of one unit of a file. A collision costs an error of the digest of
/// the file.
pub type UnitDigest = [u8; 12];

impl Digest {
    /// Digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_bytes(digest(&SHA256, bytes).as_ref())
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.try_into().expect("a digest of this algorithm has 32 bytes"))
    }

    /// Digest in hexadecimal digits of lower case.
    pub fn from_hex(text: &str) -> Option<Self> {
        if text.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// Digest of one unit of a file.
    pub fn of_unit(bytes: &[u8]) -> UnitDigest {
        let Self(digest) = Self::of(bytes);
        std::array::from_fn(|at| digest[at])
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

/// Passes each unit of a file to `visit`, and returns the digest of the whole file.
pub(crate) fn read_units(
    file: &File,
    bytes: u64,
    unit: usize,
    mut visit: impl FnMut(&[u8]),
) -> io::Result<Digest> {
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; unit];
    let mut start = 0;
    while start < bytes {
        let length = usize::try_from(bytes - start).map_or(unit, |rest| rest.min(unit));
        read_exact_at(file, &mut buffer[..length], start)?;
        context.update(&buffer[..length]);
        visit(&buffer[..length]);
        start += length as u64;
    }
    Ok(Digest::from_bytes(context.finish().as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_one_text() {
        let digest = Digest::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((digest.to_string().as_str(), Digest::from_hex(text)), (text, Some(digest)));
        for wrong in [&text[1..], &text.to_uppercase(), &text.replace('b', "g")] {
            assert_eq!(Digest::from_hex(wrong), None, "{wrong}");
        }
    }
}
