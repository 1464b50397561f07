//! Reads complete files back from the pieces on disk, in order, for the writer of the store.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

use rustc_hash::FxHashMap;

use crate::facts_cache::segment_block::{self, Opened};
use crate::outcome::IndexError;
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileKey, FileRecord, FileResolution, FileStamp, Relation};
use cograph_model::packed::{self, Reader};
use cograph_model::{LanguageId, RepoPath, SkipReason};
use cograph_store::{Draft, Placed, StoreError};

/// Number of pieces read ahead of the writer.
const READ_AHEAD: usize = 2;

/// File with a key of the new store.
pub(super) fn file(key: FileKey) -> FileId {
    FileId(key.0 - 1)
}

/// Key of a file in the new store.
pub(super) fn key(file: FileId) -> FileKey {
    FileKey(file.0 + 1)
}

/// Facts of a file, as far as `part` selects them.
pub(super) fn read_facts(
    bytes: &[u8],
    words: &[&str],
    part: fn(&mut Reader<'_>) -> Option<FileFacts>,
) -> FileFacts {
    let mut reader = Reader::new(bytes, words);
    segment_block::read_head(&mut reader)
        .and_then(|_| part(&mut reader))
        .expect("the draft gives what was written")
}

/// Metadata of a file while its facts are on disk.
pub(super) struct Metadata {
    path: RepoPath,
    stamp: FileStamp,
    language: Option<LanguageId>,
    skipped: Option<SkipReason>,
}

impl Metadata {
    pub(super) fn of(FileRecord { path, stamp, language, content }: FileRecord) -> Self {
        Self { path, stamp, language, skipped: content.err() }
    }
}

/// Reads complete files from disk.
pub(super) struct Reading<'d> {
    pub(super) draft: &'d Draft,
    pub(super) files: Vec<Metadata>,
    pub(super) ranges: Vec<Range<usize>>,
    pub(super) facts: Vec<Placed>,
    pub(super) found: Vec<Placed>,
    pub(super) foreign_relations: FxHashMap<FileId, Vec<Relation>>,
}

type Results = Vec<(FileRecord, FileResolution)>;

impl Reading<'_> {
    /// Passes all files to `write` in order. Another thread reads ahead.
    pub(super) fn ahead<T>(
        &self,
        root: &Path,
        write: impl FnOnce(
            &mut dyn Iterator<Item = Result<(FileRecord, FileResolution), StoreError>>,
        ) -> T,
    ) -> Result<T, IndexError> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(READ_AHEAD);
            let read = move || {
                for number in 0..self.ranges.len() {
                    // The receiver is gone after a write error.
                    if sender.send(self.piece(number)).is_err() {
                        break;
                    }
                }
            };
            let failed = |error: std::io::Error| IndexError::Threads {
                threads: 1,
                root: root.into(),
                reason: error.to_string(),
            };
            Builder::new()
                .name("index-reader".to_owned())
                .spawn_scoped(scope, read)
                .map_err(failed)?;
            Ok(write(&mut one_by_one(receiver)))
        })
    }

    fn piece(&self, number: usize) -> Result<Results, StoreError> {
        let _span = tracing::trace_span!("read back").entered();
        let (facts, found) =
            (self.draft.piece(self.facts[number])?, self.draft.piece(self.found[number])?);
        let broken = "the draft gives what was written";
        let (facts, found) =
            (Opened::read(&facts).expect(broken), Opened::read(&found).expect(broken));
        let mut entries = facts.entries.iter().zip(&found.entries).peekable();
        let whole = |place: usize| {
            let head = &self.files[place];
            let of_file = entries.next_if(|(facts, _)| facts.key == key(FileId::at(place)));
            let (content, resolution) = match (of_file, head.skipped) {
                (Some((own, other)), _) => {
                    let mut reader = Reader::new(other.found, &found.words);
                    let resolution =
                        packed::graph::read(&mut reader, &|key| Some(file(key))).expect(broken);
                    let content = read_facts(own.facts, &facts.words, packed::facts::read_stored);
                    (
                        Ok(Arc::new(content)),
                        self.with_foreign_relations(FileId::at(place), resolution),
                    )
                }
                (None, skipped) => (
                    Err(skipped.expect("a file without facts was skipped")),
                    FileResolution::default(),
                ),
            };
            let record = FileRecord {
                path: head.path.clone(),
                stamp: head.stamp,
                language: head.language,
                content,
            };
            (record, resolution)
        };
        Ok(self.ranges[number].clone().map(whole).collect())
    }

    /// Collects the relations that start in a file, whichever file declares them.
    fn with_foreign_relations(&self, file: FileId, mut found: FileResolution) -> FileResolution {
        found.relations.retain(|relation| relation.from.file == file);
        if let Some(foreign_relations) = self.foreign_relations.get(&file) {
            found.relations.extend(foreign_relations);
            found.relations.sort_unstable();
            found.relations.dedup();
        }
        found
    }
}

/// Iterates over the files of pieces.
fn one_by_one(
    pieces: Receiver<Result<Results, StoreError>>,
) -> impl Iterator<Item = Result<(FileRecord, FileResolution), StoreError>> {
    pieces.into_iter().flat_map(|piece| {
        let (files, failed) = match piece {
            Ok(files) => (files, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        files.into_iter().map(Ok).chain(failed)
    })
}
