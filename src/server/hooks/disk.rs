//! Files of an indexed repository as they are on disk, up to a size of all together: what is not
//! read is counted, and answers leave it out.

use cograph_config::Limits;
use cograph_model::RepoPath;
use cograph_model::change::{CallShapes, has_word};
use cograph_model::graph::FileStamp;
use cograph_query::impact::OnDisk;
use cograph_source::{self as source, Root};
use cograph_store::Snapshot;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Maximum number of files of a folder that are compared with the index.
const MAX_SIDE_FILES: usize = 500;

/// Maximum size of the edited file and of those together whose calls are read: a fiftieth of a
/// second.
const MAX_READ: u64 = 192 << 10;

/// Disk of a repository around an edited file.
pub(super) struct Disk<'d> {
    pub(super) root: &'d Root,
    pub(super) snapshot: &'d Snapshot,
    pub(super) limits: &'d Limits,
    /// The edited file.
    pub(super) path: &'d RepoPath,
    /// Whether the index has the text of a file.
    pub(super) known: RefCell<BTreeMap<RepoPath, bool>>,
    /// Texts of files that the index does not have, of the folder of the edited file.
    pub(super) siblings: RefCell<Option<Vec<Vec<u8>>>>,
    /// Size of the files that were read, the edited one among them.
    pub(super) read: Cell<u64>,
    /// True if a file was not read, because all together would be too large.
    pub(super) is_cut: Cell<bool>,
}

impl Disk<'_> {
    /// Number of files that have changed since the index was made, of those that were asked for.
    pub(super) fn changed(&self) -> usize {
        self.known.borrow().values().filter(|is_same| !**is_same).count()
    }

    /// True if a file has the stamp of the index, or its contents.
    fn is_same(&self, path: &RepoPath) -> bool {
        let Ok(Some(row)) = self.snapshot.file_at(path.as_str()) else { return false };
        let known = row.stamp();
        let Some(now) = self.root.stat(path) else { return false };
        let times =
            |stamp: &FileStamp| (stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.inode);
        times(&known) == times(&now)
            || known.size == now.size
                && source::read(self.root, path, self.limits).stamp.hash == known.hash
    }

    fn sibling_texts(&self) -> Vec<Vec<u8>> {
        let extension = self.path.extension();
        let files = self.root.files_in(self.path.directory(), MAX_SIDE_FILES).into_iter();
        let files = files.filter(|file| file != self.path && file.extension() == extension);
        files
            .filter(|file| !self.is_same(file))
            .filter_map(|file| source::read(self.root, &file, self.limits).text.ok())
            .map(|text| text.bytes)
            .collect()
    }
}

impl OnDisk for Disk<'_> {
    fn is_unchanged(&self, path: &RepoPath) -> bool {
        if let Some(&known) = self.known.borrow().get(path) {
            return known;
        }
        let is_same = self.is_same(path);
        self.known.borrow_mut().insert(path.clone(), is_same);
        is_same
    }

    fn calls(&self, path: &RepoPath) -> CallShapes {
        if !self.is_unchanged(path) {
            return CallShapes::new();
        }
        let size = self.root.stat(path).map_or(0, |stamp| stamp.size);
        if self.read.get() + size > MAX_READ {
            self.is_cut.set(true);
            return CallShapes::new();
        }
        self.read.set(self.read.get() + size);
        let text = source::read(self.root, path, self.limits).text;
        text.map(|text| cograph_history::calls(path, &text.bytes)).unwrap_or_default()
    }

    fn has_new(&self, name: &str) -> bool {
        if self.siblings.borrow().is_none() {
            let texts = self.sibling_texts();
            *self.siblings.borrow_mut() = Some(texts);
        }
        self.siblings.borrow().iter().flatten().any(|text| has_word(text, name))
    }
}
