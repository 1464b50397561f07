//! Pull of a published store: the newest ancestor that a reference has, its pieces, each verified,
//! and the whole. The present store is replaced at the end, or not at all.

use cograph_store::{Arrival, FORMAT, WriterLock};
use cograph_system::positioned::write_all_at;
use object_store::path::Path;

use crate::compression::decompress;
use crate::digest::{Digest, read_units};
use crate::error::PublishError;
use crate::layout;
use crate::manifest::{FileMap, Manifest, part_of, unit_of};
use crate::publish::{MAX_REFERENCES, read_manifest};
use crate::remote::Remote;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// The commit of the checkout and its ancestors, newest first.
    pub ancestors: &'w [String],
    /// Branches whose references are read if they cannot be listed, or if only these are wanted.
    pub branches: &'w [String],
    /// True if no other branches are wanted.
    pub only_these: bool,
    /// Fingerprint of what an index here is built from.
    pub fingerprint: u64,
}

/// Published store that fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ancestor {
    /// Commit.
    pub commit: String,
    /// Number of commits of the checkout that it does not have.
    pub behind: usize,
    manifest: Digest,
}

/// What was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulled {
    /// Generation of the new store.
    pub generation: u64,
    /// Bytes of the store.
    pub store: u64,
    /// Bytes of the objects that were read.
    pub bytes: u64,
    /// Pieces.
    pub pieces: usize,
    /// Version of the program that built it.
    pub program: String,
}

/// Finds the newest published ancestor.
pub fn find(remote: &Remote, wanted: &Wanted<'_>) -> Result<Ancestor, PublishError> {
    let references = references(remote, wanted)?;
    let mut best: Option<Ancestor> = None;
    let mut count = 0_usize;
    for path in references {
        let Some(reference) = remote.reference(&path)? else { continue };
        count += reference.commits.len();
        let reach = best.as_ref().map_or(wanted.ancestors.len(), |best| best.behind);
        let found = wanted.ancestors[..reach].iter().enumerate().find_map(|(behind, commit)| {
            let known = reference.commits.iter().find(|known| known.commit == *commit)?;
            Some(Ancestor { commit: commit.clone(), behind, manifest: known.manifest })
        });
        best = found.or(best);
    }
    best.ok_or_else(|| {
        PublishError::Nothing(if count == 0 {
            "nothing is published for this version and these settings of cograph".to_owned()
        } else {
            format!("none of the {count} published commits is an ancestor of the checkout")
        })
    })
}

/// References to read.
fn references(remote: &Remote, wanted: &Wanted<'_>) -> Result<Vec<Path>, PublishError> {
    if remote.lists() && !wanted.only_these {
        let (listed, _) = remote.list(&layout::branches_of(remote.base(), wanted.fingerprint))?;
        return Ok(listed.into_iter().map(|found| found.path).take(MAX_REFERENCES).collect());
    }
    let named = wanted.branches.iter();
    Ok(named.filter_map(|name| layout::branch(remote.base(), wanted.fingerprint, name)).collect())
}

/// Reads a published store, and makes it the newest of a repository.
pub fn pull(
    remote: &Remote,
    found: &Ancestor,
    fingerprint: u64,
    lock: &WriterLock,
) -> Result<Pulled, PublishError> {
    let named = || layout::manifest(remote.base(), found.manifest).to_string();
    let damaged = |reason: &str| PublishError::Damaged { object: named(), reason: reason.into() };
    let manifest = read_manifest(remote, found.manifest)?;
    let manifest = manifest.ok_or_else(|| damaged("it does not exist"))?;
    if (manifest.fingerprint, manifest.format) != (fingerprint, FORMAT) {
        return Err(damaged("its store is of another version or other settings"));
    }
    if manifest.commit != found.commit {
        return Err(damaged("it is of another commit"));
    }
    let mut bytes = 0;
    let identity = Arrival::accept(lock, fingerprint, manifest.files.len() > 1, |arrival| {
        bytes = read_pieces(remote, &manifest, arrival)?;
        for file in &manifest.files {
            let own =
                part_of(file.part).and_then(|part| Some((arrival.file(part)?, unit_of(part))));
            let (own, unit) = own.ok_or_else(|| damaged("a file has an unknown part"))?;
            let digest = read_units(own, file.bytes, unit, |_| {}).map_err(|error| {
                PublishError::Local { attempt: "reading what was pulled", error }
            })?;
            if digest != file.digest {
                return Err(damaged("the digest of a file is another"));
            }
        }
        Ok(())
    })?;
    Ok(Pulled {
        generation: identity.generation,
        bytes,
        pieces: manifest.pieces.len(),
        store: manifest.bytes(),
        program: manifest.program,
    })
}

/// Reads all pieces, and writes each unit to its place; returns their bytes.
fn read_pieces(
    remote: &Remote,
    manifest: &Manifest,
    arrival: &Arrival,
) -> Result<u64, PublishError> {
    let mut places: Vec<Vec<UnitTarget>> = vec![Vec::new(); manifest.pieces.len()];
    for file in &manifest.files {
        add_places(file, &mut places);
    }
    let wanted = manifest
        .pieces
        .iter()
        .map(|piece| (layout::piece(remote.base(), piece.digest), piece.stored as usize));
    let mut bytes = 0;
    remote.get_all(wanted, |at, path, stored| {
        bytes += stored.len() as u64;
        let damaged = |reason: String| PublishError::Damaged { object: path.to_string(), reason };
        let units = decompress(&manifest.pieces[at], &stored).map_err(damaged)?;
        for place in &places[at] {
            let from = units
                .get(place.start..place.start + place.length)
                .ok_or_else(|| damaged("a run leaves it".to_owned()))?;
            let file = part_of(place.part).and_then(|part| arrival.file(part));
            let file = file.ok_or_else(|| damaged("it is of no file".to_owned()))?;
            write_all_at(file, from, place.offset).map_err(|error| PublishError::Local {
                attempt: "writing what was pulled",
                error,
            })?;
        }
        Ok(())
    })?;
    Ok(bytes)
}

/// Where bytes of a piece go.
#[derive(Clone, Copy, Debug)]
struct UnitTarget {
    part: u8,
    /// Offset in the piece.
    start: usize,
    length: usize,
    /// Offset in the file.
    offset: u64,
}

fn add_places(file: &FileMap, places: &mut [Vec<UnitTarget>]) {
    let unit = part_of(file.part).map_or(1, unit_of);
    let mut offset = 0_u64;
    for run in &file.runs {
        let whole = run.count as usize * unit;
        let length = usize::try_from(file.bytes - offset).map_or(whole, |rest| rest.min(whole));
        let start = run.start as usize * unit;
        places[run.piece as usize].push(UnitTarget { part: file.part, start, length, offset });
        offset += length as u64;
    }
}
