//! Plan of a publication: which units of a file are in pieces of an earlier manifest, and which go
//! into new ones. Decides by digests; knows no object store.

use std::collections::{HashMap, HashSet};
use std::fs::File;

use cograph_store::Part;
use cograph_system::positioned::read_exact_at;

use crate::digest::{Digest, UnitDigest, read_units};
use crate::error::PublishError;
use crate::manifest::{FileMap, Manifest, PIECE_BYTES, Piece, UnitRun, number_of, unit_of};

const READING: &str = "reading the copy of the store";

/// Place of a unit: piece of a manifest, and unit in the piece.
type Place = (u32, u32);

/// Plan of one file.
#[derive(Debug)]
pub(crate) struct FilePlan {
    part: Part,
    bytes: u64,
    digest: Digest,
    units: Vec<UnitDigest>,
    /// Where each unit is already.
    known: Vec<Option<Place>>,
}

impl FilePlan {
    /// Compares a file with the same part of an earlier manifest.
    pub(crate) fn of(
        part: Part,
        file: &File,
        earlier: Option<&Manifest>,
    ) -> Result<Self, PublishError> {
        let local = |error| PublishError::Local { attempt: READING, error };
        let bytes = file.metadata().map_err(local)?.len();
        let mut units = Vec::new();
        let digest =
            read_units(file, bytes, unit_of(part), |unit| units.push(Digest::of_unit(unit)))
                .map_err(local)?;
        let places = earlier.map(|earlier| places_of(part, earlier)).unwrap_or_default();
        let mut known: Vec<Option<Place>> =
            units.iter().map(|unit| places.get(unit).copied()).collect();
        if let Some(earlier) = earlier {
            drop_sparse(&mut known, earlier, unit_of(part));
        }
        Ok(Self { part, bytes, digest, units, known })
    }

    /// Completes the plan: `emit` takes the units of a new piece and returns the piece.
    pub(crate) fn complete(
        self,
        file: &File,
        earlier: Option<&Manifest>,
        pieces: &mut Vec<Piece>,
        emit: &mut dyn FnMut(Vec<u8>) -> Result<Piece, PublishError>,
    ) -> Result<FileMap, PublishError> {
        let local = |error| PublishError::Local { attempt: READING, error };
        let unit = unit_of(self.part);
        let mut runs = Runs::default();
        let mut kept: HashMap<u32, u32> = HashMap::new();
        let mut waiting: Vec<u8> = Vec::new();
        // The number of the next new piece is known when it is full: its units wait with a mark.
        let mut opened: Vec<Piece> = Vec::new();
        for (at, known) in self.known.iter().enumerate() {
            if let Some((piece, start)) = *known {
                let number = *kept.entry(piece).or_insert_with(|| {
                    let earlier = earlier.expect("known units are of an earlier manifest");
                    pieces.push(earlier.pieces[piece as usize]);
                    index(pieces.len() - 1)
                });
                runs.add(Owner::Kept(number), start);
                continue;
            }
            let start = at as u64 * unit as u64;
            let length = usize::try_from(self.bytes - start).map_or(unit, |rest| rest.min(unit));
            let begin = waiting.len();
            waiting.resize(begin + length, 0);
            read_exact_at(file, &mut waiting[begin..], start).map_err(local)?;
            runs.add(Owner::New(index(opened.len())), index(begin / unit));
            if waiting.len() + unit > PIECE_BYTES {
                opened.push(emit(std::mem::take(&mut waiting))?);
            }
        }
        if !waiting.is_empty() {
            opened.push(emit(waiting)?);
        }
        let numbers: Vec<u32> = opened
            .into_iter()
            .map(|piece| {
                // Equal units give equal pieces.
                let same = pieces.iter().position(|known| known.digest == piece.digest);
                index(same.unwrap_or_else(|| {
                    pieces.push(piece);
                    pieces.len() - 1
                }))
            })
            .collect();
        let Self { part, bytes, digest, units, .. } = self;
        Ok(FileMap { part: number_of(part), bytes, digest, units, runs: runs.finish(&numbers) })
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("the bound of stores leaves fewer pieces and units")
}

/// Where the units of a part are.
fn places_of(part: Part, manifest: &Manifest) -> HashMap<UnitDigest, Place> {
    let Some(file) = manifest.files.iter().find(|file| file.part == number_of(part)) else {
        return HashMap::new();
    };
    let places = file
        .runs
        .iter()
        .flat_map(|run| (run.start..run.start + run.count).map(|start| (run.piece, start)));
    file.units.iter().copied().zip(places).collect()
}

/// Forgets what is in pieces of which less than half is used: they are written anew, so that a
/// pull reads at most twice what it needs.
fn drop_sparse(known: &mut [Option<Place>], earlier: &Manifest, unit: usize) {
    let mut used: HashMap<u32, HashSet<u32>> = HashMap::new();
    for (piece, start) in known.iter().flatten() {
        used.entry(*piece).or_default().insert(*start);
    }
    let is_sparse = |&(piece, _): &Place| {
        used[&piece].len() * 2 * unit < earlier.pieces[piece as usize].bytes as usize
    };
    for place in known.iter_mut() {
        if place.as_ref().is_some_and(is_sparse) {
            *place = None;
        }
    }
}

/// Owner of a run: a piece of the earlier manifest, by its new number, or a new piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Kept(u32),
    New(u32),
}

/// Runs, joined where they are consecutive.
#[derive(Default, Debug)]
struct Runs(Vec<(Owner, u32, u32)>);

impl Runs {
    fn add(&mut self, owner: Owner, start: u32) {
        match self.0.last_mut() {
            Some((last, first, count)) if *last == owner && *first + *count == start => *count += 1,
            _ => self.0.push((owner, start, 1)),
        }
    }

    fn finish(self, new: &[u32]) -> Vec<UnitRun> {
        let numbered = self.0.into_iter().map(|(owner, start, count)| {
            let piece = match owner {
                Owner::Kept(number) => number,
                Owner::New(number) => new[number as usize],
            };
            UnitRun { piece, start, count }
        });
        numbered.collect()
    }
}
