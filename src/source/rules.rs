//! The files that decide what is indexed and that no walk meets: the user's settings of git, rules
//! above the root, and what git keeps for itself of every repository. What was found of each is
//! kept, so that another look tells whether all of them say the same.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::filter::{self, EXCLUDE, RULES};
use super::stamp;
use crate::config;
use crate::model::graph::UNTRUSTED_TIME;

/// See the module.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Rules(Vec<(PathBuf, Stamped)>);

/// What was found at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stamped {
    Nothing,
    /// A directory: what happens in it does not matter.
    Directory,
    /// A file: device, inode, size, and the times of modification and change.
    File([i64; 5]),
}

impl Rules {
    /// The rules that a repository has without those of repositories inside of it.
    pub(super) fn around(root: &Path) -> Self {
        let mut rules = Self::default();
        for path in config::git_settings() {
            rules.add(path);
        }
        if let Some(path) = ignore::gitignore::gitconfig_excludes_path() {
            rules.add(path);
        }
        rules.add_repository(root);
        // A `.git` that comes or goes decides what the rules above the root mean.
        for directory in root.ancestors().skip(1) {
            rules.add_repository(directory);
            if config::enclosing_root(root) != root {
                RULES.iter().for_each(|name| rules.add(directory.join(name)));
            }
        }
        rules
    }

    /// Adds what a directory with a `.git` brings along, or may bring when it has one.
    pub(super) fn add_repository(&mut self, directory: &Path) {
        let git = directory.join(".git");
        self.add(git.clone());
        if git.is_dir() {
            return self.add(git.join(EXCLUDE));
        }
        // A linked work tree: the rules are those of the repository that it belongs to.
        let Ok(Some(link)) = filter::commondir_of(directory) else { return };
        self.add(link.clone());
        if let Ok(Some(common)) = filter::common_of(&link) {
            self.add(common.join(EXCLUDE));
        }
    }

    /// Adds those that were found in other directories.
    pub fn extend(&mut self, others: Self) {
        for (path, found) in others.0 {
            if !self.0.iter().any(|(known, _)| *known == path) {
                self.0.push((path, found));
            }
        }
    }

    /// Whether one of them may say something else now. One that was changed so lately that its time
    /// says nothing does.
    pub fn have_changed(&self) -> bool {
        self.0.iter().any(|(path, found)| {
            let is_known =
                !matches!(found, Stamped::File([.., changed_ns]) if *changed_ns == UNTRUSTED_TIME);
            !is_known || look(path) != *found
        })
    }

    fn add(&mut self, path: PathBuf) {
        let found = look(&path);
        self.0.push((path, found));
    }
}

fn look(path: &Path) -> Stamped {
    let now = stamp::now_ns();
    let Ok(found) = fs::metadata(path) else { return Stamped::Nothing };
    if found.is_dir() {
        return Stamped::Directory;
    }
    let number = |number: u64| i64::from_ne_bytes(number.to_ne_bytes());
    let modified_ns = stamp::nanoseconds(found.mtime(), found.mtime_nsec());
    let changed_ns =
        stamp::trusted_time(stamp::nanoseconds(found.ctime(), found.ctime_nsec()), now);
    Stamped::File([
        number(found.dev()),
        number(found.ino()),
        number(found.len()),
        modified_ns,
        changed_ns,
    ])
}
