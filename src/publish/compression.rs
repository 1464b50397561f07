//! Compression of pieces. A piece is verified before it is decompressed, and never takes more bytes
//! than its manifest states.

use crate::digest::Digest;
use crate::manifest::{MAX_STORED, Piece};

/// Level: a piece is compressed once and read many times.
const LEVEL: i32 = 9;

/// Compresses a piece.
pub(crate) fn compress(units: &[u8]) -> std::io::Result<(Piece, Vec<u8>)> {
    let stored = zstd::bulk::compress(units, LEVEL)?;
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let piece = Piece { digest: Digest::of(&stored), stored: size(&stored), bytes: size(units) };
    debug_assert!(stored.len() <= MAX_STORED, "what does not compress grows by less");
    Ok((piece, stored))
}

/// Verifies and decompresses a piece; an error is the reason.
pub(crate) fn decompress(piece: &Piece, stored: &[u8]) -> Result<Vec<u8>, String> {
    if stored.len() != piece.stored as usize {
        return Err(format!("it has {} bytes instead of {}", stored.len(), piece.stored));
    }
    if Digest::of(stored) != piece.digest {
        return Err("its digest is another".to_owned());
    }
    let units = zstd::bulk::decompress(stored, piece.bytes as usize)
        .map_err(|error| format!("it cannot be decompressed to {} bytes: {error}", piece.bytes))?;
    if units.len() != piece.bytes as usize {
        return Err(format!("it has {} bytes of units instead of {}", units.len(), piece.bytes));
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_what_was_announced_or_an_error() {
        let (piece, stored) = compress(&[7; 100_000]).expect("memory");
        assert_eq!(decompress(&piece, &stored), Ok(vec![7; 100_000]));
        let reason = |piece: Piece, stored: &[u8]| {
            decompress(&piece, stored).expect_err("the piece is another").chars().take(23).collect()
        };
        let reasons: [String; 4] = [
            reason(piece, &stored[1..]),
            reason(piece, &[stored[1..].to_vec(), vec![0]].concat()),
            reason(Piece { bytes: 99_999, ..piece }, &stored),
            reason(Piece { bytes: 100_001, ..piece }, &stored),
        ];
        assert_eq!(
            reasons,
            [
                "it has 20 bytes instead",
                "its digest is another",
                "it cannot be decompress",
                "it has 100000 bytes of "
            ]
        );
    }
}
