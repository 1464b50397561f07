//! What a resident knows, kept beside the store for other processes: pieces of some files each, in which the facts of a file,
//! what was found for it and what was looked at stand in their compact form. Files are named by their keys in the store.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::pieces::{self, Opened, PieceWriter};
use super::workers::Workers;
use super::{Run, fingerprint, grammar};
use crate::config::Limits;
use crate::model::LanguageId;
use crate::model::graph::{FileId, FileRecord, FileResolution, Relation};
use crate::model::packed::{self, Reader, Writer};
use crate::resolve::{Asked, Name, Names, Prepared, ProjectFile, Tables, WordsOfNames};
use crate::store::{Beside, FileRow, Places};

/// Goes up when pieces, interfaces or the hashes in what was asked mean something else: older ones are not read then.
const ENCODING: u64 = 5;

/// Bytes of source whose facts share a piece: they share its words, and are packed and unpacked as one.
const PIECE_BYTES: u64 = 512 << 10;

/// Stands for what pieces mean, under these limits.
pub(super) fn kind(limits: &Limits) -> u64 {
    fingerprint(limits) ^ ENCODING.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What is known of the files, by position.
#[derive(Clone, Copy)]
pub(super) struct Known<'r> {
    pub(super) files: &'r [FileRecord],
    pub(super) found: &'r [FileResolution],
    /// The relations that each file speaks of.
    pub(super) relations: &'r [Vec<Relation>],
    pub(super) asked: &'r [Asked],
    pub(super) tables: &'r Tables,
    pub(super) project_files: &'r [ProjectFile],
    pub(super) places: &'r Places,
}

/// The files of each piece when all are saved.
pub(super) fn pieces(files: &[FileRecord]) -> Vec<Vec<usize>> {
    let (mut pieces, mut piece, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (place, record) in files.iter().enumerate().filter(|(_, record)| record.content.is_ok()) {
        piece.push(place);
        bytes += record.stamp.size;
        if bytes >= PIECE_BYTES {
            pieces.push(std::mem::take(&mut piece));
            bytes = 0;
        }
    }
    // The last one has what is of no file, too.
    pieces.push(piece);
    pieces
}

impl Known<'_> {
    /// A piece about some files: those of which `has_facts` holds with their facts, the others without. The project files
    /// stand in one piece of those that are saved together.
    pub(super) fn piece(&self, places: &[usize], has_facts: impl Fn(usize) -> bool, has_project_files: bool) -> Vec<u8> {
        let lasting = |file: FileId| self.places.file(file).unwrap_or(u32::MAX);
        let (mut piece, mut words) = (PieceWriter::default(), WordsOfNames::default());
        for &place in places {
            let id = FileId(u32::try_from(place).expect("a repository has far fewer than 2^32 files"));
            let facts = |body: &mut Writer| {
                if let (true, Ok(facts)) = (has_facts(place), &self.files[place].content) {
                    let interface = self.tables.interface(id).expect("files with facts have interfaces");
                    pieces::write_facts(body, &self.files[place].stamp, facts, interface);
                }
            };
            piece.add(lasting(id), facts, |body| {
                let found = FileResolution { relations: self.relations[place].clone(), ..self.found[place].clone() };
                packed::graph::write(body, &found, &lasting);
                self.tables.write_asked(body, &mut words, &self.asked[place], &lasting);
            });
        }
        piece.finish(has_project_files.then_some(self.project_files))
    }
}

/// What was saved, in terms of positions.
pub(super) struct Loaded {
    pub(super) files: Vec<FileRecord>,
    /// With the relations that each file speaks of.
    pub(super) found: Vec<FileResolution>,
    pub(super) asked: Vec<Asked>,
    pub(super) tables: Tables,
    pub(super) project_files: Vec<ProjectFile>,
}

/// A piece with its words.
struct Piece<'p> {
    words: Vec<&'p str>,
    names: Vec<Name>,
}

/// Where something about a file is: in which piece, and its bytes.
type Place<'p> = (usize, &'p [u8]);

/// Reads what is beside a store whose files are `rows`; none if it does not fit them.
pub(super) fn load(beside: &Beside, rows: &[FileRow], run: &Run, workers: &Workers) -> Option<Loaded> {
    let all: Vec<usize> = (0..beside.len()).collect();
    let mut raw = workers.map(&all, run, |number| beside.piece(number));
    raw.sort_unstable_by_key(|(number, _)| *number);
    let raw: Vec<Vec<u8>> =
        raw.into_iter().map(|(_, piece)| piece).collect::<Option<_>>().filter(|raw: &Vec<_>| raw.len() == all.len())?;
    let mut names = Names::default();
    let mut pieces = Vec::with_capacity(raw.len());
    let mut project_files = Vec::new();
    // What comes later replaces what came before.
    let (mut facts, mut found): (FxHashMap<u32, Place<'_>>, FxHashMap<u32, Place<'_>>) = Default::default();
    for (number, raw) in raw.iter().enumerate() {
        let Opened { words, project_files: replaced, entries } = Opened::read(raw)?;
        project_files = replaced.unwrap_or(project_files);
        for entry in entries {
            if !entry.facts.is_empty() {
                facts.insert(entry.key, (number, entry.facts));
            }
            found.insert(entry.key, (number, entry.found));
        }
        let known = words.iter().map(|word| names.intern(word)).collect();
        pieces.push(Piece { words, names: known });
    }
    let positions = rows.iter().zip(0_u32..).map(|(row, position)| (row.key.0, FileId(position)));
    let positions: FxHashMap<u32, FileId> = positions.collect();
    let position = |key: u32| positions.get(&key).copied();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(rows[place].size));
    let mut files = workers.map(&order, run, |place| {
        let row = &rows[place];
        let (facts, found) = (facts.get(&row.key.0).copied(), found.get(&row.key.0).copied());
        read_file(row, &pieces, facts, found, &position)
    });
    files.sort_unstable_by_key(|(place, _)| *place);
    let mut loaded = Loaded {
        files: Vec::with_capacity(rows.len()),
        found: Vec::with_capacity(rows.len()),
        asked: Vec::with_capacity(rows.len()),
        tables: Tables::default(),
        project_files,
    };
    let mut prepared = Vec::with_capacity(rows.len());
    for (_, file) in files {
        let file = file?;
        loaded.files.push(file.record);
        loaded.found.push(file.found);
        loaded.asked.push(file.asked);
        prepared.push(file.prepared);
    }
    if loaded.files.len() != rows.len() {
        return None;
    }
    let made = workers.run(|| Tables::of(&loaded.files, prepared, names, loaded.project_files.clone()));
    loaded.tables = made.ok()?;
    Some(loaded)
}

/// One file as it was saved.
struct Saved {
    record: FileRecord,
    found: FileResolution,
    asked: Asked,
    prepared: Option<Prepared>,
}

fn read_file(
    row: &FileRow,
    pieces: &[Piece<'_>],
    facts: Option<Place<'_>>,
    found: Option<Place<'_>>,
    position: &impl Fn(u32) -> Option<FileId>,
) -> Option<Saved> {
    let language = match row.language {
        Some(key) => Some(LanguageId(u16::try_from(key.0).ok().filter(|&id| usize::from(id) < grammar::all().len())?)),
        None => None,
    };
    let stamp = row.stamp();
    let record = |content| FileRecord { path: row.path.clone(), stamp, language, content };
    if let Some(reason) = row.skipped {
        let (found, asked) = (FileResolution::default(), Asked::default());
        return Some(Saved { record: record(Err(reason)), found, asked, prepared: None });
    }
    let (piece, bytes) = facts?;
    let mut reader = Reader::new(bytes, &pieces[piece].words);
    let (hash, interface) = pieces::read_head(&mut reader)?;
    let (facts, words) = packed::facts::read(&mut reader)?;
    if hash != row.hash || facts.symbols.len() != row.symbols as usize {
        return None;
    }
    let names = words.into_iter().map(|word| pieces[piece].names[word as usize]).collect();
    let prepared = Some(Prepared::of(&facts, names, Some(interface)));
    let (sites, imports) = (facts.sites.len(), facts.imports.len());
    let record = record(Ok(Arc::new(facts)));
    let (piece, bytes) = found?;
    let mut reader = Reader::new(bytes, &pieces[piece].words);
    let found = packed::graph::read(&mut reader, position)?;
    let asked = Asked::read(&mut reader, &pieces[piece].names, position)?;
    (found.sites.len() == sites && found.imports.len() == imports).then_some(Saved { record, found, asked, prepared })
}
