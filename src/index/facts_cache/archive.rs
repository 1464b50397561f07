//! Facts cache of a repository: a segment written by a full build, and a delta of rows about files
//! that have changed since. Rows are written in the transaction that changes the store; the segment
//! is immutable.
//!
//! The segment has pieces of neighbouring files (facts, results, entries), blocks of posting lists,
//! and an index of all of them. A row is about one file and overrides its part of the segment.

use parking_lot::{RwLock, RwLockReadGuard};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use crate::facts_cache::segment_block::{self, Opened, PieceWriter};
use crate::fingerprint::rules;
use cograph_config::Limits;
use cograph_model::RepoPath;
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileKey, FileResolution};
use cograph_model::packed::{self, Pass, Reader, Writer};
use cograph_resolve::{
    self as resolve, PackedEntry, Posting, PostingFlags, ProjectFile, Shared, Tables,
};
use cograph_store::{self as store, Draft, Placed, Segment, StoreError};

/// Version of the encoding: must be increased when the meaning of pieces, entries, posting lists or
/// their hashes changes. Segments of other versions are ignored.
const ENCODING: u64 = 8;

/// Posting lists per block: enough to keep the index of blocks small, few enough to read a block
/// quickly.
const LISTS_PER_BLOCK: usize = 256;

/// Key of the row with the project files.
pub(crate) const PROJECT_FILES: u32 = 0;

/// Fingerprint of a segment's encoding, under these limits.
pub(crate) fn kind(limits: &Limits) -> u64 {
    rules(limits) ^ ENCODING.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Pieces of a run of neighbouring files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbours {
    /// First file.
    pub(crate) first: FileKey,
    pub(crate) facts: Placed,
    pub(crate) found: Placed,
    pub(crate) entries: Placed,
}

/// Writes the posting lists and the index of a segment, and returns the location of the index.
pub(crate) fn write_index(
    draft: &Draft,
    neighbours: &[Neighbours],
    tables: &Tables,
) -> Result<Placed, StoreError> {
    let mut blocks = Vec::new();
    let (mut block, mut first, mut count) = (Writer::default(), 0, 0);
    for (list, postings) in tables.posting_lists() {
        if count == 0 {
            first = list;
        }
        write_list(&mut block, list, &postings);
        count += 1;
        if count == LISTS_PER_BLOCK {
            blocks.push((first, draft.add_raw(&std::mem::take(&mut block).into_parts().1)?));
            count = 0;
        }
    }
    if count > 0 {
        blocks.push((first, draft.add_raw(&block.into_parts().1)?));
    }
    let mut index = Writer::default();
    let mut write = || -> Option<()> {
        index.number(neighbours.len() as u64)?;
        for Neighbours { first, facts, found, entries } in neighbours {
            index.small(first.0)?;
            for placed in [facts, found, entries] {
                write_place(&mut index, *placed)?;
            }
        }
        index.number(blocks.len() as u64)?;
        for (first, placed) in &blocks {
            index.bits(*first)?;
            write_place(&mut index, *placed)?;
        }
        write_project_files(&mut index, tables.project_files())
    };
    write().expect("writing does not fail");
    draft.add(&index.into_parts().1)
}

fn write_place(writer: &mut Writer, placed: Placed) -> Option<()> {
    let (start, bytes) = placed.to_numbers();
    writer.number(start)?;
    writer.number(bytes).map(drop)
}

fn read_place(reader: &mut Reader<'_>) -> Option<Placed> {
    Some(Placed::from_numbers(reader.number(0)?, reader.number(0)?))
}

fn write_project_files(writer: &mut Writer, files: &[ProjectFile]) -> Option<()> {
    writer.number(files.len() as u64)?;
    for file in files {
        writer.text(file.path.as_str())?;
        writer.text(&file.text)?;
    }
    Some(())
}

fn read_project_files(reader: &mut Reader<'_>) -> Option<Vec<ProjectFile>> {
    let mut files = Vec::new();
    for _ in 0..reader.number(0)? {
        files.push(ProjectFile {
            path: RepoPath::new(&reader.text("")?)?,
            text: reader.text("")?.into(),
        });
    }
    Some(files)
}

fn write_list(block: &mut Writer, list: u64, postings: &[Posting]) {
    let mut write = || -> Option<()> {
        block.bits(list)?;
        block.number(postings.len() as u64)?;
        let mut before = 0;
        for posting in postings {
            before = block.near(posting.file.0, before)?;
            block.number(
                u64::from(posting.symbol) << PostingFlags::BITS | posting.flags.to_bits(),
            )?;
        }
        Some(())
    };
    write().expect("writing does not fail");
}

/// Scans a block up to the wanted list, and passes its postings to `each`.
fn read_block(bytes: &[u8], wanted: u64, each: &mut dyn FnMut(Posting)) -> Option<()> {
    let mut reader = Reader::new(bytes, &[]);
    while !reader.rest().is_empty() {
        let list = reader.bits(0)?;
        if list > wanted {
            break;
        }
        let mut file = 0;
        for _ in 0..reader.number(0)? {
            file = reader.near(0, file)?;
            let number = reader.number(0)?;
            if list == wanted {
                each(Posting {
                    file: FileKey(file),
                    symbol: u32::try_from(number >> PostingFlags::BITS).ok()?,
                    flags: PostingFlags::from_bits(number),
                });
            }
        }
    }
    Some(())
}

/// Kind of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Facts,
    Found,
}

/// Segment.
#[derive(Debug)]
struct Base {
    segment: Segment,
    neighbours: Vec<Neighbours>,
    /// First list and location of each block.
    blocks: Vec<(u64, Placed)>,
}

/// Facts cache: segment and delta.
pub(crate) struct Archive {
    base: Base,
    /// Delta: rows of changed files, by key.
    rows: RwLock<FxHashMap<FileKey, Row>>,
    /// Size of the delta in bytes.
    row_bytes: AtomicUsize,
    /// Number of files read.
    read: AtomicUsize,
    is_damaged: AtomicBool,
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive").field("base", &self.base).finish_non_exhaustive()
    }
}

/// Facts and results in a row.
#[derive(Clone, Debug)]
struct Row {
    /// Compressed piece with the results, and the facts if they have changed.
    piece: Arc<[u8]>,
    has_facts: bool,
}

/// Entry of a file: what is known of it without its facts.
#[derive(Clone, Debug)]
pub(crate) struct KnownFile {
    pub(crate) entry: PackedEntry,
    /// Other files in which relations start that this file declares.
    pub(crate) foreign_relations: Vec<FileKey>,
}

impl KnownFile {
    /// Encodes the entry.
    pub(crate) fn write(&self, writer: &mut Writer) {
        self.entry.write(writer);
        let none = FileKey(0);
        let keys = writer
            .list(&self.foreign_relations, &none, |writer, key| writer.small(key.0).map(FileKey));
        keys.expect("writing does not fail");
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            entry: PackedEntry::read(reader)?,
            foreign_relations: reader
                .list(&[], &FileKey(0), |reader, _| reader.small(0).map(FileKey))?,
        })
    }
}

/// Contents of a row.
pub(crate) struct RowContent<'r> {
    pub(crate) key: FileKey,
    pub(crate) known: &'r KnownFile,
    /// Set if the facts differ from the segment.
    pub(crate) facts: Option<(&'r FileFacts, &'r Shared)>,
    pub(crate) found: &'r FileResolution,
}

impl RowContent<'_> {
    /// Encodes the row; `lasting` maps a file to its key.
    pub(crate) fn bytes(&self, lasting: &impl Fn(FileId) -> FileKey) -> Vec<u8> {
        let mut entry = Writer::default();
        self.known.write(&mut entry);
        let entry = entry.into_parts().1;
        let mut piece = PieceWriter::default();
        let facts = |body: &mut Writer| {
            if let Some((facts, shared)) = self.facts {
                segment_block::write_facts(body, facts, shared);
            }
        };
        piece.add(self.key, facts, |body| packed::graph::write(body, self.found, lasting));
        let mut bytes = Vec::new();
        packed::put_varint(&mut bytes, u64::from(self.facts.is_some()));
        packed::put_varint(&mut bytes, entry.len() as u64);
        bytes.extend(entry);
        bytes.extend(lz4_flex::block::compress_prepend_size(&piece.finish()));
        bytes
    }
}

/// Row of a file that has no facts any more.
pub(crate) fn row_without_facts() -> Vec<u8> {
    Vec::new()
}

/// Row of the project files.
pub(crate) fn row_of_project_files(files: &[ProjectFile]) -> Vec<u8> {
    let mut writer = Writer::default();
    write_project_files(&mut writer, files).expect("writing does not fail");
    writer.into_parts().1
}

impl Row {
    /// Decodes a row and its entry; a file without facts has no entry.
    fn read(mut bytes: &[u8]) -> Option<(Self, Option<KnownFile>)> {
        if bytes.is_empty() {
            return Some((Self { piece: Arc::default(), has_facts: false }, None));
        }
        let has_facts = packed::take_varint(&mut bytes)? == 1;
        let len = usize::try_from(packed::take_varint(&mut bytes)?).ok()?;
        let (entry, piece) = bytes.split_at_checked(len)?;
        let known = KnownFile::read(&mut Reader::new(entry, &[]))?;
        Some((Self { piece: piece.into(), has_facts }, Some(known)))
    }

    fn piece(&self) -> Option<Vec<u8>> {
        store::decompressed(&self.piece)
    }
}

/// Contents of an archive on all files, read once.
pub(crate) struct Opening {
    pub(crate) archive: Archive,
    /// Entries of all files, by key: from the segment, or from the delta if they have changed.
    pub(crate) known: FxHashMap<FileKey, KnownFile>,
    pub(crate) project_files: Vec<ProjectFile>,
}

impl Archive {
    /// Opens the facts cache of the store file `store`, with the delta rows of that store; none if
    /// any part is missing. `each` runs its work for all numbers, on any thread.
    pub(crate) fn open(
        store: &Path,
        uid: u64,
        kind: u64,
        rows: Vec<(u32, Vec<u8>)>,
        each: impl FnOnce(
            usize,
            &(dyn Fn(usize) -> Option<Vec<(FileKey, KnownFile)>> + Sync),
        ) -> Vec<Vec<(FileKey, KnownFile)>>,
    ) -> Option<Opening> {
        let segment = Segment::open(store, uid, kind)?;
        let index = segment.index()?;
        let mut reader = Reader::new(&index, &[]);
        let mut neighbours = Vec::new();
        for _ in 0..reader.number(0)? {
            let first = FileKey(reader.small(0)?);
            let (facts, found) = (read_place(&mut reader)?, read_place(&mut reader)?);
            neighbours.push(Neighbours { first, facts, found, entries: read_place(&mut reader)? });
        }
        let mut blocks = Vec::new();
        for _ in 0..reader.number(0)? {
            blocks.push((reader.bits(0)?, read_place(&mut reader)?));
        }
        let mut project_files = read_project_files(&mut reader)?;
        let entries = |number: usize| {
            let piece = segment.piece(neighbours[number].entries)?;
            let opened = Opened::read(&piece)?;
            let read = |entry: &segment_block::BlockEntry<'_>| {
                Some((entry.key, KnownFile::read(&mut Reader::new(entry.facts, &opened.words))?))
            };
            opened.entries.iter().map(read).collect::<Option<Vec<_>>>()
        };
        let of_segment = each(neighbours.len(), &entries);
        if of_segment.len() != neighbours.len() {
            return None;
        }
        let mut known: FxHashMap<FileKey, KnownFile> = of_segment.into_iter().flatten().collect();
        let (mut kept, mut row_bytes) = (FxHashMap::default(), 0);
        for (key, bytes) in rows {
            row_bytes += bytes.len();
            if key == PROJECT_FILES {
                project_files = read_project_files(&mut Reader::new(&bytes, &[]))?;
                continue;
            }
            let (key, (row, entry)) = (FileKey(key), Row::read(&bytes)?);
            match entry {
                Some(entry) => drop(known.insert(key, entry)),
                None => drop(known.remove(&key)),
            }
            kept.insert(key, row);
        }
        let archive = Self {
            base: Base { segment, neighbours, blocks },
            rows: RwLock::new(kept),
            row_bytes: AtomicUsize::new(row_bytes),
            read: AtomicUsize::new(0),
            is_damaged: AtomicBool::new(false),
        };
        Some(Opening { archive, known, project_files })
    }

    /// True if a read has failed: results that depend on it must be discarded.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Size of the delta in bytes.
    pub(crate) fn row_bytes(&self) -> usize {
        self.row_bytes.load(Ordering::Relaxed)
    }

    /// Number of reads of facts.
    pub(crate) fn reads(&self) -> usize {
        self.read.load(Ordering::Relaxed)
    }

    /// True if a file has changed since the segment was written.
    pub(crate) fn has_row(&self, key: FileKey) -> bool {
        self.rows().contains_key(&key)
    }

    /// True if the facts of a file differ from the segment.
    pub(crate) fn has_other_facts(&self, key: FileKey) -> bool {
        self.rows().get(&key).is_some_and(|row| row.has_facts)
    }

    fn rows(&self) -> RwLockReadGuard<'_, FxHashMap<FileKey, Row>> {
        self.rows.read()
    }

    /// Adds rows that were written to the store.
    pub(crate) fn learn(&self, rows: Vec<(u32, Option<Vec<u8>>)>) {
        let mut kept = self.rows.write();
        for (key, bytes) in rows.into_iter().filter(|(key, _)| *key != PROJECT_FILES) {
            let key = FileKey(key);
            match bytes {
                Some(bytes) => {
                    self.row_bytes.fetch_add(bytes.len(), Ordering::Relaxed);
                    kept.insert(key, Row::read(&bytes).expect("it was written just now").0);
                }
                None => drop(kept.remove(&key)),
            }
        }
    }

    /// Previous results of a file; `position` maps a key to a file.
    pub(crate) fn found(
        &self,
        key: FileKey,
        position: &impl Fn(FileKey) -> Option<FileId>,
    ) -> Option<FileResolution> {
        let read = |bytes: &[u8], words: &[&str]| {
            packed::graph::read(&mut Reader::new(bytes, words), position)
        };
        let found = match self.rows().get(&key).cloned() {
            Some(row) => row.piece().and_then(|piece| {
                let opened = Opened::read(&piece)?;
                read(opened.entry(key)?.found, &opened.words)
            }),
            None => self.of_segment(Sort::Found, key, |entry, words| read(entry.found, words)),
        };
        self.checked(found)
    }

    fn of_segment<T>(
        &self,
        sort: Sort,
        key: FileKey,
        read: impl FnOnce(&segment_block::BlockEntry<'_>, &[&str]) -> Option<T>,
    ) -> Option<T> {
        let number = self.base.number(key)?;
        let neighbours = &self.base.neighbours[number];
        let piece = self.base.segment.cached_piece(if sort == Sort::Facts {
            neighbours.facts
        } else {
            neighbours.found
        })?;
        let opened = Opened::read(&piece)?;
        read(opened.entry(key)?, &opened.words)
    }

    fn checked<T>(&self, read: Option<T>) -> Option<T> {
        if read.is_none() {
            self.is_damaged.store(true, Ordering::Relaxed);
        }
        read
    }
}

impl Base {
    /// Number of the pieces of a file with this key.
    fn number(&self, key: FileKey) -> Option<usize> {
        self.neighbours.partition_point(|neighbours| neighbours.first <= key).checked_sub(1)
    }

    fn postings(&self, list: u64, each: &mut dyn FnMut(Posting)) -> Option<()> {
        let Some(number) = self.blocks.partition_point(|(first, _)| *first <= list).checked_sub(1)
        else {
            return Some(());
        };
        read_block(&self.segment.raw(self.blocks[number].1)?, list, each)
    }
}

impl resolve::Archive for Archive {
    fn facts(&self, key: FileKey) -> Option<(FileFacts, Shared)> {
        self.read.fetch_add(1, Ordering::Relaxed);
        let row = self.rows().get(&key).filter(|row| row.has_facts).cloned();
        let facts = match row {
            Some(row) => row.piece().and_then(|piece| {
                let opened = Opened::read(&piece)?;
                segment_block::read_facts(opened.entry(key)?.facts, &opened.words)
            }),
            None => self.of_segment(Sort::Facts, key, |entry, words| {
                segment_block::read_facts(entry.facts, words)
            }),
        };
        self.checked(facts)
    }

    fn postings(&self, list: u64, each: &mut dyn FnMut(Posting)) {
        self.checked(self.base.postings(list, each));
    }
}
