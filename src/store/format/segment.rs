//! Segment of a store: immutable file with the results of a full build, for incremental updates.
//! Later changes are in the store (table `known`). It belongs to all generations of the store that
//! the full build made, and of its copies: their uids have one lineage.
//! A damaged segment counts as missing.
//!
//! A header with the location of the index is followed by pieces, each with a checksum. The
//! contents of pieces are opaque here.

use parking_lot::Mutex;
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lru::LruCache;
use xxhash_rust::xxh3::xxh3_64;

use super::error::{StoreError, StoreErrorKind};
use super::location::{SEGMENT_SUFFIX, WriterLock, with_ending};
use super::rows::{Identity, lineage};
use cograph_system::owner::private_options;
use cograph_system::positioned::{read_exact_at, write_all_at};

const MAGIC: u64 = u64::from_le_bytes(*b"cographs");
/// Header: magic, kind, uid, location of the index, checksum of these.
const HEAD_BYTES: usize = 48;
/// Checksum before each piece, in bytes.
const PIECE_HEAD_BYTES: usize = 8;
/// Size of the cache of decompressed pieces: access is mostly sequential.
const CACHED_PIECES: NonZeroUsize = NonZeroUsize::new(128).expect("not zero");

const READING: &str = "reading segment of store";
const WRITING: &str = "writing segment of store";

/// Path of the segment of a store.
pub(crate) fn segment_of(store: &Path) -> PathBuf {
    with_ending(store, SEGMENT_SUFFIX)
}

/// Location of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    start: u64,
    bytes: u64,
}

impl Placed {
    /// Length in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// As numbers: offset and length.
    pub fn to_numbers(self) -> (u64, u64) {
        (self.start, self.bytes)
    }

    /// From numbers.
    pub fn from_numbers(start: u64, bytes: u64) -> Self {
        Self { start, bytes }
    }
}

/// Data with its checksum.
fn sealed(data: &[u8]) -> Vec<u8> {
    [&xxh3_64(data).to_le_bytes(), data].concat()
}

/// Reads and verifies a piece; none if the checksum differs.
fn read_at(file: &File, placed: Placed) -> Option<Vec<u8>> {
    // An invalid location may claim any length.
    if placed.start.checked_add(placed.bytes)? > file.metadata().ok()?.len() {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(placed.bytes).ok()?];
    read_exact_at(file, &mut bytes, placed.start).ok()?;
    let (checksum, data) = bytes.split_first_chunk::<PIECE_HEAD_BYTES>()?;
    (u64::from_le_bytes(*checksum) == xxh3_64(data)).then(|| bytes.split_off(PIECE_HEAD_BYTES))
}

/// Maximum compression ratio of the LZ4 block format.
const MAX_COMPRESSION_RATIO: usize = 255;

/// Decompresses a piece; none if it is malformed.
pub fn decompressed(data: &[u8]) -> Option<Vec<u8>> {
    let size = u32::from_le_bytes(*data.first_chunk()?);
    if usize::try_from(size).ok()? > data.len().saturating_mul(MAX_COMPRESSION_RATIO) {
        return None;
    }
    lz4_flex::block::decompress_size_prepended(data).ok()
}

/// Segment in progress. Published by a rename, or discarded.
#[derive(Debug)]
pub struct Draft {
    temporary: PathBuf,
    file: File,
    /// Offset of the next piece.
    end: Mutex<u64>,
}

impl Draft {
    /// Creates a temporary file, and removes that of an interrupted writer.
    pub fn begin(lock: &WriterLock) -> Result<Self, StoreError> {
        lock.remove_leftovers();
        let temporary = with_ending(&lock.location().temporary_path(0), SEGMENT_SUFFIX);
        let file =
            private_options().create(true).truncate(true).read(true).write(true).open(&temporary);
        let file = file.map_err(|error| StoreError::from_io(WRITING, &temporary, &error))?;
        Ok(Self { temporary, file, end: Mutex::new(HEAD_BYTES as u64) })
    }

    /// Appends a piece, compressed, from any thread, in any order.
    pub fn add(&self, piece: &[u8]) -> Result<Placed, StoreError> {
        self.add_raw(&lz4_flex::block::compress_prepend_size(piece))
    }

    /// Appends a piece without compression, for data that does not compress.
    pub fn add_raw(&self, piece: &[u8]) -> Result<Placed, StoreError> {
        let bytes = sealed(piece);
        let start = {
            let mut end = self.end.lock();
            *end += bytes.len() as u64;
            *end - bytes.len() as u64
        };
        write_all_at(&self.file, &bytes, start)
            .map_err(|error| StoreError::from_io(WRITING, &self.temporary, &error))?;
        Ok(Placed { start, bytes: bytes.len() as u64 })
    }

    /// Reads a compressed piece that was added.
    pub fn piece(&self, placed: Placed) -> Result<Vec<u8>, StoreError> {
        read_at(&self.file, placed).and_then(|data| decompressed(&data)).ok_or_else(|| {
            let detail = "it is not what was written";
            StoreError::new(StoreErrorKind::Corrupt, READING, &self.temporary, detail)
        })
    }

    /// Publishes the segment for the store with this uid; `kind` is the encoding of the pieces.
    pub fn publish(
        self,
        store: &Path,
        state: Identity,
        kind: u64,
        index: Placed,
    ) -> Result<(), StoreError> {
        let target = segment_of(store);
        let numbers = [MAGIC, kind, state.uid, index.start, index.bytes];
        let mut head: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        head.extend(xxh3_64(&head).to_le_bytes());
        // Not synced: after a power loss the checksums do not match.
        let published =
            write_all_at(&self.file, &head, 0).and_then(|()| fs::rename(&self.temporary, &target));
        published.map_err(|error| StoreError::from_io(WRITING, &target, &error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After success the temporary name is gone; the next writer removes leftovers.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// File of the segment of a store with this uid; none if it is missing, damaged or of another.
pub(crate) fn open_file(store: &Path, uid: u64) -> Option<File> {
    let file = File::open(segment_of(store)).ok()?;
    let (_, of, _) = header_of(&file)?;
    (lineage(of) == lineage(uid)).then_some(file)
}

/// Kind, uid and location of the index in the header of a segment; none if it is damaged.
fn header_of(file: &File) -> Option<(u64, u64, Placed)> {
    let mut head = [0; HEAD_BYTES];
    read_exact_at(file, &mut head, 0).ok()?;
    let numbers: Vec<u64> = head
        .chunks_exact(8)
        .map(|bytes| bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
        .collect();
    let [MAGIC, kind, uid, start, bytes, checksum] = numbers[..] else { return None };
    let is_whole = checksum == xxh3_64(&head[..HEAD_BYTES - 8])
        && file.metadata().ok()?.len() >= start.checked_add(bytes)?;
    is_whole.then_some((kind, uid, Placed { start, bytes }))
}

/// Shares the segment of a store with a copy of it, if there is one.
pub(crate) fn share(segment: &Path, copy: &Path) {
    let to = segment_of(copy);
    // Immutable, so a hard link is safe. Without a segment the next change is a full build.
    let shared = fs::hard_link(segment, &to).or_else(|_| fs::copy(segment, &to).map(drop));
    if let Err(error) = shared {
        tracing::debug!(%error, "a store is copied without its segment");
    }
}

/// Open segment.
#[derive(Debug)]
pub struct Segment {
    file: File,
    index: Placed,
    kept: Mutex<LruCache<u64, Arc<Vec<u8>>>>,
}

impl Segment {
    /// Opens the segment of this kind of the store with this uid, or that it is a copy of; none if
    /// it is missing or differs.
    pub fn open(store: &Path, uid: u64, kind: u64) -> Option<Self> {
        let file = File::open(segment_of(store)).ok()?;
        let (of_kind, of_uid, index) = header_of(&file)?;
        let kept = Mutex::new(LruCache::new(CACHED_PIECES));
        let is_of_store = of_kind == kind && lineage(of_uid) == lineage(uid);
        is_of_store.then_some(Self { file, index, kept })
    }

    /// Index; none if it is damaged.
    pub fn index(&self) -> Option<Vec<u8>> {
        self.piece(self.index)
    }

    /// Reads a compressed piece; none if it is damaged.
    pub fn piece(&self, placed: Placed) -> Option<Vec<u8>> {
        decompressed(&read_at(&self.file, placed)?)
    }

    /// Reads a compressed piece through the cache.
    pub fn cached_piece(&self, placed: Placed) -> Option<Arc<Vec<u8>>> {
        let kept = || self.kept.lock();
        if let Some(piece) = kept().get(&placed.start) {
            return Some(Arc::clone(piece));
        }
        let piece = Arc::new(self.piece(placed)?);
        kept().put(placed.start, Arc::clone(&piece));
        Some(piece)
    }

    /// Reads an uncompressed piece; none if it is damaged.
    pub fn raw(&self, placed: Placed) -> Option<Vec<u8>> {
        read_at(&self.file, placed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;
    use std::time::Duration;

    #[test]
    fn a_segment_gives_what_was_written_or_nothing() {
        const UID: u64 = 7 << 32;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let location = Location::at(directory.path().to_path_buf(), directory.path().to_path_buf());
        let lock = location.lock(Duration::ZERO).expect("no other process writes");
        let store = location.generation_path(1);
        let identity = Identity { uid: UID, generation: 1 };
        let draft = Draft::begin(&lock).expect("room");
        let one = draft.add(&b"piece ".repeat(100)).expect("room");
        let two = draft.add_raw(b"raw").expect("room");
        let index = draft.add(b"index").expect("room");
        assert!(
            one.bytes() < 600 && draft.piece(one).expect("it was added") == b"piece ".repeat(100)
        );
        draft.publish(&store, identity, 3, index).expect("room");

        assert!(
            Segment::open(&store, 8 << 32, 3).is_none() && Segment::open(&store, UID, 4).is_none(),
            "another store or kind"
        );
        let copy = Identity { uid: UID, generation: 1 }.uid_of_copy(9);
        assert!(copy != UID && Segment::open(&store, copy, 3).is_some(), "a copy shares it");
        let segment = Segment::open(&store, UID, 3).expect("it was published");
        let (start, bytes) = two.to_numbers();
        assert_eq!(segment.raw(Placed::from_numbers(start, bytes)).as_deref(), Some(&b"raw"[..]));
        assert_eq!(
            (segment.index().as_deref(), segment.piece(one)),
            (Some(&b"index"[..]), Some(b"piece ".repeat(100)))
        );
        share(&segment_of(&store), &location.generation_path(2));
        let path = segment_of(&store);
        let whole = fs::metadata(&path).expect("it exists").len();

        let file = File::options().write(true).open(&path).expect("it exists");
        write_all_at(&file, b"x", start + PIECE_HEAD_BYTES as u64).expect("room");
        assert_eq!(
            (segment.raw(two), segment.piece(one).is_some()),
            (None, true),
            "damage costs what it is in"
        );
        file.set_len(whole - 1).expect("it can be cut");
        assert!(Segment::open(&store, UID, 3).is_none(), "it is cut short");
        assert!(
            Segment::open(&location.generation_path(2), UID, 3).is_none(),
            "and so is what shares it"
        );
    }
}
