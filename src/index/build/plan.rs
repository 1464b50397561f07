//! Plan of a run, before any file is read: languages by name, and statistics of directories for
//! ambiguous extensions.

use rustc_hash::FxHashMap;

use cograph_grammar as grammar;
use cograph_model::{LanguageId, RepoPath};
use cograph_source::{Walk, WalkedFile};

/// Files of a run, sorted by path, and language statistics of their directories.
pub(crate) struct Plan {
    /// Files.
    pub(crate) files: Vec<WalkedFile>,
    /// Indexes into `files`, largest file first.
    pub(super) largest_first: Vec<usize>,
    /// Language statistics of directories.
    neighbours: Neighbours,
}

/// Directory -> number of files per language, counting unambiguous files only.
pub(crate) type Neighbours = FxHashMap<Box<str>, Vec<u32>>;

pub(crate) fn plan(walk: Walk) -> Plan {
    let neighbours = neighbours(walk.files.iter().map(|file| &file.path));
    plan_among(walk.files, neighbours)
}

/// Language statistics of a repository's directories.
pub(crate) fn neighbours<'p>(paths: impl Iterator<Item = &'p RepoPath>) -> Neighbours {
    let languages = grammar::count();
    let mut neighbours = Neighbours::default();
    for path in paths {
        if let Some(language) = certain_language(path, languages) {
            let directory =
                neighbours.entry(Box::from(path.directory())).or_insert_with(|| vec![0; languages]);
            directory[usize::from(language.0)] += 1;
        }
    }
    neighbours
}

/// True if the language of a file depends on its neighbours.
pub(crate) fn is_decided_by_neighbours(path: &RepoPath) -> bool {
    let languages = grammar::count();
    let says = (0..languages).any(|language| {
        let mut others = vec![0; languages];
        others[language] = u32::MAX;
        grammar::detect(path, &[], &others).is_some()
    });
    says && certain_language(path, languages).is_none()
}

/// Plan for some files of a repository.
pub(crate) fn plan_among(files: Vec<WalkedFile>, neighbours: Neighbours) -> Plan {
    let mut largest_first: Vec<usize> = (0..files.len()).collect();
    largest_first.sort_by_key(|&position| std::cmp::Reverse(files[position].stamp.size));
    Plan { files, largest_first, neighbours }
}

impl Plan {
    pub(crate) fn into_neighbours(self) -> Neighbours {
        self.neighbours
    }

    /// Language of a file by path, prefix and directory.
    pub(crate) fn language(&self, path: &RepoPath, head: &[u8]) -> Option<LanguageId> {
        grammar::detect(
            path,
            head,
            self.neighbours.get(path.directory()).map_or(&[], Vec::as_slice),
        )
    }
}

/// Language of a file if its name is unambiguous.
fn certain_language(path: &RepoPath, languages: usize) -> Option<LanguageId> {
    let alone = grammar::detect(path, &[], &[])?;
    let mut others = vec![u32::MAX; languages];
    others[usize::from(alone.0)] = 0;
    (grammar::detect(path, &[], &others) == Some(alone)).then_some(alone)
}
