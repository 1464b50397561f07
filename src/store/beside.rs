//! What is kept beside a generation: pieces of bytes that another process saves work with, and that the store does not look
//! into. Whatever is wrong with them, they are as if they were not there.
//!
//! The file begins with everything that was known of one state of the store; what later states add is appended. Each of these
//! parts has a head that names its state, so that nobody takes one for another, and each piece a checksum.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::connection::Snapshot;
use super::error::StoreError;
use super::location::{BESIDE_SUFFIX, TEMPORARY_SUFFIX, WriterLock, with_ending};
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
    let data = lz4_flex::block::compress_prepend_size(piece);
    let length = u32::try_from(data.len()).expect("a piece is far smaller than 4 GiB");
    let mut bytes = Vec::with_capacity(PIECE_HEAD_BYTES + data.len());
    bytes.extend(length.to_le_bytes());
    bytes.extend(xxh3_64(&data).to_le_bytes());
    bytes.extend(data);
    bytes
}

/// Everything about one state, while it is being written. It is in place when it is published, or not at all.
#[derive(Debug)]
pub struct Draft {
    temporary: PathBuf,
    target: PathBuf,
    written: Mutex<Result<(BufWriter<File>, u64), io::Error>>,
}

impl Draft {
    /// Begins one for a store that is in place.
    pub fn begin(_lock: &WriterLock, store: &Path) -> Result<Self, StoreError> {
        let temporary = with_ending(&with_ending(store, TEMPORARY_SUFFIX), BESIDE_SUFFIX);
        let begin = || -> io::Result<BufWriter<File>> {
            let mut file = BufWriter::with_capacity(1 << 20, File::create(&temporary)?);
            file.write_all(&[0; HEAD_BYTES])?;
            Ok(file)
        };
        let file = begin().map_err(|error| StoreError::from_io("writing beside store", &temporary, &error))?;
        Ok(Self { temporary, target: beside(store), written: Mutex::new(Ok((file, 0))) })
    }

    /// Adds a piece, from any thread, in any order. What goes wrong is said at the end.
    pub fn add(&self, piece: &[u8]) {
        let bytes = packed(piece);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok((file, total)) = &mut *written {
            match file.write_all(&bytes) {
                Ok(()) => *total += bytes.len() as u64,
                Err(error) => *written = Err(error),
            }
        }
    }

    /// Puts it in place, for a state of the store and pieces of a kind.
    pub fn publish(self, state: Identity, kind: u64) -> Result<(), StoreError> {
        let publish = || -> io::Result<()> {
            let (file, bytes) = self.written.into_inner().unwrap_or_else(PoisonError::into_inner)?;
            let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&Head { kind, state, bytes }.write())?;
            // Not synced: what a loss of power leaves of it has the wrong checksums.
            fs::rename(&self.temporary, &self.target)
        };
        publish().map_err(|error| {
            // The failure is what the caller hears of; a leftover is removed by the next writer.
            let _ = fs::remove_file(&self.temporary);
            StoreError::from_io("writing beside store", &self.target, &error)
        })
    }
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
