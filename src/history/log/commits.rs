//! Commits of the files of a repository, and the texts in them.

use rustc_hash::FxHashMap;

/// Maximum size of the paths of one commit; one with more files is a reformat, a move or a release.
pub(crate) const MAX_FILES: usize = 30;

/// Name of a commit, as git writes it.
pub(crate) type CommitId = Box<str>;

/// Commit with its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Commit {
    pub(crate) id: CommitId,
    pub(crate) time: u64,
    pub(crate) author: u32,
    /// Positions among the paths; not kept of a commit with too many.
    pub(crate) files: Vec<u32>,
    /// Number of files.
    pub(crate) count: u32,
    /// Renames: old path, new path.
    pub(crate) renames: Vec<(u32, u32)>,
}

/// History of a repository from one commit, the newest commit first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    /// Directory of the repository that the paths are relative to, as git names it.
    pub(crate) prefix: String,
    /// The commit that it was read from.
    pub(crate) head: String,
    /// True if the log was read to its beginning.
    pub(crate) is_whole: bool,
    /// True if the clone is shallow.
    pub(crate) is_shallow: bool,
    pub(crate) commits: Vec<Commit>,
    pub(crate) paths: TextTable,
    pub(crate) authors: TextTable,
}

/// Distinct texts by position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TextTable {
    pub(crate) texts: Vec<Box<str>>,
    pub(crate) known: FxHashMap<Box<str>, u32>,
}

impl TextTable {
    pub(crate) fn add(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let key = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.into());
        self.known.insert(text.into(), key);
        key
    }
}
