//! Changes of files: what has changed, and each changed file with its states before and after.

use crate::files::project_file::ProjectFile;
use crate::units::partition::Shared;
use crate::units::prepared::{Content, FileSummary};
use crate::workspace::postings::Own;
use cograph_grammar::Language;
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileKey};
use cograph_model::{LanguageId, RepoPath};
use std::sync::Arc;

/// Change of files.
#[derive(Debug)]
pub struct Change {
    /// All files, if paths were added or removed.
    pub listing: Option<Listing>,
    /// New and modified files.
    pub changed: Vec<Changed>,
    /// Project files of module systems, if they have changed.
    pub project_files: Option<Vec<ProjectFile>>,
}

/// All files of a repository with their keys, sorted by path.
#[derive(Debug)]
pub struct Listing(pub Vec<(RepoPath, FileKey)>);

/// Current state of a changed file.
#[derive(Debug)]
pub struct Changed {
    /// File id after the change.
    pub file: FileId,
    /// Language, all facts and the extent of their exported part; `None` for a file without facts.
    pub content: Option<(LanguageId, Arc<FileFacts>, Shared)>,
}

/// Changed file with its states before and after.
pub(super) struct Replaced {
    pub(super) file: FileId,
    pub(super) key: FileKey,
    pub(super) path: RepoPath,
    pub(super) was: Option<(FileSummary, Vec<Own>)>,
    pub(super) is: Option<(FileSummary, Content, Vec<Own>)>,
    /// Part of the change that is visible to other files.
    pub(super) seen: VisibleChange,
}

/// Part of a file's change that is visible to other files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VisibleChange {
    Nothing,
    /// Trailing functions, which other files find by name.
    Functions,
    Anything,
}

impl Replaced {
    pub(super) fn heads(&self) -> (Option<&FileSummary>, Option<&FileSummary>) {
        (self.was.as_ref().map(|(head, _)| head), self.is.as_ref().map(|(head, ..)| head))
    }

    /// True if the file was added, removed or moved from the view of module systems.
    pub(super) fn is_moved(&self) -> bool {
        match self.heads() {
            (Some(was), Some(is)) => {
                !std::ptr::eq(was.language, is.language)
                    || was.package != is.package
                    || was.further != is.further
                    || was.everywhere != is.everywhere
            }
            (was, is) => was.is_some() != is.is_some(),
        }
    }

    pub(super) fn languages(&self) -> impl Iterator<Item = &'static Language> + use<> {
        let (was, is) = self.heads();
        [was, is].map(|head| head.map(|head| head.language)).into_iter().flatten()
    }
}
