//! What is kept beside a generation: pieces of bytes that another process saves work with, and that the store does not look
//! into. Whatever is wrong with them, they are as if they were not there.
//!
//! The file begins with everything that was known of one state of the store; what later states add is appended. Each of these
//! parts has a head that names its state, so that nobody takes one for another, and each piece a checksum.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::connection::Snapshot;
use super::error::{StoreError, StoreErrorKind};
use super::location::{BESIDE_SUFFIX, WriterLock, with_ending};
use super::rows::Identity;

const MAGIC: u64 = u64::from_le_bytes(*b"cographk");
/// Magic, kind, uid, generation, bytes that follow, checksum of all these.
const HEAD_BYTES: usize = 48;
/// Length and checksum before each piece.
const PIECE_HEAD_BYTES: usize = 12;

/// The beginning of a part.
#[derive(Clone, Copy)]
struct Head {
    /// Stands for the meaning of the pieces.
    kind: u64,
    state: Identity,
    bytes: u64,
}

impl Head {
    fn write(self) -> [u8; HEAD_BYTES] {
        let numbers = [MAGIC, self.kind, self.state.uid, self.state.generation, self.bytes];
        let mut head = [0; HEAD_BYTES];
        for (place, number) in head.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let checksum = xxh3_64(&head[..HEAD_BYTES - 8]);
        head[HEAD_BYTES - 8..].copy_from_slice(&checksum.to_le_bytes());
        head
    }

    fn read(head: &[u8]) -> Option<Self> {
        let numbers: Vec<u64> = head
            .get(..HEAD_BYTES)?
            .chunks_exact(8)
            .map(|bytes| bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
            .collect();
        let [MAGIC, kind, uid, generation, bytes, checksum] = numbers[..] else { return None };
        (checksum == xxh3_64(&head[..HEAD_BYTES - 8])).then_some(Self { kind, state: Identity { uid, generation }, bytes })
    }
}

fn beside(store: &Path) -> PathBuf {
    with_ending(store, BESIDE_SUFFIX)
}

/// A piece as it stands in the file.
fn packed(piece: &[u8]) -> Vec<u8> {
    let small = |bytes: usize| u32::try_from(bytes).expect("a piece is far smaller than 4 GiB").to_le_bytes();
    let start = PIECE_HEAD_BYTES + size_of::<u32>();
    let mut bytes = vec![0; start + lz4_flex::block::get_maximum_output_size(piece.len())];
    let data = lz4_flex::block::compress_into(piece, &mut bytes[start..]).expect("there is room for as much as it can be");
    bytes.truncate(start + data);
    bytes[PIECE_HEAD_BYTES..start].copy_from_slice(&small(piece.len()));
    let (head, data) = bytes.split_at_mut(PIECE_HEAD_BYTES);
    head[..size_of::<u32>()].copy_from_slice(&small(data.len()));
    head[size_of::<u32>()..].copy_from_slice(&xxh3_64(data).to_le_bytes());
    bytes
}

impl Placed {
    /// How many bytes it takes there.
    pub fn bytes(self) -> usize {
        self.bytes
    }
}

/// Everything about one state, while it is being written. It is in place when it is published, or not at all.
#[derive(Debug)]
pub struct Draft {
    temporary: PathBuf,
    file: File,
    /// Where the next piece goes.
    end: Mutex<u64>,
}

/// Where a piece stands in a draft.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    start: u64,
    bytes: usize,
}

impl Draft {
    /// Begins one. What an interrupted writer has left behind goes.
    pub fn begin(lock: &WriterLock) -> Result<Self, StoreError> {
        lock.remove_leftovers();
        let temporary = with_ending(&lock.location().temporary_path(0), BESIDE_SUFFIX);
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&temporary);
        let file = file.map_err(|error| StoreError::from_io(WRITING, &temporary, &error))?;
        Ok(Self { temporary, file, end: Mutex::new(HEAD_BYTES as u64) })
    }

    /// Adds a piece, from any thread, in any order.
    pub fn add(&self, piece: &[u8]) -> Result<Placed, StoreError> {
        let bytes = packed(piece);
        let start = {
            let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            *end += bytes.len() as u64;
            *end - bytes.len() as u64
        };
        self.file.write_all_at(&bytes, start).map_err(|error| StoreError::from_io(WRITING, &self.temporary, &error))?;
        Ok(Placed { start, bytes: bytes.len() })
    }

    /// A piece that was added.
    pub fn piece(&self, placed: Placed) -> Result<Vec<u8>, StoreError> {
        let mut bytes = vec![0; placed.bytes];
        let read = self.file.read_exact_at(&mut bytes, placed.start);
        read.map_err(|error| StoreError::from_io("reading beside store", &self.temporary, &error))?;
        unpacked(&bytes).ok_or_else(|| {
            let detail = "it is not what was written";
            StoreError::new(StoreErrorKind::Corrupt, "reading beside store", &self.temporary, detail)
        })
    }

    /// Puts it in place, for a store, a state of it, and pieces of a kind.
    pub fn publish(self, store: &Path, state: Identity, kind: u64) -> Result<(), StoreError> {
        let target = beside(store);
        let publish = || -> io::Result<()> {
            let end = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
            self.file.write_all_at(&Head { kind, state, bytes: end - HEAD_BYTES as u64 }.write(), 0)?;
            // Not synced: what a loss of power leaves of it has the wrong checksums.
            fs::rename(&self.temporary, &target)
        };
        publish().map_err(|error| StoreError::from_io(WRITING, &target, &error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Of one that is in place the name is gone; a leftover is removed by the next writer.
        let _ = fs::remove_file(&self.temporary);
    }
}

const WRITING: &str = "writing beside store";

/// A piece from what stands in the file for it; none if that is damaged.
fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (checksum, data) = rest.split_first_chunk()?;
    let is_whole = u32::from_le_bytes(*length) as usize == data.len() && u64::from_le_bytes(*checksum) == xxh3_64(data);
    is_whole.then(|| lz4_flex::block::decompress_size_prepended(data).ok()).flatten()
}

/// How much is kept beside a store.
#[derive(Clone, Copy, Debug)]
pub struct Grown {
    /// Bytes of the first part.
    pub first: u64,
    /// Bytes of what was appended since.
    pub appended: u64,
}

/// Adds what a new state of a store changes; `before` is the state that the store is in. None if nothing is kept of that one.
/// Whatever was appended for states that the store never reached goes.
pub fn append(
    _lock: &WriterLock,
    store: &Path,
    (before, after): (Identity, Identity),
    kind: u64,
    pieces: &[Vec<u8>],
) -> Result<Option<Grown>, StoreError> {
    let path = beside(store);
    let append = || -> io::Result<Option<Grown>> {
        let mut file = match File::options().read(true).write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let size = file.metadata()?.len();
        let (mut end, mut first) = (0_u64, None);
        loop {
            let mut head = [0; HEAD_BYTES];
            file.seek(SeekFrom::Start(end))?;
            let is_whole = end + HEAD_BYTES as u64 <= size;
            if is_whole {
                file.read_exact(&mut head)?;
            }
            let head = is_whole.then(|| Head::read(&head)).flatten();
            let next = head.filter(|head| head.kind == kind && head.state.uid == before.uid).and_then(|head| {
                let next = end.checked_add(HEAD_BYTES as u64)?.checked_add(head.bytes)?;
                (next <= size).then_some((head, next))
            });
            let Some((head, next)) = next else {
                drop(file);
                fs::remove_file(&path)?;
                return Ok(None);
            };
            end = next;
            first.get_or_insert(next);
            if head.state == before {
                break;
            }
        }
        let mut bytes = vec![0; HEAD_BYTES];
        pieces.iter().for_each(|piece| bytes.extend(packed(piece)));
        let head = Head { kind, state: after, bytes: (bytes.len() - HEAD_BYTES) as u64 };
        bytes[..HEAD_BYTES].copy_from_slice(&head.write());
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&bytes)?;
        let first = first.unwrap_or(end);
        Ok(Some(Grown { first, appended: end + bytes.len() as u64 - first }))
    };
    append().map_err(|error| {
        // It would be of another state than the store.
        let _ = fs::remove_file(&path);
        StoreError::from_io("writing beside store", &path, &error)
    })
}

/// Gives a copy of a store what is beside the original, if anything is.
pub(super) fn copy(original: &Path, copy: &Path) {
    // Without it, more has to be worked out again; a part of it has the wrong checksums.
    if let Err(error) = fs::copy(beside(original), beside(copy)) {
        tracing::debug!(%error, "nothing is taken over from beside a store");
    }
}

/// What is kept beside a store.
#[derive(Debug)]
pub struct Beside {
    bytes: Vec<u8>,
    pieces: Vec<(u64, std::ops::Range<usize>)>,
}

impl Beside {
    /// What is kept of the state that a snapshot shows, by pieces of a kind; none if that cannot be had.
    pub fn read(snapshot: &Snapshot, kind: u64) -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "reads a file of the cache, not of a repository")]
        let bytes = fs::read(beside(snapshot.store().path())).ok()?;
        let state = snapshot.identity();
        let (mut at, mut pieces) = (0, Vec::new());
        loop {
            let head = Head::read(bytes.get(at..)?).filter(|head| head.kind == kind && head.state.uid == state.uid)?;
            at += HEAD_BYTES;
            let end = at.checked_add(usize::try_from(head.bytes).ok()?).filter(|&end| end <= bytes.len())?;
            while at < end {
                let (length, rest) = bytes[at..end].split_first_chunk()?;
                let (checksum, rest) = rest.split_first_chunk()?;
                let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|&length| length <= rest.len())?;
                at += PIECE_HEAD_BYTES;
                pieces.push((u64::from_le_bytes(*checksum), at..at + length));
                at += length;
            }
            if head.state == state {
                return Some(Self { bytes, pieces });
            }
        }
    }

    /// How many pieces there are: later ones replace what earlier ones say.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// One piece; none if it is damaged.
    pub fn piece(&self, number: usize) -> Option<Vec<u8>> {
        let (checksum, range) = self.pieces.get(number)?;
        let bytes = &self.bytes[range.clone()];
        (xxh3_64(bytes) == *checksum).then(|| lz4_flex::block::decompress_size_prepended(bytes).ok()).flatten()
    }
}
