//! Manifests of a repository that were read: one is read again when its stamp is another.

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::content::Manifest;
use cograph_model::RepoPath;
use cograph_model::graph::FileStamp;

/// Maximum number of manifests of a repository that are kept.
pub const MAX_KEPT_MANIFESTS: usize = 4000;

/// Manifests by path, each with the stamp that its file had before it was read.
#[derive(Default)]
pub struct KeptManifests(Mutex<FxHashMap<String, (FileStamp, Arc<Manifest>)>>);

/// Files of a repository, as manifests are read from them.
#[derive(Clone, Copy)]
pub struct ManifestFiles<'r> {
    /// Reads a file; none if there is none that can be read.
    pub read: &'r dyn Fn(&RepoPath) -> Option<Vec<u8>>,
    /// Stamp of a file; none if there is none.
    pub stamp: &'r dyn Fn(&RepoPath) -> Option<FileStamp>,
    /// Manifests that were read before.
    pub kept: &'r KeptManifests,
}

impl ManifestFiles<'_> {
    /// The manifest at a path: the one that was read before, unless the file may have changed.
    pub(super) fn manifest(
        &self,
        path: &str,
        parse: impl FnOnce(&[u8]) -> Manifest,
    ) -> Option<Arc<Manifest>> {
        let file = RepoPath::new(path)?;
        let stamp = (self.stamp)(&file)?;
        let known = self.kept.0.lock().get(path).cloned();
        if let Some((of_known, manifest)) = known
            && stamp.suggests_same_bytes(&of_known)
        {
            return Some(manifest);
        }
        let manifest = Arc::new(parse(&(self.read)(&file)?));
        let mut kept = self.kept.0.lock();
        if kept.len() >= MAX_KEPT_MANIFESTS {
            kept.clear();
        }
        kept.insert(path.to_owned(), (stamp, Arc::clone(&manifest)));
        Some(manifest)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_manifest_is_read_again_when_its_stamp_is_another() {
        let (reads, changed) = (Cell::new(0), Cell::new(Some(1)));
        let read = |_: &RepoPath| {
            reads.set(reads.get() + 1);
            Some(Vec::new())
        };
        let stamp = |_: &RepoPath| {
            changed.get().map(|changed_ns| FileStamp { changed_ns, ..FileStamp::default() })
        };
        let kept = KeptManifests::default();
        let files = ManifestFiles { read: &read, stamp: &stamp, kept: &kept };
        let check = |expected: Option<usize>| {
            let found = files.manifest("a.toml", |_| Manifest::default());
            assert_eq!(found.map(|_| reads.get()), expected);
        };
        check(Some(1));
        check(Some(1));
        changed.set(Some(2));
        check(Some(2));
        changed.set(Some(cograph_model::graph::UNTRUSTED_TIME));
        check(Some(3));
        check(Some(4));
        changed.set(None);
        check(None);
    }
}
