//! Ignore rules outside of the walked tree: the user's git configuration, ignore files above the
//! root, and git's private files of each repository. The metadata of each is recorded, so that
//! changes are detected.

use std::path::{Path, PathBuf};

use super::filter::{self, EXCLUDE, RULES};
use super::stamp;
use cograph_config as config;
use cograph_model::graph::UNTRUSTED_TIME;
use cograph_system::files::{self, FileKind};

/// Paths with their recorded metadata.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Rules(Vec<(PathBuf, Stamped)>);

/// Recorded metadata of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stamped {
    Nothing,
    /// Directory: its contents are irrelevant.
    Directory,
    /// File: device, inode, size, and the times of modification and change.
    File([i64; 5]),
}

impl Rules {
    /// Collects the rules of a repository except those of nested repositories.
    pub(super) fn around(root: &Path) -> Self {
        let mut rules = Self::default();
        for path in config::git_settings() {
            rules.add(path);
        }
        if let Some(path) = filter::global_excludes() {
            rules.add(path);
        }
        rules.add_repository(root);
        // A `.git` above the root determines which rules above the root apply.
        for directory in root.ancestors().skip(1) {
            rules.add_repository(directory);
            if config::enclosing_root(root) != root {
                RULES.iter().for_each(|name| rules.add(directory.join(name)));
            }
        }
        rules
    }

    /// Adds the rules of a directory with a `.git`, or of one that may get one.
    pub(super) fn add_repository(&mut self, directory: &Path) {
        let git = directory.join(".git");
        self.add(git.clone());
        if git.is_dir() {
            return self.add(git.join(EXCLUDE));
        }
        // A linked work tree has the rules of its repository.
        let Ok(Some(link)) = filter::commondir_of(directory) else { return };
        self.add(link.clone());
        if let Ok(Some(common)) = filter::common_of(&link) {
            self.add(common.join(EXCLUDE));
        }
    }

    /// Adds those found in other directories.
    pub fn extend(&mut self, others: Self) {
        for (path, found) in others.0 {
            if !self.0.iter().any(|(known, _)| *known == path) {
                self.0.push((path, found));
            }
        }
    }

    /// True if any of them may have changed, including those changed too recently for their time to
    /// be evidence.
    pub fn have_changed(&self) -> bool {
        self.0.iter().any(|(path, found)| {
            let is_known =
                !matches!(found, Stamped::File([.., changed_ns]) if *changed_ns == UNTRUSTED_TIME);
            !is_known || stamped(path) != *found
        })
    }

    fn add(&mut self, path: PathBuf) {
        let found = stamped(&path);
        self.0.push((path, found));
    }
}

fn stamped(path: &Path) -> Stamped {
    let now = stamp::now_ns();
    let Ok(found) = files::find(path, true) else { return Stamped::Nothing };
    if found.kind == FileKind::Directory {
        return Stamped::Directory;
    }
    let number = |number: u64| i64::from_ne_bytes(number.to_ne_bytes());
    Stamped::File([
        number(found.device),
        number(found.inode),
        number(found.size),
        found.modified_ns,
        stamp::trusted_time(found.changed_ns, now),
    ])
}
