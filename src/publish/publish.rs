//! Publication of a store as the state of a commit: new pieces, then the manifest, then the
//! reference of the branch. Until the reference is swapped nothing is visible, so that a publisher
//! may end at any moment.

use std::time::{Duration, SystemTime};

use cograph_store::{Departure, FORMAT};
use object_store::path::Path;

use crate::compression::compress;
use crate::digest::Digest;
use crate::error::PublishError;
use crate::layout::{self, LAYOUT};
use crate::manifest::{MAX_MANIFEST, MAX_STORE, Manifest, Piece};
use crate::plan::FilePlan;
use crate::reference::{PublishedCommit, Reference, now};
use crate::remote::{Remote, Writes};

/// Time for which objects that no reference names are kept: longer than a publication or a pull.
pub const GRACE: Duration = Duration::from_secs(24 * 3_600);
/// Maximum number of references that are read.
pub const MAX_REFERENCES: usize = 10_000;

/// What is published.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'p> {
    /// Commit.
    pub commit: &'p str,
    /// Branch.
    pub branch: &'p str,
    /// Version of the program.
    pub program: &'p str,
}

/// What was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Bytes of the objects that were written, the reference left out.
    pub bytes: u64,
    /// New pieces.
    pub new_pieces: usize,
    /// Pieces of the manifest.
    pub pieces: usize,
    /// Bytes of all pieces, compressed: what a pull reads.
    pub stored: u64,
    /// Bytes of the store.
    pub store: u64,
}

/// Publishes a store.
pub fn publish(
    remote: &Remote,
    departure: &Departure,
    publication: &Publication<'_>,
) -> Result<Sent, PublishError> {
    let invalid = || PublishError::Nothing("the branch has no name for an object".to_owned());
    let fingerprint = departure.fingerprint();
    let reference =
        layout::branch(remote.base(), fingerprint, publication.branch).ok_or_else(invalid)?;
    let earlier = earlier(remote, &reference, fingerprint)?;
    let mut writes = remote.writes();
    let mut new_pieces = 0;
    let manifest =
        compose(remote, departure, publication, earlier.as_ref(), &mut writes, &mut new_pieces)?;
    let encoded = manifest.encoded();
    if manifest.bytes() > MAX_STORE || encoded.len() > MAX_MANIFEST {
        return Err(PublishError::Nothing("the index is too large to be published".to_owned()));
    }
    let digest = Digest::of(&encoded);
    // A manifest is visible with its pieces only.
    let sent = writes.finish()?;
    let mut writes = remote.writes();
    let path = layout::manifest(remote.base(), digest);
    if !is_recent(remote, &path)? {
        writes.put(path, encoded)?;
    }
    let bytes = sent + writes.finish()?;
    remote.swap(&reference, |known| {
        let is_newest = known
            .commits
            .first()
            .is_some_and(|newest| newest.commit == publication.commit && newest.manifest == digest);
        if !is_newest {
            let (commit, time) = (publication.commit.to_owned(), now());
            known.add(PublishedCommit { commit, manifest: digest, time });
        }
    })?;
    Ok(Sent {
        bytes,
        new_pieces,
        pieces: manifest.pieces.len(),
        stored: manifest.pieces.iter().map(|piece| u64::from(piece.stored)).sum(),
        store: manifest.bytes(),
    })
}

/// Manifest of the store; its new pieces are written.
fn compose(
    remote: &Remote,
    departure: &Departure,
    publication: &Publication<'_>,
    earlier: Option<&Manifest>,
    writes: &mut Writes<'_>,
    new_pieces: &mut usize,
) -> Result<Manifest, PublishError> {
    let local = |error| PublishError::Local { attempt: "compressing a piece", error };
    let mut emit = |units: Vec<u8>| -> Result<Piece, PublishError> {
        let (piece, stored) = compress(&units).map_err(local)?;
        let path = layout::piece(remote.base(), piece.digest);
        if !is_recent(remote, &path)? {
            writes.put(path, stored)?;
        }
        *new_pieces += 1;
        Ok(piece)
    };
    let (mut pieces, mut files) = (Vec::new(), Vec::new());
    for (part, file) in departure.files() {
        let plan = FilePlan::of(part, file, earlier)?;
        files.push(plan.complete(file, earlier, &mut pieces, &mut emit)?);
    }
    Ok(Manifest {
        layout: LAYOUT,
        format: FORMAT,
        fingerprint: departure.fingerprint(),
        program: publication.program.to_owned(),
        commit: publication.commit.to_owned(),
        pieces,
        files,
    })
}

/// True if an object was written so recently that no retention removes it meanwhile. Another one is
/// written again, which renews its time.
fn is_recent(remote: &Remote, path: &Path) -> Result<bool, PublishError> {
    let modified = remote.modified(path)?;
    let age = modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    Ok(age.is_some_and(|age| age < GRACE / 2))
}

/// Manifest to compare with: the newest of the branch, otherwise the newest of another branch. A
/// manifest that cannot be read is left out: everything is published anew.
fn earlier(
    remote: &Remote,
    own: &Path,
    fingerprint: u64,
) -> Result<Option<Manifest>, PublishError> {
    let mut newest = newest_of(remote.reference(own)?);
    if newest.is_none() {
        let (others, _) = remote.list(&layout::branches_of(remote.base(), fingerprint))?;
        for other in others.into_iter().take(MAX_REFERENCES) {
            let found = newest_of(remote.reference(&other.path)?);
            newest = newest.max(found);
        }
    }
    let Some((_, digest)) = newest else { return Ok(None) };
    let found = read_manifest(remote, digest).ok().flatten();
    Ok(found.filter(|found| (found.fingerprint, found.format) == (fingerprint, FORMAT)))
}

fn newest_of(reference: Option<Reference>) -> Option<(u64, Digest)> {
    let newest = reference?.commits.into_iter().next()?;
    Some((newest.time, newest.manifest))
}

/// Reads and verifies a manifest; none if it does not exist.
pub(crate) fn read_manifest(
    remote: &Remote,
    digest: Digest,
) -> Result<Option<Manifest>, PublishError> {
    let path = layout::manifest(remote.base(), digest);
    let damaged = |reason: String| PublishError::Damaged { object: path.to_string(), reason };
    let Some(bytes) = remote.get(&path, MAX_MANIFEST)? else { return Ok(None) };
    if Digest::of(&bytes) != digest {
        return Err(damaged("its digest is another".to_owned()));
    }
    Manifest::decoded(&bytes).map(Some).map_err(damaged)
}
