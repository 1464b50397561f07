//! Import closure: the files reachable from a file over imports. Closures of files with many
//! importers, and of a sample of all others, are memoized on first use and joined into the closures
//! of their importers.

use crate::units::footprint::{FileSet, SparseFileSet};
use cograph_model::graph::FileId;
use std::sync::OnceLock;

/// Minimum number of importers of a memoized file.
const MIN_IMPORTERS: u32 = 8;

/// Sampling interval of other memoized files: bounds the length of paths without a memo.
const LANDMARK_INTERVAL: usize = 64;

/// Memo by file: empty until computed; `None` for files without a memo.
#[derive(Debug, Default)]
pub(crate) struct ImportClosures(Vec<Option<OnceLock<SparseFileSet>>>);

impl ImportClosures {
    /// Creates empty memos for a number of files with these imports.
    pub(crate) fn new(files: usize, imports: impl Iterator<Item = FileId>) -> Self {
        let mut importers = vec![0; files];
        imports.for_each(|imported| importers[imported.0 as usize] += 1);
        let has_memo = |(file, count): (usize, u32)| {
            count >= MIN_IMPORTERS || (count > 0 && file.is_multiple_of(LANDMARK_INTERVAL))
        };
        Self(
            importers
                .into_iter()
                .enumerate()
                .map(|file| has_memo(file).then(OnceLock::new))
                .collect(),
        )
    }

    /// Returns the files reachable from a file, including itself. `next_to` returns the direct
    /// neighbours of a file.
    pub(crate) fn from<I: Iterator<Item = FileId>>(
        &self,
        file: FileId,
        next_to: &impl Fn(FileId) -> I,
    ) -> FileSet {
        let (reached, open) = self.follow(file, next_to);
        // The most distant first: the closures of the others join theirs.
        for landmark in open.into_iter().rev() {
            if let Some(shared) = self.shared(landmark) {
                shared.get_or_init(|| SparseFileSet::of(&self.follow(landmark, next_to).0));
            }
        }
        reached
    }

    fn shared(&self, file: FileId) -> Option<&OnceLock<SparseFileSet>> {
        self.0.get(file.0 as usize)?.as_ref()
    }

    /// Traverses imports up to memoized closures. Also returns visited files with an empty memo.
    fn follow<I: Iterator<Item = FileId>>(
        &self,
        file: FileId,
        next_to: &impl Fn(FileId) -> I,
    ) -> (FileSet, Vec<FileId>) {
        let (mut waiting, mut reached, mut open) = (vec![file], FileSet::default(), Vec::new());
        reached.insert(file);
        while let Some(next) = waiting.pop() {
            for neighbour in next_to(next) {
                if reached.contains(neighbour) {
                    continue;
                }
                let shared = self.shared(neighbour);
                match shared.and_then(OnceLock::get) {
                    Some(known) => reached.join(known),
                    None => {
                        reached.insert(neighbour);
                        waiting.push(neighbour);
                        open.extend(shared.is_some().then_some(neighbour));
                    }
                }
            }
        }
        (reached, open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files in two rings; those of the second also import one of the first, and all of both rings
    /// import two files more.
    fn imports(file: u32) -> Vec<FileId> {
        let ring = |first: u32| first + (file - first + 1) % 100;
        let found = match file {
            0..100 => vec![ring(0), 300, 301],
            100..200 => vec![ring(100), file - 100, 300, 301],
            300 => vec![302],
            301 => vec![303],
            303 => vec![301],
            _ => vec![],
        };
        found.into_iter().map(FileId).collect()
    }

    fn reached_one_by_one(file: FileId) -> Vec<FileId> {
        let mut reached = vec![file];
        let mut next = 0;
        while let Some(file) = reached.get(next).copied() {
            let new: Vec<FileId> =
                imports(file.0).into_iter().filter(|file| !reached.contains(file)).collect();
            reached.extend(new);
            next += 1;
        }
        reached.sort_unstable();
        reached
    }

    #[test]
    fn memoized_closures_are_joined() {
        let reach = ImportClosures::new(310, (0..310).flat_map(imports));
        let memos = [0, 64, 128, 192, 300, 301].map(|file: usize| reach.0[file].is_some());
        assert!(
            memos.iter().all(|has| *has) && reach.0.iter().flatten().count() == 6,
            "two files that many import, and landmarks"
        );
        let next_to = |file: FileId| imports(file.0).into_iter();
        for file in [301, 0, 99, 150, 302, 305, 0].map(FileId) {
            assert_eq!(
                reach.from(file, &next_to).iter().collect::<Vec<_>>(),
                reached_one_by_one(file),
                "from {file:?}"
            );
        }
        assert!(reach.0.iter().flatten().all(|shared| shared.get().is_some()));
    }

    #[test]
    fn long_import_chains_are_memoized() {
        let steps = std::cell::Cell::new(0_u64);
        let next_to = |file: FileId| {
            steps.set(steps.get() + 1);
            (file.0 < 9_999).then(|| FileId(file.0 + 1)).into_iter()
        };
        let reach = ImportClosures::new(10_000, (1..10_000).map(FileId));
        for file in (0..10_000).map(FileId) {
            assert_eq!(reach.from(file, &next_to).iter().count(), 10_000 - file.0 as usize);
        }
        assert!(
            steps.get() < 10_000 * 100,
            "a step for each pair of files would be fifty million: {}",
            steps.get()
        );
    }
}
