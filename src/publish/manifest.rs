//! Manifest of one published store: which units of which pieces make up its files. Encoding, and
//! the rules that a manifest of another machine must keep before anything is done with it.

use std::collections::BTreeSet;

use cograph_store::Part;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, UnitDigest};
use crate::layout::LAYOUT;
use crate::reference::is_commit;

/// Maximum size of a manifest.
pub const MAX_MANIFEST: usize = 64 << 20;
/// Maximum size of all files of a store.
pub const MAX_STORE: u64 = 64 << 30;
/// Bytes of a piece before compression.
pub const PIECE_BYTES: usize = 1 << 20;
/// Maximum size of a compressed piece.
pub(crate) const MAX_STORED: usize = PIECE_BYTES + (64 << 10);
/// Bytes of pieces that no file uses, as a multiple of the bytes of the files, and a constant.
const MAX_UNUSED: (u64, u64) = (1, 16 << 20);
/// Maximum length of the version of a program.
const MAX_PROGRAM: usize = 100;

const FIRST_LINE: &[u8] = b"cograph manifest\n";

/// Manifest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub layout: u32,
    /// Format of the store.
    pub format: u32,
    /// Fingerprint of what the store was built from.
    pub fingerprint: u64,
    /// Version of the program.
    pub program: String,
    /// Commit.
    pub commit: String,
    /// Pieces.
    pub pieces: Vec<Piece>,
    /// Files: the database, and the segment if the store has one.
    pub files: Vec<FileMap>,
}

/// Piece: units of one file, compressed together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// Digest of the compressed bytes.
    pub digest: Digest,
    /// Compressed size.
    pub stored: u32,
    /// Size.
    pub bytes: u32,
}

/// File as units of pieces.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileMap {
    /// Number of the part.
    pub part: u8,
    /// Size.
    pub bytes: u64,
    /// Digest.
    pub digest: Digest,
    /// Digests of its units, in order. The next publisher compares with them.
    pub units: Vec<UnitDigest>,
    /// Where its units are, in order.
    pub runs: Vec<UnitRun>,
}

/// Consecutive units of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UnitRun {
    /// Index of the piece.
    pub piece: u32,
    /// First unit in the piece.
    pub start: u32,
    /// Number of units.
    pub count: u32,
}

/// Number of a part in a manifest.
pub(crate) fn number_of(part: Part) -> u8 {
    match part {
        Part::Rows => 0,
        Part::Segment => 1,
    }
}

/// Part with this number.
pub(crate) fn part_of(number: u8) -> Option<Part> {
    [Part::Rows, Part::Segment].into_iter().find(|&part| number_of(part) == number)
}

/// Unit of a part: what is compared and replaced. A change touches single pages of the database,
/// and none of the segment.
pub(crate) fn unit_of(part: Part) -> usize {
    match part {
        Part::Rows => 4_096,
        Part::Segment => PIECE_BYTES,
    }
}

/// Number of units of a file.
pub(crate) fn unit_count(bytes: u64, unit: usize) -> u64 {
    bytes.div_ceil(unit as u64)
}

impl Manifest {
    /// Encodes the manifest.
    pub fn encoded(&self) -> Vec<u8> {
        let mut bytes = FIRST_LINE.to_vec();
        bytes.extend(postcard::to_allocvec(self).expect("numbers and texts have an encoding"));
        bytes
    }

    /// Decodes a manifest that keeps the rules; an error is the reason.
    pub fn decoded(bytes: &[u8]) -> Result<Self, String> {
        let rest = bytes.strip_prefix(FIRST_LINE).ok_or("it is no manifest")?;
        // The version comes first, so that other layouts are recognized.
        let (layout, _) =
            postcard::take_from_bytes::<u32>(rest).map_err(|_| "it has no version")?;
        if layout != LAYOUT {
            return Err(format!("its layout is {layout}, ours is {LAYOUT}"));
        }
        let (manifest, after) = postcard::take_from_bytes::<Self>(rest)
            .map_err(|error| format!("it cannot be decoded: {error}"))?;
        if !after.is_empty() {
            return Err("it has more bytes than it needs".to_owned());
        }
        manifest.check()?;
        Ok(manifest)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    fn check(&self) -> Result<(), String> {
        if !is_commit(&self.commit) || self.program.len() > MAX_PROGRAM {
            return Err("its commit or its program has no valid name".to_owned());
        }
        let numbers: Vec<u8> = self.files.iter().map(|file| file.part).collect();
        if !matches!(numbers[..], [0] | [0, 1]) {
            return Err("its files are not those of a store".to_owned());
        }
        let is_valid = |piece: &Piece| {
            (1..=PIECE_BYTES).contains(&(piece.bytes as usize))
                && (1..=MAX_STORED).contains(&(piece.stored as usize))
        };
        if !self.pieces.iter().all(is_valid) {
            return Err("a piece has an invalid size".to_owned());
        }
        let mut total = 0_u64;
        for file in &self.files {
            total = total.saturating_add(file.bytes);
        }
        if total > MAX_STORE {
            return Err(format!("its files are larger than {} GiB", MAX_STORE >> 30));
        }
        let (factor, more) = MAX_UNUSED;
        let pieces: u64 = self.pieces.iter().map(|piece| u64::from(piece.bytes)).sum();
        if pieces > total * (1 + factor) + more {
            return Err("its pieces have more bytes than its files need".to_owned());
        }
        let mut of_part = vec![None; self.pieces.len()];
        for file in &self.files {
            self.check_file(file, &mut of_part)?;
        }
        let names: BTreeSet<Digest> = self.pieces.iter().map(|piece| piece.digest).collect();
        if names.len() != self.pieces.len() || of_part.contains(&None) {
            return Err("a piece is listed twice or is not used".to_owned());
        }
        Ok(())
    }

    fn check_file(&self, file: &FileMap, of_part: &mut [Option<u8>]) -> Result<(), String> {
        let part = part_of(file.part).ok_or("a file has an unknown part")?;
        let unit = unit_of(part);
        let count = unit_count(file.bytes, unit);
        if file.bytes == 0 || file.units.len() as u64 != count {
            return Err("a file has an invalid size".to_owned());
        }
        let mut at = 0_u64;
        for run in &file.runs {
            let piece = self.pieces.get(run.piece as usize).ok_or("a run has no piece")?;
            let owner = of_part[run.piece as usize].get_or_insert(file.part);
            if *owner != file.part {
                return Err("a piece is part of two files".to_owned());
            }
            at += u64::from(run.count);
            if run.count == 0 || at > count {
                return Err("the runs of a file do not fit its size".to_owned());
            }
            // The last unit of a file may be shorter than the others.
            let missing = if at == count { count * unit as u64 - file.bytes } else { 0 };
            let end = (u64::from(run.start) + u64::from(run.count)) * unit as u64 - missing;
            if end > u64::from(piece.bytes) {
                return Err("a run leaves its piece".to_owned());
            }
        }
        if at == count { Ok(()) } else { Err("the runs do not cover a file".to_owned()) }
    }
}
