//! Retention: old commits leave their reference, and what no reference names is removed after a
//! time in which publishers and pulls that began before have ended.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use object_store::path::Path;

use crate::digest::Digest;
use crate::error::PublishError;
use crate::layout;
use crate::publish::{GRACE, MAX_REFERENCES, read_manifest};
use crate::reference::now;
use crate::remote::Remote;

/// Age after which the commits of a branch that is published no more are retired.
const UNUSED: Duration = Duration::from_secs(90 * 24 * 3_600);

/// What is kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Commits of each branch.
    pub commits: usize,
    /// Time for which objects that no reference names are kept.
    pub grace: Duration,
}

impl Retention {
    /// This number of commits of each branch, and objects for the usual time.
    pub fn of(commits: usize) -> Self {
        Self { commits, grace: GRACE }
    }
}

/// What was removed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Removed {
    /// Manifests.
    pub manifests: usize,
    /// Pieces.
    pub pieces: usize,
}

/// Removes what is not kept. Any number of publishers may work at the same time: a manifest that
/// leaves its reference, and its pieces, are kept for the grace period.
pub fn retain(remote: &Remote, retention: &Retention) -> Result<Removed, PublishError> {
    let time = now();
    let grace = retention.grace.as_secs();
    let mut named = BTreeSet::new();
    let (_, fingerprints) = remote.list(&layout::branches(remote.base()))?;
    let mut count = 0;
    for directory in fingerprints {
        let (references, _) = remote.list(&directory)?;
        count += references.len();
        if count > MAX_REFERENCES {
            let reason = "there are too many references to know what is in use".to_owned();
            return Err(PublishError::Damaged { object: directory.to_string(), reason });
        }
        for reference in references {
            let kept = remote.swap(&reference.path, |known| {
                known.keep(retention.commits, time);
                known.retire_before(time.saturating_sub(UNUSED.as_secs()), time);
                known.forget_before(time.saturating_sub(grace));
            })?;
            named.extend(kept.manifests());
        }
    }
    let mut used = BTreeSet::new();
    for digest in &named {
        // Of a manifest that cannot be read nothing is known: nothing is removed.
        let manifest = read_manifest(remote, *digest)?;
        let pieces = manifest.into_iter().flat_map(|manifest| manifest.pieces);
        used.extend(pieces.map(|piece| piece.digest));
    }
    let mut removed = Removed::default();
    let (manifests, _) = remote.list(&layout::manifests(remote.base()))?;
    let old = unnamed(manifests, &named, retention.grace);
    removed.manifests = old.len();
    remote.delete(&old)?;
    let (_, directories) = remote.list(&layout::pieces(remote.base()))?;
    for directory in directories {
        let (pieces, _) = remote.list(&directory)?;
        let old = unnamed(pieces, &used, retention.grace);
        removed.pieces += old.len();
        remote.delete(&old)?;
    }
    Ok(removed)
}

/// Objects that are named by a digest of none of these, and older than a time. Others are not
/// ours.
fn unnamed(
    listed: Vec<crate::remote::RemoteObject>,
    known: &BTreeSet<Digest>,
    grace: Duration,
) -> Vec<Path> {
    let now = SystemTime::now();
    let is_old = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age >= grace);
    let is_unnamed = |path: &Path| {
        let digest = path.filename().and_then(Digest::from_hex);
        digest.is_some_and(|digest| !known.contains(&digest))
    };
    listed
        .into_iter()
        .filter(|object| is_old(object.modified) && is_unnamed(&object.path))
        .map(|object| object.path)
        .collect()
}
