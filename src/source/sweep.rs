//! The files of a repository as they were when they were looked at last, and which of them are otherwise now. A notification tells
//! of a change through a directory that is watched; a write through memory that is mapped, or through another name of the file,
//! changes the inode alone. Opens no file.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::{names, stamp};
use crate::model::RepoPath;
use crate::model::graph::FileStamp;

/// See the module.
#[derive(Debug)]
pub struct Sweep {
    root: PathBuf,
    /// Sorted by path. A file that is gone keeps its place, with the stamp of no file.
    files: Vec<(RepoPath, FileStamp)>,
}

impl Sweep {
    /// Files below a root, with the stamps that they had when they were compared with what is known of them.
    pub fn new(root: &Path, mut files: Vec<(RepoPath, FileStamp)>) -> Self {
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        files.dedup_by(|(a, _), (b, _)| a == b);
        Self { root: root.to_path_buf(), files }
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds files that were compared later. Those that are there already have been looked at since.
    pub fn add(&mut self, files: Vec<(RepoPath, FileStamp)>) {
        let is_new = |(path, _): &(RepoPath, FileStamp)| self.files.binary_search_by(|(known, _)| known.cmp(path)).is_err();
        let new: Vec<_> = files.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            self.files.extend(new);
            self.files.sort_by(|(a, _), (b, _)| a.cmp(b));
            self.files.dedup_by(|(a, _), (b, _)| a == b);
        }
    }

    /// Looks at every file, one system call each, and gives those that are otherwise than the last time. A file that has changed so
    /// lately that its time says nothing is among them each time, until its time can be trusted.
    pub fn look(&mut self) -> Vec<RepoPath> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Without a root all files are gone.
        let root = rustix::fs::open(&self.root, flags, Mode::empty()).ok();
        let mut changed = Vec::new();
        for (path, seen) in &mut self.files {
            let now = root.as_ref().and_then(|root| stat(root, path)).unwrap_or_default();
            if !now.suggests_same_bytes(seen) {
                *seen = now;
                changed.push(path.clone());
            }
        }
        changed
    }
}

/// The stamp of a regular file; none if there is none at the path.
fn stat(root: &rustix::fd::OwnedFd, path: &RepoPath) -> Option<FileStamp> {
    let now = stamp::now_ns();
    let plain = path.as_str();
    let found = if plain.contains('%') {
        rustix::fs::statat(root, names::to_os(path), AtFlags::SYMLINK_NOFOLLOW)
    } else {
        rustix::fs::statat(root, plain, AtFlags::SYMLINK_NOFOLLOW)
    };
    let found = found.ok().filter(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)?;
    Some(stamp::of_stat(&found, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::time::{Duration, Instant, SystemTime};

    const PATIENCE: Duration = Duration::from_secs(30);

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("well formed")
    }

    /// Looks until the times of what has changed can be trusted.
    fn settle(sweep: &mut Sweep) {
        let until = Instant::now() + PATIENCE;
        while !sweep.look().is_empty() {
            assert!(Instant::now() < until, "a file that nobody writes comes to rest");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_no_directory_tells_of_is_seen() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (root, outside) = (place.path().join("root"), place.path().join("link"));
        fs::create_dir_all(root.join("sub")).expect("created");
        for name in ["a.py", "sub/100%41.py", "sub/gone.py"] {
            fs::write(root.join(name), "x = 1\n").expect("written");
        }
        fs::hard_link(root.join("a.py"), &outside).expect("linked");
        let files = ["a.py", "sub/100%41.py", "sub/gone.py"].map(|name| (path(name), FileStamp::default()));
        let mut sweep = Sweep::new(&root, files.to_vec());
        assert_eq!(sweep.look().len(), 3);
        settle(&mut sweep);
        fs::write(&outside, "x = 2\n").expect("written");
        assert_eq!(sweep.look(), [path("a.py")], "another name of the file");
        settle(&mut sweep);
        let before = fs::metadata(root.join("a.py")).and_then(|found| found.modified()).expect("it has a time");
        fs::write(root.join("a.py"), "x = 3\n").expect("written");
        let set_back =
            |time: SystemTime| File::options().write(true).open(root.join("a.py")).and_then(|file| file.set_modified(time));
        set_back(before).expect("it is ours");
        assert_eq!(sweep.look(), [path("a.py")], "as large and as old as before");
        settle(&mut sweep);
        fs::remove_file(root.join("sub/gone.py")).expect("removed");
        assert_eq!(sweep.look(), [path("sub/gone.py")]);
        assert!(sweep.look().is_empty(), "what is gone is told once");
        fs::write(root.join("b.py"), "x = 1\n").expect("written");
        sweep.add(vec![(path("b.py"), FileStamp::default()), (path("a.py"), FileStamp::default())]);
        assert_eq!((sweep.look(), sweep.len()), (vec![path("b.py")], 4));
    }
}
